"""Peaks of a task spectrum: their order, their units, and how much of the density is theirs."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tdi_plugin.spectrum import TaskSpectrum
from tdi_plugin.spectrum.peaks import leading_peaks


def test_peaks_are_ordered_and_measured_in_every_unit() -> None:
    power = torch.zeros(51)
    power[[10, 20, 21, 22, 50]] = torch.tensor([2.0, 1.0, 4.0, 1.0, 3.0])
    spectrum = TaskSpectrum(power, length=100, statistic="flat", sample_rate=50.0)
    found = leading_peaks(spectrum)
    assert [peak.bin for peak in found] == [21, 50, 10]
    assert [peak.hertz for peak in found] == [10.5, 25.0, 5.0]
    assert found[1].period == 2.0
    assert [round(peak.share * 11, 6) for peak in found] == [4.0, 3.0, 2.0]
    assert len(leading_peaks(spectrum, 2)) == 2
    edge = leading_peaks(TaskSpectrum(torch.tensor([9.0, 5.0, 1.0]), length=4, statistic="flat"))
    assert [peak.bin for peak in edge] == [1]


@settings(deadline=None)
@given(arrays(np.float64, st.integers(3, 40), elements=st.floats(0.0, 10.0)), st.integers(1, 12))
def test_shares_of_peaks_do_not_overlap(power: np.ndarray, most: int) -> None:
    assume(power[1:].sum() > 1e-6)
    spectrum = TaskSpectrum(torch.from_numpy(power), length=2 * len(power) - 2, statistic="flat")
    peaks = leading_peaks(spectrum, most)
    assert all(peak.share >= spectrum.density[peak.bin] - 1e-12 for peak in peaks)
    assert sum(peak.share for peak in peaks) <= 1 + 1e-9
