"""Synthetic tasks with known population moments: band-limited targets, white or coloured inputs."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.linalg
import torch
from torch import Tensor

from tdi_plugin.kernel.spectra import PopulationSpectrum, population_spectrum
from tdi_plugin.spectrum import TaskSpectrum, cross_spectrum

LENGTH = 256
BANDS = {"low": (0.01, 0.04), "mid": (0.14, 0.18), "high": (0.36, 0.42)}
"""Cycles/sample."""
NOISE = 0.25
"""Variance of the targets' noise where the target's own is 1."""
CORRELATION = 0.9
"""Between neighbouring samples of the coloured inputs."""


def grid(length: int = LENGTH) -> Tensor:
    """(K,) frequencies k/L."""
    return torch.arange(length // 2 + 1, dtype=torch.float64) / length


def in_band(low: float, high: float, length: int = LENGTH) -> Tensor:
    """(K,) bool, at least one bin, never DC."""
    inside = (grid(length) >= low) & (grid(length) <= high)
    inside[0] = False
    if not inside.any():
        inside[max(1, round(low * length))] = True
    return inside


def band_target(low: float, high: float, seed: int, length: int = LENGTH) -> Tensor:
    """(L,) a random waveform of unit norm, complex Gaussian in the band and zero outside."""
    g = torch.Generator().manual_seed(seed)
    W = torch.randn(length // 2 + 1, generator=g, dtype=torch.complex128) * in_band(low, high, length)
    w = torch.fft.irfft(W, length)
    return w / w.norm()


def task_spectrum_of(target: Tensor) -> TaskSpectrum:
    """The cross-spectrum that infinitely many white series would give."""
    power = torch.fft.rfft(target).abs().square()
    return TaskSpectrum(power=power, length=target.numel(), statistic="cross")


def measured_spectrum(target: Tensor, count: int, seed: int) -> TaskSpectrum:
    """The cross-spectrum of ``count`` white series."""
    return Population.regression("white", target).spectrum_of(count, seed)


@dataclass(frozen=True)
class Population:
    """Inputs u = F z + a s Y (z white), targets Y: all second moments in closed form."""

    name: str
    factor: Tensor
    """F (L, L)."""
    target: Tensor
    """(L,) w in Y = w^T u + noise; or the template a s of two classes."""
    classes: bool

    @classmethod
    def regression(cls, name: str, target: Tensor, correlation: float = 0.0) -> Population:
        """Y = w^T u + noise, scaled so that w^T u has variance 1."""
        F = factor(target.numel(), correlation)
        return cls(name, F, target / (F.mT @ target).norm(), False)

    @classmethod
    def two_classes(cls, name: str, template: Tensor, correlation: float, separation: float) -> Population:
        """Y = +1 or -1, u = F z + Y a s; a puts the classes ``separation`` standard deviations apart."""
        F = factor(template.numel(), correlation)
        whitened = torch.linalg.solve_triangular(F, template.unsqueeze(-1), upper=False)
        return cls(name, F, template * separation / (2 * whitened.norm()), True)

    @property
    def covariance(self) -> Tensor:
        """Sigma (L, L)."""
        own = torch.outer(self.target, self.target) if self.classes else 0.0
        return self.factor @ self.factor.mT + own

    @property
    def cross(self) -> Tensor:
        """C_uY (L,)."""
        return self.target if self.classes else self.covariance @ self.target

    @property
    def variance(self) -> float:
        """E[Y^2]."""
        return 1.0 if self.classes else 1.0 + NOISE

    @property
    def unexplained(self) -> float:
        """What no linear function of u explains of E[Y^2]."""
        explained = self.cross @ torch.linalg.solve(self.covariance, self.cross)
        return max(0.0, self.variance - float(explained))

    def modes(self, h: Tensor) -> PopulationSpectrum:
        """The kernel's Mercer decomposition under these inputs."""
        return population_spectrum(h, self.covariance, self.cross)

    def spectrum_of(self, count: int, seed: int) -> TaskSpectrum:
        """The task spectrum measured from ``count`` series."""
        x, y = self.draw(count, torch.Generator().manual_seed(seed))
        return cross_spectrum(x.unsqueeze(-1), y.unsqueeze(-1))

    def draw(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Series (B, L) and targets (B,)."""
        z = torch.randn(count, self.factor.shape[0], generator=generator, dtype=torch.float64)
        x = z @ self.factor.mT
        if self.classes:
            y = 2.0 * torch.randint(2, (count,), generator=generator).double() - 1.0
            return x + torch.outer(y, self.target), y
        noise = NOISE**0.5 * torch.randn(count, generator=generator, dtype=torch.float64)
        return x, x @ self.target + noise

    def error(self, w: Tensor) -> float:
        """E[(w^T u - Y)^2] of a linear predictor (L,), exactly."""
        return float(w @ self.covariance @ w - 2 * w @ self.cross) + self.variance


def factor(length: int, correlation: float) -> Tensor:
    """Lower Cholesky factor of a first-order autoregression's covariance, of unit variance."""
    lags = correlation ** torch.arange(length, dtype=torch.float64)
    return torch.linalg.cholesky(torch.from_numpy(scipy.linalg.toeplitz(lags.numpy())))
