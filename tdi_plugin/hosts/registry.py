"""Finding the state-space layers of a model: a list of adapters, asked in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from torch import nn

from tdi_plugin.errors import HostError, OptionError
from tdi_plugin.hosts.builtin import builtin
from tdi_plugin.hosts.dplr import s4_low_rank
from tdi_plugin.hosts.protocol import Host
from tdi_plugin.hosts.s4 import s4_diagonal
from tdi_plugin.hosts.s4d_file import s4d_file

T = TypeVar("T")
Adapter = Callable[[str, nn.Module], Host | None]

ADAPTERS: list[Adapter] = [builtin, s4_low_rank, s4_diagonal, s4d_file]

# Kernels that stand where a state-space layer would, but have no poles that can be placed.
UNSUPPORTED = {
    "ConvKernel": "its kernel is free, without poles",
    "EMAKernel": "its poles are real",
    "SSMKernelDense": "its state matrix is dense",
    "SSMKernelReal": "its state matrix is dense and real",
    "SSKernelNPLR": "it is of s4 v3 or older",
    "SSKernelDiag": "it is of s4 v3 or older",
    "SSKernelSlow": "its state matrix is dense",
}


def register_host(adapter: Adapter) -> Adapter:
    """Add an adapter, asked before the known ones; it returns None for a module that isn't its own."""
    ADAPTERS.insert(0, adapter)
    return adapter


def find_hosts(
    model: nn.Module,
    layers: str | Sequence[int] = "all",
    where: Callable[[nn.Module], bool] | None = None,
) -> list[Host]:
    """The state-space kernels of a model, in order of registration, which is that of the forward pass.

    Args:
        model: any module; a kernel used twice is found once.
        layers: "first", "all", or positions among the layers found (negative from the end).
        where: only kernels for which this holds count at all.

    Raises:
        HostError: no state-space layer at all, or one among those asked for that cannot be used.
        OptionError: a position that does not exist.
    """
    if not isinstance(model, nn.Module):
        raise HostError(
            f"The model is a {type(model).__name__}, expected a torch.nn.Module; tdi_(model, spectrum) takes "
            "the model first."
        )
    found = [(name, module, _adapt(name, module)) for name, module in model.named_modules()]
    candidates = [(n, m, h) for n, m, h in found if h is not None or type(m).__name__ in UNSUPPORTED]
    if candidates and where is not None:
        candidates = [(n, m, h) for n, m, h in candidates if where(m)]
        if not candidates:
            raise HostError(
                f"{type(model).__name__} has state-space layers, but none of the kind asked for. "
                "With init=tdi only layers built with that name count; use tdi_ itself for any other."
            )
    if not candidates:
        raise HostError(
            f"{type(model).__name__} has no state-space layer: none of its {len(found)} modules is an S4D "
            "kernel of tdi_plugin.nn or of state-spaces/s4. Pass the model that holds them, or register an "
            "adapter with tdi_plugin.hosts.register_host."
        )
    chosen = select(candidates, layers)
    if bad := [
        f"{n or 'the model'} ({type(m).__name__}: {UNSUPPORTED[type(m).__name__]})"
        for n, m, h in chosen
        if h is None
    ]:
        raise HostError(
            f"Poles cannot be placed in {', '.join(bad)}; use a diagonal kernel (mode=diag or nplr), or "
            "choose other layers (layers=...)."
        )
    return [host for _, _, host in chosen if host is not None]


def _adapt(name: str, module: nn.Module) -> Host | None:
    return next((host for adapter in ADAPTERS if (host := adapter(name, module)) is not None), None)


def select(found: Sequence[T], layers: str | Sequence[int]) -> list[T]:
    """Those of the layers found that ``layers`` names, in order.

    Raises:
        OptionError: a position that does not exist.
    """
    return [found[i] for i in _positions(layers, len(found))]


def _positions(layers: str | Sequence[int], count: int) -> list[int]:
    if isinstance(layers, str):
        if layers not in ("first", "all"):
            raise OptionError(f"layers={layers!r} is not known; give 'first', 'all' or a list of positions.")
        return [0] if layers == "first" else list(range(count))
    if not layers:
        raise OptionError(
            "layers is an empty list; give at least one position, or enabled=False to place nothing."
        )
    for position in layers:
        if not -count <= position < count:
            raise OptionError(
                f"layers asks for position {position}, but the model has {count} state-space layers; give "
                f"positions from 0 to {count - 1}."
            )
    return sorted({position % count for position in layers})
