"""An ensemble trains each member as a plain loop with torch's own pieces would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import tdi_plugin.sweep.ensemble as module
from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.nn import OneLayer, SequenceClassifier
from tdi_plugin.sweep.ensemble import train_ensemble

LENGTH, CLASSES, SERIES, EPOCHS = 24, 3, 11, 3


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


def series(n: int, seed: int) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(n, LENGTH, 1, dtype=torch.float64, generator=draw)
    return x, torch.randint(CLASSES, (n,), generator=draw)


def score(model: nn.Module, x: Tensor, y: Tensor) -> tuple[float, float]:
    with torch.no_grad():
        logits = model.eval()(x)
    return float(F.cross_entropy(logits, y)), float((logits.argmax(-1) == y).double().mean())


def alone(
    model: nn.Module, train: tuple[Tensor, Tensor], order: Tensor, val: Any, test: Any, schedule: str
) -> dict[str, list[float]]:
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
            loss = F.cross_entropy(model(train[0][index]), train[1][index])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            optimizer.step()
            total += float(loss) * len(index)
        if schedule == "cosine":
            cosine.step()
        values = (total / SERIES, *score(model, *test), *score(model, *val))
        for name, value in zip(
            ("train_loss", "test_loss", "test_accuracy", "val_loss", "val_accuracy"), values, strict=True
        ):
            curves.setdefault(name, []).append(value)
    return curves


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("make", [linear, power, deep_batch, deep_layer])
@pytest.mark.parametrize(("schedule", "working_set"), [("constant", 1 << 20), ("cosine", 400)])
def test_equals_separate_runs(
    make: Callable[[], nn.Module], schedule: str, working_set: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WORKING_SET", working_set)
    data = [series(SERIES, 1), series(SERIES, 2)] * 2
    test, val = series(17, 9), [series(5 + i, 20 + i) for i in range(4)]
    orders = [torch.stack([torch.randperm(SERIES) for _ in range(EPOCHS)]) for _ in range(2)] * 2
    models, twins = ([member(make, i) for i in range(4)] for _ in range(2))
    curves = train_ensemble(
        models, data, *test, epochs=EPOCHS, batch_size=4, lr=0.02, weight_decay=0.1, clip=0.3,
        batch_orders=orders, validation=val, schedule=schedule,
    )  # fmt: skip
    for i, twin in enumerate(twins):
        expected = alone(twin, data[i], orders[i], val[i], test, schedule)
        for name, curve in expected.items():
            assert curves[i][name] == pytest.approx(curve, abs=1e-5), (i, name)
        for name, value in twin.state_dict().items():
            torch.testing.assert_close(models[i].state_dict()[name], value, atol=1e-5, rtol=1e-4, msg=name)


def run(**changed: Any) -> list[dict[str, list[float]]]:
    order = torch.arange(SERIES).repeat(2, 1)
    options: dict[str, Any] = {
        "models": [member(linear, i) for i in range(2)], "data": [series(SERIES, i) for i in range(2)],
        "x_test": series(4, 5)[0], "y_test": series(4, 5)[1], "epochs": 2, "batch_size": 4, "lr": 0.01,
        "batch_orders": [order, order], **changed,
    }  # fmt: skip
    return train_ensemble(**options)


def test_a_member_that_diverges_leaves_the_others_alone() -> None:
    data = [series(SERIES, i) for i in range(2)]
    data[1][0][3] = float("nan")
    sound, broken = run(data=data, clip=1.0)
    for name, curve in run(clip=1.0)[0].items():
        assert sound[name] == pytest.approx(curve)
    assert broken["train_loss"][-1] != broken["train_loss"][-1]


def test_ssm_lr_replaces_the_models_own_rate() -> None:
    models = [member(linear, i) for i in range(2)]
    before = [m.kernel.A_imag.clone() for m in models]
    decoder = models[0].decoder.weight.clone()
    run(models=models, ssm_lr=0.0)
    assert all(torch.equal(m.kernel.A_imag, b) for m, b in zip(models, before, strict=True))
    assert not torch.equal(models[0].decoder.weight, decoder)


def test_progress_runs_to_one() -> None:
    seen: list[float] = []
    run(progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_without_validation_there_are_no_validation_curves() -> None:
    assert set(run()[0]) == {"train_loss", "test_loss", "test_accuracy"}


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"schedule": "cosin"}, OptionError, "did you mean 'cosine'"),
        ({"batch_orders": []}, DataError, "0 batch orders"),
        ({"data": [series(SERIES, 0), series(SERIES - 1, 1)]}, DataError, "Member 1"),
        ({"epochs": 3}, DataError, r"order \(2, 11\).*order \(3, 11\)"),
        ({"models": [], "data": [], "batch_orders": []}, DataError, "0 models"),
    ],
)
def test_bad_input(changed: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(**changed)
