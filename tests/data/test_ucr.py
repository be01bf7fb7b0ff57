from __future__ import annotations

import logging

import numpy as np
import pytest
import torch

from tdi_plugin.data import UCR, build, subset_dataset
from tdi_plugin.data.aeon_files import bundled
from tdi_plugin.data.task import SPLIT, TEST
from tdi_plugin.errors import DataError, OptionError

LABELS = ["1"] * 6 + ["-1"] * 6


def ready(name: str, **options) -> UCR:
    task = UCR(name, **options)
    task.setup()
    return task


def test_reads_the_archive_layout(write_ucr, rows):
    write_ucr("Toy", rows(LABELS), rows(["1", "-1"], seed=1))
    task = ready("Toy")
    assert (task.d_input, task.d_output, task.l_output, task.l_max) == (1, 2, 0, 8)
    assert task.classes == ("-1", "1")
    assert (len(task.dataset_train), len(task.dataset_test)) == (12, 2)
    x, y = task.dataset_train[0]
    assert x.dtype == torch.float32
    assert y.dtype == torch.int64
    expected = np.array(rows(LABELS)[0].split("\t")[1:], dtype=np.float32)
    np.testing.assert_array_equal(x[:, 0].numpy(), expected)
    assert [int(y) for _, y in task.dataset_train] == [1] * 6 + [0] * 6


@pytest.mark.parametrize("inside", ["", "UCRArchive_2018"])
def test_data_dir_may_be_the_root_or_the_archive(write_ucr, rows, archive, monkeypatch, inside):
    write_ucr("Toy", rows(LABELS))
    monkeypatch.delenv("DATA_PATH")
    assert ready("Toy", data_dir=archive / inside).d_output == 2


def test_old_text_form(write_ucr, rows):
    write_ucr("Toy", [line.replace("\t", "  ") for line in rows(LABELS)], suffix=".txt")
    assert ready("Toy").l_max == 8


def test_every_second_sample(write_ucr, rows):
    write_ucr("Toy", rows(LABELS, length=9))
    full, half = ready("Toy"), ready("Toy", stride=2)
    assert half.l_max == 5
    assert torch.equal(half.dataset_train[3][0], full.dataset_train[3][0][::2])


def test_validation_is_on_the_test_set_and_says_so(write_ucr, rows, caplog):
    write_ucr("Toy", rows(LABELS), rows(LABELS, seed=2))
    with caplog.at_level(logging.INFO, "tdi_plugin"):
        task = ready("Toy")
    assert task.dataset_val is task.dataset_test
    assert task.validation == task.provenance()["validation"] == TEST
    assert "validation is on the test set" in caplog.text


def test_validation_split_comes_off_before_the_training_subset(write_ucr, rows):
    write_ucr("Toy", rows(["a"] * 20 + ["b"] * 20))
    task = ready("Toy", val_split=0.25, seed=5)
    assert task.validation == SPLIT
    assert (len(task.dataset_train), len(task.dataset_val), len(task.dataset_test)) == (30, 10, 40)
    part = subset_dataset(task.dataset_train, 0.2)
    assert len(part) == 6

    def contents(dataset):
        return {tuple(item[0].flatten().tolist()) for item in dataset}

    assert contents(part) <= contents(task.dataset_train)
    assert not contents(part) & contents(task.dataset_val)
    again = ready("Toy", val_split=0.25, seed=5)
    assert contents(again.dataset_val) == contents(task.dataset_val)
    assert contents(ready("Toy", val_split=0.25, seed=6).dataset_val) != contents(task.dataset_val)


def test_unequal_lengths_are_kept_even_where_only_one_file_has_them(write_ucr):
    train = ["1\t1\t2\t3\tNaN", "2\t1\t2\tNaN\tNaN", "1\t4\t5\tNaN\tNaN", "2\t7\tNaN\tNaN\tNaN"]
    write_ucr("Toy", train, ["1\t1\t2\t3\t4", "2\t5\t6\t7\t8"])
    task = ready("Toy")
    assert task.has_lengths
    assert task.l_max == 4
    x, y, length = task.dataset_train[1]
    assert (x[:, 0].tolist(), int(y), int(length)) == ([1, 2, 0, 0], 1, 2)
    assert [int(item[2]) for item in task.dataset_test] == [4, 4]


def test_gaps(write_ucr):
    write_ucr("Toy", ["1\t1\tNaN\t3", "2\t1\t2\t3"])
    with pytest.raises(DataError, match=r"Toy_TRAIN\.tsv: 1 of 2 series.*missing=interpolate"):
        ready("Toy")
    assert ready("Toy", missing="interpolate").dataset_train[0][0].flatten().tolist() == [1, 2, 3]


def test_normalize_each_series(write_ucr, rows):
    write_ucr("Toy", rows(LABELS))
    x = torch.stack([item[0] for item in ready("Toy", normalize="series").dataset_train])
    torch.testing.assert_close(x.mean(1), torch.zeros(12, 1), atol=1e-6, rtol=0)


def test_provenance_tells_contents_apart(write_ucr, rows):
    folder = write_ucr("Toy", rows(LABELS))
    first = ready("Toy").provenance()
    assert first == ready("Toy").provenance()
    assert first["files"][0].endswith("Toy_TRAIN.tsv")
    assert ready("Toy", stride=2).provenance()["sha256"] != first["sha256"]
    (folder / "Toy_TEST.tsv").write_text("\n".join(rows(LABELS, seed=9)))
    assert ready("Toy").provenance()["sha256"] != first["sha256"]
    with pytest.raises(DataError, match="call setup"):
        UCR("Toy").provenance()


