"""Import and run a checkout of s4, and print what was seen as one line of JSON (the doctor's own process)."""

from __future__ import annotations

import importlib
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, entry_points, version

from tdi_plugin.s4.doctor import FAIL, NOTE, OK, Row

NEEDED = (
    *("torch", "pytorch_lightning", "hydra", "omegaconf", "numpy", "wandb", "einops", "transformers"),
    *("datasets", "pandas", "sklearn", "scipy", "opt_einsum", "rich", "tqdm", "PIL"),
)
"""What train.py and its data modules import, by import name."""

_DISTRIBUTION = {"hydra": "hydra-core", "sklearn": "scikit-learn", "PIL": "pillow"}
_SHOWN = ("torch", "pytorch_lightning", "hydra", "numpy", "wandb")


def packages() -> Iterator[Row]:
    """Each package that s4 needs, and the three that the launcher can stand in for."""
    from tdi_plugin.s4.standins.finder import PROVIDED, why_not

    shown = []
    for name in NEEDED:
        if problem := why_not(name):
            yield Row(f"package {name}", FAIL, problem, 'pip install "tdi-plugin[s4]"')
        elif name in _SHOWN:
            shown.append(f"{name} {_version(name)}")
    yield Row("versions", OK, f"Python {sys.version.split()[0]}, {', '.join(shown)}")
    if tuple(int(part) for part in _version("hydra").split(".")[:2]) >= (1, 4):
        yield Row("hydra", FAIL, _version("hydra"), 'pip install "hydra-core<1.4"')
    absent = {name: problem for name in PROVIDED if (problem := why_not(name))}
    for name, problem in absent.items():
        remedy = "tdi s4 train stands in for it; a plain python train.py needs it installed"
        yield Row(f"package {name}", NOTE, problem, remedy)
    if not absent:
        yield Row("torchaudio, torchtext, torchvision", OK, "the real packages import")


def installation() -> Iterator[Row]:
    """Whether Lightning and Hydra find this package without being told."""
    group = "pytorch_lightning.callbacks_factory"
    found = any(e.value.startswith("tdi_plugin.") for e in entry_points(group=group))
    if found:
        yield Row("entry points", OK, "Lightning and Hydra find tdi-plugin")
    else:
        remedy = "pip install tdi-plugin in this environment, or tdi s4 patch PATH"
        yield Row("entry points", FAIL, f"no tdi_plugin in {group}", remedy)


def registration() -> Iterator[Row]:
    """s4's modules import, and its tables take what we add."""
    from tdi_plugin.data.catalog import registry
    from tdi_plugin.s4.register import is_registered, register

    importlib.import_module("src.utils.registry")
    register()
    importlib.import_module("src.models.sequence.kernels.dplr")
    table = importlib.import_module("src.dataloaders.base").SequenceDataset.registry
    ours = [name for name in registry if table.get(name, object).__module__ == "tdi_plugin.s4.datasets"]
    known = is_registered() and len(ours) == len(registry)
    yield Row("init: tdi", OK if known else FAIL, f"known to s4: {is_registered()}, data sets: {len(ours)}")


def main(root: str) -> None:
    """Run every check; one that raises is a row of its own."""
    from tdi_plugin.s4 import launch
    from tdi_plugin.s4.behaviour import backends, kernels

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    rows: list[Row] = []
    steps: dict[str, Callable[[], Iterator[Row]]] = {"packages": packages, "installation": installation}
    _run(steps, rows)
    if not any(row.status == FAIL and row.name.startswith("package") for row in rows):
        try:
            launch.prepare(root)
        except Exception as error:
            rows.append(Row("importing s4", FAIL, f"{type(error).__name__}: {error}"))
        else:
            _run({"registration": registration, "kernels": kernels, "backends": backends}, rows)
    print(json.dumps([asdict(row) for row in rows]), flush=True)


def _run(steps: dict[str, Callable[[], Iterator[Row]]], rows: list[Row]) -> None:
    for name, step in steps.items():
        try:
            rows.extend(step())
        except Exception as error:
            rows.append(Row(name, FAIL, f"{type(error).__name__}: {error}"))


def _version(name: str) -> str:
    try:
        return version(_DISTRIBUTION.get(name, name))
    except PackageNotFoundError:
        return str(getattr(importlib.import_module(name), "__version__", "of unknown version"))


if __name__ == "__main__":
    main(sys.argv[1])
