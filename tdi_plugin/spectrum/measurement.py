"""A measurement in progress: sums for the statistic, a sample for its evidence, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import torch.distributed as dist

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.spectrum.auto import MOST_SERIES, Choice, choose
from tdi_plugin.spectrum.batch import to_tensor
from tdi_plugin.spectrum.combine import combine
from tdi_plugin.spectrum.cross import Cross
from tdi_plugin.spectrum.fisher import Fisher, Undefined
from tdi_plugin.spectrum.labels import has_repeats, is_real_target
from tdi_plugin.spectrum.measure import Statistic, batch_sums, to_spectrum
from tdi_plugin.spectrum.permutation import null_spectra, significance
from tdi_plugin.spectrum.power import Power
from tdi_plugin.spectrum.sample import Sample
from tdi_plugin.spectrum.sums import Sums, add
from tdi_plugin.spectrum.value import TaskSpectrum

STATISTICS = ("auto", "combined", "cross", "fisher", "power")


@dataclass
class Measurement:
    """One pass over batches for one statistic by name."""

    statistic: str
    fisher: Fisher
    cross: Cross
    permutations: int = 0
    seed: int = 0
    sample_rate: float | None = None
    distributed: bool = False
    """Put the parts of all processes of torch.distributed together at the end."""
    sums: dict[str, Sums] = field(default_factory=dict)
    sample: Sample | None = None
    repeated: bool = False
    """Some class has had two series in one batch: fisher is defined, and needs no cross-spectrum instead."""

    def __post_init__(self) -> None:
        if self.statistic not in STATISTICS:
            raise OptionError(
                f"Unknown statistic {self.statistic!r}: {choices(str(self.statistic), STATISTICS)}"
            )
        if not isinstance(self.permutations, Integral) or self.permutations < 0:
            raise OptionError(f"permutations={self.permutations!r}: give a whole number, 0 for none.")
        if self.permutations and self.statistic == "power":
            raise OptionError(
                "statistic='power' ignores labels, so shuffling them says nothing: use permutations=0."
            )
        if self.statistic == "auto" or self.permutations:
            # Keys that differ by process, or their samples would not join into a uniform one.
            rank = dist.get_rank() if self.distributed and dist.is_initialized() else 0
            self.sample = Sample((self.seed, rank))

    def add(self, x: Any, y: Any, lengths: Any = None) -> None:
        """One batch.

        Raises:
            DataError: a batch that cannot be measured, or one unlike those before it.
        """
        wanted = self._wanted(y)
        found, batch, labels = batch_sums(wanted, x, y, lengths)
        for one, new in zip(wanted, found, strict=True):
            self.sums[one.name] = add(self.sums.get(one.name), new)
        if self.sample is not None:
            self.sample.add(batch, labels[-1])

    def gather(self) -> None:
        """Put together what all processes have measured; each ends with the same."""
        here = {s: {k: v.cpu() for k, v in sums.items()} for s, sums in self.sums.items()}
        everywhere: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(everywhere, (here, self.sample))
        self.sums, samples = {}, [sample for _, sample in everywhere if sample is not None]
        for sums, _ in everywhere:
            for name, new in sums.items():
                self.sums[name] = add(self.sums.get(name), new)
        if samples:
            self.sample = samples[0].with_others(samples[1:])

    def finish(self) -> TaskSpectrum:
        """The spectrum, with the evidence for it.

        Raises:
            DataError: no batch, one class, or series without anything to measure.
        """
        if self.distributed and dist.is_initialized():
            self.gather()
        if not self.sums:
            raise DataError("No batch came: the loader is empty (few series and drop_last=True?).")
        if self.statistic == "power":
            return self._spectrum(Power(self.fisher.smoothing))
        choice = Choice(self.statistic, {}, "")
        if self.statistic == "auto":
            self.cross.spectrum(self.sums["cross"])
            choice = self._choose()
        try:
            spectrum = self._by_name(choice.statistic)
        except Undefined as error:
            if "cross" not in self.sums:
                raise
            spectrum = self._spectrum(self.cross)
            choice = Choice("cross", choice.scores, f"cross instead of {choice.statistic}: {error}")
        spectrum = spectrum.replaced(scores=choice.scores, reason=choice.reason, abstains=choice.abstains)
        return self._with_significance(spectrum) if self.permutations else spectrum

    def _wanted(self, y: Any) -> list[Statistic]:
        """Statistics to sum; the last one's labels are what the sample keeps."""
        if self.statistic == "power":
            return [Power(self.fisher.smoothing)]
        if self.statistic in ("auto", "cross") and self.cross.num_targets is None:
            targets = to_tensor(y, "y")
            if self.cross.num_classes is None and is_real_target(targets):
                # Settled once: a later batch of whole numbers alone is real too.
                columns = 1 if targets.ndim == 1 else targets.shape[-1]
                self.cross = replace(self.cross, num_targets=columns)
        if self.statistic == "cross" or self.cross.num_targets is not None:
            return [self.cross]
        if self.statistic == "fisher":
            self.repeated = self.repeated or has_repeats(y)
            return [self.fisher] if self.repeated else [self.fisher, self.cross]
        return [self.fisher, self.cross]

    def _choose(self) -> Choice:
        assert self.sample is not None
        batch, labels = self.sample.batch(MOST_SERIES)
        fisher = self.fisher if "fisher" in self.sums else None
        return choose(batch, labels, fisher, self.seed)

    def _by_name(self, name: str) -> TaskSpectrum:
        if name == "power":
            return self._power_of_sample()
        if name == "cross":
            return self._spectrum(self.cross)
        of_fisher = self._spectrum(self.fisher)
        return of_fisher if name == "fisher" else combine(of_fisher, self._spectrum(self.cross))

    def _spectrum(self, statistic: Statistic) -> TaskSpectrum:
        return to_spectrum(statistic, self.sums[statistic.name], self.sample_rate)

    def _power_of_sample(self) -> TaskSpectrum:
        assert self.sample is not None
        batch, _ = self.sample.batch()
        power = Power(self.fisher.smoothing)
        return to_spectrum(power, power.sums(batch, None), self.sample_rate)

    def _with_significance(self, spectrum: TaskSpectrum) -> TaskSpectrum:
        if spectrum.statistic == "power":
            return spectrum
        assert self.sample is not None
        batch, labels = self.sample.batch()
        parts: dict[str, list[Fisher | Cross]] = {
            "fisher": [self.fisher],
            "cross": [self.cross],
            "combined": [self.fisher, self.cross],
        }
        nulls = null_spectra(parts[spectrum.statistic], batch, labels, self.permutations, self.seed)
        found = significance(nulls)
        band = found.band * spectrum.power[1:].sum() if self.sample.complete else None
        return spectrum.replaced(
            p_value=found.p_value, p_values=found.p_values, significant=found.significant, band=band
        )
