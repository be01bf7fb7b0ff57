"""The backbone: a stack of residual S4 blocks, (B, L, H) to (B, L, H)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from tdi_plugin.errors import OptionError
from tdi_plugin.nn.block import ResidualBlock
from tdi_plugin.nn.layers import Normalization
from tdi_plugin.nn.layers import dropout as make_dropout
from tdi_plugin.nn.options import layer_options

RESIDUALS = {"R": True, "residual": True, None: False}


class SequenceModel(nn.Module):
    """Residual S4 blocks. Weights of s4's SequenceModel (layer s4, mode diag) load into it, and back.

    Args:
        d_model: H.
        n_layers: number of blocks.
        prenorm: norm before each layer and once at the end, rather than after each sum.
        norm: "layer", "batch", or None.
        dropout: probability, in every layer and on every branch.
        tie_dropout: one mask for all time steps.
        transposed: run on (B, H, L) inside; inputs stay (B, L, H).
        layer: options of the layers: those of S4Block, FFTConv and S4DKernel. s4's other keys are accepted at
            the values that leave them unused.
        residual: "R", or None for no skip connection.
        dropinp: dropout of the input.
    """

    def __init__(
        self,
        d_model: int,
        n_layers: int = 1,
        prenorm: bool = True,
        norm: str | None = "layer",
        dropout: float = 0.0,
        tie_dropout: bool = False,
        transposed: bool = False,
        layer: Mapping[str, Any] | None = None,
        residual: str | None = "R",
        dropinp: float = 0.0,
    ) -> None:
        super().__init__()
        if residual not in RESIDUALS:
            raise OptionError(
                f"residual={residual!r} is not in the builtin model; give 'R', or None for no skip."
            )
        if n_layers < 1:
            raise OptionError(f"Got n_layers={n_layers}; expected at least 1.")
        self.d_model, self.d_output, self.transposed = d_model, d_model, transposed
        self.drop = make_dropout(dropinp, tie_dropout, transposed)
        options = layer_options(layer or {})
        if options.get("dropout") is None:
            options["dropout"] = dropout
        skip = RESIDUALS[residual]
        blocks = [
            ResidualBlock(d_model, prenorm, norm, dropout, tie_dropout, transposed, skip, options)
            for _ in range(n_layers)
        ]
        self.layers = nn.ModuleList(blocks)
        self.norm: nn.Module | None
        if prenorm:
            self.norm = None if norm is None else Normalization(d_model, norm, transposed)
        else:
            self.norm = nn.Identity()

    def forward(
        self, x: Tensor, state: Sequence[Tensor] | None = None, **options: Any
    ) -> tuple[Tensor, list[Tensor | None]]:
        """(B, L, H) to the same; with one state a layer (B, H, P), also the states after the sequence."""
        if self.transposed:
            x = x.transpose(-1, -2)
        x = self.drop(x)
        states: list[Tensor | None] = []
        for i, block in enumerate(self.layers):
            x, after = block(x, state=None if state is None else state[i], **options)
            states.append(after)
        if self.norm is not None:
            x = self.norm(x)
        return (x.transpose(-1, -2) if self.transposed else x), states

    def default_state(self, *batch_shape: int) -> list[Tensor]:
        """Zero states, one (*batch_shape, H, P) a layer."""
        return [block.default_state(*batch_shape) for block in self._blocks()]

    def step(self, x: Tensor, state: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """One time step, (B, H), with the states before it; returns the states after it."""
        states: list[Tensor] = []
        for block, before in zip(self._blocks(), state, strict=True):
            x, after = block.step(x, before)
            states.append(after)
        if isinstance(self.norm, Normalization):
            x = self.norm.step(x)
        return x, states

    def _blocks(self) -> list[ResidualBlock]:
        return [block for block in self.layers if isinstance(block, ResidualBlock)]
