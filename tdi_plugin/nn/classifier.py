"""A whole classifier: encoder, backbone, decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.nn.block import valid
from tdi_plugin.nn.model import SequenceModel

ENCODERS = ("linear", "embedding")
DECODERS = ("pool", "last")


class SequenceDecoder(nn.Module):
    """(B, L, H) to (B, d_output): the mean over time, or the last step, then ``output_transform``."""

    def __init__(self, d_model: int, d_output: int, mode: str = "pool") -> None:
        super().__init__()
        if mode not in DECODERS:
            raise OptionError(f"decoder={mode!r} is unknown: {choices(str(mode), DECODERS)}")
        self.mode = mode
        self.output_transform = nn.Linear(d_model, d_output)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        if lengths is None:
            return self.output_transform(x.mean(dim=1) if self.mode == "pool" else x[:, -1])
        if self.mode == "pool":
            pooled = (x * valid(lengths, x.shape[1], x)).sum(dim=1) / lengths.unsqueeze(-1)
        else:
            pooled = x[torch.arange(x.shape[0], device=x.device), lengths - 1]
        return self.output_transform(pooled)


class SequenceClassifier(nn.Module):
    """``encoder``, ``model`` (a SequenceModel) and ``decoder``; logits (or regression outputs) from series.

    Args:
        d_input: values a time step, or the size of the vocabulary with ``encoder="embedding"``.
        d_output: number of classes or targets.
        d_model: H.
        n_layers: number of blocks.
        encoder: "linear" for (B, L, d_input) floats, "embedding" for (B, L) tokens.
        decoder: "pool" for the mean over time, "last" for the last step.
        layer: options of the S4 layers.
        model: further options of SequenceModel (prenorm, norm, dropout, ...).
    """

    def __init__(
        self,
        d_input: int,
        d_output: int,
        d_model: int = 64,
        n_layers: int = 4,
        encoder: str = "linear",
        decoder: str = "pool",
        layer: Mapping[str, Any] | None = None,
        **model: Any,
    ) -> None:
        super().__init__()
        if encoder not in ENCODERS:
            raise OptionError(f"encoder={encoder!r} is unknown: {choices(str(encoder), ENCODERS)}")
        self.d_input, self.d_output = d_input, d_output
        make = nn.Embedding if encoder == "embedding" else nn.Linear
        self.encoder: nn.Module = make(d_input, d_model)
        self.model = SequenceModel(d_model, n_layers, layer=layer, **model)
        self.decoder = SequenceDecoder(d_model, d_output, decoder)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Series (B, L, d_input), or tokens (B, L), to (B, d_output); ``lengths`` (B,) marks the valid part.

        Raises:
            DataError: if the series don't fit the encoder.
        """
        return self.decoder(self.model(self.encode(x), lengths=lengths)[0], lengths=lengths)

    def encode(self, x: Tensor) -> Tensor:
        """The encoder's output, (B, L, H)."""
        if isinstance(self.encoder, nn.Embedding):
            wanted, fits = "(B, L) integer tokens", x.ndim == 2 and not x.is_floating_point()
        else:
            wanted = f"(B, L, {self.d_input}) floats"
            fits = x.ndim == 3 and x.is_floating_point() and x.shape[-1] == self.d_input
        if not fits:
            raise DataError(
                f"Got x of shape {tuple(x.shape)} and dtype {x.dtype}; expected {wanted}; "
                "reshape it or choose another encoder."
            )
        return self.encoder(x)
