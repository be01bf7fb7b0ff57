"""Write small made-up data in the native formats of our readers, or of s4's own loaders.

Usage: python small_data.py ours|s4 FOLDER; s4 means both. None of it is the published data:
random expressions, noise, tones and letters, labelled by a simple rule.
"""

from __future__ import annotations

import pickle
import random
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def ours(folder: Path) -> None:
    rng = np.random.default_rng(0)
    listops(folder / "listops")
    mnist(folder / "MNIST" / "raw", rng)
    words = ("backward", "down", "go", "left", "no", "off", "on", "right", "stop", "up", "yes")
    speech(folder / "SpeechCommands" / "speech_commands_v0.02", words, rng)
    for name in ("ECG5000", "FordA", "GunPoint", "Wafer", "Plane"):
        ucr(folder / "UCRArchive_2018" / name, rng)


def ucr(folder: Path, rng: np.random.Generator) -> None:
    """Two classes of 48 samples: a slow and a fast wave."""
    folder.mkdir(parents=True)
    for split, count in (("TRAIN", 20), ("TEST", 10)):
        rows = []
        for i in range(count):
            wave = np.sin(2 * np.pi * (0.05 + 0.2 * (i % 2)) * np.arange(48) + rng.uniform(0, 6))
            values = wave + 0.1 * rng.normal(size=48)
            rows.append("\t".join([str(1 + i % 2), *(f"{v:.5f}" for v in values)]) + "\n")
        (folder / f"{folder.name}_{split}.tsv").write_text("".join(rows))


def of_s4(folder: Path) -> None:
    from src.dataloaders.datasets.sc import _SpeechCommands

    ours(folder)
    rng = np.random.default_rng(0)
    cifar(folder / "cifar" / "cifar-10-batches-py", rng)
    aan(folder / "aan", rng)
    imdb(folder / "imdb", rng)
    for side in (32, 128):
        paths(folder / "pathfinder" / f"pathfinder{side}", side, rng)
    speech(folder / "SpeechCommands", _SpeechCommands.ALL_CLASSES, rng)
    (folder / "SpeechCommands" / "speech_commands.tar.gz").touch()  # tells s4 that the download is done
    mnist(folder / "mnist" / "MNIST" / "raw", rng)


def listops(folder: Path) -> None:
    folder.mkdir(parents=True)
    rng = random.Random(0)
    for split, count in (("train", 60), ("val", 12), ("test", 12)):
        rows = (expression(rng, 3) for _ in range(count))
        text = "".join(f"{source}\t{value}\n" for source, value in rows)
        (folder / f"basic_{split}.tsv").write_text("Source\tTarget\n" + text)


def expression(rng: random.Random, depth: int) -> tuple[str, int]:
    if depth == 0 or rng.random() < 0.25:
        digit = rng.randrange(10)
        return str(digit), digit
    name = rng.choice(["MIN", "MAX", "MED", "SM"])
    parts = [expression(rng, depth - 1) for _ in range(rng.randrange(2, 5))]
    values = [value for _, value in parts]
    results = (min(values), max(values), int(statistics.median(values)), sum(values) % 10)
    value = dict(zip(("MIN", "MAX", "MED", "SM"), results, strict=True))[name]
    return f"( ( [{name} {' '.join(text for text, _ in parts)} ] ) )", value


def cifar(folder: Path, rng: np.random.Generator) -> None:
    folder.mkdir(parents=True)
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        labels = [i % 10 for i in range(20)]
        images = rng.integers(0, 128, (20, 3072)) + 12 * np.array(labels)[:, None]
        with (folder / name).open("wb") as file:
            pickle.dump({"data": images.astype(np.uint8), "labels": labels}, file)
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": [str(i) for i in range(10)]}))


def aan(folder: Path, rng: np.random.Generator) -> None:
    folder.mkdir(parents=True)
    for split, count in (("train", 16), ("eval", 8), ("test", 8)):
        rows = []
        for i in range(count):
            first, second = letters(rng, i % 2), letters(rng, i % 2)
            rows.append(f"{i % 2}.0\t{i}\t{i + 1}\t{first}\t{second}\n")
        (folder / f"new_aan_pairs.{split}.tsv").write_text("".join(rows))


