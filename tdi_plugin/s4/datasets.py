"""Our data sets in s4's own table, under the same ``tdi_`` names as on the builtin trainer."""

from __future__ import annotations

import os
import sys
from inspect import signature
from typing import Any

from tdi_plugin.data.catalog import build, registry
from tdi_plugin.data.series import collate
from tdi_plugin.data.task import SeriesTask
from tdi_plugin.errors import DataError


def add_to(base: type) -> list[str]:
    """Subclass s4's ``SequenceDataset`` once for each of our data sets; names in use stay.

    Args:
        base: ``src.dataloaders.base.SequenceDataset``, whose subclasses register themselves by ``_name_``.

    Returns:
        The names that were added.
    """
    table: dict[str, type] = base.registry  # type: ignore[attr-defined]
    added = [name for name in registry if name not in table]
    for name in added:
        type(f"S4_{name}", (_Delegate, base), {"_name_": name, "__module__": __name__})
    return added


class _Delegate:
    """A ``SequenceDataset`` of s4 that asks one of our data sets for everything but the loaders."""

    _name_: str

    def __init__(self, _name_: str, **options: Any) -> None:
        if options.get("data_dir") is None and "data_dir" in signature(registry[_name_]).parameters:
            options["data_dir"] = _data_path()
        self.source = build(_name_, **options)
        super().__init__(_name_, data_dir=options.get("data_dir"))  # type: ignore[call-arg]

    def setup(self) -> None:
        """Read the data once; s4 calls this again before every stage."""
        if self.source.dataset_train is None:
            self.source.setup()
        self.dataset_train = self.source.dataset_train
        self.dataset_val = self.source.dataset_val
        self.dataset_test = self.source.dataset_test

    def _collate_fn(self, batch: list[Any], **_: Any) -> Any:
        return collate(batch)

    @property
    def d_input(self) -> int | None:
        return self._read().d_input

    @property
    def d_output(self) -> int:
        return self._read().d_output

    @property
    def l_output(self) -> int:
        return self.source.l_output

    @property
    def l_max(self) -> int:
        return self.source.l_max

    @property
    def n_tokens(self) -> int | None:
        return self._read().n_tokens

    def _read(self) -> SeriesTask:
        if self.source.dataset_train is None:
            raise DataError(
                f"The sizes of {self._name_!r} are known once its files are read, and this run reads none; "
                "expected train.disable_dataset=false."
            )
        return self.source


def _data_path() -> str | None:
    """$DATA_PATH as s4 read it at import: relative to the folder the run was started in, not to Hydra's."""
    if not os.environ.get("DATA_PATH"):
        return None
    path = getattr(sys.modules.get("src.dataloaders.base"), "default_data_path", None)
    return str(path) if path is not None else os.environ["DATA_PATH"]
