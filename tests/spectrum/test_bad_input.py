"""What cannot be measured is said so: what came, what was expected, what to do."""

from __future__ import annotations

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
    task_spectrum,
)
from tdi_plugin.spectrum.estimate import spectrum_of_batches

Make = Callable[..., tuple[np.ndarray, np.ndarray]]
X = torch.randn(12, 20, generator=torch.Generator().manual_seed(0))
Y = torch.arange(12) % 3


def broken(value: float) -> torch.Tensor:
    x = X.clone()
    x[4, 7] = value
    return x


CASES: list[tuple[str, Any, Any, str]] = [
    ("nan inside", broken(torch.nan), Y, "first in series 4 of the batch, sample 7"),
    ("infinite", broken(torch.inf), Y, "1 NaN or infinite values"),
    ("all nan series", torch.cat([X[:11], torch.full((1, 20), torch.nan)]), Y, "NaN throughout"),
    ("one dimension", X[0], Y, r"shape \(20,\)"),
    ("four dimensions", X[None, None], Y, r"shape \(1, 1, 12, 20\)"),
    ("no series", X[:0], Y[:0], "at least one series"),
    ("one sample", X[:, :1], Y, "at least two samples"),
    ("complex", X.to(torch.complex64), Y, "real series"),
    ("text", [["a", "b"]] * 12, Y, "no numeric array"),
    ("fewer labels", X, Y[:11], "one label a series"),
    ("one class", X, torch.zeros(12, dtype=torch.long), "Only class 0"),
    ("label columns", X, torch.stack([Y, Y], dim=1), "class labels are"),
    ("scalar label", X, torch.tensor(1), "one label a series"),
    ("whole floats", X, Y.float(), r"y.long\(\)"),
    ("text labels", X, ["a", "b", "c"] * 4, "no numeric array"),
    ("constant series", torch.ones(12, 20), Y, "series are constant"),
    ("constant series, levels of classes", 1.1 + Y[:, None] * torch.ones(20), Y, "series are constant"),
    ("zero series", torch.zeros(12, 20), Y, "series are constant"),
    ("constant to the end", torch.where(torch.arange(20) < 9, 1.1, torch.nan).repeat(12, 1), Y, "constant"),
    ("one series", X[:1], Y[:1], "two"),
]


