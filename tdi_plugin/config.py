"""One list of options, used alike by ``tdi_(**options)``, the Hydra group ``tdi`` and the callback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral
from os import PathLike
from typing import Any

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.poles.allocation import ALLOCATIONS
from tdi_plugin.poles.damping import DAMPINGS, check_damping
from tdi_plugin.poles.share import SHARE_OVER

STATISTICS = ("auto", "fisher", "cross", "combined", "power")
SOURCES = ("auto", "input", "encoder", "layer")
TYING = ("equal", "keep", "refuse")

_NAMED = {
    "statistic": STATISTICS,
    "source": SOURCES,
    "allocation": tuple(ALLOCATIONS),
    "share_over": SHARE_OVER,
    "tied": TYING,
}


@dataclass(frozen=True)
class TDIConfig:
    """Options of task-dependent initialization; the defaults are what ``init: tdi`` alone means."""

    enabled: bool = True
    """False: build the model, measure nothing, write nothing."""
    statistic: str = "auto"
    """Which task spectrum: auto, fisher, cross, combined or power."""
    source: str = "auto"
    """Where it is measured: auto (encoder for integer tokens, else input), input, encoder, or layer."""
    smoothing: str | None = None
    """Smoothing of the spectrum for few series; None leaves it as measured."""
    spectrum_file: str | None = None
    """A saved TaskSpectrum to use instead of measuring one."""
    allocation: str = "quantile"
    """How frequencies are chosen from the density: quantile, topk, peaks or sample."""
    damping: str | float = "host"
    """host keeps the host's real parts; width uses the peaks' own widths; a number is per sample."""
    temper: float = 1.0
    """Exponent of the density before allocation, in (0, 1]; smaller spreads the poles."""
    floor: float = 0.0
    """Share of a flat density mixed in before allocation, in [0, 1]."""
    share: float = 1.0
    """Part of each row's pole pairs that take task frequencies, in (0, 1]; the rest keep the host's."""
    share_over: str = "pairs"
    """What share counts: pairs, within every row; or rows, whole ones."""
    spacing: float = 0.0
    """Least distance in cycles/sample between the poles of one row; 0 for none."""
    tied: str = "equal"
    """Poles shared by channels of different step size: equal (equalise dt in a group), keep or refuse."""
    layers: str | tuple[int, ...] = "first"
    """Which state-space layers: first, all, or a list of positions."""
    train_ratio: float = 1.0
    """Part of the training set that is used, in (0, 1]; stratified and nested."""
    subset_seed: int = 0
    """Seed of the training subset."""
    seed: int = 0
    """Seed of the package's own random choices (never the global generator)."""
    fast_kernel: bool = False
    """Replace the host's slow fallback Vandermonde product by the factored one."""

    @classmethod
    def of(cls, config: TDIConfig | Mapping[str, Any] | None = None, **options: Any) -> TDIConfig:
        """Merge a config, a mapping, or None (the defaults) with keyword options.

        Raises:
            OptionError: an unknown name, or a value outside its range.
        """
        if not (config is None or isinstance(config, TDIConfig | Mapping)):
            raise OptionError(
                f"The TDI options are a {type(config).__name__} ({config!r}); give a TDIConfig or a mapping."
            )
        base, given = (config, {}) if isinstance(config, TDIConfig) else (cls(), dict(config or {}))
        given.update(options)
        known = {f.name for f in fields(cls)}
        for name in given:
            if name not in known:
                raise OptionError(f"Unknown TDI option {name!r}: {choices(str(name), known)}")
        if isinstance(given.get("layers"), int):
            given["layers"] = (given["layers"],)
        elif not isinstance(given.get("layers", ""), str) and isinstance(given["layers"], Iterable):
            given["layers"] = tuple(given["layers"])
        merged = replace(base, **given)
        merged._check()
        return merged

    def as_dict(self) -> dict[str, Any]:
        """Plain values for logging and provenance."""
        return asdict(self)

    def _check(self) -> None:
        for name, known in _NAMED.items():
            value = getattr(self, name)
            if value not in known:
                raise OptionError(f"Unknown {name} {value!r}: {choices(str(value), known)}")
        if self.damping not in DAMPINGS:
            check_damping(self.damping)
        self._check_kinds()
        for name in ("temper", "share", "train_ratio", "floor"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and 0.0 <= value <= 1.0) or (value == 0.0 and name != "floor"):
                range_ = "[0, 1]" if name == "floor" else "(0, 1]"
                raise OptionError(f"Option {name}={value!r}: expected a number in {range_}.")

    def _check_kinds(self) -> None:
        for name in ("enabled", "fast_kernel"):
            if not isinstance(value := getattr(self, name), bool):
                raise OptionError(f"Option {name}={value!r}: expected true or false.")
        for name in ("seed", "subset_seed"):
            if not _is_whole(value := getattr(self, name)) or value < 0:
                raise OptionError(f"Option {name}={value!r}: expected a whole number, 0 or more.")
        for name in ("smoothing", "spectrum_file"):
            if not isinstance(value := getattr(self, name), str | PathLike | None):
                raise OptionError(f"Option {name}={value!r}: expected a text, or null for none.")
        number = isinstance(self.spacing, int | float) and not isinstance(self.spacing, bool)
        if not (number and 0.0 <= self.spacing < 0.5):
            raise OptionError(f"Option spacing={self.spacing!r}: expected a number in [0, 1/2).")
        positions = isinstance(self.layers, tuple) and all(map(_is_whole, self.layers))
        if not positions and self.layers not in ("first", "all"):
            raise OptionError(
                f"Option layers={self.layers!r}: expected 'first', 'all' or a list of positions."
            )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
