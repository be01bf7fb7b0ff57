"""The factored Vandermonde product beside other ways to compute it; one JSON object a line.

    python benchmarks/kernel.py [product memory keops step s4 init] [--threads 1]

"direct" is the product as s4 computes it without extensions: the (N, L) table of exponentials, summed over N.
A speedup is the shortest CPU time of the reference over the shortest of ours, the two timed in turn. keops
needs pykeops and a C++ compiler, s4 a checkout (scripts/setup_s4.py); without them their lines say so.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tdi_plugin.nn import SequenceClassifier, vandermonde_product

SHAPES = ((64, 32, 784), (64, 32, 1024), (128, 32, 1024), (64, 32, 4096), (64, 32, 16384))
Product = Callable[[Tensor, Tensor, int], Tensor]


def direct(C: Tensor, x: Tensor, length: int) -> Tensor:
    """2 Re sum_n C[..., h, n] exp(x[h, n] l) through the whole table."""
    table = torch.exp(x.unsqueeze(-1) * torch.arange(length).to(x))
    return 2 * torch.einsum("...n,...nl->...l", C, table).real


def keops(C: Tensor, x: Tensor, length: int) -> Tensor:
    """The same as a KeOps reduction, as s4 writes it, but on the CPU."""
    from pykeops.torch import Genred

    formula, variables = (
        "ComplexMult(v, ComplexExp(ComplexMult(x, l)))",
        ["v = Vj(2)", "x = Vj(2)", "l = Vi(2)"],
    )
    steps = torch.arange(length).to(x).view(1, 1, -1)
    args = [torch.view_as_real(t.contiguous()) for t in (C, x.unsqueeze(0), steps)]
    found = Genred(formula, variables, reduction_op="Sum", axis=1)(*args, backend="CPU")
    return 2 * torch.view_as_complex(found).real


def s4d_lin(heads: int, pairs: int) -> tuple[Tensor, Tensor]:
    """Weights (1, H, P) and log poles (H, P) of S4D-Lin with s4's range of step sizes."""
    draw = torch.Generator().manual_seed(0)
    dt = torch.exp(torch.rand(heads, 1, generator=draw) * math.log(100) + math.log(1e-3))
    A = torch.complex(torch.full((pairs,), -0.5), -math.pi * torch.arange(pairs).float())
    C = torch.randn(1, heads, pairs, dtype=torch.complex64, generator=draw)
    return C.requires_grad_(), (dt * A).requires_grad_()


def both_ways(product: Product, C: Tensor, x: Tensor, length: int) -> Callable[[], object]:
    """Forward and backward of a product."""
    weight = torch.randn(1, x.shape[0], length)
    return lambda: torch.autograd.grad(product(C, x, length), (C, x), weight)


def shortest(runs: Iterable[Callable[[], object]], seconds: float = 6.0) -> list[float]:
    """Shortest CPU time of each, in turn for about so many seconds in all, after one run that does not count.

    CPU time of the process, so that other work on the machine counts for little. A quick run is repeated
    within its turn for a twentieth of a second.
    """
    runs = list(runs)
    for run in runs:
        run()
    best = [math.inf for _ in runs]
    rounds, spent = 0, 0.0
    while rounds < 3 or spent < seconds:
        for i, run in enumerate(runs):
            turn = 0.0
            while turn < 0.05:
                start = time.process_time()
                run()
                took = time.process_time() - start
                turn, best[i] = turn + took, min(best[i], took)
            spent += turn
        rounds += 1
    return best


def report(name: str, shape: Any, reference: str, **measured: float | str) -> None:
    rounded = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in measured.items()}
    line = {
        "name": name,
        "shape": shape,
        "threads": torch.get_num_threads(),
        **rounded,
        "reference": reference,
    }
    print(json.dumps(line), flush=True)


def product() -> None:
    """Time and error of the product against the table."""
    for heads, pairs, length in SHAPES:
        C, x = s4d_lin(heads, pairs)
        with torch.no_grad():
            ahead = shortest((lambda: vandermonde_product(C, x, length), lambda: direct(C, x, length)))  # noqa: B023
            exact = direct(C.to(torch.complex128), x.to(torch.complex128), length)
            errors = [
                float((p(C, x, length) - exact).norm() / exact.norm()) for p in (vandermonde_product, direct)
            ]
        full = shortest(both_ways(p, C, x, length) for p in (vandermonde_product, direct))
        shape = (heads, pairs, length)
        report("forward", shape, "direct", speedup=ahead[1] / ahead[0], ms=1e3 * ahead[0])
        report("forward and backward", shape, "direct", speedup=full[1] / full[0], ms=1e3 * full[0])
        report("error", shape, "direct, both against float64", error=errors[0], ratio=errors[0] / errors[1])


def memory() -> None:
    """Peak memory of forward and backward, each in a process of its own."""
    for heads, pairs, length in SHAPES[-2:]:
        command = [sys.executable, __file__, "--shape", *map(str, (heads, pairs, length)), "--peak"]
        ours, theirs = (
            float(subprocess.run([*command, name], capture_output=True, text=True, check=True).stdout)
            for name in ("factored", "direct")
        )
        report(
            "peak memory", (heads, pairs, length), "direct", mb=ours, reference_mb=theirs, ratio=ours / theirs
        )


def peak(name: str, shape: list[int]) -> None:
    """MB that forward and backward add to the process."""
    run = both_ways({"factored": vandermonde_product, "direct": direct}[name], *s4d_lin(*shape[:2]), shape[2])
    small = both_ways({"factored": vandermonde_product, "direct": direct}[name], *s4d_lin(2, 2), 8)
    small()  # libraries load on first use
    Path("/proc/self/clear_refs").write_text("5")  # Linux: start a new peak
    before = resident("VmRSS")
    run()
    print((resident("VmHWM") - before) / 1024)


