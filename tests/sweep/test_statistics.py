from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tdi_plugin.errors import DataError
from tdi_plugin.sweep.statistics import bootstrap_interval, conditions_won, paired_summary


def test_interval_agrees_with_scipy() -> None:
    delta = np.random.default_rng(3).gamma(2.0, size=40)
    ours = bootstrap_interval(delta, resamples=40_000)
    rng = np.random.default_rng(1)
    theirs = stats.bootstrap((delta,), np.mean, n_resamples=40_000, method="percentile", rng=rng)
    scale = delta.std() / np.sqrt(delta.size)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.08 * scale)


def test_clustered_interval_agrees_with_scipy_on_cluster_sums() -> None:
    rng = np.random.default_rng(4)
    sizes = rng.integers(2, 9, size=12)
    clusters = np.repeat(np.arange(12), sizes)
    delta = rng.normal(size=12)[clusters] + 0.3 * rng.normal(size=clusters.size)
    sums = np.array([delta[clusters == c].sum() for c in range(12)])

    def ratio(s: np.ndarray, n: np.ndarray, axis: int) -> np.ndarray:
        return s.sum(axis=axis) / n.sum(axis=axis)

    rng = np.random.default_rng(1)
    theirs = stats.bootstrap(
        (sums, sizes), ratio, paired=True, n_resamples=40_000, method="percentile", rng=rng
    )
    ours = bootstrap_interval(delta, list(clusters), resamples=40_000)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.02)


def _coverage(n_clusters: int, per_cluster: int, spread: float, clustered: bool, trials: int = 400) -> float:
    """How often the 95 % interval holds the true mean (zero) of a random-effects model."""
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(n_clusters), per_cluster)
    hits = 0
    for trial in range(trials):
        delta = spread * rng.normal(size=n_clusters)[labels] + rng.normal(size=labels.size)
        low, high = bootstrap_interval(delta, list(labels) if clustered else None, resamples=800, seed=trial)
        hits += low <= 0.0 <= high
    return hits / trials


def test_coverage_by_simulation() -> None:
    assert _coverage(1, 50, 0.0, clustered=True) == pytest.approx(0.94, abs=0.03)
    assert _coverage(30, 5, 1.0, clustered=True) == pytest.approx(0.94, abs=0.03)


def test_ignoring_clusters_would_be_overconfident() -> None:
    assert _coverage(30, 5, 1.0, clustered=False) < 0.85


def test_same_seed_same_interval_other_seed_other_interval() -> None:
    delta = np.random.default_rng(0).normal(size=20)
    assert bootstrap_interval(delta, seed=1) == bootstrap_interval(delta, seed=1)
    assert bootstrap_interval(delta, seed=1) != bootstrap_interval(delta, seed=2)


def test_summary_counts_and_wilcoxon() -> None:
    base = np.array([0.5, 0.6, 0.7, 0.8, 0.4, 0.9])
    other = np.array([0.6, 0.8, 0.7, 0.75, 0.8, 1.0])
    summary = paired_summary(base, other, ["a", "a", "a", "b", "b", "b"])
    assert (summary.wins, summary.ties, summary.losses) == (4, 1, 1)
    assert summary.mean == pytest.approx(np.mean(other - base))
    assert summary.p_value == pytest.approx(stats.wilcoxon(np.round(other - base, 12)).pvalue)
    assert (summary.n, summary.clusters) == (6, 2)


def test_ranks_do_not_depend_on_rounding() -> None:
    rng = np.random.default_rng(0)
    base, other = (rng.integers(200, 260, size=30) / 300 for _ in range(2))
    exact = paired_summary(100 * base, 100 * other, resolution=0.01)
    rounded = [[100 * float(f"{v:.5g}") for v in values] for values in (base, other)]
    found = paired_summary(*rounded, resolution=0.01)
    whole = stats.wilcoxon(np.rint(300 * (other - base)))
    assert found.p_value == exact.p_value == pytest.approx(float(whole.pvalue))
    assert (found.wins, found.ties) == (exact.wins, exact.ties)


def test_identical_arms_give_nothing() -> None:
    summary = paired_summary([0.1, 0.2], [0.1, 0.2])
    assert (summary.mean, summary.low, summary.high, summary.p_value, summary.ties) == (0.0, 0.0, 0.0, 1.0, 2)


def test_one_run_has_no_interval() -> None:
    summary = paired_summary([0.1], [0.2])
    assert np.isnan(summary.low)
    assert np.isnan(summary.high)


def test_conditions_won_counts_means_over_seeds() -> None:
    conditions = [("a", 0.1)] * 2 + [("a", 0.2)] * 2 + [("b", 0.1)] * 2
    assert conditions_won([0, 0, 0, 0, 0, 0], [3, -1, -1, -1, 1, -1], conditions) == (1, 3)


@pytest.mark.parametrize("bad", [[], [[0.1]], [float("nan")]])
def test_bad_values_are_refused(bad: list[object]) -> None:
    with pytest.raises(DataError, match="finite numbers"):
        paired_summary(bad, bad)


def test_unpaired_lengths_are_refused() -> None:
    with pytest.raises(DataError, match="pairing needs the same"):
        paired_summary([1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="one label a run"):
        bootstrap_interval([1.0, 2.0], ["a"])
