from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest
import torch

from tdi_plugin.data import SequentialMNIST, subset_dataset
from tdi_plugin.data.idx import read_idx
from tdi_plugin.data.lazy import ScaledDataset, mean_and_deviation
from tdi_plugin.data.task import SPLIT, TEST
from tdi_plugin.errors import DataError

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (60, 4, 5), dtype=np.uint8)
LABELS = (np.arange(60) % 10).astype(np.uint8)


@pytest.fixture
def mnist(tmp_path, write_idx):
    folder = tmp_path / "MNIST" / "raw"
    for part, n in (("train", 60), ("t10k", 10)):
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", IMAGES[:n])
        write_idx(folder / f"{part}-labels-idx1-ubyte", LABELS[:n])
    return tmp_path


def ready(folder, **options) -> SequentialMNIST:
    task = SequentialMNIST(folder, **options)
    task.setup()
    return task


@pytest.mark.parametrize("shape", [(7,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("name", ["a-ubyte", "a-ubyte.gz"])
def test_idx_round_trip(tmp_path, write_idx, shape, name):
    values = RNG.integers(0, 256, shape, dtype=np.uint8)
    write_idx(tmp_path / name, values)
    np.testing.assert_array_equal(read_idx(tmp_path / name), values)


def test_idx_of_big_endian_floats(tmp_path):
    path = tmp_path / "a.idx"
    path.write_bytes(b"\0\0\x0d\1\0\0\0\2" + np.array([1.5, -2], ">f4").tobytes())
    assert read_idx(path).tolist() == [1.5, -2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with"),
        (b"\0\0\x07\1\0\0\0\1a", "begins with 00 00 07 01"),
        (b"\0\0\x08\3\0\0\0\1", "holds"),
        (b"\0\0\x08\1\0\0\0\5ab", "holds 2 bytes of values, expected shape \\(5,\\)"),
    ],
)
def test_damaged_idx(tmp_path, content, message):
    (tmp_path / "a.idx").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_idx(tmp_path / "a.idx")


def test_truncated_gzip(tmp_path):
    (tmp_path / "a.idx.gz").write_bytes(gzip.compress(bytes(1000))[:-9])
    with pytest.raises(DataError, match="cannot be read as a gzip file"):
        read_idx(tmp_path / "a.idx.gz")


def test_pixels_row_by_row(mnist):
    task = ready(mnist, val_split=0)
    assert (task.d_input, task.d_output, task.l_max) == (1, 10, 20)
    x, y = task.dataset_train[3]
    torch.testing.assert_close(x[:, 0], torch.from_numpy(IMAGES[3].reshape(-1) / np.float32(255)))
    assert int(y) == 3
    assert task.dataset_val is task.dataset_test
    assert task.validation == TEST


def test_permuted_alike_for_all_images_and_by_seed(mnist):
    plain, permuted, other = (
        ready(mnist, val_split=0, permute=p, permute_seed=s) for p, s in ((False, 0), (True, 0), (True, 1))
    )
    order = np.random.default_rng(0).permutation(20)
    for part in ("dataset_train", "dataset_test"):
        x, moved = getattr(plain, part)[2][0], getattr(permuted, part)[2][0]
        assert torch.equal(moved, x[order])
    assert not torch.equal(other.dataset_train[2][0], permuted.dataset_train[2][0])


def test_validation_split_and_subset(mnist):
    task = ready(mnist, val_split=1 / 6)
    assert task.validation == SPLIT
    assert len(task.dataset_val) == 10
    assert sorted(task.dataset_val.labels.tolist()) == list(range(10))
    part = subset_dataset(task.dataset_train, 0.2)
    assert sorted(int(y) for _, y in part) == list(range(10))


def test_nothing_there(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"no train-images-idx3-ubyte\(\.gz\) in .*MNIST/raw"):
        ready(tmp_path)
    monkeypatch.delenv("DATA_PATH", raising=False)
    with pytest.raises(DataError, match=r"\$DATA_PATH \(not set\)"):
        ready(None)


def test_one_file_missing(mnist):
    (mnist / "MNIST" / "raw" / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(DataError, match="has no t10k-labels-idx1-ubyte"):
        ready(mnist)


@pytest.mark.parametrize(
    ("labels", "message"), [(LABELS[:7], "expected .n, rows, columns."), (LABELS + 1, "go from 1 to 10")]
)
def test_labels_that_do_not_fit(mnist, write_idx, labels, message):
    write_idx(mnist / "MNIST" / "raw" / "train-labels-idx1-ubyte", labels)
    with pytest.raises(DataError, match=message):
        ready(mnist)


def test_mapped_rows_survive_a_trip_to_a_worker(tmp_path):
    values = RNG.integers(-300, 300, (50, 400)).astype(np.int16)
    np.save(tmp_path / "v.npy", values)
    rows = np.array([4, 2])
    dataset = ScaledDataset(
        tmp_path / "v.npy", rows, np.array([1, 0]), pick=slice(None, None, 4), shift=3, scale=0.5
    )
    expected = (values[4, ::4].astype(np.float32) - 3) * 0.5
    assert dataset[0][0][:, 0].tolist() == expected.tolist()
    packed = pickle.dumps(dataset)
    assert len(packed) < 2000 < values.nbytes
    assert torch.equal(pickle.loads(packed)[0][0], dataset[0][0])


def test_each_series_standardised():
    values = np.array([[1, 2, 3], [7, 7, 7]], np.int16)
    dataset = ScaledDataset(values, np.arange(2), np.array([0, 1]), per_series=True)
    torch.testing.assert_close(dataset[0][0][:, 0], torch.tensor([-1.0, 0.0, 1.0]) * 1.5**0.5)
    assert (dataset[1][0] == 0).all()


def test_mean_and_deviation_of_many_rows():
    values = RNG.integers(-30000, 30000, (1200, 50)).astype(np.int16)
    rows = np.arange(0, 1200, 2)
    mean, deviation = mean_and_deviation(values, rows)
    assert mean == pytest.approx(values[rows].astype(float).mean(), rel=1e-12, abs=1e-9)
    assert deviation == pytest.approx(values[rows].astype(float).std(), rel=1e-12)


def test_real_mnist(data_path):
    if not (data_path / "MNIST" / "raw").is_dir():
        pytest.skip(f"no MNIST in {data_path}")
    task = ready(data_path)
    assert (len(task.dataset_train), len(task.dataset_val), len(task.dataset_test)) == (54000, 6000, 10000)
    assert task.l_max == 784
    # Class counts of the published training set.
    both = torch.cat([task.dataset_train.labels, task.dataset_val.labels])
    assert both.bincount().tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    mean, deviation = mean_and_deviation(task.dataset_train.values, np.arange(60000))
    assert mean / 255 == pytest.approx(0.1307, abs=1e-4)
    assert deviation / 255 == pytest.approx(0.3081, abs=1e-4)
