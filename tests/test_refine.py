"""Spectral matching: L_spec falls, the layer is what the report says, and J / sum(eta) is exact."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tdi_plugin.errors import HostError, OptionError
from tdi_plugin.init import tdi_
from tdi_plugin.nn import S4DKernel
from tdi_plugin.refine import refine_
from tdi_plugin.spectrum.value import TaskSpectrum

LENGTH = 200


def spectrum() -> TaskSpectrum:
    f = torch.arange(LENGTH // 2 + 1, dtype=torch.float64) / LENGTH
    power = torch.exp(-(((f - 0.1) / 0.02) ** 2)) + 0.5 * torch.exp(-(((f - 0.35) / 0.03) ** 2))
    return TaskSpectrum(power, LENGTH, "cross")


def kernel(**options) -> S4DKernel:
    torch.manual_seed(0)
    return S4DKernel(4, d_state=8, **{"init": "tdi", **options})


def measured_loss(model: S4DKernel) -> float:
    """Squared L_spec from the model's own kernel, by NumPy."""
    own = model(LENGTH)[0].detach().double().numpy()
    power = (np.abs(np.fft.rfft(own)) ** 2).mean((0, 1))[1:]
    density = spectrum().density.numpy()[1:]
    return float(((power / power.sum() - density) ** 2).sum())


@pytest.mark.parametrize(
    "options", [{}, {"n_ssm": 2}, {"disc": "bilinear"}, {"dt_tie": False, "lr": 0.0}, {"init": "diag-legs"}]
)
def test_the_model_ends_where_the_report_says(options):
    model = kernel(**options)
    start = measured_loss(model)
    report = refine_(model, spectrum(), steps=80, rate=0.05)
    before, after = report.layers[0].loss
    assert before == pytest.approx(start, rel=0.05)
    assert after == pytest.approx(measured_loss(model), rel=0.01)
    assert after < 0.5 * before
    assert report.layers[0].curve.shape == (81,)
    assert (model._get_params()[1].real < 0).all()


@pytest.mark.parametrize("loss", ["squared", "cosine", "kl"])
def test_every_loss_falls(loss):
    model = kernel()
    tdi_(model, spectrum())
    before, after = refine_(model, spectrum(), loss=loss, steps=60, rate=0.05).layers[0].loss
    assert after < 0.6 * before


def test_alignment_is_the_exact_one_where_the_covariance_is_known():
    model = kernel()
    times = np.arange(LENGTH)
    cross = torch.tensor(np.cos(2 * np.pi * 0.1 * times))[:, None]

    def exact() -> float:
        ratios = []
        for own in model(LENGTH)[0].detach().double().numpy()[0]:
            T = np.stack([np.concatenate([np.zeros(s), own[: LENGTH - s]]) for s in range(LENGTH)], axis=1)
            ratios.append((np.sum((T @ cross.numpy()) ** 2), np.sum(T**2)))
        return sum(a for a, _ in ratios) / sum(b for _, b in ratios)

    start = exact()
    report = refine_(model, spectrum(), steps=40, rate=0.05, cross_covariance=cross)
    assert report.layers[0].alignment == pytest.approx((start, exact()), rel=1e-4)
    assert report.layers[0].alignment[1] > report.layers[0].alignment[0]
    assert "L_spec" in str(report)


def test_global_random_stream_and_parameters_stay():
    model = kernel()
    ids = [id(p) for p in model.parameters()]
    state = torch.get_rng_state()
    refine_(model, spectrum(), steps=2)
    assert torch.equal(torch.get_rng_state(), state)
    assert [id(p) for p in model.parameters()] == ids
    assert all(p.grad is None for p in model.parameters())


def test_masked_kernels_and_bad_options_are_refused():
    with pytest.raises(HostError, match="no bandlimit"):
        refine_(kernel(bandlimit=0.2, dt_min=0.1, dt_max=0.2), spectrum(), steps=1)
    with pytest.raises(OptionError, match="steps=0"):
        refine_(kernel(), spectrum(), steps=0)
    with pytest.raises(OptionError, match=r"steps=2\.5"):
        refine_(kernel(), spectrum(), steps=2.5)
    with pytest.raises(OptionError, match="did you mean 'kl'"):
        refine_(kernel(), spectrum(), loss="k")
