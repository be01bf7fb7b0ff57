"""Spectra inside a model: of an encoder's output, or of what reaches its layers, in one forward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.spectrum.estimate import start
from tdi_plugin.spectrum.preserved import preserved
from tdi_plugin.spectrum.value import TaskSpectrum

LAYOUTS = ("auto", "time first", "channels first")


def spectra_at(
    model: nn.Module,
    modules: Mapping[str, nn.Module],
    batches: Iterable[Any],
    at: str = "input",
    forward: Callable[[Any], Any] | None = None,
    layout: str = "auto",
    **options: Any,
) -> dict[str, TaskSpectrum]:
    """The task spectrum at several places of a model, all measured in the same forward passes.

    The model is left as it was: parameters, buffers, caches, training flags and random states.

    Args:
        model: what is run.
        modules: the places, by the names that the result shall have.
        batches: (inputs, y) or (inputs, y, lengths); inputs (B, L), (B, L, D) or tokens (B, L) of any type.
        at: "input" (first argument) or "output" (first result) of those modules, at their first call.
        forward: runs one batch's inputs through the model; None calls ``model(inputs)`` on its own device.
        layout: of captured tensors, "time first" (B, L, D) or "channels first" (B, D, L); "auto" finds out
            which by the length of the inputs.
        options: of ``spectrum_of_batches``: statistic, num_classes, smoothing, permutations, ...

    Raises:
        DataError: a module that is never reached, or a captured tensor that holds no series.
        OptionError: an unknown place or layout.
    """
    if at not in ("input", "output"):
        raise OptionError(f"Unknown place at={at!r}: {choices(str(at), ('input', 'output'))}")
    if layout not in LAYOUTS:
        raise OptionError(f"Unknown layout {layout!r}: {choices(str(layout), LAYOUTS)}")
    measurements = {name: start(**options) for name in modules}
    run = forward or (lambda inputs: model(to_device_of(model, inputs)))
    with preserved(model):
        for batch in batches:
            inputs, y, *rest = batch
            for name, captured in capture(modules, at, partial(run, inputs)).items():
                series = time_first(captured, layout, inputs, name)
                measurements[name].add(series, y, rest[0] if rest else None)
    return {name: measurement.finish() for name, measurement in measurements.items()}


class _Enough(Exception):
    """Every place has been reached: the rest of the forward pass is not needed."""


def capture(modules: Mapping[str, nn.Module], at: str, run: Callable[[], Any]) -> dict[str, Tensor]:
    """What goes into (or comes out of) each module while ``run`` runs, which is stopped after the last one.

    Raises:
        DataError: a module that is never called.
    """
    found: dict[str, Tensor] = {}

    def keep(name: str, value: Any) -> None:
        if name not in found:
            found[name] = value[0] if isinstance(value, tuple) else value
        if len(found) == len(modules):
            raise _Enough

    def before(name: str) -> Callable[..., None]:
        return lambda module, args, kwargs: keep(name, args or tuple(kwargs.values()))

    def after(name: str) -> Callable[..., None]:
        return lambda module, args, result: keep(name, result)

    hooks = [
        module.register_forward_pre_hook(before(name), with_kwargs=True)
        if at == "input"
        else module.register_forward_hook(after(name))
        for name, module in modules.items()
    ]
    try:
        run()
    except _Enough:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    if missing := [name for name in modules if name not in found]:
        raise DataError(
            f"The forward pass never called {', '.join(missing)}: nothing can be measured there. Name "
            "modules that take part in it, called as module(x)."
        )
    return found


def time_first(captured: Any, layout: str, inputs: Any, name: str) -> Tensor:
    """(B, L) or (B, L, D) of what was captured.

    Raises:
        DataError: no tensor of series, or one whose time axis cannot be told.
    """
    if not isinstance(captured, Tensor) or captured.ndim not in (2, 3) or not captured.is_floating_point():
        shape = tuple(captured.shape) if isinstance(captured, Tensor) else ""
        what = f"a {getattr(captured, 'dtype', type(captured).__name__)} {shape}".strip()
        raise DataError(f"{name} passes {what}, expected real series (B, L, D) or (B, D, L).")
    if captured.ndim == 2 or layout == "time first":
        return captured
    if layout == "channels first":
        return captured.transpose(1, 2)
    length = inputs.shape[1] if isinstance(inputs, Tensor) and inputs.ndim > 1 else None
    first, last = captured.shape[1] == length, captured.shape[2] == length
    if first == last:
        raise DataError(
            f"{name} passes a tensor {tuple(captured.shape)} for inputs of {length} samples: give "
            "layout='time first' or 'channels first' to say which axis is time."
        )
    return captured if first else captured.transpose(1, 2)


def to_device_of(model: nn.Module, inputs: Any) -> Any:
    """The inputs on the device of the model's first parameter."""
    parameter = next(model.parameters(), None)
    return inputs if parameter is None or not isinstance(inputs, Tensor) else inputs.to(parameter.device)