def resident(field: str) -> int:
    """kB of this process, now (VmRSS) or at most (VmHWM)."""
    found = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def against_keops() -> None:
    """Time against KeOps, once it has compiled."""
    for heads, pairs, length in SHAPES[1:]:
        C, x = s4d_lin(heads, pairs)
        try:
            keops(C, x, length)
        except Exception as error:
            print(json.dumps({"name": "keops", "skipped": f"{type(error).__name__}: {error}"[:200]}))
            return
        full = shortest(both_ways(p, C, x, length) for p in (vandermonde_product, keops))
        report(
            "forward and backward", (heads, pairs, length), "pykeops on the CPU", speedup=full[1] / full[0]
        )


class Step:
    """Forward, backward and AdamW of a classifier on random series."""

    def __init__(self, model: nn.Module, x: Tensor) -> None:
        self.model, self.x, self.y = model, x, torch.arange(x.shape[0]) % 4
        self.optimizer = torch.optim.AdamW(model.parameters(), 1e-3)

    def __call__(self) -> None:
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(self.x), self.y).backward()
        self.optimizer.step()


def step() -> None:
    """A training step of a two-block model, with the factored product and with the table."""
    import tdi_plugin.nn.kernel as kernel

    for d_model, d_state in ((32, 32), (64, 64)):
        runs = []
        for chosen in (vandermonde_product, direct):
            model = SequenceClassifier(
                1, 4, d_model=d_model, n_layers=2, norm="batch", layer={"d_state": d_state}
            )
            one = Step(model, torch.randn(16, 1024, 1))

            def run(one: Step = one, chosen: Product = chosen) -> None:
                kernel.vandermonde_product = chosen  # type: ignore[assignment]
                one()

            runs.append(run)
        found = shortest(runs)
        kernel.vandermonde_product = vandermonde_product
        shape = {"batch": 16, "length": 1024, "d_model": d_model, "d_state": d_state, "layers": 2}
        report("training step", shape, "the same with direct", speedup=found[1] / found[0], ms=1e3 * found[0])


def real_s4() -> None:
    """A training step of s4's own backbone on ListOps-shaped input, with and without fast_kernel."""
    from tdi_plugin.s4.paths import default_checkout

    root = default_checkout()
    if not root.is_dir():
        print(json.dumps({"name": "s4", "skipped": f"no checkout at {root}"}))
        return
    for d_state in (4, 64):
        command = [sys.executable, __file__, "--s4", str(root), "--shape", "0", str(d_state), "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        plain, fast = json.loads(done.stdout.splitlines()[-1])  # what is imported may print before
        shape = {
            "batch": 4,
            "length": 2048,
            "d_model": 128,
            "d_state": d_state,
            "layers": 2,
            "bidirectional": True,
        }
        report("training step of s4", shape, "s4's fallback", speedup=plain / fast, ms=1e3 * fast)


def s4_step(root: str, d_state: int) -> None:
    """In a process of its own, because s4's packages are called src and models."""
    import logging

    logging.disable(logging.WARNING)
    sys.path.insert(0, root)
    from src.models.sequence.backbones.model import SequenceModel

    from tdi_plugin.hosts.fast import use_fast_kernels

    class Classifier(nn.Module):
        def __init__(self, fast: bool) -> None:
            super().__init__()
            layer = {"_name_": "s4", "mode": "diag", "init": "diag-lin", "d_state": d_state, "n_ssm": 1}
            layer.update(bidirectional=True, backend="naive", dt_transform="softplus")
            self.encoder = nn.Embedding(20, 128)
            self.model = SequenceModel(128, 2, prenorm=False, norm="batch", residual="R", layer=layer)
            self.decoder = nn.Linear(128, 10)
            if fast:
                use_fast_kernels(self.model)

        def forward(self, x: Tensor) -> Tensor:
            return self.decoder(self.model(self.encoder(x))[0].mean(1))

    tokens = torch.randint(20, (4, 2048))
    print(json.dumps(shortest((Step(Classifier(False), tokens), Step(Classifier(True), tokens)), seconds=20)))


def init() -> None:
    """Measuring and placing poles in a model of s4's size, beside an epoch on FordA-sized data."""
    from tdi_plugin import task_spectrum, tdi_

    x, y = torch.randn(3601, 500, 1), torch.arange(3601) % 2
    layer = {"d_state": 64, "init": "tdi"}
    model = SequenceClassifier(1, 4, d_model=256, n_layers=6, norm="batch", layer=layer)
    one = Step(model, x[:32])
    one()
    (epoch,) = shortest([one], seconds=10)
    epoch *= -(-len(x) // 32)
    (placing,) = shortest([lambda: tdi_(model, task_spectrum(x, y))])
    shape = {"layers": 6, "d_model": 256, "d_state": 64, "series": 3601, "length": 500, "batch": 32}
    report("spectrum and tdi_", shape, "one epoch", seconds=placing, percent=100 * placing / epoch)


PARTS = {
    "product": product,
    "memory": memory,
    "keops": against_keops,
    "step": step,
    "s4": real_s4,
    "init": init,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shape", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--peak", choices=("factored", "direct"), help=argparse.SUPPRESS)
    parser.add_argument("--s4", help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    if given.peak:
        peak(given.peak, given.shape)
    elif given.s4:
        s4_step(given.s4, given.shape[1])
    else:
        for part in given.parts or PARTS:
            PARTS[part]()


if __name__ == "__main__":
    main()
