"""Paired differences and how sure one may be of them: bootstrap intervals, Wilcoxon, wins, ties, losses."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tdi_plugin.errors import DataError

RESAMPLES = 10_000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedSummary:
    """A paired difference over n matched runs, in the unit of what was given."""

    n: int
    clusters: int
    """Data sets among them; intervals resample these when there are at least two."""
    base: float
    """Mean of the baseline."""
    other: float
    """Mean of what is compared with it."""
    mean: float
    """Mean paired difference, other - base."""
    low: float
    high: float
    """Percentile bootstrap interval of the mean; NaN for a single run, which leaves it undefined."""
    confidence: float
    p_value: float
    """Two-sided Wilcoxon signed-rank p-value; 1 where every difference is zero, NaN for no runs."""
    wins: int
    ties: int
    losses: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON and tables."""
        return asdict(self)


def bootstrap_interval(
    delta: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile interval of the mean of paired differences.

    Args:
        delta: (n,) differences, one a matched run.
        clusters: n labels. Runs on one data set are not independent, so whole clusters are drawn with
            replacement and their runs pooled. With a single cluster (or None) the runs themselves are drawn,
            and the interval speaks about that data set alone.
        confidence: Coverage aimed at, in (0, 1).
        resamples: Bootstrap resamples.
        seed: Seed of the resampling.

    Raises:
        DataError: not a finite vector, or labels of another length.
    """
    values = _vector(delta, "delta")
    sums, sizes = _by_cluster(values, clusters)
    if sums.size == 1:
        sums, sizes = values, np.ones_like(values)
    if sums.size < 2:
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(sums.size, np.full(sums.size, 1 / sums.size), size=resamples)
    means = (draws @ sums) / (draws @ sizes)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def paired_summary(
    base: ArrayLike,
    other: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    resolution: float = 1e-9,
) -> PairedSummary:
    """Compare two arms on matched runs: same data set, ratio and seed, position by position.

    Args:
        base: (n,) scores of the baseline.
        other: (n,) scores of the other arm on the same runs.
        clusters: n data set names (see ``bootstrap_interval``).
        confidence: Coverage of the interval.
        resamples: Bootstrap resamples.
        seed: Seed of the resampling.
        resolution: For ranks, wins and ties, differences count in whole multiples of this: those that
            only rounding tells apart are equal.

    Raises:
        DataError: lengths differ, no runs, or values that are not finite.
    """
    from scipy.stats import wilcoxon

    first, second = _vector(base, "base"), _vector(other, "other")
    if first.size != second.size:
        raise DataError(f"base has {first.size} runs, other {second.size}; pairing needs the same in both.")
    delta = second - first
    low, high = bootstrap_interval(delta, clusters, confidence, resamples, seed)
    steps = np.rint(delta / resolution)
    p_value = float(wilcoxon(steps).pvalue) if np.any(steps) else 1.0
    return PairedSummary(
        n=delta.size,
        clusters=1 if clusters is None else len(set(clusters)),
        base=float(first.mean()), other=float(second.mean()), mean=float(delta.mean()),
        low=low, high=high, confidence=confidence, p_value=p_value,
        wins=int((steps > 0).sum()), ties=int((steps == 0).sum()), losses=int((steps < 0).sum()),
    )  # fmt: skip


def conditions_won(
    base: ArrayLike, other: ArrayLike, conditions: Sequence[Hashable], tie: float = 1e-9
) -> tuple[int, int]:
    """Conditions (data set and ratio) that the other arm wins on its mean over seeds, and how many there are.

    Raises:
        DataError: the three differ in length, or values are not finite.
    """
    delta = _vector(other, "other") - _vector(base, "base")
    sums, _ = _by_cluster(delta, conditions)
    return int((sums > tie).sum()), int(sums.size)


def _by_cluster(values: Floats, clusters: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    labels = [0] * values.size if clusters is None else list(clusters)
    if len(labels) != values.size:
        raise DataError(f"{len(labels)} labels came for {values.size} runs; give one label a run.")
    order = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    index = np.array([order[label] for label in labels])
    sums: Floats = np.bincount(index, weights=values).astype(np.float64)
    sizes: Floats = np.bincount(index).astype(np.float64)
    return sums, sizes


def _vector(values: ArrayLike, name: str) -> Floats:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise DataError(f"{name} of shape {array.shape} must be a vector of finite numbers, one a run.")
    return array
