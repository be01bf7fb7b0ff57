"""A folder of results, one file a finished group: several processes may fill it and any of them may die.

DIR/store.json            the format
DIR/studies/NAME.json     the settings a study was started with, and the keys of its groups
DIR/groups/KEY.json       a finished group; KEY is a hash of all that its numbers depend on
DIR/claims/KEY.lock       locked by the process at work on the group; freed by the system when it dies
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tdi_plugin.errors import OptionError
from tdi_plugin.sweep.atomic import canonical, content_key, read_json, write_atomically
from tdi_plugin.sweep.locks import locked
from tdi_plugin.sweep.store_folder import open_folder


class Store:
    """Results under one folder.

    Raises:
        DataError: the folder holds something else, or a store of another format, or cannot be made.
    """

    def __init__(self, root: str | Path, create: bool = True) -> None:
        self.root = Path(root)
        open_folder(self.root, create)

    def register(self, name: str, settings: Mapping[str, Any], groups: Sequence[str]) -> None:
        """Note a study under its name, or check that it is the one already there.

        Args:
            name: the study's.
            settings: what it was asked to run.
            groups: keys of its groups.

        Raises:
            OptionError: a study of this name was started with other settings, data or package.
        """
        path = self.root / "studies" / f"{name}.json"
        given = json.loads(canonical({"settings": settings, "groups": groups}))
        with self._lock(f"study-{name}", wait=True):
            earlier = _whole_study(path)
            if earlier is None:
                _set_aside(path)
                write_atomically(path, given)
                return
        if given == earlier:
            return
        there, now = earlier["settings"], given["settings"]
        differing = [f"{k}: {there.get(k)!r} there, {now.get(k)!r} now"
                     for k in sorted({*there, *now}) if there.get(k) != now.get(k)]  # fmt: skip
        what = f"settings ({'; '.join(differing)})" if differing else "data or another package version"
        raise OptionError(
            f"Study {name!r} in {self.root} was started with other {what}. Give it another "
            "name (name=…) or another store; finished groups with equal settings are shared either way."
        )

    def studies(self) -> dict[str, dict[str, Any]]:
        """Settings by study name."""
        return {name: found["settings"] for name, found in self._registered().items()}

    def groups(self, study: str | None = None) -> dict[str, dict[str, Any]]:
        """Every whole group by key, or those of one study."""
        keys = (
            sorted(p.stem for p in (self.root / "groups").glob("*.json"))
            if study is None
            else self._registered()[study]["groups"]
        )
        loaded = {key: self.load(key) for key in keys}
        return {key: group for key, group in loaded.items() if group is not None}

    def _registered(self) -> dict[str, dict[str, Any]]:
        found = {p.stem: _whole_study(p) for p in sorted((self.root / "studies").glob("*.json"))}
        return {name: study for name, study in found.items() if study is not None}

    def path(self, key: str) -> Path:
        """Where the group of this key is, or will be."""
        return self.root / "groups" / f"{key}.json"

    def load(self, key: str) -> dict[str, Any] | None:
        """The finished group, or None where it is not there or not whole."""
        record = read_json(self.path(key))
        try:
            whole = record is not None and record.get("digest") == content_key(record.get("group", {}))
        except ValueError:  # NaN or infinity, which are never written
            whole = False
        return dict(record["group"]) if record is not None and whole else None

    def save(self, key: str, group: Mapping[str, Any]) -> None:
        """Write a finished group, whole or not at all; a damaged file in its place is set aside (.broken)."""
        path = self.path(key)
        if self.load(key) is None:
            _set_aside(path)
        for left_over in path.parent.glob(f"{key}.json.*.tmp"):
            left_over.unlink(missing_ok=True)
        group = json.loads(canonical(group))
        write_atomically(path, {"digest": content_key(group), "group": group})

    def problems(self) -> list[str]:
        """Sentences about files that are ignored: half-written, damaged, or set aside."""
        said = []
        for path in sorted((self.root / "studies").glob("*.json")):
            if _whole_study(path) is None:
                said.append(f"studies/{path.name}: damaged; ignored, noted anew by `tdi sweep`.")
        for path in sorted((self.root / "groups").glob("*")):
            if path.suffix == ".tmp" and not self._claimed(path.name.partition(".")[0]):
                said.append(f"{path.name}: left by a run that was killed while writing; ignored.")
            elif path.suffix == ".json" and self.load(path.stem) is None:
                said.append(f"{path.name}: half-written or damaged; ignored, run again by `tdi sweep`.")
            elif path.suffix == ".broken":
                said.append(f"{path.name}: damaged file set aside; ignored, delete it when done with it.")
        return said

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """True while this process alone holds the group; False where another one does."""
        return self._lock(key, wait=False)

    def _claimed(self, key: str) -> bool:
        with self.claim(key) as got:
            return not got

    def _lock(self, name: str, wait: bool) -> AbstractContextManager[bool]:
        return locked(self.root / "claims" / f"{name}.lock", wait)


def _whole_study(path: Path) -> dict[str, Any] | None:
    found = read_json(path)
    whole = found and isinstance(found.get("settings"), dict) and isinstance(found.get("groups"), list)
    return found if whole else None


def _set_aside(path: Path) -> None:
    if path.exists():
        path.replace(path.with_name(path.name + ".broken"))
