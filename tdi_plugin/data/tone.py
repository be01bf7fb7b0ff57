"""Tone regression: the amplitudes of some tones of a mixture, a task linear in the series."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tdi_plugin.data.series import Series, SeriesDataset, digest_of
from tdi_plugin.data.task import SeriesTask
from tdi_plugin.errors import OptionError

PHASES = ("locked", "free")


class ToneRegression(SeriesTask):
    """x(l) = sum_k a_k sin(2 pi f_k l + phase_k) + noise over target and other tones; y holds the targets'
    a_k.

    With ``phase="locked"`` phases are fixed and a_k is standard normal: y is linear in x and the
    cross-spectrum peaks at the target frequencies. With "free" every series has its own phases and a_k is
    the absolute value: y is a matter of power, and the cross-spectrum sees nothing. Items are (x (L, 1)
        float32, y (d,) float32).

    Args:
        n_train, n_val, n_test: series in each set, each from a random stream of its own.
        length: samples a series.
        frequencies: of the d target tones, in cycles/sample, 0 < f < 1/2.
        others: of the tones that do not matter.
        phase: "locked" or "free".
        snr_db: power of one tone over that of the white noise, in dB; None for no noise.
        seed: of everything here.

    Raises:
        OptionError: an option out of range.
    """

    _name_ = "tdi_tone"

    def __init__(
        self,
        n_train: int = 500,
        n_val: int = 250,
        n_test: int = 500,
        length: int = 512,
        frequencies: tuple[float, ...] = (0.1, 0.23),
        others: tuple[float, ...] = (0.01, 0.04, 0.31),
        phase: str = "locked",
        snr_db: float | None = 10.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        frequencies, others = tuple(frequencies), tuple(others)
        if not frequencies or not all(0.0 < f < 0.5 for f in frequencies + others):
            raise OptionError(
                f"frequencies={frequencies}, others={others}: expected some, all inside (0, 1/2)."
            )
        if len(set(frequencies + others)) < len(frequencies + others):
            raise OptionError(f"frequencies={frequencies}, others={others}: expected each frequency once.")
        if phase not in PHASES:
            raise OptionError(f"phase={phase!r}: expected one of {', '.join(PHASES)}.")
        if min(n_train, n_val, n_test, length) < 2:
            raise OptionError(
                f"n_train, n_val, n_test, length = {n_train}, {n_val}, {n_test}, {length}: all need 2."
            )
        self.sizes = {"train": n_train, "val": n_val, "test": n_test}
        self.length, self.frequencies, self.others = length, frequencies, others
        self.phase, self.snr_db, self.seed = phase, snr_db, seed

    def _load(self) -> None:
        fixed, *streams = np.random.SeedSequence(self.seed).spawn(4)
        tones = len(self.frequencies) + len(self.others)
        self.phases = np.random.default_rng(fixed).uniform(0.0, 2.0 * math.pi, tones)
        train, val, test = (
            self._series(n, np.random.default_rng(s))
            for n, s in zip(self.sizes.values(), streams, strict=True)
        )
        self._digest = digest_of(train, val, test)
        self.dataset_train, self.dataset_val, self.dataset_test = map(SeriesDataset, (train, val, test))
        self.d_input, self.d_output, self.l_max = 1, len(self.frequencies), self.length

    def _series(self, n: int, rng: np.random.Generator) -> Series:
        frequency = np.array(self.frequencies + self.others)
        amplitude = rng.standard_normal((n, len(frequency)))
        phase = np.broadcast_to(self.phases, amplitude.shape)
        if self.phase == "free":
            amplitude, phase = np.abs(amplitude), rng.uniform(0.0, 2.0 * math.pi, amplitude.shape)
        x = np.zeros((n, self.length))
        for k, f in enumerate(frequency):
            x += amplitude[:, k, None] * np.sin(
                2.0 * math.pi * f * np.arange(self.length) + phase[:, k, None]
            )
        if self.snr_db is not None:
            x += math.sqrt(0.5) * 10.0 ** (-self.snr_db / 20.0) * rng.standard_normal(x.shape)
        y = amplitude[:, : len(self.frequencies)].astype(np.float32)
        return Series(torch.from_numpy(x.astype(np.float32))[..., None], torch.from_numpy(y))

    def _source(self) -> dict[str, Any]:
        options = ("length", "frequencies", "others", "phase", "snr_db", "seed")
        return {
            "generated": True,
            "sha256": self._digest,
            **self.sizes,
            **{o: getattr(self, o) for o in options},
        }
