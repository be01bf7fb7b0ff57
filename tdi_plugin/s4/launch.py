"""Run s4's own train.py in this process, on whatever packages are installed.

The file is executed as it stands in the checkout, which is not written to; what today's packages lack is
provided in the process. ``python -m tdi_plugin.s4.launch OVERRIDES`` is what Lightning starts for the other
ranks of a distributed run; the checkout then comes from the environment.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from tdi_plugin.errors import HostError
from tdi_plugin.hydra_errors import readable_hydra_errors
from tdi_plugin.s4 import compat, standins
from tdi_plugin.s4.paths import checkout

ROOT_VARIABLE = "TDI_S4_ROOT"


def prepare(root: str | Path | None = None) -> Path:
    """Make this process one in which s4's modules import: path, stand-ins, compatibility.

    Args:
        root: folder of the checkout; None for the default one.

    Returns:
        The checkout's folder.

    Raises:
        HostError: if it is no checkout of s4, or a package that s4 cannot do without is missing.
    """
    path = checkout(root)
    os.environ[ROOT_VARIABLE] = str(path)
    if os.environ.get("DATA_PATH"):
        os.environ["DATA_PATH"] = str(Path(os.environ["DATA_PATH"]).expanduser().absolute())
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    if sys.path[:1] != [str(path)]:
        sys.path.insert(0, str(path))
    standins.install()
    compat.tolerate_wandb_settings(_needed("wandb"))
    _needed("src.dataloaders")
    compat.spell_out_splits(_needed("src.dataloaders.base").SequenceDataset)
    compat.add_columns(_needed("datasets"))
    compat.prepare_each_config(_needed("src.utils.train"))
    return path


def run(root: str | Path | None, overrides: Sequence[str]) -> None:
    """Execute ``train.py`` of the checkout as the main program, with these Hydra overrides.

    Output goes where s4 puts it: ``outputs/`` under the current folder, not under the checkout.

    Raises:
        HostError: as `prepare`.
        OptionError: overrides or options that do not exist.
        DataError: series that cannot be used.
    """
    path = prepare(root)
    script = path / "train.py"
    main = ModuleType("__main__")
    main.__file__ = str(script)
    main.__spec__ = ModuleSpec("tdi_plugin.s4.launch", loader=None, origin=__file__)
    sys.argv = [str(script), *overrides]
    previous = sys.modules["__main__"]
    sys.modules["__main__"] = main
    try:
        with readable_hydra_errors():
            exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), main.__dict__)
    finally:
        sys.modules["__main__"] = previous


def _needed(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        wanted = error.name or name
        raise HostError(
            f"s4 needs the package {wanted!r}, which does not import here ({error}). "
            'Install what s4 imports with: pip install "tdi-plugin[s4]"; `tdi s4 doctor` checks the rest.'
        ) from error


if __name__ == "__main__":
    run(os.environ.get(ROOT_VARIABLE), sys.argv[1:])