def test_unknown_set_names_path_nearest_and_remedy(write_ucr, rows, archive):
    write_ucr("GunSmoke", rows(LABELS))
    with pytest.raises(DataError) as error:
        ready("GunSmok")
    for part in (
        str(archive / "UCRArchive_2018" / "GunSmok" / "GunSmok_TRAIN.tsv"),
        "did you mean 'GunSmoke'",
        "DATA_PATH",
    ):
        assert part in str(error.value)


def test_no_data_folder_at_all(monkeypatch):
    monkeypatch.delenv("DATA_PATH", raising=False)
    with pytest.raises(DataError, match=r"\$DATA_PATH \(not set\)"):
        ready("NoSuchSet")
    with pytest.raises(DataError, match="is no folder"):
        ready("NoSuchSet", data_dir="/no/such/folder")


def test_missing_test_file(write_ucr, rows):
    folder = write_ucr("Toy", rows(LABELS))
    (folder / "Toy_TEST.tsv").unlink()
    with pytest.raises(DataError, match="was not found"):
        ready("Toy")


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [(["1", "1"], ["1"], "one class only"), (["1", "2"], ["1", "3"], r"labels \['3'\] that")],
)
def test_classes_that_cannot_be_learned(write_ucr, rows, train, test, message):
    write_ucr("Toy", rows(train), rows(test))
    with pytest.raises(DataError, match=message):
        ready("Toy")


@pytest.mark.parametrize("options", [{"stride": 0}, {"stride": 1.5}, {"normalize": "serie"}])
def test_options_out_of_range(options):
    with pytest.raises(OptionError):
        UCR("Toy", **options)


def test_build_by_name(write_ucr, rows):
    write_ucr("Toy", rows(LABELS))
    task = build("tdi_ucr", name="Toy", stride=2)
    assert isinstance(task, UCR)
    with pytest.raises(OptionError, match="did you mean 'tdi_ucr'"):
        build("tdi_ucs", name="Toy")
    with pytest.raises(OptionError, match=r"no option 'strid'.*did you mean 'stride'"):
        build("tdi_ucr", name="Toy", strid=2)
    with pytest.raises(OptionError, match="needs the option 'name'"):
        build("tdi_ucr")


SHIPPED = {
    "GunPoint": (50, 150, 150, 1, 2, False),
    "ItalyPowerDemand": (67, 1029, 24, 1, 2, False),
    "ArrowHead": (36, 175, 251, 1, 3, False),
    "OSULeaf": (200, 242, 427, 1, 6, False),
    "ACSF1": (100, 100, 1460, 1, 10, False),
    "BasicMotions": (40, 40, 100, 6, 4, False),
    "JapaneseVowels": (270, 370, 29, 12, 9, True),
    "PickupGestureWiimoteZ": (50, 50, 361, 1, 10, True),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_sets_inside_aeon_need_no_folder(name, monkeypatch):
    monkeypatch.delenv("DATA_PATH", raising=False)
    if name not in bundled():
        pytest.skip(f"the installed aeon does not ship {name}")
    task = ready(name)
    sizes = len(task.dataset_train), len(task.dataset_test), task.l_max, task.d_input, task.d_output
    assert (*sizes, task.has_lengths) == SHIPPED[name]


def test_a_folder_comes_before_aeon(write_ucr, rows):
    write_ucr("GunPoint", rows(LABELS))
    assert ready("GunPoint").l_max == 8


@pytest.mark.parametrize("name", ["GunPoint", "ItalyPowerDemand", "PickupGestureWiimoteZ"])
def test_archive_and_aeon_hold_the_same_series(data_path, monkeypatch, name):
    if not (data_path / "UCRArchive_2018" / name).is_dir() or name not in bundled():
        pytest.skip(f"{name} is not in both places")
    monkeypatch.delenv("DATA_PATH", raising=False)
    shipped, archived = ready(name), ready(name, data_dir=data_path)
    for part in ("dataset_train", "dataset_test"):
        ours, theirs = getattr(archived, part).series, getattr(shipped, part).series
        torch.testing.assert_close(ours.x, theirs.x, atol=2e-6, rtol=2e-6)
        assert torch.equal(ours.y, theirs.y)
        assert (ours.lengths is None) == (theirs.lengths is None)
        assert ours.lengths is None or torch.equal(ours.lengths, theirs.lengths)


@pytest.mark.parametrize(("name", "error"), [("ECG5000", 0.075), ("Wafer", 0.0045), ("FordA", 0.335)])
def test_published_nearest_neighbour_errors(data_path, name, error):
    """1-NN with Euclidean distance, as in the archive's table (rounded there)."""
    if not (data_path / "UCRArchive_2018" / name).is_dir():
        pytest.skip(f"no {name} in {data_path}")
    task = ready(name, data_dir=data_path)
    train, test = task.dataset_train.series, task.dataset_test.series
    distance = (train.x[..., 0] ** 2).sum(1) - 2 * test.x[..., 0] @ train.x[..., 0].T
    wrong = (train.y[distance.argmin(1)] != test.y).double().mean()
    assert abs(float(wrong) - error) < 6e-4


def test_dodger_loop_has_gaps(data_path):
    if not (data_path / "UCRArchive_2018" / "DodgerLoopGame").is_dir():
        pytest.skip(f"no DodgerLoopGame in {data_path}")
    with pytest.raises(DataError, match="missing=interpolate"):
        ready("DodgerLoopGame", data_dir=data_path)
    task = ready("DodgerLoopGame", data_dir=data_path, missing="interpolate")
    assert torch.isfinite(task.dataset_train.series.x).all()
