"""The functions need torch and NumPy; all else loads when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CODE = """
import sys
import numpy as np
import tdi_plugin.spectrum as spectrum
from tdi_plugin.spectrum.source import spectra_at

x, y = np.random.default_rng(0).normal(size=(20, 30)), np.arange(20) % 2
spectrum.task_spectrum(x, y, permutations=9)
heavy = ("torchmetrics", "matplotlib", "sklearn", "pytorch_lightning", "hydra", "rich", "scipy.signal")
loaded = [name for name in heavy if name in sys.modules]
assert not loaded, loaded
spectrum.FisherLogPower
assert "torchmetrics" in sys.modules
try:
    spectrum.NoSuchName
except AttributeError:
    print("done")
"""


def test_functions_run_on_torch_alone(run_python: Callable[..., Any]) -> None:
    assert run_python("-c", CODE, OMP_NUM_THREADS="1").stdout.strip() == "done"
