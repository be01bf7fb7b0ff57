"""Batches, their order and merging make no difference; states travel like those of any metric."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.spectrum import (
    CrossSpectrum,
    FisherLogPower,
    PowerSpectrum,
    cross_spectrum,
    fisher_log_power,
    power_spectrum,
)
from tdi_plugin.spectrum.estimate import spectrum_of_batches
from tdi_plugin.spectrum.metric import SpectrumMetric

Make = Callable[..., tuple[np.ndarray, np.ndarray]]

KINDS: dict[str, tuple[Callable[[], SpectrumMetric], Callable[..., Any]]] = {
    "fisher": (lambda: FisherLogPower(num_classes=3), fisher_log_power),
    "fisher, classes unknown": (FisherLogPower, fisher_log_power),
    "cross": (lambda: CrossSpectrum(num_classes=3), cross_spectrum),
    "cross, classes unknown": (CrossSpectrum, cross_spectrum),
    "power": (PowerSpectrum, lambda x, y: power_spectrum(x)),
}
pytestmark = pytest.mark.parametrize("kind", KINDS)


def fill(kind: str, x: np.ndarray, y: np.ndarray, size: int = 16) -> SpectrumMetric:
    estimator = KINDS[kind][0]()
    for start in range(0, len(x), size):
        estimator.update(torch.from_numpy(x[start : start + size]), torch.from_numpy(y[start : start + size]))
    return estimator


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-4)])
def test_batch_size_and_order_do_not_matter(
    make_series: Make, kind: str, dtype: Any, tolerance: float
) -> None:
    x, y = make_series()
    x = (30 + 1e-3 * x).astype(dtype)
    reference = KINDS[kind][1](x, y).power[1:]
    for size in (1, 7, 90):
        order = np.random.default_rng(size).permutation(len(x))
        power = fill(kind, x[order], y[order], size).compute().power[1:]
        torch.testing.assert_close(power, reference, rtol=tolerance, atol=0)


def test_merged_parts_equal_the_whole(make_series: Make, kind: str) -> None:
    x, y = make_series()
    whole = fill(kind, x, y).compute()
    merged = fill(kind, x[:20], y[:20]).merge(fill(kind, x[20:], y[20:]))
    torch.testing.assert_close(merged.compute().power, whole.power, rtol=1e-9, atol=0)
    assert merged.compute().n_series == 90
    merged.merge(KINDS[kind][0]())
    torch.testing.assert_close(merged.compute().power, whole.power, rtol=1e-9, atol=0)
    into_empty = KINDS[kind][0]()
    into_empty.merge_state(fill(kind, x, y))
    torch.testing.assert_close(into_empty.compute().power, whole.power, rtol=1e-12, atol=0)


def test_merging_leaves_the_other_part_alone(make_series: Make, kind: str) -> None:
    x, y = make_series()
    first, second = fill(kind, x[:45], y[:45]), fill(kind, x[45:], y[45:])
    before = copy.deepcopy(second.state_dict())
    KINDS[kind][0]().merge(second).merge(first).update(torch.from_numpy(x), torch.from_numpy(y))
    for name, value in second.state_dict().items():
        assert torch.equal(value, before[name])


def test_state_survives_saving_copying_and_pickling(make_series: Make, kind: str) -> None:
    x, y = make_series()
    estimator = fill(kind, x, y)
    power = estimator.compute().power
    loaded = KINDS[kind][0]()
    loaded.load_state_dict(estimator.state_dict())
    for twin in (loaded, pickle.loads(pickle.dumps(estimator)), estimator.clone()):
        assert torch.equal(twin.compute().power, power)
        twin.update(torch.from_numpy(x[:9]), torch.from_numpy(y[:9]))
        assert twin.compute().n_series == 99
    assert estimator.compute().n_series == 90


def test_reset_forgets_and_forward_measures_one_batch(make_series: Make, kind: str) -> None:
    x, y = make_series()
    estimator = fill(kind, x, y)
    of_batch = estimator(torch.from_numpy(x[:45]), torch.from_numpy(y[:45]))
    assert of_batch.n_series == 45
    assert estimator.compute().n_series == 135
    estimator.reset()
    with pytest.warns(UserWarning, match="before"), pytest.raises(DataError, match="No series came"):
        estimator.compute()
    estimator.update(torch.from_numpy(x[:30, :40]), torch.from_numpy(y[:30]))
    assert estimator.compute().length == 40


def test_states_stay_float64_and_follow_the_device(make_series: Make, kind: str) -> None:
    x, y = make_series()
    estimator = fill(kind, x, y).float().half()
    assert {value.dtype for value in estimator.state_dict().values()} == {torch.float64}
    moved = fill(kind, x, y).to("meta")
    assert {value.device.type for value in moved.metric_state.values()} == {"meta"}


def test_batches_that_do_not_fit_together_are_refused(make_series: Make, kind: str) -> None:
    x, y = make_series()
    estimator = fill(kind, x, y)
    with pytest.raises(DataError, match="60 samples after series of 61"):
        estimator.update(torch.from_numpy(x[:, :60]), torch.from_numpy(y))
    with pytest.raises(DataError, match="channels"):
        estimator.update(torch.from_numpy(np.stack([x, x], axis=-1)), torch.from_numpy(y))
    assert estimator.compute().n_series == 90


def test_other_statistics_and_options_do_not_merge(make_series: Make, kind: str) -> None:
    others = [
        PowerSpectrum(smoothing="moving:5"),
        FisherLogPower(shrinkage=1.0),
        CrossSpectrum(num_targets=2),
    ]
    for other in others:
        with pytest.raises(DataError, match="Cannot merge"):
            KINDS[kind][0]().merge(other)


def test_a_stream_gives_what_arrays_give(make_series: Make, kind: str) -> None:
    x, y = make_series()
    name = kind.partition(",")[0]
    stream = ((torch.from_numpy(x[i : i + 13]), torch.from_numpy(y[i : i + 13])) for i in range(0, 90, 13))
    power = spectrum_of_batches(stream, name).power
    torch.testing.assert_close(power, KINDS[kind][1](x, y).power, rtol=1e-9, atol=1e-12)
    with pytest.raises(DataError, match="loader is empty"):
        spectrum_of_batches([], name)
    with pytest.raises(OptionError, match="did you mean"):
        spectrum_of_batches([], name[:-1])
