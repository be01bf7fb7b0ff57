"""What a host layer must offer: its poles and step sizes, a write that is read back, and its own kernel."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class Host(Protocol):
    """One state-space kernel of a model, seen through its own accessors.

    H channels, S independent rows of poles (n_ssm; channel h uses row h mod S), P = d_state // 2 conjugate
    pairs a row. Poles are continuous-time, complex128, in the convention Im A <= 0 whatever the module
    stores.
    """

    name: str
    """Path of the kernel inside the model, as in ``named_modules``."""
    kind: str
    """Human name of the host, e.g. "builtin S4D" or "s4 SSMKernelDiag"."""
    module: nn.Module
    disc: str
    """Discretisation that the kernel uses: "zoh" or "bilinear"."""

    @property
    def poles(self) -> Tensor:
        """(S, P) complex128: A, read through the host's own accessor."""
        ...

    @property
    def dt(self) -> Tensor:
        """(H, 1) or (H, P) float64 step sizes, read through the host's own accessor."""
        ...

    @property
    def output(self) -> Tensor:
        """(channels, H, P) complex128: C, before any transformation that the kernel makes for its own use."""
        ...

    @property
    def input(self) -> Tensor:
        """(S, P) complex128: B; ones where the host has none."""
        ...

    @property
    def length(self) -> int | None:
        """Longest kernel the layer is built for (l_max), or None."""
        ...

    @property
    def highest(self) -> float:
        """Frequency in cycles/sample, at most 1/2, from which on the layer silences a pole."""
        ...

    def write(
        self, poles: Tensor | None = None, dt: Tensor | None = None, output: Tensor | None = None
    ) -> None:
        """Write in place and read back; an element equal to the present value keeps its exact bits.

        Raises:
            HostError: naming the attribute, if what is read back differs from what was written.
        """
        ...

    def kernel(self, length: int) -> Tensor:
        """(channels, H, length) float: the impulse response as the module itself computes it."""
        ...
