"""TaskSpectrum: what the task needs, as a value that can be saved, loaded and plotted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.errors import DataError

FORMAT = 1
TENSORS = ("channels", "significant", "p_values", "band")


@dataclass(frozen=True, eq=False)
class TaskSpectrum:
    """A non-negative spectrum on the rFFT grid f_k = k/L, k = 0..L//2, in cycles/sample.

    All tensors are float64 on the CPU; K = L//2 + 1.

    Raises:
        DataError: power is not (K,), not finite, negative, or zero at every frequency but DC.
    """

    power: Tensor
    """(K,) the statistic at each frequency."""
    length: int
    """L, samples in a series."""
    statistic: str
    """Which statistic was used: fisher, cross, combined, power or flat."""
    n_series: int = 0
    """Series that entered it."""
    sample_rate: float | None = None
    """Samples per second, where known."""
    channels: Tensor | None = None
    """(D, K) the statistic of each input channel, of which power is the mean; None for one channel."""
    scores: dict[str, float] = field(default_factory=dict)
    """Evidence by which ``auto`` chose."""
    reason: str = ""
    """Why this statistic, in words, when it was chosen or replaced."""
    p_value: float | None = None
    """Permutation p-value of the largest peak (maximum over frequency)."""
    significant: Tensor | None = None
    """(K,) bool: frequencies that stand out at 5 % over the whole spectrum."""
    p_values: Tensor | None = None
    """(K,) permutation p-value of each frequency, for the whole spectrum at once."""
    band: Tensor | None = None
    """(K,) 95 % quantile of power at that frequency alone under shuffled labels."""
    abstains: bool = False
    """Whether ``auto`` found nothing in the labels: layers then keep their own poles."""
    left_out: int = 0
    """Series (times channels) that are constant and so have no log-power."""

    def __post_init__(self) -> None:
        power = torch.as_tensor(self.power).detach().to("cpu", torch.float64)
        object.__setattr__(self, "power", power)
        rate = self.sample_rate
        if rate is not None and not (isinstance(rate, int | float) and 0 < rate < float("inf")):
            raise DataError(f"sample_rate={rate!r}: expected samples per second, a number above 0, or None.")
        expected = (self.length // 2 + 1,)
        if tuple(power.shape) != expected:
            raise DataError(f"power has shape {tuple(power.shape)}; length {self.length} needs {expected}.")
        # The sum is not finite where a value is not, nor where finite ones overflow.
        if not torch.isfinite(power.sum()) or (power < 0).any():
            raise DataError(
                "power holds NaN, infinite or negative values, or too large ones to add up; check the series "
                "it came from."
            )
        if power[1:].sum() <= 0:
            raise DataError(
                f"The {self.statistic} spectrum is zero at every frequency but DC: the series are constant, "
                "or classes differ at most in their mean. Check the data; TDI has nothing to place poles by."
            )

    @property
    def frequencies(self) -> Tensor:
        """(K,) cycles/sample, 0 to at most 1/2."""
        return torch.arange(self.power.numel(), dtype=torch.float64) / self.length

    @property
    def density(self) -> Tensor:
        """(K,) power over its sum, with DC at zero."""
        density = self.power.clone()
        density[0] = 0.0
        return density / density.sum()

    @property
    def density_mass(self) -> Tensor:
        """() power summed over all frequencies but DC: what turns it into the density."""
        return self.power[1:].sum()

    def replaced(self, **fields: Any) -> TaskSpectrum:
        """The same spectrum with other fields."""
        return replace(self, **fields)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for loggers and checkpoints: all but the channels and what permutations gave."""
        return {**self._values(), "power": self.power.tolist()}

    def _values(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: v for name, v in values.items() if name != "power" and name not in TENSORS}

    def save(self, path: str | Path) -> Path:
        """Write a plain .npz (arrays and one JSON string, no pickle) and return its path."""
        path = with_npz(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        meta = {"format": FORMAT, **self._values()}
        arrays = {"power": self.power.numpy()}
        for name in TENSORS:
            if (value := getattr(self, name)) is not None:
                arrays[name] = value.numpy()
        np.savez(path, meta=np.array(json.dumps(meta)), **arrays)  # type: ignore[arg-type]
        return path

    @classmethod
    def load(cls, path: str | Path) -> TaskSpectrum:
        """Read what ``save`` wrote.

        Raises:
            DataError: no such file, or not a task spectrum.
        """
        path = path if (path := Path(path)).is_file() else with_npz(path)
        if not path.is_file():
            raise DataError(f"No task spectrum at {path}; make one with `tdi spectrum ... output={path}`.")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                meta = json.loads(str(stored["meta"]))
                arrays: dict[str, Any] = {k: torch.from_numpy(stored[k]) for k in stored.files if k != "meta"}
            if (found := meta.pop("format", None)) == FORMAT:
                return cls(**arrays, **meta)
        # Whatever a foreign file holds: no archive, other names, other types.
        except (OSError, ValueError, KeyError, EOFError, BadZipFile, TypeError, AttributeError) as error:
            raise DataError(
                f"{path} is not a saved task spectrum ({error}); write one with TaskSpectrum.save."
            ) from error
        raise DataError(f"{path} has format {found}, expected {FORMAT}; measure again with `tdi spectrum`.")


def with_npz(path: str | Path) -> Path:
    """The path, with .npz at its end."""
    path = Path(path)
    return path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")
