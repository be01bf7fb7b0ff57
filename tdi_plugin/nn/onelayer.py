"""A single state-space layer with a readout of everything it puts out: the model of one-layer studies."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.nn.circular import fast_length, fft_convolve
from tdi_plugin.nn.kernel import S4DKernel
from tdi_plugin.nn.realform import RealS4DKernel

READOUTS = ("linear", "power")
LEAST_POWER = 1e-8


class OneLayer(nn.Module):
    """y_h = T_h u for H state-space channels, without skip term or nonlinearity, and a readout of all of y.

    - ``linear``: logits = W vec(y) + b. W and the Toeplitz maps T_h are both linear, so together they are one
      matrix of (d_output, L, d_input), and that is how logits are computed, in training too.
    - ``power``: logits = W log(mean_t y_h(t)^2) + b: phase-blind, H features.

    A series of one value a step drives every channel as it is; with more, ``encoder`` mixes them (no bias).

    Args:
        d_input: values a time step.
        d_output: number of classes.
        l_max: length of every series.
        d_model: H, state-space channels.
        d_state: N.
        readout: "linear" or "power".
        real: the real-valued 2x2-block form of the kernel instead of the complex one; with the same seed it
            starts as the same function.
        kernel: further options of S4DKernel.
    """

    def __init__(
        self,
        d_input: int,
        d_output: int,
        l_max: int,
        d_model: int = 1,
        d_state: int = 64,
        readout: str = "linear",
        real: bool = False,
        **kernel: Any,
    ) -> None:
        super().__init__()
        if readout not in READOUTS:
            raise OptionError(f"readout={readout!r} is unknown: {choices(str(readout), READOUTS)}")
        self.d_input, self.d_output, self.l_max, self.readout = d_input, d_output, l_max, readout
        make = RealS4DKernel if real else S4DKernel
        self.kernel = make(d_model, d_state=d_state, l_max=l_max, **kernel)
        self.encoder: nn.Module | None = None
        if d_input > 1:
            self.encoder = nn.Linear(d_input, d_model, bias=False)
        self.decoder = nn.Linear(d_model * (l_max if readout == "linear" else 1), d_output)

    def forward(self, x: Tensor) -> Tensor:
        """Series (B, L, d_input) to logits (B, d_output).

        Raises:
            DataError: series of another length or width, or integer tokens.
        """
        if x.shape[1:] != (self.l_max, self.d_input) or not x.is_floating_point():
            raise DataError(
                f"Got x of shape {tuple(x.shape)} and dtype {x.dtype}; expected floats "
                f"(B, {self.l_max}, {self.d_input}), as the readout takes one length only; cut or pad them."
            )
        if self.readout == "linear":
            return x.flatten(1) @ self.matrix().flatten(1).T + self.decoder.bias
        power = self.filtered(x).square().mean(dim=-1)
        return self.decoder(torch.log(power + LEAST_POWER))

    def filtered(self, x: Tensor) -> Tensor:
        """The layer's output y, (B, H, L)."""
        u = (x if self.encoder is None else self.encoder(x)).transpose(1, 2)
        return fft_convolve(u, self.kernel(self.l_max)[0], fast_length(2 * self.l_max)).squeeze(1)

    def matrix(self) -> Tensor:
        """Readout and layer as one matrix, (d_output, L, d_input): logits = sum over t, d of M x, plus bias.

        M[c, s] = sum_h sum_{t >= s} W[c, h, t] k_h[t - s], the correlation of the readout with the kernel.
        """
        weights = self.decoder.weight.unflatten(1, (-1, self.l_max))  # (d_output, H, L)
        n = fast_length(2 * self.l_max)
        spectrum = torch.fft.rfft(self.kernel(self.l_max)[0][0], n=n).conj()
        product = torch.fft.rfft(weights, n=n) * spectrum
        if self.encoder is None:
            product = product.sum(dim=1, keepdim=True)
            return torch.fft.irfft(product, n=n)[..., : self.l_max].transpose(1, 2)
        mixed = torch.fft.irfft(product, n=n)[..., : self.l_max]
        return torch.einsum("chl,hd->cld", mixed, self.encoder.weight)
