"""The combined spectrum: the mean of two densities."""

from __future__ import annotations

from torch import Tensor

from tdi_plugin.spectrum.value import TaskSpectrum


def combine(fisher: TaskSpectrum, cross: TaskSpectrum) -> TaskSpectrum:
    """Half of each density, channel by channel where there are several."""
    channels = (channel_densities(fisher) + channel_densities(cross)) / 2
    return fisher.replaced(
        power=channels.mean(dim=0),
        statistic="combined",
        channels=None if fisher.channels is None else channels,
    )


def channel_densities(spectrum: TaskSpectrum) -> Tensor:
    """(D, K) channels over the one sum that makes their mean a density."""
    channels = spectrum.power[None] if spectrum.channels is None else spectrum.channels
    channels = channels.clone()
    channels[:, 0] = 0.0
    return channels / spectrum.power[1:].sum()
