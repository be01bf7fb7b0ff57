"""What the study claims, on a few of its own tasks; its tables, pictures and command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tdi_plugin.errors import OptionError
from tdi_plugin.kernel.cli import main, settings
from tdi_plugin.kernel.study import PARTS, run_study
from tdi_plugin.kernel.study.fit import fit
from tdi_plugin.kernel.study.gain import gain
from tdi_plugin.kernel.study.pictures import write_pictures
from tdi_plugin.kernel.study.tables import tables


@pytest.fixture(scope="module")
def quick() -> dict[str, Any]:
    return run_study(quick=True, seed=2)


def test_tdi_raises_alignment_and_area_wherever_the_default_misses_the_band() -> None:
    tasks = fit(seed=0, steps=1)
    missed = [t["arms"] for t in tasks.values() if t["arms"]["S4D-Lin"]["coverage"] < 1]
    assert len(missed) == 2
    for arms in missed:
        assert arms["TDI"]["area"] > arms["S4D-Lin"]["area"] + 0.2
        assert arms["TDI"]["alignment"] > 5 * arms["S4D-Lin"]["alignment"]
        assert arms["TDI"]["mismatch"] < arms["S4D-Lin"]["mismatch"]


def test_and_on_random_bands() -> None:
    part = gain(tasks=8, seed=11)
    for summary in part["summary"]:
        if summary["arm"] == "TDI" and summary["series"] in (256, 0):
            missed = summary["missed"]
            assert missed["tasks"] >= 4
            assert missed["area_up"] == missed["alignment_up"] == missed["error_down"] == missed["tasks"]


def test_the_largest_alignment_learns_least(quick: dict[str, Any]) -> None:
    one, matched, root, flat = quick["concentration"]["kernels"].values()
    assert one["alignment"] > matched["alignment"] > root["alignment"] > flat["alignment"]
    assert one["loss"] > flat["loss"] > root["loss"] > matched["loss"] == 0
    assert one["curve"][-1] > 0.9 > matched["curve"][-1]
    assert abs(root["curve"][6] - matched["curve"][6]) < 0.05


def test_eigenvalues_converge_in_the_mean_and_not_in_the_supremum(quick: dict[str, Any]) -> None:
    part = quick["convergence"]
    for system in part["systems"].values():
        assert all(
            a * (1 - 1e-9) <= d <= b
            for a, d, b in zip(system["low"], system["distance"], system["high"], strict=True)
        )
    assert part["systems"]["three random pairs, τ ≤ 8"]["slope"] < -0.8
    assert part["counterexample"]["smallest_singular_value"][-1] < 1e-12
    assert min(part["counterexample"]["smallest_response"]) >= 1 - 1e-9


def test_predictions_hold_and_those_for_white_inputs_fail_on_others(quick: dict[str, Any]) -> None:
    part = quick["curves"]
    assert part["inside_band"]["all"] > 0.7
    assert part["naive_inside_band"]["white"] == part["inside_band"]["white"]
    assert part["naive_inside_band"]["coloured"] < 0.5
    assert part["median_relative_error"] < 0.1


def test_tables_and_pictures(quick: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib (extra 'plots')")
    made = tables(quick)
    assert len(made) == len(PARTS)
    assert all(len(row) == len(t.columns) for t in made for row in t.rows)
    paths = write_pictures(quick, tmp_path)
    assert [p.name for p in paths] == [f"theory-{part}.png" for part in PARTS]
    assert all(p.stat().st_size > 5_000 for p in paths)
    assert json.loads(json.dumps(quick)) == quick


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "quick=true",
        f"output={tmp_path}",
        "parts=[convergence,concentration]",
        "pictures=false",
        "seed=4",
    ]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "Mean sorted distance" in printed
    assert "Alignment against learning" in printed
    results = json.loads((tmp_path / "results.json").read_text())
    assert set(results) == {"provenance", "convergence", "concentration"}
    assert results["provenance"]["config"] == {
        "seed": 4,
        "quick": True,
        "parts": ["convergence", "concentration"],
    }
    assert not list(tmp_path.glob("*.png"))


def test_help_names_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert all(part in printed for part in PARTS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ouput": "x"}, "did you mean 'output'"),
        ({"parts": "curve"}, "did you mean 'curves'"),
        ({"seed": "one"}, "type int was expected"),
        ({"seed": -1}, "0 to"),
        ({"quick": 1}, "type bool was expected"),
    ],
)
def test_bad_settings(given: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        settings(given)
