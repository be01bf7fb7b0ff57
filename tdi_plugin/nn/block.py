"""The S4 block (convolution, GELU, mixing GLU) and the residual block with its norm around it."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.nn.convolution import FFTConv
from tdi_plugin.nn.layers import Normalization
from tdi_plugin.nn.layers import dropout as make_dropout

ACTIVATIONS: dict[str | None, type[nn.Module]] = {
    None: nn.Identity,
    "id": nn.Identity,
    "gelu": nn.GELU,
    "relu": nn.ReLU,
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
}


class S4Block(nn.Module):
    """Convolution ``layer``, activation, dropout, and ``output_linear`` mixing the channels; keeps the shape.

    Args:
        d_model: H.
        activation: after the convolution, "gelu" by default; None for none.
        final_act: after the mixing: "glu" (on a linear map twice as wide), an activation, "id" for none;
            None for no mixing at all.
        dropout: probability, after the convolution and after the activation.
        tie_dropout: one dropout mask for all time steps after the activation.
        transposed: inputs are (B, H, L) instead of (B, L, H).
        layer: options of FFTConv and S4DKernel.
    """

    def __init__(
        self,
        d_model: int,
        activation: str | None = "gelu",
        final_act: str | None = "glu",
        dropout: float = 0.0,
        tie_dropout: bool = False,
        transposed: bool = True,
        **layer: Any,
    ) -> None:
        super().__init__()
        self.d_model, self.d_output, self.transposed = d_model, d_model, transposed
        self.layer = FFTConv(d_model, transposed=False, dropout=dropout, **layer)
        self.activation = _activation("activation", activation)
        self.drop = make_dropout(dropout, tie_dropout, transposed=False)
        self.output_linear: nn.Module
        if final_act is None:
            self.output_linear, self.d_output = nn.Identity(), self.layer.d_output
        elif final_act == "glu":
            self.output_linear = nn.Sequential(nn.Linear(self.layer.d_output, 2 * d_model), nn.GLU(dim=-1))
        else:
            mix = nn.Linear(self.layer.d_output, d_model)
            self.output_linear = nn.Sequential(mix, _activation("final_act", final_act))

    def forward(
        self, x: Tensor, state: Tensor | None = None, lengths: Tensor | None = None, rate: float = 1.0
    ) -> tuple[Tensor, Tensor | None]:
        """(B, L, H) to the same; samples from ``lengths`` (B,) on are set to zero first."""
        if self.transposed:
            x = x.transpose(-1, -2)
        if lengths is not None:
            x = x * valid(lengths, x.shape[1], x)
        y, state = self.layer(x, state=state, rate=rate)
        y = self.output_linear(self.drop(self.activation(y)))
        return (y.transpose(-1, -2) if self.transposed else y), state

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One time step: (B, H) and the state (B, H, P) to (B, H) and the next state."""
        y, state = self.layer.step(x, state)
        return self.output_linear(self.drop(self.activation(y))), state

    def default_state(self, *batch_shape: int) -> Tensor:
        """Zero state, (*batch_shape, H, P)."""
        return self.layer.kernel.default_state(*batch_shape)


class ResidualBlock(nn.Module):
    """x + S4Block(norm(x)) with ``prenorm``, else norm(x + S4Block(x)).

    Args:
        d_model: H.
        prenorm: norm before the layer rather than after the sum.
        norm: "layer", "batch", or None.
        dropout: probability, on the branch.
        tie_dropout: one mask for all time steps.
        transposed: inputs are (B, H, L) instead of (B, L, H).
        residual: False drops the skip connection.
        layer: options of S4Block.
    """

    def __init__(
        self,
        d_model: int,
        prenorm: bool = True,
        norm: str | None = "layer",
        dropout: float = 0.0,
        tie_dropout: bool = False,
        transposed: bool = False,
        residual: bool = True,
        layer: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.prenorm, self.residual = prenorm, residual
        self.layer = S4Block(d_model, transposed=transposed, **(layer or {}))
        self.norm = None if norm is None else Normalization(d_model, norm, transposed)
        self.drop = make_dropout(dropout, tie_dropout, transposed)

    def forward(self, x: Tensor, state: Tensor | None = None, **options: Any) -> tuple[Tensor, Tensor | None]:
        """(B, L, H) to the same, and the layer's next state if one was given."""
        y = self.norm(x) if self.norm is not None and self.prenorm else x
        y, state = self.layer(y, state=state, **options)
        if self.residual:
            y = x + self.drop(y)
        if self.norm is not None and not self.prenorm:
            y = self.norm(y)
        return y, state

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One time step, (B, H)."""
        y = self.norm.step(x) if self.norm is not None and self.prenorm else x
        y, state = self.layer.step(y, state)
        if self.residual:
            y = x + y
        if self.norm is not None and not self.prenorm:
            y = self.norm.step(y)
        return y, state

    def default_state(self, *batch_shape: int) -> Tensor:
        """Zero state, (*batch_shape, H, P)."""
        return self.layer.default_state(*batch_shape)


def valid(lengths: Tensor, length: int, like: Tensor) -> Tensor:
    """(B, length, 1) ones on the first ``lengths`` samples of each series, zeros after."""
    inside = lengths.new_ones(length).cumsum(0) <= lengths.unsqueeze(-1)
    return inside.unsqueeze(-1).to(like.dtype)


def _activation(option: str, name: str | None) -> nn.Module:
    if name not in ACTIVATIONS:
        raise OptionError(f"{option}={name!r} is unknown: {choices(str(name), ACTIVATIONS)}")
    return ACTIVATIONS[name]()
