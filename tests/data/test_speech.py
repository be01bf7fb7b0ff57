from __future__ import annotations

import logging
import os

import numpy as np
import pytest
import torch

from tdi_plugin.data import SpeechCommands
from tdi_plugin.data.speech import SC10
from tdi_plugin.data.wav import read_wav
from tdi_plugin.errors import DataError, OptionError

pytest.importorskip("soundfile", reason="wav files are read with soundfile (extra: audio)")
RNG = np.random.default_rng(0)


@pytest.fixture
def corpus(tmp_path, write_wav):
    """Ten words with six files each: four to train, one to validate, one to test; two lengths."""
    folder = tmp_path / "SpeechCommands" / "speech_commands_v0.02"
    for word in SC10:
        for k in range(6):
            length = 16000 if k else 9000
            write_wav(folder / word / f"s{k}_nohash_0.wav", RNG.integers(-3000, 3000, length))
    (folder / "validation_list.txt").write_text("".join(f"{word}/s4_nohash_0.wav\n" for word in SC10))
    (folder / "testing_list.txt").write_text("".join(f"{word}/s5_nohash_0.wav\n" for word in SC10))
    (folder / "_background_noise_").mkdir()
    return tmp_path


def ready(folder, **options) -> SpeechCommands:
    task = SpeechCommands(folder, cache_dir=folder / "cache", **options)
    task.setup()
    return task


def test_official_lists_decide(corpus):
    task = ready(corpus, words="sc10", normalize=None)
    assert (len(task.dataset_train), len(task.dataset_val), len(task.dataset_test)) == (40, 10, 10)
    assert task.classes == tuple(sorted(SC10))
    assert (task.d_input, task.d_output, task.l_max, task.sample_rate) == (1, 10, 16000, 16000)
    folder = corpus / "SpeechCommands" / "speech_commands_v0.02"
    for part, k in (("dataset_val", 4), ("dataset_test", 5)):
        for x, y in getattr(task, part):
            samples, _ = read_wav(folder / task.classes[y] / f"s{k}_nohash_0.wav")
            assert torch.equal(x[:, 0], torch.from_numpy(samples / np.float32(32768)))


def test_short_files_end_in_zeros(corpus):
    x, _ = ready(corpus, words="sc10", normalize=None).dataset_train[0]
    assert x.shape == (16000, 1)
    assert x[8999] != 0
    assert (x[9000:] == 0).all()


def test_normalised_over_the_training_set(corpus):
    train = torch.stack([x for x, _ in ready(corpus).dataset_train])
    torch.testing.assert_close(train.mean(), torch.tensor(0.0), atol=1e-4, rtol=0)
    torch.testing.assert_close(train.std(), torch.tensor(1.0), atol=1e-3, rtol=0)


def test_stride_and_words(corpus):
    task = ready(corpus, words=["yes", "no"], stride=4)
    assert task.classes == ("no", "yes")
    assert (task.l_max, task.sample_rate, len(task.dataset_test)) == (4000, 4000, 2)
    assert task.dataset_test[0][0].shape == (4000, 1)


def test_fewer_words_than_the_benchmark_are_said(corpus, caplog):
    with caplog.at_level(logging.WARNING, "tdi_plugin"):
        assert ready(corpus, words="sc35").d_output == 10
    assert "10 of 35 words" in caplog.text


def test_unusable_files_are_named_counted_and_left_out(corpus, write_wav, caplog):
    folder = corpus / "SpeechCommands" / "speech_commands_v0.02"
    (folder / "yes" / "s1_nohash_0.wav").write_bytes(b"RIFF broken")
    (folder / "no" / "s2_nohash_0.wav").write_bytes(b"")
    write_wav(folder / "up" / "s3_nohash_0.wav", np.ones(100), rate=8000)
    write_wav(folder / "go" / "s3_nohash_0.wav", np.ones(0))
    for _ in ("first reading", "from the cache"):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "tdi_plugin"):
            task = ready(corpus, words="sc10")
        assert len(task.dataset_train) == 36
        assert "4 of 60 audio files are left out" in caplog.text
        assert "yes/s1_nohash_0.wav" in caplog.text
        assert len(task.provenance()["unreadable"]) == 4


def test_cache_is_used_and_notices_changes(corpus, write_wav, monkeypatch):
    first = ready(corpus).provenance()["sha256"]
    with monkeypatch.context() as patch:
        patch.setattr(
            "tdi_plugin.data.wave_table.read_wav", lambda file: pytest.fail(f"{file} was read again")
        )
        assert ready(corpus).provenance()["sha256"] == first
    changed = corpus / "SpeechCommands" / "speech_commands_v0.02" / "yes" / "s2_nohash_0.wav"
    write_wav(changed, np.arange(16000))
    os.utime(changed, ns=(1, 1))
    assert ready(corpus).provenance()["sha256"] != first
    assert not list((corpus / "cache").glob("*.part"))


def test_default_cache_is_the_users(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "user" / name)
    task = SpeechCommands(corpus, words="sc10")
    task.setup()
    assert list((tmp_path / "user" / "tdi-plugin" / "data").glob("waves-*.npy"))


def test_several_channels_become_their_mean(tmp_path, write_wav):
    write_wav(tmp_path / "a.wav", np.array([10, 20, -5, 5]), channels=2)
    samples, rate = read_wav(tmp_path / "a.wav")
    assert samples.tolist() == [15, 0]
    assert rate == 16000


def test_no_corpus_and_no_lists(tmp_path):
    with pytest.raises(DataError, match=r"no validation_list\.txt and testing_list\.txt in"):
        ready(tmp_path)


def test_word_without_a_folder(corpus):
    with pytest.raises(DataError, match="no folder for 'yess': did you mean 'yes'"):
        ready(corpus, words=["yess", "no"])


def test_every_file_broken(corpus):
    for file in (corpus / "SpeechCommands").rglob("*.wav"):
        file.write_bytes(b"")
    with pytest.raises(DataError, match="None of 60 audio files"):
        ready(corpus)


def test_empty_lists(corpus):
    (corpus / "SpeechCommands" / "speech_commands_v0.02" / "testing_list.txt").write_text("")
    with pytest.raises(DataError, match="no readable file for the test set"):
        ready(corpus)


@pytest.mark.parametrize("options", [{"words": "sc11"}, {"stride": 0}, {"normalize": "trai"}])
def test_options_out_of_range(options):
    with pytest.raises(OptionError):
        SpeechCommands(**options)


def test_real_excerpt(data_path, tmp_path):
    if not (data_path / "SpeechCommands").is_dir():
        pytest.skip(f"no SpeechCommands in {data_path}")
    task = SpeechCommands(data_path, words="sc10", cache_dir=tmp_path)
    task.setup()
    assert (len(task.dataset_train), len(task.dataset_val), len(task.dataset_test)) == (677, 123, 300)
    assert task.provenance()["unreadable"] == []
