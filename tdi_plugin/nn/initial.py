"""Where S4D's poles start: S4D-Lin, S4D-Inv and S4D-LegS, with the input weights that go with them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tdi_plugin.errors import OptionError, choices

INITS = ("diag-lin", "diag-inv", "diag-legs", "tdi")
B_CLIP = 2.0
"""Bound on the imaginary part of the HiPPO-LegS input weights, as in s4."""


def check_init(init: str) -> None:
    """Raise OptionError unless ``init`` is a known initialization."""
    if init not in INITS:
        raise OptionError(f"init={init!r} is not known to the builtin model: {choices(str(init), INITS)}")


def initial_poles(init: str, d_state: int) -> tuple[Tensor, Tensor]:
    """Poles A (P,) and input weights B (P,), complex64, for P = d_state // 2 conjugate pairs.

    Re A = -1/2. With N = d_state and k = 0..P-1, -Im A is (Gu et al. 2022, "On the Parameterization and
    Initialization of Diagonal State Space Models"):

    - ``diag-lin`` (and ``tdi``, before the task moves the poles): pi k, B = 1;
    - ``diag-inv``: (N / pi) (N / (2k + 1) - 1), B = 1;
    - ``diag-legs``: the eigenvalues of the normal part of HiPPO-LegS, largest first, and HiPPO's own B in
      that basis, its imaginary part clipped to [-2, 2].
    """
    check_init(init)
    pairs = d_state // 2
    k = torch.arange(pairs, dtype=torch.float64)
    ones = torch.ones(pairs, dtype=torch.complex64)
    if init == "diag-legs":
        imag, B = _legs(d_state)
    elif init == "diag-inv":
        imag, B = d_state / math.pi * (d_state / (2 * k + 1) - 1), ones
    else:
        imag, B = math.pi * k, ones
    return torch.complex(torch.full_like(imag, -0.5), -imag).to(torch.complex64), B


def _legs(n: int) -> tuple[Tensor, Tensor]:
    """-Im of the eigenvalues (P,) of LegS's normal part, descending, and V* B (P,) clipped.

    LegS: A[i, j] = -sqrt(2i+1) sqrt(2j+1) for i > j, -(i+1) on the diagonal. Adding p p^T with
    p[i] = sqrt(i + 1/2) leaves -I/2 plus a skew-symmetric matrix, which is diagonalised by a unitary V.
    """
    root = torch.sqrt(2 * torch.arange(n, dtype=torch.float64) + 1)
    A = -torch.outer(root, root).tril(-1) - torch.diag(torch.arange(1.0, n + 1, dtype=torch.float64))
    p = torch.sqrt(torch.arange(n, dtype=torch.float32) + 0.5)
    # rounded like s4's: an eigenvector's sign is arbitrary, and only the same rounding gives the same one
    normal = (A.to(torch.float32) + torch.outer(p, p)).to(torch.float64)
    values, vectors = torch.linalg.eigh(-1j * normal)
    negative = vectors[:, : n // 2]  # eigh sorts ascending: the most negative imaginary part first
    B = negative.conj().T @ root.to(torch.complex128)
    B = torch.complex(B.real, B.imag.clamp(-B_CLIP, B_CLIP))
    return -values[: n // 2], B.to(torch.complex64)
