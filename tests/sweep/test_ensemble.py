"""An ensemble trains each member as a plain loop with torch's own pieces would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.nn import OneLayer, SequenceClassifier
from tdi_plugin.sweep import ensemble_scores
from tdi_plugin.sweep.ensemble import train_ensemble
from tdi_plugin.sweep.group_data import RunData, Split
from tdi_plugin.sweep.loop import Curves, Optimisation

LENGTH, CLASSES, SERIES, EPOCHS = 24, 3, 11, 3
CURVES = ("train_loss", "test_accuracy", "test_loss", "val_accuracy")


def linear() -> nn.Module:
    return OneLayer(1, CLASSES, LENGTH, d_state=8, lr=2e-3)


def power() -> nn.Module:
    return OneLayer(1, CLASSES, LENGTH, d_model=3, d_state=4, readout="power", real=True, lr=2e-3)


def deep_batch() -> nn.Module:
    layer = {"d_state": 4, "lr": 2e-3}
    return SequenceClassifier(1, CLASSES, d_model=4, n_layers=2, norm="batch", layer=layer)


def deep_layer() -> nn.Module:
    layer = {"d_state": 4, "n_ssm": 1, "lr": 2e-3}
    return SequenceClassifier(1, CLASSES, d_model=4, n_layers=2, prenorm=False, layer=layer)


def member(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return make().double()


def series(n: int, seed: int, length: int = LENGTH) -> Split:
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(n, length, 1, dtype=torch.float64, generator=draw)
    return Split(x, torch.randint(CLASSES, (n,), generator=draw))


def score(model: nn.Module, split: Split) -> tuple[float, float]:
    with torch.no_grad():
        logits = model.eval()(split.x)
    return float((logits.argmax(-1) == split.y).double().mean()), float(F.cross_entropy(logits, split.y))


def alone(model: nn.Module, data: RunData, order: Tensor, schedule: str) -> dict[str, list[float]]:
    """One run with torch's optimizer, scheduler and clipping."""
    ssm = [p for p in model.parameters() if getattr(p, "_optim", {}).get("lr")]
    free = [p for p in model.parameters() if not getattr(p, "_optim", None)]
    decayed = [p for p in ssm if "weight_decay" not in p._optim]
    kept = [p for p in ssm if "weight_decay" in p._optim]
    optimizer = torch.optim.AdamW(
        [
            {"params": free, "lr": 0.02, "weight_decay": 0.1},
            {"params": decayed, "lr": 2e-3, "weight_decay": 0.1},
            {"params": kept, "lr": 2e-3, "weight_decay": 0.0},
        ]
    )
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    curves: dict[str, list[float]] = {}
    for epoch in range(EPOCHS):
        model.train()
        total = 0.0
        for index in order[epoch].split(4):
            loss = F.cross_entropy(model(data.train.x[index]), data.train.y[index])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            optimizer.step()
            total += float(loss) * len(index)
        if schedule == "cosine":
            cosine.step()
        assert data.val is not None
        values = (total / SERIES, *score(model, data.test), score(model, data.val)[0])
        for name, value in zip(CURVES, values, strict=True):
            curves.setdefault(name, []).append(value)
    return curves


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("make", [linear, power, deep_batch, deep_layer])
@pytest.mark.parametrize(("schedule", "working_set"), [("constant", 1 << 20), ("cosine", 400)])
def test_equals_separate_runs(
    make: Callable[[], nn.Module], schedule: str, working_set: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ensemble_scores, "WORKING_SET", working_set)
    train, val = [series(SERIES, 1), series(SERIES, 2)] * 2, [series(5 + i, 20 + i) for i in range(4)]
    test = [series(17, 9)] * 4 if schedule == "cosine" else [series(17 - i, 30 + i) for i in range(4)]
    runs = [RunData(*splits) for splits in zip(train, val, test, strict=True)]
    orders = [torch.stack([torch.randperm(SERIES) for _ in range(EPOCHS)]) for _ in range(2)] * 2
    models, twins = ([member(make, i) for i in range(4)] for _ in range(2))
    options = Optimisation(EPOCHS, 4, lr=0.02, weight_decay=0.1, clip=0.3, schedule=schedule)
    curves = train_ensemble(models, runs, orders, options)
    for i, twin in enumerate(twins):
        expected = alone(twin, runs[i], orders[i], schedule)
        assert set(curves[i]) == set(expected)
        for name, curve in expected.items():  # curves keep five digits
            assert curves[i][name] == pytest.approx(curve, rel=1e-4, abs=1e-5), (i, name)
        for name, value in twin.state_dict().items():
            torch.testing.assert_close(models[i].state_dict()[name], value, atol=1e-5, rtol=1e-4, msg=name)


def pair(**second: Split | None) -> list[RunData]:
    """What two members see; the second other splits than the first."""
    same = {"train": series(SERIES, 0), "val": series(3, 1), "test": series(4, 5)}
    return [RunData(**same), RunData(**{**same, **second})]  # type: ignore[arg-type]


def run(**changed: Any) -> list[Curves]:
    order = torch.arange(SERIES).repeat(2, 1)
    options: dict[str, Any] = {
        "models": [member(linear, i) for i in range(2)], "runs": pair(), "orders": [order, order],
        "options": Optimisation(2, 4, lr=0.01, weight_decay=0.0, clip=1.0), **changed,
    }  # fmt: skip
    return train_ensemble(**options)


def test_a_member_that_diverges_leaves_the_others_alone() -> None:
    train = series(SERIES, 1)
    train.x[3] = float("nan")
    sound, broken = run(runs=pair(train=train))
    for name, curve in run()[0].items():
        assert sound[name] == pytest.approx(curve)
    assert broken["train_loss"][-1] is None


def test_progress_runs_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble_scores, "WORKING_SET", 1)  # members one after another
    seen: list[float] = []
    run(progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("working_set", [1 << 20, 1])
def test_all_members_have_validation_curves_or_none(
    working_set: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ensemble_scores, "WORKING_SET", working_set)
    assert [set(curves) for curves in run()] == [set(CURVES)] * 2
    assert [set(curves) for curves in run(runs=pair(val=None))] == [set(CURVES[:3])] * 2


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"orders": []}, DataError, "0 batch orders"),
        ({"models": [], "runs": [], "orders": []}, DataError, "0 models"),
        ({"models": [member(linear, 0), member(power, 1)]}, OptionError, "Member 1 differs"),
        ({"runs": pair(train=series(SERIES - 1, 1))}, DataError, r"Member 1 has x \(10, 24, 1\)"),
        ({"runs": pair(test=series(4, 5, LENGTH + 2))}, DataError, r"Member 1 has test .*\(26, 1\)"),
        ({"runs": pair(val=series(3, 5, LENGTH + 2))}, DataError, r"Member 1 has val .*\(26, 1\)"),
        ({"options": Optimisation(3, 4, 0.01, 0.0)}, DataError, r"order \(2, 11\).*order \(3, 11\)"),
    ],
)
def test_bad_input(changed: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(**changed)