@pytest.mark.parametrize("statistic", ["auto", "fisher", "cross", "combined"])
@pytest.mark.parametrize(("x", "y", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_one_clear_error(statistic: str, x: Any, y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        task_spectrum(x, y, statistic)


@pytest.mark.parametrize("labels", [Y - 1, Y + 1, Y + 1000])
def test_labels_out_of_range(labels: torch.Tensor) -> None:
    for estimator in (FisherLogPower(num_classes=3), CrossSpectrum(num_classes=3)):
        with pytest.raises(DataError, match="class labels are 0 to 2"):
            estimator.update(X, labels)
    assert fisher_log_power(X, labels).power.equal(fisher_log_power(X, Y).power)


@pytest.mark.parametrize("lengths", [torch.full((12,), 21), torch.zeros(12, dtype=torch.long), torch.ones(3)])
def test_lengths_that_do_not_fit(lengths: torch.Tensor) -> None:
    with pytest.raises(DataError, match="lengths"):
        fisher_log_power(X, Y, lengths=lengths)


def test_float_targets_belong_to_cross(make_series: Make) -> None:
    target = X[:, 0]
    for statistic in ("fisher", "combined"):
        with pytest.raises(DataError, match="statistic='cross'"):
            task_spectrum(X, target, statistic)
    with pytest.raises(DataError, match="NaN or infinite targets"):
        cross_spectrum(X, torch.where(Y == 0, torch.nan, target))
    with pytest.raises(DataError, match=r"real targets are \(12,\) or \(12, 3\)"):
        CrossSpectrum(num_targets=3).update(X, torch.randn(12, 2))
    mixed = CrossSpectrum()
    mixed.update(X, Y)
    with pytest.raises(DataError, match="integer labels and others with real"):
        mixed.update(X, torch.randn(12, 3))
    some_whole = torch.cat([torch.randn(6), torch.arange(6.0)])
    streamed = spectrum_of_batches([(X[i : i + 3], some_whole[i : i + 3]) for i in (0, 3, 6, 9)], "cross")
    torch.testing.assert_close(streamed.power, cross_spectrum(X, some_whole).power, rtol=1e-4, atol=1e-9)
    whole = CrossSpectrum(num_targets=1)
    whole.update(X, Y.float())
    torch.testing.assert_close(whole.compute().power, cross_spectrum(X, Y[:, None].double()).power)


def test_two_series_in_all() -> None:
    x, y = X[:2], torch.tensor([0, 1])
    with pytest.raises(DataError, match="None of the 2 classes has two series"):
        FisherLogPower().forward(x, y)
    for statistic in ("fisher", "combined"):
        found = task_spectrum(x, y, statistic)
        assert found.statistic == "cross"
        assert found.reason.startswith(f"cross instead of {statistic}")
        assert torch.equal(found.power, cross_spectrum(x, y).power)
    assert task_spectrum(x, y).reason.startswith("one series a class")
    assert task_spectrum(x, y).statistic == "cross"


def test_classes_of_one_series_add_nothing_within() -> None:
    y = torch.tensor([0] * 6 + [1] * 5 + [2])
    z = np.log(np.abs(np.fft.rfft(X.double())) ** 2)
    within = sum(n / 12 * z[y == c].var(0) for c, n in ((0, 6), (1, 5)))
    between = sum(n / 12 * (z[y == c].mean(0) - z.mean(0)) ** 2 for c, n in ((0, 6), (1, 5), (2, 1)))
    found = fisher_log_power(X.double(), y, power_floor=0.0)
    np.testing.assert_allclose(found.power, between / (within + 1e-3), rtol=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.1e5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_constant_series_are_left_out_of_fisher_and_counted(dtype: torch.dtype, level: float) -> None:
    x = torch.cat([X, torch.full((3, 20), level)]).to(dtype)
    y = torch.cat([Y, torch.tensor([0, 0, 2])])
    found = fisher_log_power(x, y)
    assert (found.n_series, found.left_out) == (12, 3)
    torch.testing.assert_close(found.power, fisher_log_power(X.to(dtype), Y).power, rtol=1e-5, atol=0)
    assert power_spectrum(x).n_series == 15


@pytest.mark.parametrize("scale", [1e-30, 1e-21, 1e18])
def test_scales_at_the_end_of_single_precision(scale: float) -> None:
    for measure in (fisher_log_power, cross_spectrum, lambda x, y: power_spectrum(x)):
        density = measure(X, Y).density
        torch.testing.assert_close(measure(X * scale, Y).density, density, rtol=1e-3, atol=1e-9)


def test_classes_without_any_variance() -> None:
    x = X[:3].repeat(4, 1)
    assert fisher_log_power(x, Y).power.max() > 100
    with pytest.raises(DataError, match="Give within_floor a positive value"):
        fisher_log_power(x.double(), Y, within_floor=0.0)


def test_options_that_do_not_exist() -> None:
    with pytest.raises(OptionError, match="did you mean 'fisher'"):
        task_spectrum(X, Y, "fischer")
    with pytest.raises(OptionError, match="did you mean 'multitaper'"):
        task_spectrum(X, Y, smoothing="multi-taper")
    for smoothing in ("moving:4", "moving:x", "multitaper:0", "welch:1"):
        with pytest.raises(OptionError, match="smoothing="):
            PowerSpectrum(smoothing=smoothing)
    with pytest.raises(OptionError, match="permutations=-1"):
        task_spectrum(X, Y, permutations=-1)
    with pytest.raises(OptionError, match="ignores labels"):
        task_spectrum(X, Y, "power", permutations=10)
    with pytest.raises(OptionError, match="one of the two"):
        CrossSpectrum(num_classes=2, num_targets=1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("smoothing", 5),
        ("shrinkage", -1),
        ("shrinkage", "a"),
        ("within_floor", float("nan")),
        ("sample_rate", -1),
        ("sample_rate", "a"),
    ],
)
def test_options_of_the_wrong_kind_are_named(option, value):
    with pytest.raises((DataError, OptionError), match=f"{option}={value!r}"):
        task_spectrum(torch.randn(8, 16), torch.arange(8) % 2, statistic="fisher", **{option: value})


@pytest.mark.parametrize("value", ["2", 0, True])
def test_number_of_classes_of_the_wrong_kind_is_named(value):
    with pytest.raises(OptionError, match=f"num_classes={value!r}"):
        FisherLogPower(num_classes=value)
