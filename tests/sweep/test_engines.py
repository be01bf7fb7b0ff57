from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tdi_plugin.sweep.group import study_groups
from tdi_plugin.sweep.group_data import limited
from tdi_plugin.sweep.loop import batch_order
from tdi_plugin.sweep.protocol import group_data, paired, run_group
from tdi_plugin.sweep.study import Study


@pytest.mark.parametrize("engine", ["ensemble", "lightning"])
@pytest.mark.parametrize("model", ["deep-batch", "one-linear"])
def test_engines_agree_with_the_plain_loop(tiny: Callable[..., Study], engine: str, model: str) -> None:
    group = next(study_groups(tiny(models=[model], epochs=3, batch_size=4, clip=1.0, schedule="cosine")))
    plain, other = (run_group(group, engine=e)["runs"] for e in ("loop", engine))
    assert len(plain) == 4
    for a, b in zip(plain, other, strict=True):
        assert (a["seed"], a["arm"]) == (b["seed"], b["arm"])
        for curve in ("train_loss", "test_loss"):
            assert a["curves"][curve] == pytest.approx(b["curves"][curve], rel=1e-2)
        for curve in ("test_accuracy", "val_accuracy"):
            assert a["curves"][curve] == pytest.approx(b["curves"][curve], abs=0.07)


def test_a_group_is_reproducible_and_learns(tiny: Callable[..., Study]) -> None:
    group = next(study_groups(tiny(ratios=[1.0], models=["deep-layer"], epochs=15, batch_size=8)))
    first, second = run_group(group), run_group(group)
    assert first["runs"] == second["runs"]
    base, tdi = paired(first, "fisher")
    assert max(base + tdi) > 0.8
    assert first["n_train"] == 24


def test_every_seed_has_its_own_nested_subset(tiny: Callable[..., Study]) -> None:
    data = group_data(next(study_groups(tiny())))
    small, large, other = data.run(0.25, 0), data.run(0.5, 0), data.run(0.25, 1)
    assert len(small.train) == 6
    assert len(large.train) == 12

    def held(split: object) -> set[bytes]:
        return {series.numpy().tobytes() for series in split.x}  # type: ignore[attr-defined]

    assert held(small.train) < held(large.train)
    assert held(small.train) != held(other.train)
    assert small.val is not None
    assert held(small.val).isdisjoint(held(small.train))
    assert held(small.val).isdisjoint(held(small.test))
    assert data.run(1.0, 0).val is None


def test_batches_visit_every_series_once_an_epoch() -> None:
    order = batch_order(7, 3, seed=1)
    assert torch.equal(order.sort(dim=1).values, torch.arange(7).expand(3, 7))
    assert not torch.equal(order[0], order[1])
    assert torch.equal(order, batch_order(7, 3, seed=1))


def test_a_limit_on_test_series_is_stratified(tiny: Callable[..., Study]) -> None:
    test = group_data(next(study_groups(tiny()))).test
    assert limited(test, 10).y.bincount().tolist() == [5, 5]
    assert limited(test, None) is test


def test_progress_runs_to_one(tiny: Callable[..., Study]) -> None:
    seen: list[float] = []
    run_group(next(study_groups(tiny())), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
