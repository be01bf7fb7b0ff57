"""Which peaks could be chance: the same statistic with the labels shuffled among the series."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.spectrum.batch import Batch
from tdi_plugin.spectrum.cross import Cross
from tdi_plugin.spectrum.fisher import Fisher
from tdi_plugin.spectrum.log_power import log_power_of
from tdi_plugin.spectrum.periodogram import periodogram

LEVEL = 0.05
PRODUCT_BYTES = 2**26
STREAM = 1
"""Stream of random numbers for shuffles, apart from that of samples."""


@dataclass(frozen=True)
class Significance:
    """What the permutation null says of each frequency."""

    p_values: Tensor
    """(K,) that any frequency of shuffled labels would stand out as much; 1 at DC."""
    band: Tensor
    """(K,) the 95 % quantile of the statistic at that frequency alone under shuffled labels, in parts of the
    mass of the true labels' spectrum."""

    @property
    def p_value(self) -> float:
        """Of the frequency that stands out most."""
        return float(self.p_values[1:].min())

    @property
    def significant(self) -> Tensor:
        """(K,) bool."""
        return self.p_values <= LEVEL


def significance(nulls: list[Tensor]) -> Significance:
    """Of (R + 1, K) spectra, one for each statistic: the true labels' first, then those of R shuffles.

    Each frequency is measured in units of its own mean over all rows, so that the maximum over frequency is
    not left to those where the inputs are loudest; rows stay exchangeable, which makes the p-values exact.
    Two statistics count by the mean of their heights, so that either can make a frequency stand out.
    """
    height = torch.stack([heights(null) for null in nulls]).mean(dim=0)
    highest = height[1:].amax(dim=1).sort().values
    above = len(highest) - torch.searchsorted(highest, height[0].contiguous())
    p_values = torch.cat([torch.ones(1), (1.0 + above) / (1.0 + len(highest))]).double()
    power = torch.stack([in_units_of_truth(null) for null in nulls]).mean(dim=0)
    rank = max(int(np.ceil((1 - LEVEL) * len(highest))), 1)
    return Significance(p_values, power[1:].kthvalue(rank, dim=0).values.double())


def heights(null: Tensor) -> Tensor:
    """(R + 1, K - 1) over the mean of each frequency, without DC."""
    mean = null.mean(dim=0)
    return torch.where(mean > 0, null / mean, 0.0)[:, 1:]


def in_units_of_truth(null: Tensor) -> Tensor:
    """(R + 1, K) over the mass of the first row, as the true labels' density is."""
    return null / null[0, 1:].sum().clamp(min=torch.finfo(null.dtype).tiny)


def null_spectra(
    statistics: Sequence[Fisher | Cross], batch: Batch, labels: Tensor, shuffles: int, seed: int
) -> list[Tensor]:
    """(shuffles + 1, K) float32 for each statistic, the first row with the labels as they are.

    Labels (B,) classes or (B, d) real. Class counts do not change in a shuffle, and neither does the variance
    of all series together, so only sums by class are needed: one matrix product for all shuffles (in parts
    where it would not fit in PRODUCT_BYTES). Statistics in one call see the same shuffles.
    """
    targets = one_hot_rows(labels) if labels.ndim == 1 else (labels - labels.mean(dim=0)).float()
    bytes_each = batch.series[0].numel() * targets.shape[1] * 4
    products = [
        fisher_product(s, batch, targets) if isinstance(s, Fisher) else cross_product(s, batch, len(targets))
        for s in statistics
    ]
    found: list[list[Tensor]] = [[] for _ in statistics]
    for orders in shuffled_orders(len(targets), shuffles, seed, bytes_each):
        rows = targets[orders].transpose(1, 2)
        for product, parts in zip(products, found, strict=True):
            parts.append(product(rows))
    return [torch.cat(parts) for parts in found]


def fisher_product(fisher: Fisher, batch: Batch, targets: Tensor) -> Callable[[Tensor], Tensor]:
    """From label rows (R, C, B) to (R, K)."""
    z = centred_log_power(fisher, batch)
    total = z.square().mean(dim=0)
    weight = 1 / (targets.sum(dim=0) * len(targets))

    def spectra(rows: Tensor) -> Tensor:
        sums = rows.flatten(end_dim=1) @ z.flatten(start_dim=1)
        squares = sums.square_().view(*rows.shape[:2], -1)
        between = torch.einsum("c,rcf->rf", weight, squares).view(-1, *total.shape)
        within = (total - between).clamp_(min=0)
        return (between / (within + max(fisher.within_floor, 1e-12))).mean(dim=1)

    return spectra


def cross_product(cross: Cross, batch: Batch, count: int) -> Callable[[Tensor], Tensor]:
    """From target rows (R, d, B) to (R, K), but for a factor: the largest sample counts as one."""
    series = batch.series - batch.series.mean(dim=0)
    series = (series / series.abs().max().clamp(min=torch.finfo(series.dtype).tiny)).float()

    def spectra(rows: Tensor) -> Tensor:
        moment = rows.flatten(end_dim=1) @ series.flatten(start_dim=1) / count
        power = periodogram(moment.view(-1, *series.shape[1:]), cross.smoothing)
        return power.view(*rows.shape[:2], *power.shape[1:]).mean(dim=(1, 2))

    return spectra


def one_hot_rows(labels: Tensor) -> Tensor:
    """(B, C) float32, of the classes that occur."""
    classes = torch.unique(labels, return_inverse=True)[1]
    return torch.nn.functional.one_hot(classes).float()


def centred_log_power(fisher: Fisher, batch: Batch) -> Tensor:
    """(B, D, K) float32 z less its mean; a constant series counts as the mean."""
    z, signal = log_power_of(batch, fisher.smoothing, fisher.power_floor)
    used = signal > 0
    z = torch.where(used, z, 0.0)
    center = (z * used).sum(dim=0) / used.sum(dim=0).clamp(min=1)
    return ((z - center) * used).float()


def shuffled_orders(rows: int, shuffles: int, seed: int, bytes_each: int) -> Iterator[Tensor]:
    """(R, rows) orders of the series in parts, the first of them unshuffled."""
    random = np.random.default_rng((seed, STREAM))
    part = max(PRODUCT_BYTES // bytes_each, 1)
    for start in range(0, shuffles + 1, part):
        orders = np.tile(np.arange(rows), (min(part, shuffles + 1 - start), 1))
        shuffled = orders[1:] if start == 0 else orders
        random.permuted(shuffled, axis=1, out=shuffled)
        yield torch.from_numpy(orders)
