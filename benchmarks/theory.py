"""Leading modes of the induced kernel by svds on the FFT operator, against dense decompositions.

    python benchmarks/theory.py [length=4096] [modes=64] [full=false] [repeats=3]

One JSON object a line: {name, shape, threads, seconds, speedup, worst_eta, subspace, reference}. The
references are LAPACK's symmetric eigensolver for the leading modes alone, on the ready Gram matrix
(building it isn't counted), and with full=true the dense SVD of T_h. worst_eta is the largest relative
difference of an eigenvalue, subspace the largest sine of an angle between the two leading subspaces.
"""

from __future__ import annotations

import sys
from operator import itemgetter

import numpy as np
import scipy.linalg
import torch

from _report import report
from _timing import timed
from tdi_plugin.kernel import impulse_response, kernel_spectrum, toeplitz_operator


def systems(length: int) -> dict[str, torch.Tensor]:
    """A sharp resonance, S4D-Lin with random C, and 16 such channels averaged."""
    g = torch.Generator().manual_seed(0)
    lin = torch.complex(torch.full((32,), -0.5), -torch.pi * torch.arange(32))
    dt = 10 ** (-3 + 2 * torch.rand(16, generator=g, dtype=torch.float64))
    C = torch.randn(16, 32, generator=g, dtype=torch.complex128)
    return {
        "resonance": impulse_response(torch.tensor([-1 / 50 - 0.8j]), length, dt=1.0),
        "s4d-lin": impulse_response(lin, length, dt=0.01, output=C[0]),
        "s4d-lin, 16 channels": impulse_response(lin.expand(16, -1), length, dt=dt, output=C),
    }


def compare(name: str, h: torch.Tensor, modes: int, full: bool, repeats: int) -> None:
    """Print one line a reference."""
    runs = [timed(lambda: kernel_spectrum(h, modes)) for _ in range(repeats)]
    fast, (eta, v) = min(runs, key=itemgetter(0))
    T = toeplitz_operator(h)
    L = T.length
    M = T.gram() / L
    references = {
        "scipy.linalg.eigh, leading modes": lambda: scipy.linalg.eigh(M, subset_by_index=(L - modes, L - 1))
    }
    if full:
        references["scipy.linalg.eigh, all modes"] = lambda: scipy.linalg.eigh(M)
        if T.channels == 1:
            dense = T.dense()
            references["scipy.linalg.svd"] = lambda: scipy.linalg.svd(dense)
    for reference, run in references.items():
        slow, out = timed(run)
        exact, vectors = (out[0], out[1]) if len(out) == 2 else (out[1][::-1] ** 2 / L, out[2][::-1].T)
        exact, vectors = exact[-modes:][::-1], vectors[:, -modes:]
        report(
            f"leading {modes} modes: {name}",
            list(h.shape),
            reference,
            seconds=fast,
            speedup=slow / fast,
            worst_eta=float(np.abs(eta.numpy() / exact - 1).max()),
            subspace=float(np.linalg.norm(vectors - v.numpy() @ (v.numpy().T @ vectors), 2)),
        )


def main(argv: list[str]) -> None:
    """Read key=value arguments and run."""
    given = dict(argument.split("=", 1) for argument in argv)
    length, modes, repeats = (
        int(given.get(k, d)) for k, d in (("length", 4096), ("modes", 64), ("repeats", 3))
    )
    for name, h in systems(length).items():
        compare(name, h, modes, given.get("full", "false") == "true", repeats)


if __name__ == "__main__":
    main(sys.argv[1:])
