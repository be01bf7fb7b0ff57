"""Importing the package must cost nothing that a program does not ask for."""

from __future__ import annotations

HEAVY = (
    "pytorch_lightning",
    "lightning",
    "hydra",
    "omegaconf",
    "torchmetrics",
    "wandb",
    "matplotlib",
    "sklearn",
    "aeon",
    "pandas",
)


def test_import_loads_nothing_heavy(run_python):
    code = f"import sys, tdi_plugin; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run_python("-c", code).stdout.strip() == "[]"


def test_functions_load_nothing_heavy(run_python):
    code = f"""
import sys, torch, tdi_plugin as tdi
tdi.task_spectrum(torch.randn(8, 32), torch.arange(8) % 2, statistic="combined")
tdi.tdi_, tdi.TDIConfig, tdi.find_hosts
print([m for m in {HEAVY!r} if m in sys.modules])
"""
    assert run_python("-c", code).stdout.strip() == "[]"


def test_every_public_name_resolves():
    import tdi_plugin

    for name in tdi_plugin.__all__:
        assert getattr(tdi_plugin, name) is not None
