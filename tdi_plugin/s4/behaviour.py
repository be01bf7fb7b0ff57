"""Does a running s4 behave as this package relies on? Kernels are built, written, read back and run."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from tdi_plugin.errors import TDIError
from tdi_plugin.hosts import find_hosts
from tdi_plugin.poles.placement import place
from tdi_plugin.s4.doctor import FAIL, NOTE, OK, Row
from tdi_plugin.s4.paths import KNOWN_COMMIT
from tdi_plugin.testing.measure import placement_errors, response_of_kernel

FREQUENCIES = (0.11, 0.23)
DECAY = 30.0
"""Samples; the kernels below are 20 times as long."""

ATTRIBUTES = ("inv_dt", "A_real", "A_imag", "B", "C", "_get_params", "init", "n_ssm")
SPARED = "not needed: ++tdi.fast_kernel=true replaces the slow fallback"


def build(mode: str, backend: str = "naive") -> Any:
    """A small kernel of s4's registry with ``init: tdi``, two channels of two pairs of poles."""
    kernels = importlib.import_module("src.models.sequence.kernels")
    options = {"init": "tdi", "n_ssm": 2, "l_max": None, "verbose": False, "backend": backend}
    torch.manual_seed(0)
    return kernels.registry[mode](d_model=2, d_state=4, dt_min=0.01, dt_max=0.01, **options)


def kernels() -> Iterator[Row]:
    """Diagonal and low-rank kernel: attributes, write and read back, and where the response peaks."""
    for mode, name in (("diag", "S4D kernel (mode=diag)"), ("nplr", "S4 kernel (mode=nplr)")):
        try:
            kernel = build(mode)
            if absent := [a for a in ATTRIBUTES if not hasattr(kernel, a)]:
                found = f"{type(kernel).__name__} has no {', '.join(absent)}"
                yield Row(name, FAIL, found, f"s4 changed; commit {KNOWN_COMMIT[:7]} is known to work")
                continue
            (host,) = find_hosts(kernel)
            asked = torch.tensor([FREQUENCIES, FREQUENCIES[::-1]], dtype=torch.float64)
            damping = torch.full_like(asked, 1 / DECAY)
            host.write(poles=place(asked, damping, host.dt, host.disc))
            off = float(placement_errors(host, partial(respond, host), asked, damping).max())
        except (TDIError, AttributeError, KeyError, TypeError) as error:
            remedy = f"s4 changed; commit {KNOWN_COMMIT[:7]} is known to work"
            yield Row(name, FAIL, f"{type(error).__name__}: {error}", remedy)
            continue
        status = OK if off < 0.02 else FAIL
        yield Row(name, status, f"poles read back; peaks within {100 * off:.1f} % of the asked ones")


def respond(host: Any) -> torch.Tensor:
    """(channels, H, F) frequency response, from the module's own kernel."""
    return response_of_kernel(host.kernel(int(20 * DECAY)))


def backends() -> Iterator[Row]:
    """Each way that s4 computes its kernels, by running it where it would be chosen."""
    ssm = importlib.import_module("src.models.sequence.kernels.ssm")
    keops, extension = bool(ssm.has_pykeops), bool(ssm.has_cuda_extension)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    yield _attempt("backend naive", "naive", device, "s4's fallback: slow, always there")
    if keops:
        yield _attempt("backend keops", "keops", device, "pykeops", needed=False)
    else:
        yield Row(
            "backend keops",
            NOTE,
            "pykeops is not installed",
            SPARED,
        )
    if extension and device == "cuda":
        yield _attempt("backend cuda", "cuda", device, "the CUDA extension", needed=False)
    else:
        found = "the extension is built, but there is no GPU" if extension else "the extension is not built"
        yield Row("backend cuda", NOTE, found, SPARED)
    yield _attempt("kernels as s4's configs ask for them", "cuda", device, "model.layer.backend unset")


def _attempt(name: str, backend: str, device: str, what: str, needed: bool = True) -> Row:
    try:
        worst = 0.0
        for mode in ("diag", "nplr"):
            kernel = build(mode, backend).to(device)
            with torch.no_grad():
                response, _ = kernel(L=64)
                reference, _ = build(mode)(L=64)
            worst = max(worst, float((response.cpu() - reference).abs().max() / reference.abs().max()))
    except Exception as error:
        found = f"on {device}, {what} raises {type(error).__name__}: {error}"
        return Row(
            name, FAIL if needed else NOTE, found, "model.layer.backend=naive, or ++tdi.fast_kernel=true"
        )
    right = math.isfinite(worst) and worst < 1e-3
    return Row(name, OK if right else FAIL, f"{what}, runs on {device}; differs from naive by {worst:.0e}")
