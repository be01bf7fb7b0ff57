"""The conformance suite of host adapters: write two methods, inherit every check.

    class TestMyFork(HostConformance):
        def make_model(self):
            return my_fork.Model(...)

        def frequency_response(self, model):
            return response_of_kernel(model.layers[0].kernel(2048))

Run by pytest as any other class. Each check fails with a sentence on what the adapter does wrong.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tdi_plugin.hosts import Host, find_hosts
from tdi_plugin.init import tdi_
from tdi_plugin.poles.placement import damping_of, place
from tdi_plugin.poles.tying import group_mean
from tdi_plugin.spectrum.value import TaskSpectrum
from tdi_plugin.testing.integrity import IntegrityChecks
from tdi_plugin.testing.measure import placement_errors
from tdi_plugin.testing.response_checks import closed_form_error, verdict

LENGTH = 512


class HostConformance(IntegrityChecks):
    """Checks of one host adapter, on the first state-space layer of a model."""

    damping: float | str = 0.02
    """Per sample, for the measured resonances; "host" where the layer cannot take other real parts."""
    pairs: int | None = None
    """Conjugate pairs a row (d_state // 2) that the model was built with, where that should be checked."""

    def make_model(self) -> nn.Module:
        """A fresh model whose first state-space layer is of the host under test."""
        raise NotImplementedError("write make_model(): it returns a fresh model of your code base")

    def frequency_response(self, model: nn.Module) -> Tensor:
        """(channels, H, F) response of the first layer's kernel, from 0 to 1/2 cycles/sample, both included.

        It must come from the model's own code. At least 1024 samples of the kernel (20 time constants) and
        4097 frequencies are needed for a measurement to 0.1 %.
        """
        raise NotImplementedError("write frequency_response(model): |H| as your own code computes it")

    def spectrum(self, length: int = LENGTH) -> TaskSpectrum:
        """A made-up task: three bands between 0.05 and 0.48 cycles/sample."""
        f = torch.arange(length // 2 + 1, dtype=torch.float64) / length
        power = sum(torch.exp(-(((f - c) / w) ** 2)) for c, w in ((0.09, 0.01), (0.2, 0.03), (0.45, 0.01)))
        return TaskSpectrum(power * ((f > 0.05) & (f < 0.48)), length, "fisher")

    def test_shapes_fit_together(self) -> None:
        host = self.host(self.make_model())
        (rows, pairs), (channels, steps) = host.poles.shape, host.dt.shape
        assert isinstance(host, Host), f"{type(host).__name__} lacks members of tdi_plugin.hosts.Host."
        assert channels % rows == 0, f"{rows} rows of poles do not divide {channels} channels."
        assert steps in (1, pairs), f"dt is ({channels}, {steps}); (H, 1) or (H, P) = (H, {pairs}) is needed."
        assert host.output.shape[1:] == (channels, pairs), (
            f"output is {tuple(host.output.shape)}; (channels, H, P) = (channels, {channels}, {pairs}) is "
            "needed."
        )
        assert host.input.shape == (rows, pairs), f"input is {tuple(host.input.shape)}, not {(rows, pairs)}."
        assert self.pairs in (None, pairs), f"poles has {pairs} pairs a row; the model has {self.pairs}."
        for name in ("poles", "input", "output"):
            assert getattr(host, name).dtype == torch.complex128, f"{name} is not complex128."

    def test_poles_have_the_agreed_sign_and_are_stable(self) -> None:
        poles = self.host(self.make_model()).poles
        assert (poles.imag <= 0).all(), "poles has Im A > 0; conjugate A and C where the module stores +i."
        assert (poles.real < 0).all(), "poles has Re A >= 0: the layer is not stable, or its sign is lost."

    def test_what_is_written_is_read_back(self) -> None:
        model = self.make_model()
        poles, dt, output = self.values(self.host(model))
        self.host(model).write(poles=poles, dt=dt, output=output)
        after = self.host(model)
        for name, asked in (("poles", poles), ("dt", dt), ("output", output)):
            error = (getattr(after, name) - asked).abs().max() / asked.abs().max()
            assert error < 1e-4, (
                f"{name} was written but reads back {float(error):.2g} off: the write is lost."
            )

    def test_kernel_is_that_of_the_poles(self) -> None:
        model = self.make_model()
        host = self.host(model)
        host.write(*self.values(host))
        error, mirrored = closed_form_error(self.host(model), LENGTH)
        assert error < 1e-3, verdict(error, mirrored)

    def test_each_pole_resonates_where_it_was_asked(self) -> None:
        model = self.make_model()
        layer = tdi_(model, self.spectrum(), damping=self.damping).layers[0]
        host = self.host(model)
        f, damping = layer.frequencies, layer.damping
        clear = torch.minimum(f, 1 - 2 * f) / damping >= 2
        assert clear.any(), "No pole has f * tau >= 2, so nothing could be measured; lower `damping`."
        off = placement_errors(host, lambda: self.frequency_response(model), f, damping).max()
        assert off < 0.01, f"A pole resonates {100 * float(off):.3g} % away from the frequency asked for."

    def test_decay_is_what_was_asked(self) -> None:
        host = self.host(self.make_model())
        poles, dt, _ = self.values(host)
        host.write(poles=poles, dt=dt)
        step = group_mean(host.dt, poles.shape[0])
        asked = damping_of(poles, group_mean(dt, poles.shape[0]), host.disc)
        error = (damping_of(host.poles, step, host.disc) / asked - 1).abs().max()
        assert error < 1e-3, f"A pole decays {100 * float(error):.3g} % faster or slower than asked."

    def test_tied_channels_get_one_step_size(self) -> None:
        model = self.make_model()
        before = self.host(model)
        rows, dt, output = before.poles.shape[0], before.dt, before.output
        tdi_(model, self.spectrum(), tied="equal")
        after = self.host(model)
        groups = after.dt.view(-1, rows, dt.shape[1])
        spread = (groups / groups[:1] - 1).abs().max()
        assert spread < 1e-5, f"Channels that share a row of poles still differ by {float(spread):.2g} in dt."
        gain = (after.output * after.dt - output * dt).abs().max() / (output * dt).abs().max()
        assert gain < 1e-4, (
            f"C * dt, the gain of a channel, changed by {float(gain):.2g} as dt was equalised."
        )

    def host(self, model: nn.Module) -> Host:
        """The adapter of the first layer, found anew."""
        return find_hosts(model, "first")[0]

    def values(self, host: Host) -> tuple[Tensor, Tensor, Tensor]:
        """Other poles, step sizes and C for a host; override for one that cannot take such values."""
        own = torch.Generator().manual_seed(1)
        dt = host.dt * 1.1
        step = group_mean(dt, host.poles.shape[0])
        draw = torch.rand((3, *host.poles.shape), dtype=torch.float64, generator=own)
        poles = place(0.02 + 0.4 * draw[0], 0.01 + 0.05 * draw[1], step, host.disc)
        if self.damping == "host":
            poles = torch.complex(host.poles.real, poles.imag)
        phase = 2 * math.pi * torch.rand(host.output.shape, dtype=torch.float64, generator=own)
        return poles, dt, torch.polar(torch.full_like(phase, 0.7), phase)
