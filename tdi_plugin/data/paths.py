"""Path connectivity: do two dots lie on one dashed curve? Read pixel by pixel, a task with no 1-D spectrum.

A small stand-in for the Pathfinder images (Linsley et al. 2018): the question is the same, the images are
ours. The answer lies in the layout on the plane, so a spectrum of the pixel sequence should say nothing:
an expected null.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.data.lazy import ScaledDataset
from tdi_plugin.data.task import SeriesTask
from tdi_plugin.errors import OptionError

Pixel = tuple[int, int]
_STEPS, _TURN, _DASH = 32, 0.2, 4


def draw_paths(
    n: int, size: int, rng: np.random.Generator, distractors: int = 2
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images (n, size, size) of 0..255 and (n,) answers, half of them 1 (one curve joins the dots).

    Every image has a long dashed curve from a dot, a second long one, and some short ones. The second dot
    sits on the far end of the first curve (1) or on the near end of the second (0). That near end is the
    far end of a curve drawn like the first but left out, so that where the dots lie says nothing about the
    answer.
    """
    labels = rng.permutation(np.arange(n) % 2)
    images = np.zeros((n, size, size), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        first, unseen = _two_from_one_point(size, rng)
        second = _curve(size, _STEPS, rng, unseen[-1])
        for curve in (first, second, *(_curve(size, _STEPS // 3, rng) for _ in range(distractors))):
            _dashes(image, curve, rng)
        for row, column in (first[0], first[-1] if label else second[0]):
            image[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] = 255
    return images, labels.astype(np.int64)


def _two_from_one_point(size: int, rng: np.random.Generator) -> tuple[list[Pixel], list[Pixel]]:
    """Two long curves from one pixel, both of which end well away from it."""
    while True:
        first = _curve(size, _STEPS, rng)
        second = _curve(size, _STEPS, rng, first[0])
        if all(math.dist(curve[0], curve[-1]) > size / 6 for curve in (first, second)):
            return first, second


def _curve(size: int, steps: int, rng: np.random.Generator, start: Pixel | None = None) -> list[Pixel]:
    """Pixels of a smooth walk that turns away from the border; it starts anywhere unless told."""
    step = size / 32.0
    row, column = (
        rng.uniform(0.2 * size, 0.8 * size, 2) if start is None else (start[0] + 0.5, start[1] + 0.5)
    )
    heading, points = rng.uniform(0.0, 2.0 * math.pi), []
    for _ in range(steps):
        points.append((int(row), int(column)))
        heading += _TURN * rng.standard_normal()
        ahead = row + 3 * step * math.sin(heading), column + 3 * step * math.cos(heading)
        if not all(1.0 < position < size - 2.0 for position in ahead):
            heading = math.atan2(size / 2 - row, size / 2 - column)
        row, column = row + step * math.sin(heading), column + step * math.cos(heading)
    return points


def _dashes(image: NDArray[np.uint8], curve: list[Pixel], rng: np.random.Generator) -> None:
    start = int(rng.integers(_DASH))
    for i, (row, column) in enumerate(curve):
        if (i + start) % _DASH != 0:
            image[row, column] = 160


class PathConnectivity(SeriesTask):
    """Generated path-connectivity images; items are (x (size*size, 1) float32 in -1..1, y int64), row by row.

    Args:
        n_train, n_val, n_test: images in each set, each from a random stream of its own.
        size: pixels on a side.
        distractors: short curves that belong to neither.
        seed: of everything here.

    Raises:
        OptionError: an option out of range.
    """

    _name_ = "tdi_paths"

    def __init__(
        self,
        n_train: int = 1000,
        n_val: int = 250,
        n_test: int = 500,
        size: int = 32,
        distractors: int = 2,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if size < 16 or min(n_train, n_val, n_test) < 2 or distractors < 0:
            raise OptionError(
                f"size={size}, n_train={n_train}, n_val={n_val}, n_test={n_test}, distractors={distractors}: "
                "expected 16 pixels or more, two images or more in each set, no negative number."
            )
        self.sizes = {"train": n_train, "val": n_val, "test": n_test}
        self.size, self.distractors, self.seed = size, distractors, seed

    def _load(self) -> None:
        streams = np.random.SeedSequence(self.seed).spawn(3)
        digest, parts = hashlib.sha256(), []
        for n, stream in zip(self.sizes.values(), streams, strict=True):
            images, labels = draw_paths(n, self.size, np.random.default_rng(stream), self.distractors)
            digest.update(images.tobytes() + labels.tobytes())
            flat = images.reshape(n, -1)
            parts.append(ScaledDataset(flat, np.arange(n), labels, shift=127.5, scale=1 / 127.5))
        self.dataset_train, self.dataset_val, self.dataset_test = parts
        self._digest, self.classes = digest.hexdigest(), ("apart", "connected")
        self.d_input, self.d_output, self.l_max = 1, 2, self.size**2

    def _source(self) -> dict[str, Any]:
        options = {"size": self.size, "distractors": self.distractors, "seed": self.seed}
        return {"generated": True, "sha256": self._digest, **self.sizes, **options}
