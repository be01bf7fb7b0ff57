"""Run jobs through s4's train.py in one process, and write down what its own accessors say.

Usage: python driver.py CHECKOUT JOBS.json OUT.json; a job is {"overrides": [...], "peaks": bool}.
"""

from __future__ import annotations

import copy
import json
import math
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

KERNELS = ("SSMKernelDiag", "SSMKernelDPLR", "SSMKernelDense")


def main(root: str, jobs: str, out: str) -> None:
    from tdi_plugin.s4 import launch

    launch.prepare(root)
    import pytorch_lightning as pl
    import torch

    torch.set_num_threads(1)
    if real := sys.modules.get("torchvision.datasets.cifar"):
        real.check_integrity = lambda *_: True  # our small files are not the published ones
    results: list[dict[str, Any]] = []
    fit = pl.Trainer.fit

    def watched(trainer: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        trainer.callbacks.append(probe(pl, results[-1], jobs_[len(results) - 1]))
        return fit(trainer, model, *args, **kwargs)

    pl.Trainer.fit = watched  # type: ignore[method-assign]
    jobs_ = json.loads(Path(jobs).read_text())
    home = Path.cwd()
    for job in jobs_:
        results.append({"overrides": job["overrides"], "error": None})
        start = time.perf_counter()
        try:
            launch.run(root, job["overrides"])
        except BaseException as error:
            results[-1]["error"] = f"{type(error).__name__}: {error}"
            traceback.print_exc()
        results[-1]["seconds"] = round(time.perf_counter() - start, 2)
        os.chdir(home)
        Path(out).write_text(json.dumps(results))


def probe(pl: Any, result: dict[str, Any], job: dict[str, Any]) -> Any:
    class Probe(pl.Callback):
        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
            ours = [c for c in trainer.callbacks if type(c).__name__ == "TaskDependentInit"]
            result["callbacks"] = len(ours)
            result["outcome"] = ours[0].outcome if ours else None
            report = getattr(ours[0], "report", None) if ours else None
            result["report"] = report.as_dict() if report else None
            spectra = list(ours[0].spectra.values()) if ours else []
            result["statistic"] = spectra[0].statistic if spectra else None
            result["parameters"] = {
                name: [list(p.shape), str(p.dtype)] for name, p in pl_module.named_parameters()
            }
            result["kernels"] = [kernel(n, m, job.get("peaks", False)) for n, m in kernels(pl_module)]

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            result["train_series"] = len(trainer.train_dataloader.dataset)
            result["optimizer_groups"] = [
                [len(g["params"]), sum(p.numel() for p in g["params"]), g["lr"], g["weight_decay"]]
                for g in trainer.optimizers[0].param_groups
            ]
            result["seen"] = 0
            result["batches"] = []
            result["weights"] = {
                name: float(p.double().abs().sum()) for name, p in pl_module.named_parameters()
            }
            result["steps_before"] = trainer.global_step
            result["val_series"] = [len(d.dataset) for d in trainer.val_dataloaders]
            result["started_with"] = [kernel(name, m, False) for name, m in kernels(pl_module)]

        def on_train_batch_end(
            self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
        ) -> None:
            result["seen"] += len(batch[0])
            result["batches"].append(float(batch[0].double().abs().sum()))
            result["loss"] = float(outputs["loss"])

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            result["steps"] = trainer.global_step
            result["outcome_at_end"] = [
                c.outcome for c in trainer.callbacks if type(c).__name__ == "TaskDependentInit"
            ]

    return Probe()


def kernels(model: Any) -> list[tuple[str, Any]]:
    return [(name, m) for name, m in model.named_modules() if type(m).__name__ in KERNELS]


def kernel(name: str, module: Any, peaks: bool) -> dict[str, Any]:
    """What s4 itself says of a kernel; frequencies in cycles/sample, decay times in samples."""
    import torch

    found: dict[str, Any] = {"name": name, "class": type(module).__name__, "init": str(module.init)}
    if type(module).__name__ == "SSMKernelDense":
        return found
    with torch.no_grad():
        dt, a, _, c, *_ = module._get_params()
    dt, a = dt.double(), a.to(torch.complex128)
    bilinear = type(module).__name__ == "SSMKernelDPLR" or getattr(module, "disc", "") == "bilinear"
    x = dt * a
    pole = (1 + x / 2) / (1 - x / 2) if bilinear else torch.exp(x)
    found |= {
        "backend": str(getattr(module, "backend", None)),
        "n_ssm": int(module.n_ssm),
        "channels": int(module.C.shape[0]),
        "dt": dt[:, 0].tolist(),
        "C": torch.view_as_real(c).flatten().tolist(),
        "real": a.real.tolist(),
        "frequency": (pole.angle().abs() / (2 * math.pi)).tolist(),
        "tau": (-1 / pole.abs().log()).tolist(),
    }
    if peaks:
        found["peaks"] = measured(module, found["tau"], c.shape[-1])
    return found


def measured(module: Any, tau: list[list[float]], pairs: int) -> list[list[float]]:
    """(H, P): where the FFT of s4's own kernel peaks, with one pole at a time switched on."""
    import torch

    peaks = []
    length = int(20 * max(max(row) for row in tau)) + 8
    for index in range(pairs):
        alone = copy.deepcopy(module)
        if hasattr(alone, "l_kernel"):
            alone.l_kernel.zero_()
            alone.l_max = length
        with torch.no_grad():
            one = torch.zeros_like(alone.C)
            one[..., index, 0] = 1.0
            alone.C.copy_(one)
            response, _ = alone(L=length)
            size = 1 << (8 * length).bit_length()
            magnitude = torch.fft.rfft(response[0].double(), n=size).abs()
        peaks.append((magnitude.argmax(-1).double() / size).tolist())
    return [list(row) for row in zip(*peaks, strict=True)]


if __name__ == "__main__":
    main(*sys.argv[1:])
