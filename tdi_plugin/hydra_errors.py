"""Hydra's errors as one of ours: which name was not found, and which one is near."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tdi_plugin.errors import OptionError, choices

FULL_ERROR = "HYDRA_FULL_ERROR"


@contextmanager
def readable_hydra_errors(*config_dirs: Path) -> Iterator[None]:
    """While this is open Hydra raises what it would print before it exits, and config errors become ours.

    Args:
        config_dirs: folders on Hydra's search path, for the names of experiments.

    Raises:
        OptionError: for every error of Hydra or OmegaConf.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import InterpolationResolutionError, OmegaConfBaseException

    before = os.environ.get(FULL_ERROR)
    os.environ[FULL_ERROR] = "1"
    try:
        yield
    except InterpolationResolutionError as error:
        raise OptionError(
            f"{error.full_key}: {str(error).splitlines()[0]}. Hydra takes ${{...}} for the name of another "
            r"setting; a text with these characters is written \${...}."
        ) from error
    except (HydraException, OmegaConfBaseException) as error:
        raise OptionError(_explain(error, config_dirs)) from error
    finally:
        if before is None:
            os.environ.pop(FULL_ERROR, None)
        else:
            os.environ[FULL_ERROR] = before


def _explain(error: Exception, config_dirs: tuple[Path, ...]) -> str:
    """A missing config with its nearest match; all else in Hydra's own words."""
    missing = getattr(error, "missing_cfg_file", None)
    if not isinstance(missing, str):
        return str(error)
    if missing.startswith("experiment/"):
        # Hydra lists the experiments of one folder alone.
        group, name = "experiment", missing.removeprefix("experiment/")
        folders = [folder / group for folder in config_dirs]
        known = [
            file.relative_to(top).with_suffix("").as_posix()
            for top in folders
            for file in top.rglob("*.yaml")
        ]
    else:
        group, _, name = missing.rpartition("/")
        known = list(getattr(error, "options", None) or [])
    return f"No {group} {name!r}: {choices(name, known)}"
