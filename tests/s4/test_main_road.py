"""init: tdi on the real s4, from its command line to its kernels: series, tokens, and the poles read back."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytestmark = pytest.mark.s4

ECG5000 = (
    "experiment=tdi/ucr/ecg5000",
    "tdi.train_ratio=0.1",
    "trainer.accelerator=cpu",
    "trainer.max_epochs=1",
    "trainer.limit_val_batches=2",
    "train.test=false",
    "model.d_model=8",
    "model.layer.d_state=8",
    "model.layer.dt_min=0.01",
)
LISTOPS = (
    "experiment=lra/s4-listops",
    "model.layer.mode=diag",
    "model.layer.n_ssm=null",
    "model.layer.init=tdi",
    "model.layer.dt_min=0.01",
    "dataset.n_workers=1",
    "loader.batch_size=4",
)


@pytest.fixture(scope="module")
def runs(run_jobs, data_path, s4_data, tiny):
    ecg = [*ECG5000, f"dataset.data_dir={data_path}"]
    listops = [*LISTOPS, *tiny]
    jobs = {
        "ecg5000": ecg,
        "listops": listops,
        "ecg5000 lin": [*ecg, "model.layer.init=diag-lin"],
        "listops nplr": [*listops, "model.layer.mode=nplr"],
    }
    results = run_jobs(*jobs.values(), peaks=True, DATA_PATH=str(s4_data))
    return dict(zip(jobs, results, strict=True))


TARGETED = ["ecg5000", "listops", "listops nplr"]


@pytest.mark.parametrize("name", TARGETED)
def test_run_trains_with_poles_placed(runs, name):
    run = runs[name]
    assert run["error"] is None
    assert run["outcome"] == "poles placed"
    assert run["callbacks"] == 1
    assert run["steps"] > 0
    assert math.isfinite(run["loss"])


@pytest.mark.parametrize("name", TARGETED)
def test_poles_that_s4_reads_are_the_asked_ones(runs, name):
    layer, kernel = targeted(runs[name])
    asked = repeated(layer["frequencies"], kernel)
    np.testing.assert_allclose(kernel["frequency"], asked, rtol=1e-5)
    np.testing.assert_allclose(kernel["dt"], layer["dt"], rtol=1e-5)
    assert ((asked > 0) & (asked < 0.5)).all()
    np.testing.assert_allclose(1 / np.array(kernel["tau"]), repeated(layer["damping"], kernel), rtol=1e-4)


@pytest.mark.parametrize("name", TARGETED)
def test_kernel_of_s4_peaks_at_the_asked_frequencies(runs, name):
    layer, kernel = targeted(runs[name])
    asked, peaks = repeated(layer["frequencies"], kernel), np.array(kernel["peaks"])
    # The peak of |H| lies off the pole's angle by about 1/(2(2 pi f tau)^2), by either sign of C's phase and
    # from the mirrored pole near 1/2.
    turns = 2 * np.pi * np.minimum(asked, 0.5 - asked) * np.array(kernel["tau"])
    clear = turns > 4
    assert clear.mean() > 0.5
    error = np.abs(peaks - asked) / np.minimum(asked, 0.5 - asked)
    assert (error <= 1 / turns**2 + 1e-4)[clear].all()


@pytest.mark.parametrize("name", TARGETED)
def test_only_the_first_layer_is_moved(runs, name):
    layers = runs[name]["report"]["layers"]
    assert [layer["name"] for layer in layers] == [runs[name]["kernels"][0]["name"]]
    second = runs[name]["kernels"][1]
    lin = np.arange(len(second["frequency"][0])) / 2
    dt = np.array(second["dt"])[:, None]
    if second["class"] == "SSMKernelDiag":
        # s4 keeps imaginary parts above 1e-4: its first pole is at zero but for that.
        expected = np.broadcast_to(lin * dt, (len(dt), len(lin)))
        np.testing.assert_allclose(second["frequency"], expected, rtol=1e-5, atol=2e-6)


def test_backend_and_dispatch_are_s4s_own(runs):
    for run in runs.values():
        assert {kernel["backend"] for kernel in run["kernels"]} == {"cuda"}


def test_subset_is_what_trains(runs):
    for name in ("ecg5000", "ecg5000 lin"):
        assert runs[name]["train_series"] == 50
        assert runs[name]["seen"] == 50
        assert runs[name]["val_series"] == [4500, 4500]


def test_baseline_differs_by_the_poles_alone(runs):
    tdi, lin = runs["ecg5000"], runs["ecg5000 lin"]
    assert lin["outcome"].startswith("off")
    assert tdi["parameters"] == lin["parameters"]
    assert tdi["optimizer_groups"] == lin["optimizer_groups"]
    # The same draws: step sizes, real parts and the readout agree; only the first layer's frequencies differ.
    for ours, theirs in zip(tdi["kernels"], lin["kernels"], strict=True):
        assert ours["dt"] == theirs["dt"]
        assert ours["C"] == theirs["C"]
    assert tdi["kernels"][1]["frequency"] == lin["kernels"][1]["frequency"]
    assert tdi["kernels"][0]["frequency"] != lin["kernels"][0]["frequency"]
    assert tdi["batches"] == lin["batches"]
    assert tdi["weights"].keys() == lin["weights"].keys()
    differing = {name for name, value in tdi["weights"].items() if value != lin["weights"][name]}
    assert {name.rpartition(".")[2] for name in differing} <= {"A_imag", "A_real"}


def targeted(run):
    layer = run["report"]["layers"][0]
    return layer, next(kernel for kernel in run["kernels"] if kernel["name"] == layer["name"])


def repeated(rows, kernel):
    """(H, P): row h mod S of the report for each of s4's channels."""
    rows = np.array(rows)
    return np.tile(rows, (len(kernel["dt"]) // len(rows), 1))
