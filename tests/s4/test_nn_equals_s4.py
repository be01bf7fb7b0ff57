"""The builtin backbone is s4's SequenceModel with a diagonal kernel: names, seeds, outputs, gradients."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.s4


@pytest.fixture(scope="module")
def cases(
    s4_root: Path, s4_python: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """Both norms, pre and post, both layouts, four kinds of kernel; every number relative to s4's own."""
    out = tmp_path_factory.mktemp("nn") / "cases.json"
    s4_python(HERE / "nn_driver.py", s4_root, out)
    found: dict[str, dict[str, Any]] = json.loads(out.read_text())
    assert len(found) == 32
    return found


@pytest.mark.parametrize("what", ["names", "forms", "order", "optim"])
def test_state_and_optimizer_options(cases: dict[str, dict[str, Any]], what: str) -> None:
    assert [case for case, found in cases.items() if not found[what]] == []


@pytest.mark.parametrize(
    ("what", "most"),
    [
        ("initial", 1e-4),  # s4's inverse softplus rounds small step sizes by that much
        ("train single", 1e-5),
        ("eval single", 1e-5),
        ("buffers single", 1e-5),
        ("grad single", 2e-3),
        ("train double", 1e-10),
        ("eval double", 1e-10),
        ("buffers double", 1e-10),
        ("grad double", 1e-8),
    ],
)
def test_numbers(cases: dict[str, dict[str, Any]], what: str, most: float) -> None:
    worst = {case: found[what] for case, found in cases.items() if not found[what] <= most}
    assert worst == {}
