"""The S4D convolution kernel, with the parameters of s4's registry kernel by name, shape and order."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tdi_plugin.nn.discretization import check_disc, discretize
from tdi_plugin.nn.initial import check_init, initial_poles
from tdi_plugin.nn.recurrence import advance, step
from tdi_plugin.nn.registering import Option, register
from tdi_plugin.nn.sizes import check_sizes
from tdi_plugin.nn.step_size import check_step_sizes, draw_step_sizes, step_size
from tdi_plugin.nn.transforms import check_transform, from_parameter, to_parameter
from tdi_plugin.nn.vandermonde import vandermonde_product


class S4DKernel(nn.Module):
    """Impulse responses of H diagonal state-space models.

    Parameters: ``inv_dt`` (H, 1), or (H, P) with ``dt_tie=False``; ``A_real`` and ``A_imag`` (S, P); ``B``
    (1, S, P, 2); ``C`` (channels, H, P, 2), for P = d_state // 2 conjugate pairs and S = n_ssm rows; channel
    h uses row h mod S. A = -T(A_real) - i T(A_imag). Each carries its own optimizer options, ``_optim``. A
    learning rate of 0.0 makes a buffer of it, as in s4.

    Args:
        d_model: H, the number of channels.
        d_state: N, the real state size a channel; even.
        channels: output channels a model channel.
        l_max: longest kernel to use in a convolution; None for the input's length.
        n_ssm: S, independent rows of poles; None for one a channel. Must divide d_model.
        init: "diag-lin", "diag-inv", "diag-legs", or "tdi" (built as diag-lin, marked for the task's poles).
        dt_min: smallest initial step size.
        dt_max: largest initial step size; log-uniform between.
        dt_tie: one step size a channel rather than one a pair.
        dt_transform: how inv_dt stores the step size.
        dt_fast: store asinh of that.
        real_transform: how A_real stores -Re A.
        imag_transform: how A_imag stores -Im A.
        disc: "zoh" or "bilinear".
        bandlimit: silence pairs above this part of the Nyquist frequency; None for all.
        lr: learning rate of all four, or a mapping from "dt", "A", "B", "C" to one; None for the optimizer's.
        wd: weight decay of the same.
        real_scale: factor on the initial real parts.
        imag_scale: factor on the initial imaginary parts.
    """

    inv_dt: Tensor
    A_real: Tensor
    A_imag: Tensor
    B: Tensor
    C: Tensor

    def __init__(
        self,
        d_model: int,
        d_state: int = 64,
        channels: int = 1,
        l_max: int | None = None,
        n_ssm: int | None = None,
        init: str = "diag-lin",
        dt_min: float = 1e-3,
        dt_max: float = 1e-1,
        dt_tie: bool = True,
        dt_transform: str = "softplus",
        dt_fast: bool = False,
        real_transform: str = "exp",
        imag_transform: str = "none",
        disc: str = "zoh",
        bandlimit: float | None = None,
        lr: Option = None,
        wd: Option = 0.0,
        real_scale: float = 1.0,
        imag_scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.d_model, self.H = d_model, d_model
        self.N = d_state // 2
        self.channels, self.l_max = channels, l_max
        self.n_ssm = d_model if n_ssm is None else n_ssm
        self.init, self.disc, self.bandlimit = init, disc, bandlimit
        self.dt_min, self.dt_max, self.dt_tie, self.dt_fast = dt_min, dt_max, dt_tie, dt_fast
        self.dt_transform = dt_transform
        self.real_transform, self.imag_transform = real_transform, imag_transform
        self._check(d_state)
        self.repeat = self.H // self.n_ssm

        inv_dt = draw_step_sizes((self.H, 1 if dt_tie else self.N), dt_min, dt_max, dt_transform, dt_fast)
        A, B = initial_poles(init, d_state)
        A = torch.complex(A.real * real_scale, A.imag * imag_scale)
        if init != "diag-legs":
            # s4 draws a low-rank part here and multiplies it by zero, and stores the conjugate of the C it
            # draws: doing the same keeps seeds in step with it
            torch.randn(1, self.n_ssm, self.N, dtype=torch.complex64)
        C = torch.randn(channels, self.H, self.N, dtype=torch.complex64)

        rows = A.expand(self.n_ssm, -1)
        register(self, "inv_dt", inv_dt, "dt", lr, wd)
        register(self, "C", torch.view_as_real(C.conj().resolve_conj()), "C", lr)
        register(self, "B", torch.view_as_real(B.repeat(1, self.n_ssm, 1)), "B", lr, wd)
        register(self, "A_real", to_parameter(-rows.real, real_transform), "A", lr, wd)
        register(self, "A_imag", to_parameter(-rows.imag, imag_transform), "A", lr, wd)

    def _check(self, d_state: int) -> None:
        check_init(self.init)
        for option in ("dt_transform", "real_transform", "imag_transform"):
            check_transform(option, getattr(self, option))
        check_disc(self.disc)
        check_sizes(self.d_model, d_state, self.channels, self.n_ssm)
        check_step_sizes(self.dt_min, self.dt_max)

    def _get_params(self, rate: float = 1.0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step sizes (H, 1 or P) and, complex, poles (H, P), B (1, H, P) and C (channels, H, P)."""
        real = from_parameter(self.A_real, self.real_transform)
        A = -torch.complex(real, from_parameter(self.A_imag, self.imag_transform))
        B, C = torch.view_as_complex(self.B), torch.view_as_complex(self.C)
        dt = step_size(self.inv_dt, self.dt_transform, self.dt_fast) * rate
        A, B = A.repeat(self.repeat, 1), B.repeat(1, self.repeat, 1)
        if self.bandlimit is not None:
            frequency = dt / rate * A.imag.abs() / (2 * math.pi)
            C = C * (frequency < self.bandlimit / 2)
        return dt, A, B, C

    def _discrete(self, rate: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
        """Log poles (H, P), input weights (H, P) and output weights (channels, H, P) in discrete time."""
        dt, A, B, C = self._get_params(rate)
        log_pole, gain = discretize(dt, A, self.disc)
        return log_pole, B[0] * gain, C

    def forward(self, L: int, state: Tensor | None = None, rate: float = 1.0) -> tuple[Tensor, Tensor | None]:
        """Kernel (channels, H, L), and of a state (batch, H, P) its free response (batch, channels, H, L)."""
        log_pole, B, C = self._discrete(rate)
        weights = B * C
        if state is not None:
            # the response to a state s is that to one extra sample before time 0: C exp(x (l + 1)) s
            free = (state * torch.exp(log_pole)).unsqueeze(1) * C
            weights = torch.cat((free.flatten(0, 1), weights), dim=0)
        K = vandermonde_product(weights, log_pole, L)
        if state is None:
            return K, None
        K = K.unflatten(0, (-1, self.channels))
        return K[-1], K[:-1]

    def default_state(self, *batch_shape: int) -> Tensor:
        """Zero state, (*batch_shape, H, P) complex."""
        return torch.view_as_complex(self.C).new_zeros(*batch_shape, self.H, self.N)

    def step(self, u: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One time step: u (batch, H) and the state before it; y (batch, channels, H) and the state after."""
        log_pole, B, C = self._discrete()
        return step(torch.exp(log_pole), B, C, u, state)

    def forward_state(self, u: Tensor, state: Tensor) -> Tensor:
        """The state after the whole sequence u (batch, H, L)."""
        log_pole, B, _ = self._discrete()
        return advance(log_pole, B, u, state)
