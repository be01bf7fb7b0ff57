"""What holds for every data set."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tdi_plugin.spectrum import (
    CrossSpectrum,
    FisherLogPower,
    PowerSpectrum,
    cross_spectrum,
    fisher_log_power,
    task_spectrum,
)

quick = settings(max_examples=25, deadline=None)


@st.composite
def data_sets(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """Coloured noise of any small shape, two classes at least with two series each."""
    classes, per_class = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    length, channels = draw(st.integers(4, 33)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.normal(size=(classes * per_class, length, channels)) * rng.uniform(0.1, 10)
    x = np.cumsum(x, axis=1) if draw(st.booleans()) else x
    y = rng.permutation(np.repeat(np.arange(classes), per_class))
    return torch.from_numpy(x), torch.from_numpy(y)


@quick
@given(data_sets(), st.floats(1e-6, 1e6), st.integers(0, 2**32 - 1))
def test_fisher_does_not_see_scale_or_shift(
    data: tuple[torch.Tensor, torch.Tensor], scale: float, seed: int
) -> None:
    x, y = data
    power = fisher_log_power(x, y).power
    torch.testing.assert_close(fisher_log_power(scale * x, y).power, power, rtol=1e-6, atol=1e-9)
    rng = np.random.default_rng(seed)
    moved = torch.stack([row.roll(int(rng.integers(len(row))), dims=0) for row in x])
    torch.testing.assert_close(fisher_log_power(moved, y).power, power, rtol=1e-6, atol=1e-9)


@quick
@given(data_sets(), st.floats(1e-6, 1e6))
def test_cross_grows_with_the_square_of_the_data_and_ignores_offsets(
    data: tuple[torch.Tensor, torch.Tensor], scale: float
) -> None:
    x, y = data
    power = cross_spectrum(x, y).power
    floor = float(power.max()) * 1e-9
    torch.testing.assert_close(cross_spectrum(scale * x, y).power / scale**2, power, rtol=1e-6, atol=floor)
    common = torch.linspace(-3, 3, x.shape[1]).double()[:, None]
    torch.testing.assert_close(cross_spectrum(x + common, y).power, power, rtol=1e-6, atol=floor)


@quick
@given(data_sets(), st.sampled_from(["auto", "fisher", "cross", "combined", "power"]))
def test_spectra_are_non_negative_and_densities_sum_to_one(
    data: tuple[torch.Tensor, torch.Tensor], statistic: str
) -> None:
    found = task_spectrum(*data, statistic)
    assert (found.power >= 0).all()
    assert found.density[0] == 0
    assert abs(float(found.density.sum()) - 1) < 1e-12
    assert found.power.shape == (data[0].shape[1] // 2 + 1,)


@quick
@given(data_sets(), st.data())
def test_merging_is_addition(data: tuple[torch.Tensor, torch.Tensor], draw: st.DataObject) -> None:
    x, y = data
    cut = draw.draw(st.integers(1, len(x) - 1))
    for make in (FisherLogPower, CrossSpectrum, PowerSpectrum):
        parts = make(), make(), make()
        for estimator, rows in zip(parts, (slice(None), slice(cut), slice(cut, None)), strict=True):
            estimator.update(x[rows], y[rows])
        whole = parts[0].compute()
        one_way = parts[1].clone().merge(parts[2]).compute()
        other_way = parts[2].clone().merge(parts[1]).compute()
        for merged in (one_way, other_way):
            floor = float(whole.power.max()) * 1e-9
            torch.testing.assert_close(merged.power, whole.power, rtol=1e-7, atol=floor)


@quick
@given(data_sets(), st.integers(0, 2**32 - 1))
def test_names_of_classes_and_order_of_series_do_not_matter(
    data: tuple[torch.Tensor, torch.Tensor], seed: int
) -> None:
    x, y = data
    rng = np.random.default_rng(seed)
    order = torch.from_numpy(rng.permutation(len(x)))
    names = torch.from_numpy(rng.permutation(100))[: int(y.max()) + 1]
    power = task_spectrum(x, y, "combined").power
    again = task_spectrum(x[order], names[y][order] - 50, "combined").power
    torch.testing.assert_close(again, power, rtol=1e-6, atol=1e-9)
