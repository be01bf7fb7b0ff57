"""Frequency classification: which band holds the tone? A generated task, all of it in the spectrum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tdi_plugin.data.series import Series, SeriesDataset, digest_of
from tdi_plugin.data.task import SeriesTask
from tdi_plugin.errors import OptionError


class FrequencyClassification(SeriesTask):
    """A tone of random phase in one of C frequency bands, under white noise and a slow distractor.

    x(l) = sqrt(2) sin(2 pi f l + phase) + noise + distractor; class c has f uniform in the middle
    ``spread`` of the c-th of C equal bands between ``low`` and ``high``. Items are
    (x (L, 1) float32, y int64).

    Args:
        n_train, n_val, n_test: series in each set; the sets have random streams of their own, so one size
            does not change the contents of another.
        length: samples a series.
        n_classes: number of bands.
        low, high: outer edges of the bands in cycles/sample, 0 < low < high < 1/2.
        spread: part of a band that its tones fill, in [0, 1]; 0 puts every tone at the centre.
        snr_db: power of the tone over that of the noise, in dB; None for no noise.
        distractor: amplitude, relative to the tone, of a sine at a random frequency below
            ``distractor_high``.
        distractor_high: in cycles/sample; kept below ``low``.
        seed: of everything here; the global generators are neither read nor moved.

    Raises:
        OptionError: an option out of range.
    """

    _name_ = "tdi_freqcls"

    def __init__(
        self,
        n_train: int = 1000,
        n_val: int = 500,
        n_test: int = 1000,
        length: int = 1024,
        n_classes: int = 10,
        low: float = 0.05,
        high: float = 0.45,
        spread: float = 0.5,
        snr_db: float | None = 0.0,
        distractor: float = 0.0,
        distractor_high: float = 0.02,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if min(n_train, n_val, n_test) < n_classes or n_classes < 2:
            raise OptionError(
                f"n_train, n_val, n_test = {n_train}, {n_val}, {n_test}: each needs n_classes={n_classes}."
            )
        if not 0.0 < low < high < 0.5:
            raise OptionError(f"low={low}, high={high}: expected 0 < low < high < 1/2 cycles/sample.")
        if not 0.0 <= spread <= 1.0:
            raise OptionError(f"spread={spread} is outside [0, 1].")
        if distractor and not 1.0 / length < distractor_high < low:
            raise OptionError(
                f"distractor_high={distractor_high}: expected above 1/length and below low={low}."
            )
        self.sizes = {"train": n_train, "val": n_val, "test": n_test}
        self.length, self.n_classes, self.low, self.high, self.spread = length, n_classes, low, high, spread
        self.snr_db, self.distractor, self.distractor_high, self.seed = (
            snr_db,
            distractor,
            distractor_high,
            seed,
        )

    def centres(self) -> list[float]:
        """The middle of each class's band, in cycles/sample."""
        width = (self.high - self.low) / self.n_classes
        return [self.low + (c + 0.5) * width for c in range(self.n_classes)]

    def _load(self) -> None:
        streams = np.random.SeedSequence(self.seed).spawn(3)
        train, val, test = (
            self._series(n, np.random.default_rng(s))
            for n, s in zip(self.sizes.values(), streams, strict=True)
        )
        self._digest = digest_of(train, val, test)
        self.dataset_train, self.dataset_val, self.dataset_test = map(SeriesDataset, (train, val, test))
        self.classes, self.d_input, self.d_output, self.l_max = train.classes, 1, self.n_classes, self.length

    def _series(self, n: int, rng: np.random.Generator) -> Series:
        y = rng.permutation(np.arange(n) % self.n_classes)
        width = (self.high - self.low) / self.n_classes * self.spread
        frequency = np.array(self.centres())[y] + width * rng.uniform(-0.5, 0.5, n)
        x = math.sqrt(2.0) * _sines(frequency, self.length, rng)
        if self.snr_db is not None:
            x += 10.0 ** (-self.snr_db / 20.0) * rng.standard_normal(x.shape)
        if self.distractor:
            slow = rng.uniform(1.0 / self.length, self.distractor_high, n)
            x += math.sqrt(2.0) * self.distractor * _sines(slow, self.length, rng)
        names = tuple(f"{centre:.4f}" for centre in self.centres())
        return Series(torch.from_numpy(x.astype(np.float32))[..., None], torch.from_numpy(y), classes=names)

    def _source(self) -> dict[str, Any]:
        options = (
            "length",
            "n_classes",
            "low",
            "high",
            "spread",
            "snr_db",
            "distractor",
            "distractor_high",
            "seed",
        )
        return {
            "generated": True,
            "sha256": self._digest,
            **self.sizes,
            **{o: getattr(self, o) for o in options},
        }


def _sines(frequency: np.ndarray[Any, Any], length: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    phase = rng.uniform(0.0, 2.0 * math.pi, len(frequency))
    return np.sin(2.0 * math.pi * frequency[:, None] * np.arange(length) + phase[:, None])
