"""Small made-up data in the files that s4's own loaders read, to try its experiments without the published
sets.

Nothing here is, or is like, the published data beyond the file format: results on it mean nothing.
"""

from __future__ import annotations

import csv
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.data.listops_files import generate, write_listops
from tdi_plugin.data.paths import draw_paths

_WORDS = (
    "a",
    "the",
    "film",
    "plot",
    "scene",
    "actor",
    "was",
    "is",
    "quite",
    "rather",
    "never",
    "again",
    "slow",
)
_OPINIONS = (("bad", "dull", "poor", "weak"), ("good", "fine", "great", "strong"))


def write_small(folder: Path, n: int = 40, seed: int = 0) -> list[Path]:
    """All five sets with ``n`` training items each (at least 10), under ``folder`` as s4's $DATA_PATH.

    Returns:
        The folders written: listops, cifar, aan, imdb, pathfinder/pathfinder32.
    """
    few = max(n // 4, 5)
    homes = [folder / name for name in ("listops", "cifar", "aan", "imdb", "pathfinder/pathfinder32")]
    write_listops(homes[0], generate((n, few, few), seed, 10, 100, 6, 5))
    write_cifar(homes[1], n, few, seed)
    write_aan(homes[2], n, few, seed)
    write_imdb(homes[3], n, few, seed)
    write_path_images(homes[4], n, 32, seed)
    return homes


def write_cifar(folder: Path, n_train: int, n_test: int, seed: int = 0) -> None:
    """cifar-10-batches-py: five pickled training batches of n_train/5 images and a test batch.

    Class c is a grating whose period goes with c, in noise. torchvision compares checksums and will refuse
    these files; stand-ins that read the format do not.
    """
    home, rng = folder / "cifar-10-batches-py", np.random.default_rng(seed)
    home.mkdir(parents=True, exist_ok=True)
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        count = n_test if name == "test_batch" else -(-n_train // 5)
        labels = rng.permutation(np.arange(count) % 10)
        waves = np.sin(np.arange(32) * (0.2 + 0.25 * labels[:, None]))[:, None, None, :]
        images = 128 + 60 * waves + 30 * rng.standard_normal((count, 3, 32, 32))
        batch = {"data": images.clip(0, 255).astype(np.uint8).reshape(count, 3072), "labels": labels.tolist()}
        (home / name).write_bytes(pickle.dumps(batch))
    meta = {"label_names": [f"grating {c}" for c in range(10)], "num_cases_per_batch": -(-n_train // 5)}
    (home / "batches.meta").write_bytes(pickle.dumps(meta))


def write_imdb(folder: Path, n_train: int, n_test: int, seed: int = 0) -> None:
    """train.csv and test.csv with the columns text and label.

    ``datasets.load_dataset("imdb")``, which s4 calls, reads them when it runs in the folder above this one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for split, count in (("train", n_train), ("test", n_test)):
        with (folder / f"{split}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "label"])
            rows.writerows([_review(rng, i % 2), i % 2] for i in range(count))


def write_aan(folder: Path, n_train: int, n_test: int, seed: int = 0) -> None:
    """new_aan_pairs.{train,eval,test}.tsv: label, two ids, two texts; label 1 where the opinions agree."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for split, count in (("train", n_train), ("eval", n_test), ("test", n_test)):
        rows = []
        for i in range(count):
            first = int(rng.integers(2))
            second = first if i % 2 else 1 - first
            rows.append(f"{i % 2}.0\t{2 * i}\t{2 * i + 1}\t{_review(rng, first)}\t{_review(rng, second)}\n")
        (folder / f"new_aan_pairs.{split}.tsv").write_text("".join(rows), encoding="utf-8")


def write_path_images(folder: Path, n: int, size: int, seed: int = 0) -> None:
    """Path-connectivity images in Pathfinder's layout: curv_contour_length_14/{imgs/0,metadata}."""
    home = folder / "curv_contour_length_14"
    (home / "imgs" / "0").mkdir(parents=True, exist_ok=True)
    (home / "metadata").mkdir(exist_ok=True)
    images, labels = draw_paths(n, size, np.random.default_rng(seed))
    rows = []
    for i, (image, label) in enumerate(zip(images, labels, strict=True)):
        (home / "imgs" / "0" / f"sample_{i}.png").write_bytes(png(image))
        rows.append(f"imgs/0 sample_{i}.png {i} {label}\n")
    # The published metadata are text, whatever their ending says.
    (home / "metadata" / "0.npy").write_text("".join(rows))


def png(image: NDArray[np.uint8]) -> bytes:
    """An 8-bit grey image (rows, columns) as a PNG file."""
    rows, columns = image.shape
    scan = np.concatenate([np.zeros((rows, 1), np.uint8), image], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(scan)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _review(rng: np.random.Generator, opinion: int) -> str:
    words = rng.choice(_WORDS, int(rng.integers(15, 30))).tolist()
    for place in rng.choice(len(words), 4, replace=False):
        words[place] = _OPINIONS[opinion][rng.integers(4)]
    return " ".join(words)
