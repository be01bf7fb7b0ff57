"""Convolution of many channels by FFT, with a backward pass that is made of real FFTs as well."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)


def fft_convolve(u: Tensor, kernel: Tensor, n: int) -> Tensor:
    """First L samples of the circular convolution modulo n: (B, H, L) with (C, H, K) to (B, C, H, L).

    With n >= L + K - 1 that is the causal convolution. Autograd's own backward of an rfft is a complex FFT of
    full length; this one costs as much as the forward pass. Half-precision inputs, as autocast makes them,
    are convolved in float32, since there is no such FFT.

    Args:
        u: (B, H, L) real inputs.
        kernel: (C, H, K) real, K <= n.
        n: FFT length, at least L; see ``fast_length``.
    """
    u, kernel = (x.float() if x.dtype in HALF else x for x in (u, kernel))
    return _Convolve.apply(u, kernel, n)


def fast_length(n: int) -> int:
    """Smallest even number >= n with no prime factor above 5: FFT sizes that are quick."""
    size = n + n % 2
    while True:
        rest = size
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 2


class _Convolve(torch.autograd.Function):
    @staticmethod
    def forward(u: Tensor, kernel: Tensor, n: int) -> Tensor:
        product = torch.fft.rfft(u, n=n).unsqueeze(-3) * torch.fft.rfft(kernel, n=n).unsqueeze(-4)
        return torch.fft.irfft(product, n=n)[..., : u.shape[-1]]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, int], output: Tensor) -> None:
        u, kernel, ctx.n = inputs
        ctx.save_for_backward(u, kernel)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        u, kernel = ctx.saved_tensors
        n, grad_f = ctx.n, torch.fft.rfft(grad, n=ctx.n)
        grad_u = grad_kernel = None
        if ctx.needs_input_grad[0]:
            kernel_f = torch.fft.rfft(kernel, n=n).conj().unsqueeze(-4)
            grad_u = torch.fft.irfft((grad_f * kernel_f).sum(dim=-3), n=n)[..., : u.shape[-1]]
        if ctx.needs_input_grad[1]:
            u_f = torch.fft.rfft(u, n=n).conj().unsqueeze(-3)
            grad_kernel = torch.fft.irfft((grad_f * u_f).sum(dim=-4), n=n)[..., : kernel.shape[-1]]
        return grad_u, grad_kernel, None

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, int | None, None], u: Tensor, kernel: Tensor, n: int
    ) -> tuple[Tensor, int]:
        parts = [
            part.unsqueeze(0) if dim is None else part.movedim(dim, 0)
            for part, dim in zip((u, kernel), in_dims[:2], strict=True)
        ]
        size = max(part.shape[0] for part in parts)
        u, kernel = (part.expand(size, *part.shape[1:]) for part in parts)
        return _Convolve.apply(u, kernel, n), 0
