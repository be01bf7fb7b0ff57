"""Responses of s4's own kernels, read through their hosts, against those of their poles."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from tdi_plugin.s4.paths import default_checkout

CODE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch
from src.models.sequence.kernels.ssm import SSMKernelDiag, SSMKernelDPLR
from models.s4.s4d import S4DKernel
from tdi_plugin.hosts import find_hosts
from tdi_plugin.kernel import impulse_response, kernel_spectrum, toeplitz_operator

torch.manual_seed(0)
common = dict(d_model=4, d_state=8, l_max=64, init="diag-lin", backend="naive")
out = []
for kernel in (
    SSMKernelDiag(**common, disc="zoh"), SSMKernelDiag(**common, disc="bilinear"),
    SSMKernelDPLR(**common), S4DKernel(4, N=8),
):
    host = find_hosts(kernel)[0]
    h = impulse_response(kernel, 64)
    own = impulse_response(host.poles, 64, dt=host.dt, output=host.output, disc=host.disc)
    ratio = float(kernel_spectrum(h).eta.sum()) * 64 / toeplitz_operator(h).trace()
    out.append([list(h.shape), float((h - own).norm() / h.norm()), ratio])
print(json.dumps(out))
"""


@pytest.mark.s4
def test_s4_kernels(run_python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    root = default_checkout()
    if not root.is_dir():
        pytest.skip(f"no checkout of state-spaces/s4 at {root}: run scripts/setup_s4.py URL_OR_PATH")
    printed = run_python("-c", CODE, str(root), PYTHONDONTWRITEBYTECODE="1").stdout
    kernels = json.loads(printed.splitlines()[-1])
    assert len(kernels) == 4
    for shape, error, ratio in kernels:
        assert shape == [1, 4, 64]
        assert error < 1e-5
        assert ratio == pytest.approx(1, rel=1e-10)
