"""Figures of the paper (arXiv 2509.20789), to stand beside measured ones; accuracies and gains in points."""

from __future__ import annotations

BY_DATASET: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "one-layer": {
        "ECG5000": (62.9, 72.8, 90.2, 90.5),
        "tdi_mnist": (61.1, 78.4, 79.3, 88.2),
        "Wafer": (79.8, 87.4, 94.9, 95.5),
        "FordA": (52.2, 56.8, 68.9, 70.4),
    },
    "deep": {
        "tdi_mnist": (56.3, 67.4, 99.1, 99.0),
        "tdi_freqcls": (88.1, 91.1, 99.2, 98.9),
        "Speech Commands": (51.8, 55.7, 87.3, 87.9),
        "SC10": (49.2, 52.8, 92.4, 92.7),
    },
}
"""By kind of model and data set: base and TDI with low data, base and TDI with high data. The two speech sets
have the paper's names, not ours: results on a part of the official release do not stand beside them."""

BY_RATIO: dict[float, tuple[float, float, float]] = {
    0.01: (5.4, 3.5, 3.2), 0.02: (7.5, -0.2, 2.1), 0.04: (6.5, 3.2, 3.6), 0.08: (7.3, 2.7, 4.7),
    0.16: (5.6, 1.7, 2.7), 0.32: (2.3, 1.5, 1.3), 0.64: (-1.2, -1.2, -0.6), 1.00: (-2.3, -0.6, -1.6),
}  # fmt: skip
"""One-layer, by training ratio: paired gain in final, early-5 and early-10 accuracy."""
