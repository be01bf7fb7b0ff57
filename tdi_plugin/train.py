"""`tdi train`: one run of an experiment on the builtin trainer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import OptionError, TDIError, check_options
from tdi_plugin.hydra_errors import readable_hydra_errors
from tdi_plugin.search_path import announce_own_command, builtin_config_dir
from tdi_plugin.train_run import run


def main(argv: Sequence[str]) -> int:
    """Compose the overrides with Hydra and run; errors raised on purpose come out as they are.

    Raises:
        TDIError: options, data or model that cannot be used.
    """
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    check_group("tdi", argv, TDIConfig)
    announce_own_command()
    carried: list[TDIError] = []

    @hydra.main(version_base="1.3", config_path=str(builtin_config_dir()), config_name="config")
    def job(config: Any) -> None:
        try:
            _job(config)
        except TDIError as error:
            # Hydra prints the overrides of a job that raises: of several jobs this says which one it was.
            if HydraConfig.get().mode == RunMode.MULTIRUN:
                raise
            carried.append(error)

    with started_as_module(["tdi train", *argv]), readable_hydra_errors():
        job()
    if carried:
        raise carried[0]
    return 0


@contextmanager
def started_as_module(argv: list[str]) -> Iterator[None]:
    """While this is open a process for another rank is started by ``python -m tdi_plugin.train``."""
    main_module = sys.modules["__main__"]
    saved = sys.argv, main_module.__spec__
    sys.argv, main_module.__spec__ = argv, ModuleSpec("tdi_plugin.train", loader=None, origin=__file__)
    try:
        yield
    finally:
        sys.argv, main_module.__spec__ = saved


def check_group(group: str, words: Sequence[str], function: Callable[..., object]) -> None:
    """Refuse ``group.option=...`` words whose option does not exist; Hydra would not name the nearest.

    Raises:
        OptionError: naming the option and its nearest match.
    """
    keys = (word.partition("=")[0].lstrip("+~") for word in words)
    given = [key.removeprefix(f"{group}.") for key in keys if key.startswith(f"{group}.")]
    check_options(f"The group {group!r}", given, function)


def _job(config: Any) -> None:
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import OmegaConf

    if "model" not in config:
        raise OptionError(
            "No experiment was chosen; expected experiment=NAME, e.g. experiment=tdi/ucr/gunpoint. "
            "`tdi train --help` lists them."
        )
    plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    run(plain, Path(HydraConfig.get().runtime.output_dir))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
