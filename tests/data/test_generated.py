"""Generated tasks: what was asked for is what a spectrum of the series shows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression

from tdi_plugin.data import FrequencyClassification, PathConnectivity, ToneRegression, build
from tdi_plugin.errors import OptionError

SMALL = {
    "tdi_freqcls": {"n_train": 40, "n_val": 20, "n_test": 30, "length": 128},
    "tdi_tone": {"n_train": 40, "n_val": 20, "n_test": 30, "length": 128},
    "tdi_paths": {"n_train": 40, "n_val": 20, "n_test": 30},
}


def ready(task):
    task.setup()
    return task


def stacked(dataset):
    x, y = zip(*[dataset[i] for i in range(len(dataset))], strict=True)
    return torch.stack(x)[..., 0].double(), torch.stack(y)


@pytest.mark.parametrize("name", SMALL)
def test_seeded_reproducible_and_apart_from_the_global_generators(name):
    np.random.seed(0)
    torch.manual_seed(0)
    states = np.random.get_state()[1].copy(), torch.get_rng_state()
    first, again, other = (ready(build(name, **SMALL[name], seed=s)) for s in (0, 0, 1))
    assert first.provenance() == again.provenance()
    assert first.provenance()["sha256"] != other.provenance()["sha256"]
    assert np.array_equal(states[0], np.random.get_state()[1])
    assert torch.equal(states[1], torch.get_rng_state())
    train, test = (stacked(part)[0] for part in (first.dataset_train, first.dataset_test))
    assert torch.cdist(train, test).min() > 0
    assert [len(d) for d in (first.dataset_train, first.dataset_val, first.dataset_test)] == [40, 20, 30]


@pytest.mark.parametrize("name", SMALL)
def test_a_larger_training_set_leaves_the_test_set(name):
    small, large = (ready(build(name, **{**SMALL[name], "n_train": n})) for n in (40, 60))
    assert torch.equal(stacked(small.dataset_test)[0], stacked(large.dataset_test)[0])


def test_tones_lie_in_their_bands_at_the_asked_ratio_to_the_noise():
    common = {"n_train": 400, "length": 2048, "n_classes": 4, "seed": 3}
    clean = ready(FrequencyClassification(**common, snr_db=None))
    x, y = stacked(clean.dataset_train)
    peak = torch.fft.rfft(x).abs().argmax(1) / 2048
    centres = torch.tensor(clean.centres())
    assert ((peak - centres[y]).abs() <= 0.5 * 0.1 / 2 + 1 / 2048).all()
    assert y.bincount().tolist() == [100] * 4
    torch.testing.assert_close(x.square().mean(), torch.tensor(1.0).double(), atol=1e-2, rtol=0)
    noisy, _ = stacked(ready(FrequencyClassification(**common, snr_db=-3.0)).dataset_train)
    torch.testing.assert_close(noisy.square().mean(), torch.tensor(1 + 10**0.3).double(), atol=2e-2, rtol=0)


def test_distractor_is_strong_slow_and_says_nothing():
    x, y = stacked(
        ready(FrequencyClassification(600, 10, 10, 1024, snr_db=None, distractor=3.0, seed=1)).dataset_train
    )
    power = torch.fft.rfft(x).abs().square()
    assert (power.argmax(1) < 1024 * 0.025).all()
    slow = torch.log(power[:, 1:20]).numpy()
    _, p = f_classif(slow, y.numpy())
    assert p.min() * slow.shape[1] > 1e-3


def test_locked_tones_are_linear_in_the_series_and_free_ones_are_not():
    for phase, low, high in (("locked", 0.99, 1.0), ("free", -9.0, 0.3)):
        task = ready(ToneRegression(600, 10, 300, 256, phase=phase, snr_db=20.0))
        x, y = stacked(task.dataset_train)
        x_test, y_test = stacked(task.dataset_test)
        weights = torch.linalg.lstsq(x, y.double() - y.double().mean(0)).solution
        left = y_test.double() - y.double().mean(0) - x_test @ weights
        explained = 1 - left.square().mean(0) / y_test.double().var(0)
        assert low <= float(explained.min()), phase
        assert float(explained.max()) <= high, phase


def test_tone_cross_spectrum_peaks_at_the_targets():
    task = ready(ToneRegression(2000, 10, 10, 500, frequencies=(0.1, 0.24), others=(0.02, 0.31), snr_db=0.0))
    x, y = stacked(task.dataset_train)
    covariance = (x - x.mean(0)).T @ (y.double() - y.double().mean(0)) / len(x)
    peaks = torch.fft.rfft(covariance, dim=0).abs().argmax(0)
    assert peaks.tolist() == [50, 120]
    assert (task.d_output, task.classes) == (2, ())


def test_paths_are_drawn_and_balanced():
    task = ready(PathConnectivity(100, 10, 10, size=32))
    x, y = stacked(task.dataset_train)
    assert x.shape == (100, 1024)
    assert y.bincount().tolist() == [50, 50]
    images = x.reshape(100, 32, 32)
    dots = (images == 1).sum((1, 2))
    assert ((dots >= 12) & (dots <= 18)).all(), "two dots of at most nine pixels"


def test_paths_have_no_frequency_that_tells_them_apart():
    x, y = stacked(ready(PathConnectivity(1500, 10, 10)).dataset_train)
    power = torch.log(torch.fft.rfft(x).abs().square() + 1e-3)[:, 1:].numpy()
    _, p = f_classif(power, y.numpy())
    assert p.min() * power.shape[1] > 0.01
    spots = [np.argwhere(image == 1) for image in x.reshape(-1, 32, 32).numpy()]
    dots = np.array([np.ptp(spot, axis=0) for spot in spots])
    assert LogisticRegression().fit(dots, y).score(dots, y) < 0.56


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (FrequencyClassification, {"n_train": 3}),
        (FrequencyClassification, {"low": 0.4, "high": 0.3}),
        (FrequencyClassification, {"high": 0.5}),
        (FrequencyClassification, {"spread": 1.5}),
        (FrequencyClassification, {"distractor": 1.0, "distractor_high": 0.2}),
        (ToneRegression, {"frequencies": (0.5,)}),
        (ToneRegression, {"frequencies": ()}),
        (ToneRegression, {"frequencies": (0.1, 0.1)}),
        (ToneRegression, {"phase": "lock"}),
        (ToneRegression, {"n_val": 1}),
        (PathConnectivity, {"size": 8}),
        (PathConnectivity, {"n_test": 0}),
    ],
)
def test_options_out_of_range(cls, options):
    with pytest.raises(OptionError, match="="):
        cls(**options)
