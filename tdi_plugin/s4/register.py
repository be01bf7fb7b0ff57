"""Make ``init: tdi`` and our data sets known to a running s4: entries are added, never replaced."""

from __future__ import annotations

import importlib
import logging
import sys
from types import ModuleType

from tdi_plugin.errors import HostError
from tdi_plugin.s4.on_import import when_imported
from tdi_plugin.s4.process import is_s4_process

INIT = "tdi"
INIT_LIST = ["diag-lin"]
"""What ``init: tdi`` builds before the poles are known: s4's own S4D-Lin, with its draws in its order."""

KERNELS = ("src.models.sequence.kernels.dplr", "models.s4.s4")
DATA = "src.dataloaders.base"


def register() -> bool:
    """Add ``init: tdi`` and the ``tdi_`` data sets to s4's tables; safe to call any number of times.

    Tables of modules that are not loaded yet are filled when s4 imports them, so nothing is imported early.

    Returns:
        True in an s4 process, False anywhere else, where nothing at all is done.
    """
    if not is_s4_process():
        return False
    for name in KERNELS:
        when_imported(name, _add_init)
    when_imported(DATA, _add_datasets)
    return True


def is_registered() -> bool:
    """True when a loaded kernel module of s4 knows ``init: tdi`` as ours."""
    return any(getattr(sys.modules.get(name), "combinations", {}).get(INIT) == INIT_LIST for name in KERNELS)


def require_init() -> None:
    """Make sure that ``init: tdi`` got its place, before s4 looks for it deep inside a model.

    Raises:
        HostError: this s4 has no table of initializations where v4 has it.
    """
    if register():
        importlib.import_module(KERNELS[0])
        if not any(INIT in getattr(sys.modules.get(name), "combinations", {}) for name in KERNELS):
            from tdi_plugin.s4.paths import KNOWN_COMMIT

            raise HostError(
                f"init: tdi cannot be added to this s4: {KERNELS[0]} has no table 'combinations' with an "
                f"entry 'diag'. Expected state-spaces/s4 v4; commit {KNOWN_COMMIT[:7]} is known to work."
            )


def _add_init(module: ModuleType) -> None:
    table = getattr(module, "combinations", None)
    if isinstance(table, dict) and "diag" in table:
        table.setdefault(INIT, list(INIT_LIST))


def _add_datasets(module: ModuleType) -> None:
    base = getattr(module, "SequenceDataset", None)
    if base is None or not isinstance(getattr(base, "registry", None), dict):
        return
    # This can run inside s4's own import: a run that uses none of our data sets must not end here.
    try:
        from tdi_plugin.s4.datasets import add_to

        add_to(base)
    except Exception as error:
        logging.getLogger("tdi_plugin").warning("The tdi_ data sets are not available in s4: %s", error)
