"""Stand-ins answer only for packages that do not import, with what s4 calls, checked against other code."""

from __future__ import annotations

import gzip
import pickle
import textwrap
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from tdi_plugin.errors import DataError
from tdi_plugin.s4.standins import audio, text, vision_datasets, vision_transforms


@pytest.fixture
def process(run_python, tmp_path):
    """Run code with fake packages first on the path; ``absent`` is the answer of ``install()``."""

    def run(code: str, **packages: str) -> str:
        for name, source in packages.items():
            (tmp_path / "site" / name).mkdir(parents=True)
            (tmp_path / "site" / name / "__init__.py").write_text(source)
        start = "from tdi_plugin.s4.standins import install, provided\nabsent = install()\n"
        done = run_python("-c", start + textwrap.dedent(code), PYTHONPATH=str(tmp_path / "site"))
        return done.stdout.strip()

    return run


def test_package_that_imports_is_left_alone_and_broken_ones_are_replaced(process):
    printed = process(
        """
        import torchaudio, torchtext, torchvision.transforms
        print("torchaudio" in absent, torchaudio.marker, absent == provided())
        print("torchtext" in absent, torchtext.vocab.build_vocab_from_iterator([["a"]])["a"])
        """,
        torchaudio="marker = 'the real one'",
        torchtext="import no_such_library",
        torchvision="raise RuntimeError('operator torchvision::nms does not exist')",
    )
    assert printed.splitlines() == ["False the real one True", "True 0"]


def test_what_is_missing_says_which_package_to_install(process):
    printed = process(
        """
        import torchvision, torchaudio.transforms
        for wanted in (lambda: torchvision.ops, lambda: torchaudio.transforms.MFCC):
            try:
                wanted()
            except AttributeError as error:
                print(error)
        try:
            import torchvision.models
        except ImportError as error:
            print(error)
        """,
        torchvision="raise OSError('broken')",
        torchaudio="raise OSError('broken')",
    )
    lines = printed.splitlines()
    assert len(lines) == 3
    assert all("stand-in" in line and "install torch" in line for line in lines)


def test_other_packages_see_no_torchvision(process):
    if find_spec("torchvision") or find_spec("torchaudio"):
        pytest.skip("torchvision or torchaudio is installed here")
    printed = process(
        """
        import transformers.utils as utils
        print(absent, utils.is_torchvision_available(), utils.is_torchaudio_available())
        import datasets, torchmetrics.audio, pytorch_lightning.loggers
        print(datasets.config.TORCHVISION_AVAILABLE)
        """
    )
    assert printed.splitlines()[0].endswith("False False")
    assert printed.splitlines()[1] == "False"


def test_vocabulary_orders_by_count_and_then_by_name():
    rows = [list("abracadabra"), list("cb")]
    vocab = text.build_vocab_from_iterator(rows, min_freq=2, specials=["<pad>", "<unk>"])
    counts = Counter("abracadabracb")
    expected = sorted((t for t in counts if counts[t] >= 2), key=lambda t: (-counts[t], t))
    assert vocab.get_itos() == ["<pad>", "<unk>", *expected]
    assert vocab(["a", "<pad>"]) == [2, 0]
    with pytest.raises(RuntimeError, match="'d'"):
        vocab["d"]
    vocab.set_default_index(vocab["<unk>"])
    assert vocab["d"] == 1
    assert len(pickle.loads(pickle.dumps(vocab))) == len(vocab) == 2 + len(expected)
    assert text.build_vocab_from_iterator(rows, max_tokens=3, specials=["<pad>"]).get_itos() == [
        "<pad>",
        "a",
        "b",
    ]


def test_csv_reader_takes_long_fields(tmp_path):
    (tmp_path / "t.tsv").write_text("x" * 200_000 + "\ty\n")
    with (tmp_path / "t.tsv").open() as file:
        ((long, y),) = text.unicode_csv_reader(file, delimiter="\t")
    assert (len(long), y) == (200_000, "y")


