"""What was done to a model: one entry a layer, readable as a table and as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class LayerReport:
    """The poles of one layer. S rows (n_ssm), P = d_state // 2 conjugate pairs a row, H channels."""

    name: str
    """Path of the kernel inside the model."""
    host: str
    """Kind of host, e.g. "s4 SSMKernelDiag"."""
    frequencies: Tensor
    """(S, P) float64, resonances in cycles/sample; pairs that keep the host's poles included."""
    damping: Tensor
    """(S, P) float64, decay per sample."""
    dt: Tensor
    """(H,) float64 step sizes after the write, or (H, P) where the host has one a pair."""
    task: Tensor
    """(S, P) bool: which pairs took task poles."""
    n_ssm: int
    """S."""
    tied: bool
    """Whether several channels share a row of poles."""
    tying: str
    """What that led to: "untied", "equal", "keep"."""
    distinct_frequencies: int
    """How many different resonances the layer has, over all its channels."""
    statistic: str = ""
    """Which task spectrum the poles follow."""
    notes: tuple[str, ...] = ()
    """What else was done, in words."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values; tensors become nested lists."""
        return {k: v.tolist() if isinstance(v, Tensor) else v for k, v in vars(self).items()}


@dataclass(frozen=True)
class InitReport:
    """The outcome of ``tdi_``; ``str`` gives a readable table."""

    layers: tuple[LayerReport, ...] = ()
    config: dict[str, Any] = field(default_factory=dict)
    fast_kernels: tuple[str, ...] = ()
    """Names of the s4 kernels that got the factored product (option fast_kernel)."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for loggers and provenance."""
        return {
            "config": dict(self.config),
            "layers": [layer.as_dict() for layer in self.layers],
            "fast_kernels": list(self.fast_kernels),
        }

    def __str__(self) -> str:
        if not self.layers:
            return "Task-dependent initialization: no layer was changed."
        head = (
            "layer",
            "host",
            "rows x pairs",
            "task",
            "distinct f",
            "frequency (cycles/sample)",
            "damping (1/sample)",
            "dt",
        )
        rows = [head, *(_cells(layer) for layer in self.layers)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        notes = [f"{layer.name or layer.host}: {note}" for layer in self.layers for note in layer.notes]
        if self.fast_kernels:
            notes.append(f"factored Vandermonde product in {', '.join(self.fast_kernels)}")
        return "\n".join([*lines, *notes])


def _cells(layer: LayerReport) -> tuple[str, ...]:
    rows, pairs = layer.frequencies.shape
    return (
        layer.name or "(model)",
        layer.host,
        f"{rows} x {pairs}" + (f" {layer.tying}" if layer.tied else ""),
        f"{int(layer.task.sum())} of {rows * pairs}",
        str(layer.distinct_frequencies),
        _span(layer.frequencies),
        _span(layer.damping),
        _span(layer.dt),
    )


def _span(values: Tensor) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} .. {float(values.median()):.4g} .. {high:.4g}"
