"""The small files are what the loaders of others take: pickle, PIL, datasets, and s4's own classes."""

from __future__ import annotations

import pickle
import runpy
from pathlib import Path

import numpy as np
import pytest

from tdi_plugin.data import ListOps
from tdi_plugin.data.native import png, write_small
from tdi_plugin.data.paths import draw_paths

SCRIPT = Path(__file__).parents[2] / "scripts" / "prepare_data.py"

LOAD_WITH_S4 = """
import os, sys
root, data = sys.argv[1:]
os.environ.update(DATA_PATH=data, HF_HUB_OFFLINE="1")
from tdi_plugin.s4 import launch
launch.prepare()
sys.path.insert(0, root)
os.chdir(data)
import src.dataloaders
from src.dataloaders.base import SequenceDataset
text = {"n_workers": 1}
options = {"listops": text, "aan": text, "imdb": text, "pathfinder": {}, "cifar": {"grayscale": True}}
for name, extra in options.items():
    dataset = SequenceDataset.registry[name](name, **extra)
    dataset.setup()
    for loader in (dataset.train_dataloader(batch_size=4), dataset.test_dataloader(batch_size=4)):
        loader = loader[None] if isinstance(loader, dict) else loader
        x, y, *_ = next(iter(loader))
    print("LOADED", name, len(dataset.dataset_train), tuple(y.shape))
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    write_small(folder, n=40, seed=1)
    return folder


def test_cifar_batches(small):
    home = small / "cifar" / "cifar-10-batches-py"
    counts = []
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        batch = pickle.loads((home / name).read_bytes())
        assert batch["data"].dtype == np.uint8
        assert batch["data"].shape == (len(batch["labels"]), 3072)
        assert set(batch["labels"]) <= set(range(10))
        counts.append(len(batch["labels"]))
    assert counts == [8] * 5 + [10]
    assert len(pickle.loads((home / "batches.meta").read_bytes())["label_names"]) == 10


def test_png_against_pillow(tmp_path):
    image_module = pytest.importorskip("PIL.Image", reason="Pillow reads the file back")
    image = np.random.default_rng(0).integers(0, 256, (7, 11), dtype=np.uint8)
    (tmp_path / "a.png").write_bytes(png(image))
    with image_module.open(tmp_path / "a.png") as read:
        assert read.mode == "L"
        np.testing.assert_array_equal(np.asarray(read), image)


def test_path_images_carry_their_answers(small):
    home = small / "pathfinder" / "pathfinder32" / "curv_contour_length_14"
    lines = (home / "metadata" / "0.npy").read_text().splitlines()
    _, labels = draw_paths(40, 32, np.random.default_rng(1))
    assert [int(line.split()[3]) for line in lines] == labels.tolist()
    assert all((home / line.split()[0] / line.split()[1]).is_file() for line in lines)


def test_document_pairs(small):
    for split, count in (("train", 40), ("eval", 10), ("test", 10)):
        rows = [
            line.split("\t")
            for line in (small / "aan" / f"new_aan_pairs.{split}.tsv").read_text().splitlines()
        ]
        assert len(rows) == count
        assert {len(row) for row in rows} == {5}
        assert {row[0] for row in rows} == {"0.0", "1.0"}


def test_listops_files_suit_our_reader(small):
    task = ListOps(small)
    task.setup()
    assert len(task.dataset_train) == 40


@pytest.mark.s4
def test_s4s_own_loaders_take_them(small, run_python):
    from tdi_plugin.s4.paths import default_checkout

    root = default_checkout()
    if not root.is_dir():
        pytest.skip(f"no checkout of state-spaces/s4 at {root}")
    done = run_python("-c", LOAD_WITH_S4, str(root), str(small), OMP_NUM_THREADS="1")
    loaded = {
        line.split()[1]: line.split(maxsplit=2)[2] for line in done.stdout.splitlines() if "LOADED" in line
    }
    assert loaded == {
        "listops": "40 (4,)",
        "aan": "40 (4,)",
        "imdb": "40 (4,)",
        "pathfinder": "32 (4,)",
        "cifar": "36 (4,)",
    }


def test_script_writes_listops(tmp_path, capsys):
    main = runpy.run_path(str(SCRIPT))["main"]
    sizes = ["--train", "12", "--val", "4", "--test", "4", "--min-length", "5", "--max-length", "40"]
    assert main(["listops", str(tmp_path / "listops"), *sizes]) == 0
    task = ListOps(tmp_path)
    task.setup()
    assert (len(task.dataset_train), len(task.dataset_val), len(task.dataset_test)) == (12, 4, 4)
    assert main(["listops", str(tmp_path), "--min-length", "1"]) == 1
    assert "error: sizes=" in capsys.readouterr().err


def test_script_writes_small_sets(tmp_path, capsys):
    assert runpy.run_path(str(SCRIPT))["main"](["small", str(tmp_path), "--n", "10"]) == 0
    written = [line.removeprefix("Wrote ") for line in capsys.readouterr().out.splitlines()]
    assert len(written) == 5
    assert all(any(path.is_file() for path in Path(folder).rglob("*")) for folder in written)
