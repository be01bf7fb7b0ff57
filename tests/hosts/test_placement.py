"""Wherever a pole is placed, the builtin kernel's own |H(w)| peaks there: forms and numbers at random."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tdi_plugin.hosts import find_hosts
from tdi_plugin.nn import RealS4DKernel, S4DKernel
from tdi_plugin.poles import group_mean, place
from tdi_plugin.testing import placement_errors, response_of_kernel

forms = st.fixed_dictionaries(
    {
        "kernel": st.sampled_from([S4DKernel, RealS4DKernel]),
        "disc": st.sampled_from(["zoh", "bilinear"]),
        "real_transform": st.sampled_from(["exp", "none", "softplus", "relu"]),
        "imag_transform": st.sampled_from(["none", "exp", "softplus", "relu"]),
        "dt_transform": st.sampled_from(["softplus", "exp"]),
        "dt_fast": st.booleans(),
        "dt_tie": st.booleans(),
    }
)


@settings(max_examples=40, deadline=None)
@given(
    forms,
    st.sampled_from([(1, 1), (4, 1), (4, 2), (6, 6)]),
    st.integers(1, 3),
    st.floats(1e-4, 0.02),
    st.floats(1, 50),
    st.floats(0.01, 0.1),
    st.data(),
)
def test_every_pole_peaks_where_it_was_placed(form, shape, pairs, dt_min, ratio, damping, data):
    (channels, rows), kernel = shape, form["kernel"]
    options = {k: v for k, v in form.items() if k != "kernel"}
    model = kernel(channels, d_state=2 * pairs, n_ssm=rows, dt_min=dt_min, dt_max=dt_min * ratio, **options)
    [host] = find_hosts(model)
    drawn = st.lists(st.floats(0.002, 0.4995), min_size=rows * pairs, max_size=rows * pairs)
    f = torch.tensor(data.draw(drawn), dtype=torch.float64).view(rows, pairs)
    decay = torch.full_like(f, damping)
    step = group_mean(host.dt, rows)
    host.write(poles=place(f, decay, step, host.disc), dt=step.repeat(channels // rows, 1))
    errors = placement_errors(host, lambda: response_of_kernel(model(int(20 / damping))[0]), f, decay)
    assert errors.max() < 0.01
