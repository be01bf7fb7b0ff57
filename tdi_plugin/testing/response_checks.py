"""Comparing a host's own kernel with the closed form of its poles, and saying what a difference means."""

from __future__ import annotations

from tdi_plugin.hosts import Host
from tdi_plugin.poles.response import modes, samples, weights_of


def closed_form_error(host: Host, length: int) -> tuple[float, float]:
    """Largest relative difference of the kernel from the closed form, and from that with A conjugated."""
    own = host.kernel(length).detach().cpu().double()
    errors = []
    for poles in (host.poles, host.poles.conj().resolve_conj()):
        kernel = samples(*modes(poles, host.dt, weights_of(host), host.disc), length)
        errors.append(float((own - kernel).abs().max() / kernel.abs().max()))
    return errors[0], errors[1]


def verdict(error: float, mirrored: float) -> str:
    """What a kernel that is not that of its poles most likely means."""
    if mirrored < 1e-3 < error:
        return (
            "The kernel is that of the conjugated poles: the sign of Im A is wrong against C. Conjugate A "
            "and C together in the adapter, or neither."
        )
    return (
        f"The kernel differs by {error:.2g} from that of the adapter's poles, dt, input and output: one of "
        "them is not what the module uses, or disc is not its rule."
    )
