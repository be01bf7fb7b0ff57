"""The spectra of an experiment's training series, measured as its run would measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import OptionError
from tdi_plugin.spectrum import TaskSpectrum


def experiment_spectra(
    overrides: Sequence[str], options: dict[str, Any], tracked: Callable[[Iterator[Any], int], Iterator[Any]]
) -> dict[str, TaskSpectrum]:
    """Compose the experiment for the builtin trainer, build its data and model, and measure.

    Args:
        overrides: of Hydra, e.g. ["experiment=tdi/ucr/ecg5000", "tdi.train_ratio=0.04"].
        options: of ``spectrum_of_batches``, besides those that the group ``tdi`` has.
        tracked: passes on batches, of which it is told the number, and shows progress.

    Returns:
        One spectrum by the experiment's name, or, where they are measured at layers, one for each.

    Raises:
        OptionError: overrides that do not compose.
        DataError: data that are not there, or cannot be measured.
    """
    import torch

    from tdi_plugin.hosts import find_hosts
    from tdi_plugin.lit import BuiltinModule
    from tdi_plugin.run_spectrum import RunSeries
    from tdi_plugin.training_data import in_order, untouched_rng
    from tdi_plugin.training_part import limit_training_set

    class Shown(RunSeries):
        def __iter__(self) -> Iterator[Any]:
            return tracked(super().__iter__(), len(self.loader))

    config = composed(overrides)
    settings = TDIConfig.of(config.get("tdi") or {})
    module = BuiltinModule(config)
    limit_training_set(module.dataset, settings.train_ratio, settings.subset_seed)
    with untouched_rng(), torch.no_grad():
        series = Shown(in_order(module.train_dataloader()), module)
        statistic, reason = series.statistic(settings.statistic)
        options = {**options, "statistic": statistic, "smoothing": settings.smoothing}
        if statistic == "power":
            options["permutations"] = 0
        found = series.spectra(settings.source, find_hosts(module), options)
    found = {name: s.replaced(reason=reason) if reason else s for name, s in found.items()}
    if len({id(s) for s in found.values()}) == 1 or settings.source != "layer":
        name = next((o.partition("=")[2] for o in overrides if o.startswith("experiment=")), "experiment")
        return {name.rpartition("/")[2]: next(iter(found.values()))}
    return found


def composed(overrides: Sequence[str]) -> dict[str, Any]:
    """The experiment as plain nested mappings.

    Raises:
        OptionError: what Hydra says against it, or no experiment.
    """
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    from tdi_plugin.hydra_errors import readable_hydra_errors
    from tdi_plugin.search_path import announce_own_command, builtin_config_dir

    announce_own_command()
    with (
        readable_hydra_errors(),
        initialize_config_dir(version_base="1.3", config_dir=str(builtin_config_dir())),
    ):
        config = compose("config", list(overrides))
        plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    if "model" not in plain:
        raise OptionError(
            f"{' '.join(overrides)} names no experiment; add one, e.g. experiment=tdi/ucr/gunpoint."
        )
    return plain
