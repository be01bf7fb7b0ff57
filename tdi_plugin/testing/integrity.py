"""Checks that an adapter leaves a model what it was: its parameters, their names and options, checkpoints."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.errors import HostError, OptionError
from tdi_plugin.hosts import Host
from tdi_plugin.init import tdi_
from tdi_plugin.spectrum.value import TaskSpectrum


class IntegrityChecks:
    """Part of ``HostConformance``: what must not change."""

    def make_model(self) -> nn.Module:
        raise NotImplementedError

    def spectrum(self, length: int = 512) -> TaskSpectrum:
        raise NotImplementedError

    def host(self, model: nn.Module) -> Host:
        raise NotImplementedError

    def values(self, host: Host) -> tuple[Tensor, Tensor, Tensor]:
        raise NotImplementedError

    def test_parameters_are_written_in_place(self) -> None:
        model = self.make_model()
        before = {name: (id(p), p.data_ptr(), _form(p)) for name, p in model.named_parameters()}
        tdi_(model, self.spectrum())
        host = self.host(model)
        host.write(*self.values(host))
        after = {name: (id(p), p.data_ptr(), _form(p)) for name, p in model.named_parameters()}
        assert before.keys() == after.keys(), (
            f"Parameters came or went: {sorted(before.keys() ^ after.keys())}. Write with copy_."
        )
        for name, (identity, storage, form) in before.items():
            same = after[name][:2] == (identity, storage)
            assert same, (
                f"{name} was replaced by another tensor; optimizers keep the old one. Write with copy_."
            )
            assert after[name][2] == form, f"{name} changed from {form} to {after[name][2]}."

    def test_state_dict_keeps_its_keys_and_shapes(self) -> None:
        model = self.make_model()
        before = {k: (v.shape, v.dtype) for k, v in model.state_dict().items()}
        tdi_(model, self.spectrum())
        after = {k: (v.shape, v.dtype) for k, v in model.state_dict().items()}
        assert before == after, (
            f"state_dict changed at {sorted(k for k in before if before[k] != after.get(k))}."
        )

    def test_writing_what_is_there_changes_no_bit(self) -> None:
        host = self.host(self.make_model())
        poles, dt, output = host.poles, host.dt, host.output
        host.write(poles=poles, dt=dt, output=output)
        changed = [n for n, v in (("poles", poles), ("dt", dt)) if not torch.equal(v, getattr(host, n))]
        assert not changed, f"Writing a layer's own {' and '.join(changed)} changed them by rounding."
        error = (host.output - output).abs().max() / output.abs().max()
        assert error < 1e-6, f"Writing a layer's own output changed it by {float(error):.2g}."

    def test_checkpoint_round_trip(self) -> None:
        model, file = self.make_model(), io.BytesIO()
        tdi_(model, self.spectrum())
        torch.save(model.state_dict(), file)
        file.seek(0)
        other = self.make_model()
        other.load_state_dict(torch.load(file))
        mine, theirs = self.host(model), self.host(other)
        assert torch.equal(mine.poles, theirs.poles), "Poles differ after a checkpoint: part is not stored."
        kernels = mine.kernel(64), theirs.kernel(64)
        assert torch.equal(*kernels), (
            "The kernel differs after a checkpoint: part of its state is not stored."
        )

    def test_reading_and_measuring_change_nothing(self) -> None:
        model = self.make_model()
        before = {k: v.clone() for k, v in model.state_dict().items()}
        host = self.host(model)
        host.kernel(64), host.poles, host.dt, host.input, host.output
        changed = [k for k, v in model.state_dict().items() if not torch.equal(v, before[k])]
        assert not changed, f"Reading the layer changed {', '.join(changed)}."

    def test_twice_is_once(self) -> None:
        model = self.make_model()
        first = tdi_(model, self.spectrum()).layers[0]
        poles = self.host(model).poles
        tdi_(model, self.spectrum())
        error = (self.host(model).poles / poles - 1).abs().max()
        assert error < 1e-5, f"A second tdi_ moved the poles of {first.name} by {float(error):.2g}."

    def test_random_stream_is_untouched(self) -> None:
        model = self.make_model()
        before = torch.get_rng_state()
        tdi_(model, self.spectrum(), allocation="sample")
        assert torch.equal(torch.get_rng_state(), before), "tdi_ drew from the global random stream."

    def test_unstable_poles_are_refused(self) -> None:
        host = self.host(self.make_model())
        for bad in (host.poles.abs() + 0j, host.poles * float("nan")):
            message = _refusal(HostError, lambda bad=bad: host.write(poles=bad))  # type: ignore[misc]
            assert message is not None, "A pole with Re A >= 0 or NaN was accepted; raise HostError instead."
            assert host.name in message, f"The refusal does not name the layer {host.name!r}: {message}"

    def test_layers_that_are_not_there_are_refused(self) -> None:
        model = self.make_model()
        message = _refusal(OptionError, lambda: tdi_(model, self.spectrum(), layers=[99]))
        assert message is not None, "layers=[99] was accepted."
        assert "99" in message, f"The refusal does not say which layer was asked for: {message}"


def _refusal(kind: type[Exception], call: Callable[[], Any]) -> str | None:
    """The message of the expected error, or None where there was no error."""
    try:
        call()
    except kind as error:
        return str(error)
    return None


def _form(p: Tensor) -> tuple[Any, ...]:
    return tuple(p.shape), p.dtype, p.requires_grad, getattr(p, "_optim", None)