def letters(rng: np.random.Generator, kind: int) -> str:
    """60 to 99 letters, alternating fast or slowly."""
    count = int(rng.integers(60, 100))
    return "".join("abcd"[(i // (1 + 2 * kind)) % 2 + 2 * int(rng.integers(0, 2))] for i in range(count))


def imdb(folder: Path, rng: np.random.Generator) -> None:
    """s4's own cache of the tokenized set: the published text comes over the network only."""
    from datasets import Dataset, DatasetDict
    from torchtext.vocab import build_vocab_from_iterator

    splits = {name: [(letters(rng, i % 2), i % 2) for i in range(16)] for name in ("train", "test")}
    tokens = [list(text) for rows in splits.values() for text, _ in rows]
    vocab = build_vocab_from_iterator(tokens, specials=["<pad>", "<unk>", "<eos>"])
    vocab.set_default_index(vocab["<unk>"])

    def table(rows: list[tuple[str, int]]) -> Any:
        ids = [vocab([*text, "<eos>"]) for text, _ in rows]
        return Dataset.from_dict({"input_ids": ids, "label": [label for _, label in rows]})

    name = "l_max-4096-level-char-min_freq-15-append_bos-False-append_eos-True"
    cache = folder / "cache" / name
    DatasetDict({split: table(rows) for split, rows in splits.items()}).save_to_disk(str(cache))
    (cache / "tokenizer.pkl").write_bytes(pickle.dumps(list))
    (cache / "vocab.pkl").write_bytes(pickle.dumps(vocab))


def paths(folder: Path, side: int, rng: np.random.Generator) -> None:
    from PIL import Image

    home = folder / "curv_contour_length_14"
    (home / "imgs" / "0").mkdir(parents=True)
    (home / "metadata").mkdir()
    rows = []
    for i in range(20):
        pixels = rng.integers(0, 60, (side, side))
        pixels[:: 2 + 2 * (i % 2)] += 150
        name = f"sample_{i}.png"
        Image.fromarray(pixels.astype(np.uint8)).save(home / "imgs" / "0" / name)
        rows.append(f"imgs/0 {name} {i} {i % 2} 0 0 0 0\n")
    (home / "metadata" / "0.npy").write_text("".join(rows))


def speech(folder: Path, words: Sequence[str], rng: np.random.Generator) -> None:
    """Four short tones a word, with the official names of the two lists."""
    import soundfile

    lists: dict[str, list[str]] = {"validation_list.txt": [], "testing_list.txt": []}
    for number, word in enumerate(words):
        (folder / word).mkdir(parents=True)
        for take in range(4):
            tone = np.sin(2 * np.pi * (0.01 + 0.01 * number) * np.arange(2000) + rng.uniform(0, 6))
            soundfile.write(folder / word / f"{take}.wav", 0.5 * tone + 0.01 * rng.normal(size=2000), 16000)
        lists["validation_list.txt"].append(f"{word}/2.wav\n")
        lists["testing_list.txt"].append(f"{word}/3.wav\n")
    for name, rows in lists.items():
        (folder / name).write_text("".join(rows))


def mnist(folder: Path, rng: np.random.Generator) -> None:
    folder.mkdir(parents=True)
    for part, count in (("train", 100), ("t10k", 20)):
        labels = np.arange(count) % 10
        images = (rng.integers(0, 60, (count, 28, 28)) + 15 * labels[:, None, None]).astype(np.uint8)
        header = b"\0\0\x08\x03" + b"".join(int(n).to_bytes(4, "big") for n in (count, 28, 28))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(header + images.tobytes())
        header = b"\0\0\x08\x01" + int(count).to_bytes(4, "big")
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(header + labels.astype(np.uint8).tobytes())


if __name__ == "__main__":
    kind, target = sys.argv[1], Path(sys.argv[2])
    if kind == "ours":
        ours(target)
    else:
        from tdi_plugin.s4 import launch

        launch.prepare()
        of_s4(target)
