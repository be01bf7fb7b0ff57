"""The whole road on the builtin model: what tdi_ writes, reports and refuses."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import torch

from tdi_plugin.errors import DataError, HostError, OptionError
from tdi_plugin.hosts import find_hosts
from tdi_plugin.init import tdi_
from tdi_plugin.nn import S4DKernel, SequenceModel
from tdi_plugin.poles import allocate
from tdi_plugin.refine import refine_
from tdi_plugin.spectrum import task_spectrum
from tdi_plugin.spectrum.value import TaskSpectrum

LENGTH = 400


def spectrum(centre: float = 0.1, length: int = LENGTH) -> TaskSpectrum:
    f = torch.arange(length // 2 + 1, dtype=torch.float64) / length
    return TaskSpectrum(torch.exp(-(((f - centre) / 0.02) ** 2)) + 1e-4, length, "fisher")


def kernel(**options) -> S4DKernel:
    torch.manual_seed(0)
    return S4DKernel(8, d_state=8, init="tdi", **options)


def resonances(model: S4DKernel) -> torch.Tensor:
    """(H, P) cycles/sample, from the module's own parameters."""
    dt, A, _, _ = model._get_params()
    return (dt * -A.imag).detach().double() / (2 * np.pi)


def test_poles_in_the_model_are_those_of_the_allocation():
    model = kernel()
    layer = tdi_(model, spectrum()).layers[0]
    expected = allocate(spectrum().density, LENGTH, 8, 4)
    torch.testing.assert_close(layer.frequencies, expected)
    torch.testing.assert_close(resonances(model), expected, rtol=1e-5, atol=0)
    torch.testing.assert_close(layer.damping, 0.5 * layer.dt[:, None].expand(8, 4), rtol=1e-6, atol=0)
    assert layer.dt.shape == (8,)
    assert (layer.n_ssm, layer.tied, layer.distinct_frequencies) == (8, False, 32)


def test_only_the_imaginary_parts_of_the_first_layer_change():
    torch.manual_seed(0)
    model = SequenceModel(8, n_layers=2, layer={"d_state": 8, "init": "tdi"})
    before = {k: v.clone() for k, v in model.state_dict().items()}
    tdi_(model, spectrum())
    changed = [k for k, v in model.state_dict().items() if not torch.equal(v, before[k])]
    assert changed == ["layers.0.layer.layer.kernel.A_imag"]


@pytest.mark.parametrize("over", ["pairs", "rows"])
def test_share_keeps_the_host_poles_bit_by_bit(over):
    model, plain = kernel(), kernel()
    layer = tdi_(model, spectrum(), share=0.5, share_over=over).layers[0]
    assert int(layer.task.sum()) == 16
    assert torch.equal(model.A_imag[~layer.task], plain.A_imag[~layer.task])
    assert not torch.isclose(model.A_imag[layer.task], plain.A_imag[layer.task]).any()


def test_equal_tying_gives_one_frequency_a_pole_and_keeps_the_gain():
    model, plain = kernel(n_ssm=2), kernel(n_ssm=2)
    layer = tdi_(model, spectrum(), tied="equal").layers[0]
    dt, old = layer.dt.view(4, 2), plain._get_params()[0].double().view(4, 2)
    torch.testing.assert_close(dt, old.log().mean(0).exp().expand(4, 2), rtol=1e-6, atol=0)
    gain = (model.C / plain.C).mean((0, 2, 3)).double()
    torch.testing.assert_close(gain, (old / dt).flatten(), rtol=1e-5, atol=0)
    torch.testing.assert_close(resonances(model), layer.frequencies.repeat(4, 1), rtol=1e-5, atol=0)
    assert (layer.tied, layer.tying, layer.distinct_frequencies) == (True, "equal", 8)
    host_decays = (0.5 * old).aminmax(dim=0)
    assert (layer.damping >= host_decays.min[:, None] - 1e-9).all()
    assert (layer.damping <= host_decays.max[:, None] + 1e-9).all()
    assert layer.damping.unique().numel() == 8


def test_kept_step_sizes_spread_the_resonances_and_never_alias():
    model, plain = kernel(n_ssm=1), kernel(n_ssm=1)
    report = tdi_(model, spectrum(0.45), tied="keep")
    assert torch.equal(model.inv_dt, plain.inv_dt)
    assert torch.equal(model.C, plain.C)
    assert resonances(model).max() < 0.5
    assert report.layers[0].distinct_frequencies > 4
    assert "were lowered so that" in str(report)
    assert "step sizes were kept" in str(report)


def test_kept_step_sizes_need_no_guard_under_the_bilinear_rule():
    model = kernel(n_ssm=1, disc="bilinear")
    layer = tdi_(model, spectrum(0.45), tied="keep").layers[0]
    assert float(layer.frequencies.median()) == pytest.approx(0.45, abs=0.01)
    assert len(layer.notes) == 1


def test_refusing_tied_poles_says_how_many_rows():
    with pytest.raises(HostError, match="shares 2 rows of poles among 8 channels"):
        tdi_(kernel(n_ssm=2), spectrum(), tied="refuse")
    assert tdi_(kernel(), spectrum(), tied="refuse").layers[0].tying == "untied"


def test_tied_rows_of_one_step_size_are_left_as_they_are():
    model = kernel(n_ssm=2, dt_min=0.01, dt_max=0.01)
    layer = tdi_(model, spectrum(), tied="refuse").layers[0]
    assert layer.notes == ()
    torch.testing.assert_close(
        layer.damping, torch.full((2, 4), 0.005, dtype=torch.float64), rtol=1e-5, atol=0
    )


