from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.sweep.atomic import content_key
from tdi_plugin.sweep.store import Store

HOLD = """
import sys, time
from tdi_plugin.sweep.store import Store
with Store(sys.argv[1]).claim("k") as mine:
    print(mine, flush=True)
    time.sleep(60)
"""


def test_a_group_comes_back_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    store.save("k", {"runs": [{"curves": [0.1, None]}]})
    assert Store(tmp_path / "s").load("k") == {"runs": [{"curves": [0.1, None]}]}
    assert list(store.groups()) == ["k"]
    assert store.load("other") is None


def test_keys_follow_content_not_order() -> None:
    assert content_key({"a": 1, "b": [2.0]}) == content_key({"b": [2.0], "a": 1})
    assert content_key({"a": 1}) != content_key({"a": 2})


def test_half_written_files_are_ignored_reported_and_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save("k", {"x": 1})
    path = store.path("k")
    path.write_text(path.read_text()[:20])
    (path.parent / "other.json.99.tmp").write_text("{")
    assert store.load("k") is None
    assert store.groups() == {}
    assert "half-written" in " ".join(store.problems())
    assert "killed while writing" in " ".join(store.problems())
    store.save("k", {"x": 2})
    assert store.load("k") == {"x": 2}
    assert (path.parent / "k.json.broken").exists()


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save("k", {"accuracy": 0.75})
    store.path("k").write_text(store.path("k").read_text().replace("0.75", "0.95"))
    assert store.load("k") is None


def test_a_store_of_another_format_is_refused_and_untouched(tmp_path: Path) -> None:
    Store(tmp_path)
    (tmp_path / "store.json").write_text('{"format": 999}')
    with pytest.raises(DataError, match="format 999"):
        Store(tmp_path)
    assert json.loads((tmp_path / "store.json").read_text()) == {"format": 999}


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(DataError, match="not a store"):
        Store(tmp_path)
    with pytest.raises(DataError, match="No store"):
        Store(tmp_path / "none", create=False)


def test_same_name_with_other_settings_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.register("a", {"epochs": 4, "arms": ("lin",)}, ["k"])
    store.register("a", {"epochs": 4, "arms": ["lin"]}, ["k"])
    with pytest.raises(OptionError, match="epochs: 4 there, 5 now"):
        store.register("a", {"epochs": 5, "arms": ["lin"]}, ["k"])
    with pytest.raises(OptionError, match="other data or another package version"):
        store.register("a", {"epochs": 4, "arms": ["lin"]}, ["other"])
    assert store.studies() == {"a": {"epochs": 4, "arms": ["lin"]}}


def test_a_claim_is_exclusive_and_free_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.claim("k") as first, store.claim("k") as second, store.claim("j") as third:
        assert (first, second, third) == (True, False, True)
    with store.claim("k") as again:
        assert again


def test_a_killed_process_lets_go_of_its_claim(tmp_path: Path) -> None:
    store = Store(tmp_path)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    with store.claim("k") as mine:
        assert not mine
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    with store.claim("k") as mine:
        assert mine
