"""The response of a layer in closed form, from its poles, step sizes, B and C."""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor

from tdi_plugin.poles.expm1 import complex_expm1
from tdi_plugin.poles.placement import log_poles


class Layer(Protocol):
    """What the closed form needs: A (S, P), dt (H, 1 or P), B (S, P), C (channels, H, P), disc."""

    disc: str

    @property
    def poles(self) -> Tensor: ...

    @property
    def dt(self) -> Tensor: ...

    @property
    def input(self) -> Tensor: ...

    @property
    def output(self) -> Tensor: ...


def modes(poles: Tensor, dt: Tensor, weights: Tensor, disc: str) -> tuple[Tensor, Tensor]:
    """log p (H, P) and the amplitudes (channels, H, P) with K[l] = 2 Re sum over P of amplitude * p^l.

    Args:
        poles: (S, P), channel h using row h mod S.
        dt: (H, 1) or (H, P).
        weights: (channels, H, P), B * C.
        disc: "zoh", amplitude B C (p - 1)/A; "bilinear", amplitude B C dt/(1 - dt A/2).
    """
    a = poles.repeat(dt.shape[0] // poles.shape[0], 1)
    log_p = log_poles(a, dt, disc)
    gain = complex_expm1(log_p) / a if disc == "zoh" else dt / (1 - dt * a / 2)
    return log_p, weights * gain


def weights_of(layer: Layer) -> Tensor:
    """(channels, H, P) complex128: B * C."""
    b = layer.input
    return layer.output * b.repeat(layer.dt.shape[0] // b.shape[0], 1)


def impulse_response(layer: Layer, length: int) -> Tensor:
    """(channels, H, length) float64: K[l] = 2 Re sum of C B gain p^l."""
    return samples(*modes(layer.poles, layer.dt, weights_of(layer), layer.disc), length)


def samples(log_p: Tensor, amplitude: Tensor, length: int) -> Tensor:
    """(channels, H, length) float64: 2 Re sum over P of amplitude (channels, H, P) * p^l."""
    powers = torch.exp(log_p[..., None] * torch.arange(length, dtype=torch.float64))
    return 2 * torch.einsum("chp,hpl->chl", amplitude, powers).real


def frequency_response(log_p: Tensor, amplitude: Tensor, length: int) -> Tensor:
    """(channels, H, K) complex: the DFT of the first ``length`` samples at f_k = k/length, without the DFT.

    Each mode gives a (1 - p^L)/(1 - p exp(-2 pi i k/L)), and its conjugate likewise.

    Args:
        log_p: (H, P).
        amplitude: (channels, H, P).
        length: L; K = L//2 + 1.
    """
    k = torch.arange(length // 2 + 1, dtype=torch.float64)
    turn = torch.complex(torch.zeros_like(k), -2 * math.pi * k / length)
    cut = amplitude * -complex_expm1(length * log_p)
    ahead = torch.einsum("chp,hpk->chk", cut, 1 / -complex_expm1(log_p[..., None] + turn))
    mirrored = torch.einsum("chp,hpk->chk", cut.conj(), 1 / -complex_expm1(log_p.conj()[..., None] + turn))
    return ahead + mirrored
