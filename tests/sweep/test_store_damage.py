from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.sweep import locks
from tdi_plugin.sweep.store import Store

SETTINGS = {"epochs": 1}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "s")
    store.register("a", SETTINGS, ["k"])
    store.save("k", {"x": 1})
    return store


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("inside", ["", "sub"])
def test_a_file_in_the_folders_place_is_named(tmp_path: Path, inside: str, create: bool) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match=r"file.*(cannot be a store|make one)"):
        Store(tmp_path / "file" / inside, create=create)
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "5", '{"x": 1}', '{"settings": 5, "groups": []}', '{"settings": {}, "groups": 5}']
)
def test_a_damaged_study_is_reported_set_aside_and_noted_anew(store: Store, text: str) -> None:
    path = store.root / "studies" / "a.json"
    path.write_text(text)
    assert store.studies() == {}
    assert any("studies/a.json" in problem for problem in store.problems())
    store.register("a", SETTINGS, ["k"])
    assert store.studies() == {"a": SETTINGS}
    assert path.with_name("a.json.broken").read_text() == text
    with pytest.raises(OptionError, match="started with other settings"):
        store.register("a", {"epochs": 2}, ["k"])


@pytest.mark.parametrize(
    "text", ['{"digest": "", "group": NaN}', '{"digest": "", "group": {"x": 1e999}}', "[" * 100_000, "[]"]
)
def test_a_group_that_was_never_written_so_is_damaged(store: Store, text: str) -> None:
    store.path("k").write_text(text)
    assert store.load("k") is None
    assert any("damaged" in problem for problem in store.problems())
    store.save("k", {"x": 2})
    assert store.load("k") == {"x": 2}


@pytest.mark.parametrize("part", ["groups", "studies", "claims"])
def test_a_folder_that_was_deleted_is_made_again(store: Store, part: str) -> None:
    shutil.rmtree(store.root / part)
    seen = Store(store.root, create=False)
    assert seen.problems() == []
    assert ("k" in seen.groups()) == (part != "groups")
    again = Store(store.root)
    again.register("a", SETTINGS, ["k"])
    again.save("k", {"x": 2})
    assert again.load("k") == {"x": 2}


def test_a_file_that_cannot_be_read_is_not_taken_for_a_damaged_one(store: Store) -> None:
    store.path("k").unlink()
    store.path("k").mkdir()
    with pytest.raises(DataError, match=r"k\.json cannot be read"):
        store.load("k")
    assert store.path("k").is_dir()


def test_a_full_disk_is_named_and_leaves_the_old_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match="No space left on device"):
            store.save("k", {"x": 2})
    assert store.load("k") == {"x": 1}
    assert store.problems() == []


def test_a_disk_without_locks_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(handle: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", none)
    with pytest.raises(DataError, match="No locks available"), store.claim("k"):
        pass


def test_a_name_too_long_for_a_file_is_named(store: Store) -> None:
    with pytest.raises(DataError, match="File name too long"):
        store.register("a" * 300, SETTINGS, ["k"])
