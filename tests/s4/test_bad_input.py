"""What cannot work under s4 ends with a sentence that says what to do, and exit status 2 from the command."""

from __future__ import annotations

import re
import shutil

import pytest

pytestmark = pytest.mark.s4

UCR = ("experiment=tdi/ucr/gunpoint", "trainer.accelerator=cpu", "trainer.max_epochs=1", "train.test=false")
BAD = {
    "unknown option": ([*UCR, "+tdi.statistik=fisher"], "OptionError", "did you mean 'statistic'"),
    "unknown key": ([*UCR, "tdi.statistik=fisher"], "OptionError", "Could not override 'tdi.statistik'"),
    "unknown value": ([*UCR, "tdi.allocation=quantil"], "OptionError", "did you mean 'quantile'"),
    "unknown experiment": (["experiment=tdi/ucr/gunpiont"], "OptionError", "gunpoint"),
    "option under the layer": ([*UCR, "+model.layer.statistic=fisher"], "OptionError", r"\+tdi\.statistic"),
    "no such UCR set": ([*UCR, "dataset.name=GunPont"], "DataError", "GunPoint"),
    "no name": (["experiment=tdi/ucr/base"], "OptionError", r"ucr\.name"),
    "no data set": ([*UCR, "train.disable_dataset=true"], "DataError", "disable_dataset=false"),
    "small subset": (
        [*UCR, "tdi.train_ratio=0.1", "loader.batch_size=16", "loader.drop_last=true"],
        "DataError",
        r"subset has 5 series .*drop_last=false",
    ),
    "no state-space layer asks": (
        ["experiment=lra/s4-cifar", "model/layer=s4d", "model.layer.mode=dense", "model.layer.init=tdi"],
        "HostError",
        "its state matrix is dense.*mode=diag",
    ),
    "nothing to measure": (
        ["experiment=lra/s4-cifar", "model.layer.init=tdi", "train.disable_dataset=true"],
        "DataError",
        r"no training series to measure.*tdi\.spectrum_file",
    ),
}


GENERATION = {
    "delay": [
        "experiment=synthetic/s4-delay",
        "~model.layer.linear",
        "dataset.l_seq=100",
        "dataset.l_lag=20",
    ],
    "copying": [
        "experiment=synthetic/s4-copying",
        "model.layer.deterministic=false",
        "dataset.l_memorize=20",
    ],
}


@pytest.fixture(scope="module")
def results(run_jobs, s4_data, data_path, tiny):
    jobs = {}
    for name, (overrides, _, _) in BAD.items():
        ours = overrides[0].startswith("experiment=tdi")
        jobs[name] = [*overrides, f"dataset.data_dir={data_path}"] if ours else [*overrides, *tiny]
    small = ["model.layer.init=tdi", "model.layer.d_state=8", "loader.batch_size=4"]
    for name, overrides in GENERATION.items():
        jobs[name] = [*overrides, *tiny, *small, "dataset.n_train=8", "dataset.n_eval=4"]
    return dict(zip(jobs, run_jobs(*jobs.values(), DATA_PATH=str(s4_data)), strict=True))


@pytest.mark.parametrize("name", BAD)
def test_message(results, name):
    _, kind, words = BAD[name]
    error = results[name]["error"]
    assert error is not None
    assert error.startswith(f"{kind}: ")
    assert re.search(words, error, re.DOTALL), error


@pytest.mark.parametrize("name", GENERATION)
def test_task_with_a_target_for_every_sample_uses_the_power(results, name):
    run = results[name]
    assert run["error"] is None
    assert run["outcome"] == "poles placed"
    assert run["statistic"] == "power"
    assert run["steps"] == 2


def test_command_says_it_in_one_line(s4_python, data_path, tmp_path):
    call = "import sys; from tdi_plugin.cli import main; sys.exit(main(['s4', 'train', *sys.argv[1:]]))"
    done = s4_python("-c", call, tmp_path, "experiment=tdi/ucr/gunpoint", check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"tdi s4: {tmp_path} is no checkout of s4: it has no train.py")
    assert len(done.stderr.strip().splitlines()) == 1
    done = s4_python("-c", call, *UCR, "dataset.name=GunPont", check=False, DATA_PATH=str(data_path))
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("tdi s4:")]
    assert "GunPoint" in line
    assert "Traceback" not in done.stderr


def test_fork_without_the_table_of_inits_is_told(s4_root, s4_python, tmp_path, data_path):
    fork = tmp_path / "s4"
    shutil.copytree(s4_root, fork, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    file = fork / "src/models/sequence/kernels/dplr.py"
    file.write_text(re.sub(r"\bcombinations\b", "init_lists", file.read_text()))
    call = "import sys; from tdi_plugin.cli import main; sys.exit(main(['s4', 'train', *sys.argv[1:]]))"
    done = s4_python("-c", call, fork, *UCR, check=False, DATA_PATH=str(data_path))
    assert done.returncode == 2
    assert "tdi s4: init: tdi cannot be added to this s4" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("version", "named"), [("v3.0.0", "dplr.py"), ("v2", "dplr.py")])
def test_older_s4_is_told(s4_root, tmp_path, s4_python, version, named):
    import subprocess

    old = tmp_path / "old"
    old.mkdir()
    archive = subprocess.run(
        ["git", "-C", str(s4_root), "archive", version, "train.py", "src", "configs"],
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        pytest.skip(f"the checkout has no {version}: {archive.stderr.decode().strip()}")
    subprocess.run(["tar", "-x", "-C", str(old)], input=archive.stdout, check=True)
    from tdi_plugin.errors import HostError
    from tdi_plugin.s4.paths import checkout

    with pytest.raises(HostError, match=rf"older or changed s4: it has no .*{named}.*e757cef"):
        checkout(old)