@pytest.mark.parametrize(("orig", "new"), [(16000, 8000), (8000, 16000), (16000, 11025), (100, 100)])
def test_resampling_keeps_a_tone(orig, new):
    seconds, hertz = 0.1 * 16000 / orig, 0.05 * min(orig, new)

    def tone(rate):
        return torch.sin(2 * torch.pi * hertz * torch.arange(int(seconds * rate)) / rate)

    found = audio.functional.resample(tone(orig).repeat(2, 1), orig, new)
    assert found.shape == (2, int(np.ceil(int(seconds * orig) * new / orig)))
    wanted = tone(new)[: found.shape[1]]
    inside = slice(len(wanted) // 4, 3 * len(wanted) // 4)
    torch.testing.assert_close(found[1, : len(wanted)][inside], wanted[inside], atol=2e-3, rtol=0)


def test_resampling_removes_what_would_alias():
    tone = torch.sin(2 * torch.pi * 0.45 * torch.arange(4000))
    found = audio.Resample(16000, 8000)(tone)
    assert found[500:1500].abs().max() < 0.02


def test_audio_files(tmp_path):
    soundfile = pytest.importorskip("soundfile")
    samples = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2)).astype(np.float32)
    soundfile.write(tmp_path / "a.wav", samples, 8000, subtype="FLOAT")
    waveform, rate = audio.load(tmp_path / "a.wav", frame_offset=10, num_frames=20)
    assert rate == 8000
    np.testing.assert_array_equal(waveform.numpy(), samples[10:30].T)
    assert audio.load(tmp_path / "a.wav", channels_first=False)[0].shape == (50, 2)
    assert audio.info(tmp_path / "a.wav").num_frames == 50
    audio.save(tmp_path / "b.wav", waveform, rate)
    torch.testing.assert_close(audio.load(tmp_path / "b.wav")[0], waveform, atol=1e-4, rtol=0)


def test_image_transforms():
    image_module = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (6, 5, 3)).astype(np.uint8)
    image = image_module.fromarray(pixels)
    chain = [vision_transforms.ToTensor(), vision_transforms.Normalize((0.1, 0.2, 0.3), (1, 2, 3))]
    found = vision_transforms.Compose(chain)(image).numpy()
    wanted = (pixels.transpose(2, 0, 1) / 255 - np.array([0.1, 0.2, 0.3])[:, None, None]) / np.array(
        [1, 2, 3]
    )[:, None, None]
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    grey = vision_transforms.ToTensor()(vision_transforms.Grayscale()(image))
    luminance = pixels @ np.array([0.299, 0.587, 0.114]) / 255
    np.testing.assert_allclose(grey[0].numpy(), luminance, atol=1 / 255)
    flipped = vision_transforms.RandomHorizontalFlip(1.0)(image)
    np.testing.assert_array_equal(np.asarray(flipped), pixels[:, ::-1])
    crop = np.asarray(vision_transforms.RandomCrop(4, padding=1, padding_mode="symmetric")(image))
    padded = np.pad(pixels, [(1, 1), (1, 1), (0, 0)], mode="symmetric")
    windows = [padded[i : i + 4, j : j + 4] for i in range(5) for j in range(4)]
    assert any(np.array_equal(crop, window) for window in windows)
    small = vision_transforms.functional.resize(torch.full((1, 3, 8, 8), 0.5), [4, 4])
    torch.testing.assert_close(small, torch.full((1, 3, 4, 4), 0.5))


def test_image_sets_from_published_files(tmp_path):
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    images = np.arange(2 * 784).reshape(2, 28, 28) % 251
    header = bytes([0, 0, 8, 3]) + b"".join(n.to_bytes(4, "big") for n in (2, 28, 28))
    (raw / "train-images-idx3-ubyte").write_bytes(header + images.astype(np.uint8).tobytes())
    labels = bytes([0, 0, 8, 1]) + (2).to_bytes(4, "big") + bytes([7, 3])
    (raw / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    digits = vision_datasets.MNIST(tmp_path, train=True, transform=np.asarray)
    np.testing.assert_array_equal(digits[1][0], images[1])
    assert [digits[i][1] for i in range(len(digits))] == [7, 3]
    with pytest.raises(DataError, match=r"t10k-images.*does not download"):
        vision_datasets.MNIST(tmp_path, train=False)

    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    colours = np.zeros((1, 3, 32, 32), np.uint8)
    colours[0, 0, 4, 5] = 200
    with (folder / "test_batch").open("wb") as file:
        pickle.dump({"data": colours.reshape(1, -1), "labels": [4]}, file)
    image, label = vision_datasets.CIFAR10(tmp_path, train=False, transform=np.asarray)[0]
    assert (label, image[4, 5].tolist()) == (4, [200, 0, 0])
