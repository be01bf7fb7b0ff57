"""Convolution of every channel with its state-space kernel, by FFT."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tdi_plugin.errors import OptionError
from tdi_plugin.nn.circular import fast_length, fft_convolve
from tdi_plugin.nn.kernel import S4DKernel
from tdi_plugin.nn.layers import dropout as make_dropout


class FFTConv(nn.Module):
    """y = K * u + D u for each channel: ``D`` (channels, H) and ``kernel`` as in s4's layer of this name.

    Args:
        d_model: H.
        channels: outputs a channel.
        l_max: longest kernel; None for the input's length.
        bidirectional: a second kernel runs backwards in time.
        transposed: inputs are (B, H, L) instead of (B, L, H).
        dropout: probability, after the convolution.
        kernel: options of S4DKernel.
    """

    def __init__(
        self,
        d_model: int,
        channels: int = 1,
        l_max: int | None = None,
        bidirectional: bool = False,
        transposed: bool = True,
        dropout: float = 0.0,
        **kernel: Any,
    ) -> None:
        super().__init__()
        self.d_model, self.channels, self.l_max = d_model, channels, l_max
        self.d_output = d_model * channels
        self.bidirectional, self.transposed = bidirectional, transposed
        self.D = nn.Parameter(torch.randn(channels, d_model))
        directions = 2 if bidirectional else 1
        self.kernel = S4DKernel(d_model, channels=channels * directions, l_max=l_max, **kernel)
        self.drop = make_dropout(dropout)

    def forward(
        self, u: Tensor, state: Tensor | None = None, rate: float = 1.0
    ) -> tuple[Tensor, Tensor | None]:
        """(B, L, H) to (B, L, channels * H), and the state after the input, (B, H, P), if one was given.

        Raises:
            OptionError: a state for a bidirectional layer.
        """
        if state is not None:
            self._check_causal()
        if not self.transposed:
            u = u.transpose(-1, -2)
        length = u.shape[-1]
        taps = length if self.l_max is None else min(length, round(self.l_max / rate))
        K, free = self.kernel(L=taps, rate=rate, state=state)
        y = self._convolve(u, K) + u.unsqueeze(1) * self.D.unsqueeze(-1)
        if free is not None:
            y = y + free
        next_state = None if state is None else self.kernel.forward_state(u, state)
        y = self.drop(y.flatten(1, 2))
        # contiguous: an activation is many times slower on a transposed view, in its backward pass above all
        return (y if self.transposed else y.transpose(-1, -2).contiguous()), next_state

    def _convolve(self, u: Tensor, K: Tensor) -> Tensor:
        """(B, H, L) with (C, H, taps), or with (2 C, H, taps) both ways: (B, C, H, L)."""
        taps = K.shape[-1]
        n = fast_length(u.shape[-1] + taps)
        if self.bidirectional:
            ahead, behind = K.unflatten(0, (2, -1))
            # s4 puts the reversed kernel's first tap at lag -1
            K = F.pad(ahead, (0, n - taps)) + F.pad(behind.flip(-1), (n - taps, 0))
        return fft_convolve(u, K, n)

    def step(self, u: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One time step: (B, H) and a state (B, H, P) to (B, channels * H) and the next state.

        Raises:
            OptionError: a bidirectional layer, whose output needs what comes later.
        """
        self._check_causal()
        y, state = self.kernel.step(u, state)
        y = y + u.unsqueeze(-2) * self.D
        return y.flatten(-2), state

    def _check_causal(self) -> None:
        if self.bidirectional:
            raise OptionError(
                "A bidirectional layer (bidirectional=True) reads the future, so it has no state to step or "
                "carry on from; run it on whole sequences."
            )