def test_constant_and_width_damping_reach_the_model():
    model = kernel()
    tdi_(model, spectrum(), damping=0.03)
    dt, A, _, _ = model._get_params()
    torch.testing.assert_close(-dt * A.real, torch.full((8, 4), 0.03), rtol=1e-5, atol=0)
    layer = tdi_(kernel(), spectrum(), damping="width").layers[0]
    width = 2 * 0.02 * np.sqrt(np.log(2))
    np.testing.assert_allclose(layer.damping, np.pi * width, rtol=0.02)


def test_each_layer_can_have_its_own_spectrum():
    def run(given, **options):
        model = SequenceModel(4, n_layers=2, layer={"d_state": 8})
        return [float(r.frequencies.median()) for r in tdi_(model, given, **options).layers]

    low, high = spectrum(0.1), spectrum(0.3)
    assert run([low, high], layers="all") == pytest.approx([0.1, 0.3], abs=0.01)
    named = {"layers.1.layer.layer.kernel": low, 0: high}
    assert run(named, layers="all") == pytest.approx([0.3, 0.1], abs=0.01)
    assert run(low, layers=[1]) == pytest.approx([0.1], abs=0.01)
    with pytest.raises(OptionError, match="2 spectra were given for 1 layers"):
        run([low, high])
    with pytest.raises(OptionError, match=r"No spectrum was given for layers\.1"):
        run({0: low}, layers="all")


def test_a_spectrum_of_another_length_is_resampled_with_a_note():
    report = tdi_(kernel(l_max=1000), spectrum(0.1))
    assert "length 400 was resampled to the layer's l_max = 1000" in str(report)
    assert float(report.layers[0].frequencies.median()) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("disc", ["zoh", "bilinear"])
def test_a_bandlimit_silences_no_task_pole(disc):
    model = kernel(bandlimit=0.5, disc=disc)
    report = tdi_(model, TaskSpectrum(torch.ones(201), LENGTH, "power"))
    limit = 0.25 if disc == "zoh" else np.arctan(np.pi * 0.25) / np.pi
    assert report.layers[0].frequencies.max() == pytest.approx(limit, abs=0.01)
    assert (model._get_params()[3] != 0).all()
    assert "silenced by the layer's bandlimit" in str(report)


def test_nothing_is_done_when_disabled():
    model, plain = kernel(), kernel()
    report = tdi_(model, spectrum(), enabled=False)
    assert report.layers == ()
    assert "no layer was changed" in str(report)
    assert torch.equal(model.A_imag, plain.A_imag)


@pytest.mark.parametrize("n_ssm", [None, 1])
def test_a_spectrum_that_abstains_leaves_every_bit(n_ssm):
    x = torch.randn(24, LENGTH, generator=torch.Generator().manual_seed(1))
    found = task_spectrum(x, torch.arange(24) % 2)
    assert found.abstains
    model, plain = kernel(n_ssm=n_ssm), kernel(n_ssm=n_ssm)
    report = tdi_(model, found)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), plain.parameters(), strict=True))
    (layer,) = report.layers
    assert not layer.task.any()
    assert "no label information found" in str(report)
    assert refine_(model, found).layers == ()
    with pytest.raises(OptionError, match="Unknown loss 'square'"):
        refine_(model, found, loss="square")
    assert not torch.equal(
        tdi_(model, found.replaced(abstains=False)).layers[0].frequencies, layer.frequencies
    )


def test_what_was_done_with_tied_poles_is_logged(caplog):
    with caplog.at_level(logging.INFO, "tdi_plugin"):
        tdi_(kernel(n_ssm=1), spectrum())
    assert "made equal in each group" in caplog.text
    assert "4 distinct frequencies" in caplog.text


def test_the_report_is_a_table_and_plain_values():
    import json

    report = tdi_(SequenceModel(4, n_layers=2, layer={"d_state": 4}), spectrum(), layers="all")
    lines = str(report).splitlines()
    assert lines[0].startswith("layer")
    assert [line.split()[0] for line in lines[2:]] == [r.name for r in report.layers]
    assert json.loads(json.dumps(report.as_dict()))["layers"][1]["n_ssm"] == 4


def test_spectra_that_are_missing_or_of_another_kind_are_refused(tmp_path):
    with pytest.raises(DataError, match="No task spectrum was given"):
        tdi_(kernel(), None)
    with pytest.raises(DataError, match="spectrum is a Tensor"):
        tdi_(kernel(), torch.ones(5))
    path = spectrum().save(tmp_path / "saved")
    assert tdi_(kernel(), None, spectrum_file=str(path)).layers[0].statistic == "fisher"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"allocation": "peak"}, "did you mean 'peaks'"),
        ({"tied": "equals"}, "did you mean 'equal'"),
        ({"damping": "hots"}, "damping='hots'"),
        ({"share_over": "row"}, "did you mean 'rows'"),
        ({"spacing": 0.4}, "spacing=0.4 does not fit"),
    ],
)
def test_unknown_options_name_the_nearest(options, words):
    with pytest.raises(OptionError, match=words):
        tdi_(kernel(), spectrum(), **options)


def test_a_failed_plan_writes_nothing():
    torch.manual_seed(0)
    model = SequenceModel(4, n_layers=2, layer={"d_state": 4})
    before = {k: v.clone() for k, v in model.state_dict().items()}
    with pytest.raises(OptionError):
        tdi_(model, spectrum(), layers="all", spacing=0.4)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


def test_layers_can_be_chosen_by_a_condition():
    model = SequenceModel(4, n_layers=3, layer={"d_state": 4})
    first = find_hosts(model)[0].module
    report = tdi_(model, spectrum(), where=lambda kernel: kernel is not first, layers="first")
    assert report.layers[0].name == "layers.1.layer.layer.kernel"
