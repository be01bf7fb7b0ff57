"""Impulse and frequency responses: of poles, of a host layer, or of a kernel that is already there."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.errors import DataError, HostError, OptionError, choices
from tdi_plugin.kernel._checks import real
from tdi_plugin.kernel._poles import response_of_poles


def impulse_response(
    source: Any,
    length: int,
    *,
    dt: Any = None,
    output: Any = None,
    disc: str = "zoh",
    aggregate: str | None = None,
) -> Tensor:
    """The first ``length`` samples of a layer's impulse response, float64.

    For poles A in conjugate pairs h[l] = 2 Re sum_n C_n g_n z_n^l, with (z, g) = (exp(dt A), (z - 1) / A)
    under zero-order hold and ((1 + dt A/2) / (1 - dt A/2), dt / (1 - dt A/2)) under the bilinear rule (S4D,
    Gu et al. 2022).

    Args:
        source: a host (anything with ``kernel(length)``); a model with exactly one state-space layer; complex
            poles (P,) or (S, P); or a real kernel (..., at least length), which is cut.
        length: L, at least 2.
        dt: step sizes of continuous poles: a number, (H,), (H, 1) or (H, P). None: the poles are discrete,
            |z| < 1 and g = 1.
        output: C of poles, (P,), (H, P) or (channels, H, P), complex; ones by default. Channel h uses row
            h mod S.
        disc: "zoh" or "bilinear", for continuous poles.
        aggregate: None for one response a channel, "sum" for that of the channels' sum.

    Returns:
        (channels, H, L) of a host; (L,), (H, L) or (channels, H, L) of poles; (L,) with "sum".

    Raises:
        DataError: length < 2, unstable poles, shapes that do not fit, values that are not finite.
        HostError: a host whose poles are unstable or whose kernel is not finite; a model without exactly one
            layer.
    """
    if length < 2:
        raise DataError(f"length={length}; a response of at least 2 samples was expected.")
    if aggregate not in (None, "sum"):
        raise OptionError(
            f"aggregate={aggregate!r} of an impulse response: {choices(str(aggregate), (None, 'sum'))}"
        )
    if isinstance(source, nn.Module):
        source = _only_host(source)
    if callable(getattr(source, "kernel", None)):
        h = _of_host(source, length)
    else:
        values = torch.as_tensor(source).detach().cpu()
        is_poles = values.is_complex() or dt is not None or output is not None
        h = response_of_poles(values, length, dt, output, disc) if is_poles else _cut(values, length)
    return h.reshape(-1, length).sum(0) if aggregate == "sum" else h


def frequency_response(source: Any, length: int, *, aggregate: str | None = None, **poles: Any) -> Tensor:
    """H(f_k) of the first ``length`` samples on the grid f_k = k/L, k = 0..L//2, by one real FFT.

    Args:
        source: as for ``impulse_response``, which gets the further keywords (dt, output, disc).
        length: L, at least 2.
        aggregate: None for each channel; "sum" for the channels' sum; "power" for the mean of |H|**2 over the
            channels, the symbol of the layer's induced kernel.

    Returns:
        (..., L//2 + 1) complex128, or with "power" (L//2 + 1,) float64.
    """
    known = (None, "sum", "power")
    if aggregate not in known:
        raise OptionError(
            f"aggregate={aggregate!r} of a frequency response: {choices(str(aggregate), known)}"
        )
    H = torch.fft.rfft(
        impulse_response(source, length, aggregate="sum" if aggregate == "sum" else None, **poles)
    )
    return H.abs().square().reshape(-1, H.shape[-1]).mean(0) if aggregate == "power" else H


def _only_host(model: nn.Module) -> Any:
    from tdi_plugin.hosts import find_hosts

    hosts = find_hosts(model)
    if len(hosts) != 1:
        raise HostError(
            f"The model has {len(hosts)} state-space layers ({', '.join(host.name for host in hosts)}); one "
            "was expected. Pass one of find_hosts(model)."
        )
    return hosts[0]


def _of_host(host: Any, length: int) -> Tensor:
    name = f"{getattr(host, 'kind', type(host).__name__)} {getattr(host, 'name', '')!r}"
    poles = getattr(host, "poles", None)
    if poles is not None and not bool((poles.real < 0).all()):
        raise HostError(
            f"{name} has a pole with real part {float(poles.real.max()):.3g}; all below 0 were expected. "
            "Check its parameters for NaN."
        )
    h: Tensor = host.kernel(length).detach().cpu().to(torch.float64)
    if not bool(torch.isfinite(h).all()):
        raise HostError(
            f"The kernel of {name} at length {length} holds NaN or infinite values; check its parameters."
        )
    return h


def _cut(values: Tensor, length: int) -> Tensor:
    h = real(values, "The impulse response")
    if h.ndim == 0 or h.shape[-1] < length:
        raise DataError(
            f"The impulse response has shape {tuple(h.shape)}; at least {length} samples were expected along "
            "its last axis. Make it longer, or ask for fewer."
        )
    return h[..., :length]
