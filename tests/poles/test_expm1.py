"""Complex exp(z) - 1 against NumPy's, also where exp(z) is nearly one."""

from __future__ import annotations

import numpy as np
import torch

from tdi_plugin.poles.expm1 import complex_expm1


def test_agrees_with_numpy_and_keeps_small_values():
    rng = np.random.default_rng(0)
    z = (rng.normal(size=200) + 1j * rng.normal(size=200)) * 10.0 ** rng.uniform(-15, 0.5, 200)
    found = complex_expm1(torch.from_numpy(z)).numpy()
    np.testing.assert_allclose(found, np.expm1(z), rtol=1e-13)


def test_gradient_is_exp():
    z = torch.tensor([0.3 - 2.0j, -1e-9 + 1e-9j], dtype=torch.complex128, requires_grad=True)
    torch.autograd.gradcheck(complex_expm1, (z,))
