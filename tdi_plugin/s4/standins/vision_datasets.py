"""MNIST and CIFAR from their published files, in torchvision's folders; nothing is downloaded."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from tdi_plugin.errors import DataError

Transform = Callable[[Any], Any]


class VisionDataset(Dataset[Any]):
    """Images and labels under a folder ``root``."""

    def __init__(
        self,
        root: str | Path,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        **_: Any,
    ) -> None:
        self.root = Path(root)
        self.transform = transform
        self.target_transform = target_transform

    def _pair(self, image: Any, target: int) -> tuple[Any, Any]:
        return (
            image if self.transform is None else self.transform(image),
            target if self.target_transform is None else self.target_transform(target),
        )


class MNIST(VisionDataset):
    """``root/MNIST/raw/*-ubyte[.gz]``."""

    def __init__(self, root: str | Path, train: bool = True, download: bool = False, **options: Any) -> None:
        super().__init__(root, **options)
        part = "train" if train else "t10k"
        folder = self.root / "MNIST" / "raw"
        self.data = torch.from_numpy(_idx(folder / f"{part}-images-idx3-ubyte", "MNIST"))
        self.targets = torch.from_numpy(_idx(folder / f"{part}-labels-idx1-ubyte", "MNIST").astype(np.int64))

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        return self._pair(Image.fromarray(self.data[index].numpy()), int(self.targets[index]))


class CIFAR10(VisionDataset):
    """``root/cifar-10-batches-py``, the Python version."""

    folder = "cifar-10-batches-py"
    train_files: tuple[str, ...] = tuple(f"data_batch_{i}" for i in range(1, 6))
    test_files: tuple[str, ...] = ("test_batch",)
    labels = "labels"

    def __init__(self, root: str | Path, train: bool = True, download: bool = False, **options: Any) -> None:
        super().__init__(root, **options)
        images, targets = [], []
        for name in self.train_files if train else self.test_files:
            batch = _pickle(self.root / self.folder / name, type(self).__name__)
            images.append(np.asarray(batch["data"]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
            targets += list(batch[self.labels])
        self.data = np.concatenate(images)
        self.targets = targets

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        return self._pair(Image.fromarray(self.data[index]), int(self.targets[index]))


class CIFAR100(CIFAR10):
    """``root/cifar-100-python``, the Python version, fine labels."""

    folder = "cifar-100-python"
    train_files = ("train",)
    test_files = ("test",)
    labels = "fine_labels"


def _absent(path: Path, name: str) -> DataError:
    return DataError(
        f"No file {path}; expected the published files of {name} there. "
        "The stand-in for torchvision does not download: put them there, or install torchvision."
    )


def _idx(path: Path, name: str) -> np.ndarray[Any, Any]:
    packed = path.with_name(path.name + ".gz")
    if path.is_file():
        raw = path.read_bytes()
    elif packed.is_file():
        raw = gzip.decompress(packed.read_bytes())
    else:
        raise _absent(path, name)
    axes = raw[3]
    shape = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(axes)]
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape).copy()


def _pickle(path: Path, name: str) -> dict[str, Any]:
    if not path.is_file():
        raise _absent(path, name)
    with path.open("rb") as file:
        loaded: dict[str, Any] = pickle.load(file, encoding="latin1")
    return loaded


__all__ = ["CIFAR10", "CIFAR100", "MNIST", "VisionDataset"]
