"""The factored Vandermonde product beside other ways to compute it; one JSON object a line.

    python benchmarks/kernel.py [product memory keops step s4 init] [--threads 1]

"direct" is the product as s4 computes it without extensions: the (N, L) table of exponentials, summed over N.
A speedup is the shortest CPU time of the reference over the shortest of ours, the two timed in turn. keops
needs pykeops and a C++ compiler, s4 a checkout (scripts/setup_s4.py); without them their lines say so.
"""

from __future__ import annotations

from pathlib import Path

import torch

from _kernel_steps import init, real_s4, step
from _process import in_own_process, resident
from _products import both_ways, direct, keops, s4d_lin
from _report import command_line, report, skipped
from _timing import shortest
from tdi_plugin.nn import vandermonde_product

SHAPES = ((64, 32, 784), (64, 32, 1024), (128, 32, 1024), (64, 32, 4096), (64, 32, 16384))


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
    for shape in SHAPES[-2:]:
        ours, theirs = (in_own_process(peak, factored, *shape) for factored in (True, False))
        report("peak memory", shape, "direct", mb=ours, reference_mb=theirs, ratio=ours / theirs)


def peak(factored: bool, heads: int, pairs: int, length: int) -> float:
    """MB that forward and backward add to the process."""
    way = vandermonde_product if factored else direct
    run = both_ways(way, *s4d_lin(heads, pairs), length)
    small = both_ways(way, *s4d_lin(2, 2), 8)
    small()  # libraries load on first use
    Path("/proc/self/clear_refs").write_text("5")  # Linux: start a new peak
    before = resident("VmRSS")
    run()
    return resident("VmHWM") - before


def against_keops() -> None:
    """Time against KeOps, once it has compiled."""
    for heads, pairs, length in SHAPES[1:]:
        C, x = s4d_lin(heads, pairs)
        try:
            keops(C, x, length)
        except Exception as error:
            skipped("keops", f"{type(error).__name__}: {error}"[:200])
            return
        full = shortest(both_ways(p, C, x, length) for p in (vandermonde_product, keops))
        shape = (heads, pairs, length)
        report("forward and backward", shape, "pykeops on the CPU", speedup=full[1] / full[0])


PARTS = {
    "product": product,
    "memory": memory,
    "keops": against_keops,
    "step": step,
    "s4": real_s4,
    "init": init,
}


def main() -> None:
    parser = command_line(__doc__, PARTS)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    for part in given.parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
