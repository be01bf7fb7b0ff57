"""The synthetic tasks against samples of themselves, and the layers that the study compares."""

from __future__ import annotations

import pytest
import torch

from tdi_plugin.kernel.study.arms import ARMS, arm, response, s4d_lin
from tdi_plugin.kernel.study.tasks import (
    BANDS,
    NOISE,
    Population,
    band_target,
    in_band,
    measured_spectrum,
    task_spectrum_of,
)

TARGET = band_target(0.1, 0.2, seed=0, length=32)
POPULATIONS = [
    Population.regression("white", TARGET),
    Population.regression("coloured", TARGET, 0.9),
    Population.two_classes("classes", TARGET, 0.9, separation=3.0),
]


@pytest.mark.parametrize("population", POPULATIONS, ids=lambda p: p.name)
def test_population_moments_are_those_of_its_samples(population: Population) -> None:
    x, y = population.draw(200_000, torch.Generator().manual_seed(0))
    torch.testing.assert_close(x.mT @ x / len(x), population.covariance, rtol=0, atol=0.02)
    torch.testing.assert_close(x.mT @ y / len(x), population.cross, rtol=0, atol=0.02)
    assert float(y.square().mean()) == pytest.approx(population.variance, rel=0.01)
    w = torch.linspace(-0.3, 0.2, 32, dtype=torch.float64)
    assert float((x @ w - y).square().mean()) == pytest.approx(population.error(w), rel=0.02)
    best = torch.linalg.solve(population.covariance, population.cross)
    assert population.error(best) == pytest.approx(population.unexplained, rel=1e-9)


def test_regression_explains_one_and_classes_lie_as_far_apart_as_asked() -> None:
    assert POPULATIONS[1].unexplained == pytest.approx(NOISE, rel=1e-9)
    within = POPULATIONS[2].factor @ POPULATIONS[2].factor.mT
    distance = 2 * (POPULATIONS[2].target @ torch.linalg.solve(within, POPULATIONS[2].target)).sqrt()
    assert float(distance) == pytest.approx(3.0, rel=1e-9)


def test_targets_live_in_their_band_and_spectra_find_it() -> None:
    for seed, (low, high) in enumerate(BANDS.values()):
        target, inside = band_target(low, high, seed), in_band(low, high)
        assert float(target.norm()) == pytest.approx(1.0)
        density = task_spectrum_of(target).density
        assert float(density[inside].sum()) == pytest.approx(1.0)
        measured = measured_spectrum(target, 512, seed).density
        assert float(measured[inside].mean()) > 10 * float(measured[~inside].mean())
    assert in_band(0.3001, 0.3002).sum() == 1


def test_arms_differ_in_their_poles_alone_and_leave_the_global_stream_alone() -> None:
    spectrum = task_spectrum_of(band_target(*BANDS["mid"], seed=0))
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    layers = {name: arm(name, spectrum, seed=3, steps=2) for name in ARMS}
    assert torch.equal(torch.rand(1), expected)
    base = s4d_lin(3)
    for name, layer in layers.items():
        shapes = {k: v.shape for k, v in base.state_dict().items()}
        assert {k: v.shape for k, v in layer.state_dict().items()} == shapes
        same = torch.equal(response(layer, 64), response(base, 64))
        assert same is (name == "S4D-Lin")
    assert torch.equal(layers["TDI"].state_dict()["C"], base.state_dict()["C"])
