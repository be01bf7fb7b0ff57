"""The real-valued form of the diagonal kernel: 2x2 blocks instead of conjugate pairs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tdi_plugin.nn.kernel import S4DKernel
from tdi_plugin.poles.blocks import real_blocks


class RealS4DKernel(S4DKernel):
    """Real state-space models whose state matrix has blocks [[-g, w], [-w, -g]], eigenvalues -g +- i w.

    Parameter names and shapes are S4DKernel's: g from ``A_real``, w from ``A_imag``, and the last axis
    of ``B`` and ``C`` holds a block's two real input and output weights. The same seed gives the same impulse
    response as S4DKernel. A block with B = (b1, b2), C = (c1, c2) responds like Re((c1 - i c2) (b1 + i b2)
    exp(-(g + i w) t)), which is how the kernel is computed.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with torch.no_grad():
            self.C.copy_(self.C * self.C.new_tensor([2.0, -2.0]))

    def _get_params(self, rate: float = 1.0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        dt, A, B, C = super()._get_params(rate)
        return dt, A, B, 0.5 * C.conj().resolve_conj()

    @torch.no_grad()
    def matrices(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The continuous-time systems: dt (H, 1 or P), A (H, N, N), B (H, N), C (channels, H, N)."""
        dt, poles, _, _ = self._get_params()
        blocks = real_blocks(poles)  # (H, P, 2, 2)
        A = blocks.new_zeros(self.H, 2 * self.N, 2 * self.N)
        for n in range(self.N):
            A[:, 2 * n : 2 * n + 2, 2 * n : 2 * n + 2] = blocks[:, n]
        return dt, A, self.B[0].repeat(self.repeat, 1, 1).flatten(-2), self.C.flatten(-2)
