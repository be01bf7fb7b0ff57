"""What a first layer is like before training, beside what training gains from it: one JSON object a line.

    python benchmarks/first_layer.py STORE [STUDY]

For every data set, arm and seed of the deep models of a finished study the members are built again and their
training series go through the first SSM layer: how strong its channels are (mean log variance over time),
and how many different things they say (participation ratio of their correlation matrix, 1 to H). Printed is
Spearman's rank correlation, over data sets and arms, of the difference to the base with the paired gain, both
means over seeds.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import mean

import torch
from scipy.stats import spearmanr
from torch import Tensor, nn

from _report import command_line, report
from tdi_plugin.sweep.arms import resolve
from tdi_plugin.sweep.group import study_groups
from tdi_plugin.sweep.members import member
from tdi_plugin.sweep.models import builder, model_spec
from tdi_plugin.sweep.protocol import group_data
from tdi_plugin.sweep.rows import study_rows
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study

Measures = dict[str, float]


def first_output(model: nn.Module, x: Tensor) -> Tensor:
    """(B, L, H) what the first SSM layer's convolution gives for series x."""
    layer = model.get_submodule("model.layers.0.layer.layer")
    found: list[Tensor] = []
    handle = layer.register_forward_hook(lambda _module, _inputs, output: found.append(output[0]))
    with torch.no_grad():
        model(x)
    handle.remove()
    output = found[0]
    return output if output.shape[1] == x.shape[1] else output.transpose(1, 2)


def measures(y: Tensor) -> Measures:
    """Strength and variety of (B, L, H)."""
    y = y.double()
    strength = (y - y.mean(dim=1, keepdim=True)).square().mean(dim=(0, 1)).clamp(min=1e-12).log().mean()
    rows = y.flatten(0, 1)
    eigenvalues = torch.linalg.eigvalsh(torch.corrcoef(rows.T).nan_to_num())
    variety = eigenvalues.sum().square() / eigenvalues.square().sum()
    return {"log variance": float(strength), "participation ratio": float(variety)}


def of_study(study: Study) -> dict[tuple[str, str, str], list[Measures]]:
    """Measures by model, data set and arm, one a ratio and seed."""
    found = defaultdict(list)
    for group in study_groups(study):
        if model_spec(group.model)["kind"] != "deep":
            continue
        data = group_data(group)
        build = builder(group.model, data, study.ssm_lr)
        for seed in study.seeds:
            train = data.run(group.ratio, seed).train
            for arm in study.arms:
                model, _ = member(build, resolve(arm, study.define), train, seed, study.tdi)
                found[group.model, group.dataset, arm].append(measures(first_output(model, train.x)))
    return found


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("store")
    parser.add_argument("study", nargs="?")
    given = parser.parse_args()
    store = Store(given.store, create=False)
    for name, rows in study_rows(store, given.study).items():
        study = Study.of(store.studies()[name])
        layers = of_study(study)
        gains = {
            key: mean(r.metrics[metric] for r in rows if (r.model, r.dataset, r.arm) == key[1:])
            for metric in ("final", "early10")
            for key in {(metric, r.model, r.dataset, r.arm) for r in rows}
        }
        for model in dict.fromkeys(model for model, _, _ in layers):
            cases = [(d, a) for d in study.datasets for a in study.arms if a != study.base]
            for what in ("log variance", "participation ratio"):
                change = [
                    mean(m[what] for m in layers[model, d, a])
                    - mean(m[what] for m in layers[model, d, study.base])
                    for d, a in cases
                ]
                rank = {
                    f"rank_correlation_{metric}": float(spearmanr(change, [
                        gains[metric, model, d, a] - gains[metric, model, d, study.base] for d, a in cases
                    ]).statistic)
                    for metric in ("final", "early10")
                }  # fmt: skip
                shape = {"study": name, "model": model, "cases": len(cases)}
                report(f"first layer's {what}", shape, "gain over the base", **rank)


if __name__ == "__main__":
    main()
