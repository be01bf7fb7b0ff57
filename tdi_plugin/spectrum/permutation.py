"""Which peaks could be chance: the same statistic with the labels shuffled among the series."""

from __future__ import annotations

from collections.abc import Iterator
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


@dataclass(frozen=True)
class Significance:
    """What the permutation null says of each frequency."""

    p_values: Tensor
    """(K,) that any frequency of shuffled labels would stand out as much; 1 at DC."""
    band: Tensor
    """(K,) the 95 % quantile of the statistic at that frequency alone, under shuffled labels."""

    @property
    def p_value(self) -> float:
        """Of the frequency that stands out most."""
        return float(self.p_values[1:].min())

    @property
    def significant(self) -> Tensor:
        """(K,) bool."""
        return self.p_values <= LEVEL


def significance(null: Tensor) -> Significance:
    """Of (R + 1, K) spectra: the true labels' first, then those of R shuffles.

    Each frequency is measured in units of its own mean over all rows, so that the maximum over frequency is
    not left to those where the inputs are loudest; rows stay exchangeable, which makes the p-values exact.
    """
    mean = null.mean(dim=0)
    height = torch.where(mean > 0, null / mean, 0.0)[:, 1:]
    highest = height[1:].amax(dim=1).sort().values
    above = len(highest) - torch.searchsorted(highest, height[0].contiguous())
    p_values = torch.cat([torch.ones(1), (1.0 + above) / (1.0 + len(highest))]).double()
    rank = max(int(np.ceil((1 - LEVEL) * len(highest))), 1)
    return Significance(p_values, null[1:].kthvalue(rank, dim=0).values.double())


def null_spectra(
    fisher: Fisher | None, cross: Cross | None, batch: Batch, labels: Tensor, shuffles: int, seed: int
) -> Tensor:
    """(shuffles + 1, K) float32, the first row with the labels as they are; both statistics give combined.

    Labels (B,) classes or (B, d) real. Class counts do not change in a shuffle, and neither does the variance
    of all series together, so only sums by class are needed: one matrix product for all shuffles (in parts
    where it would not fit in PRODUCT_BYTES).
    """
    both = fisher is not None and cross is not None
    targets = one_hot_rows(labels) if labels.ndim == 1 else (labels - labels.mean(dim=0)).float()
    series = batch.series.float() - batch.series.mean(dim=0).float()
    z = None if fisher is None else centred_log_power(fisher, batch)
    found = []
    for orders in shuffled_orders(len(targets), shuffles, seed, series[0].numel() * targets.shape[1] * 4):
        rows = targets[orders].transpose(1, 2).flatten(end_dim=1)
        parts = []
        if fisher is not None and z is not None:
            parts.append(fisher_of(rows @ z.flatten(start_dim=1), z, targets, fisher.within_floor))
        if cross is not None:
            moment = (rows @ series.flatten(start_dim=1)).view(-1, *series.shape[1:]) / len(targets)
            power = periodogram(moment, cross.smoothing)
            parts.append(power.view(len(orders), -1, *power.shape[1:]).mean(dim=1))
        spectra = [part.mean(dim=1) for part in parts]
        found.append(torch.stack([density(s) for s in spectra]).mean(dim=0) if both else spectra[0])
    return torch.cat(found)


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


def fisher_of(sums: Tensor, z: Tensor, targets: Tensor, within_floor: float) -> Tensor:
    """(R, D, K) statistic of class sums (R C, D K) of centred z (B, D, K)."""
    total = z.square().mean(dim=0)
    weight = 1 / (targets.sum(dim=0) * len(targets))
    squares = sums.square_().view(-1, len(weight), sums.shape[1])
    between = torch.einsum("c,rcf->rf", weight, squares).view(-1, *total.shape)
    return between / ((total - between).clamp_(min=0) + max(within_floor, 1e-12))


def density(spectra: Tensor) -> Tensor:
    """(R, K) over its sum, DC at zero."""
    spectra = spectra.clone()
    spectra[:, 0] = 0
    return spectra / spectra.sum(dim=1, keepdim=True).clamp(min=torch.finfo(spectra.dtype).tiny)


def shuffled_orders(rows: int, shuffles: int, seed: int, bytes_each: int) -> Iterator[Tensor]:
    """(R, rows) orders of the series in parts, the first of them unshuffled."""
    random = np.random.default_rng(seed)
    part = max(PRODUCT_BYTES // bytes_each, 1)
    for start in range(0, shuffles + 1, part):
        orders = np.tile(np.arange(rows), (min(part, shuffles + 1 - start), 1))
        shuffled = orders[1:] if start == 0 else orders
        random.permuted(shuffled, axis=1, out=shuffled)
        yield torch.from_numpy(orders)
