"""Hydra's errors as one of ours: which name was not found, and which one is near."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
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
    from omegaconf.errors import OmegaConfBaseException

    before = os.environ.get(FULL_ERROR)
    os.environ[FULL_ERROR] = "1"
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise OptionError(_explain(error, config_dirs)) from error
    finally:
        if before is None:
            os.environ.pop(FULL_ERROR, None)
        else:
            os.environ[FULL_ERROR] = before


def _explain(error: Exception, config_dirs: tuple[Path, ...]) -> str:
    """Names that are missing with what to do about them; all else in Hydra's own words."""
    from omegaconf.errors import InterpolationKeyError

    said = " ".join(str(error).partition("\n    full_key")[0].split())
    if isinstance(missing := getattr(error, "missing_cfg_file", None), str):
        return _missing_config(missing, getattr(error, "options", None) or [], config_dirs)
    if empty := re.search(r"Missing mandatory value: ([\w.]+)", said):
        return f"{empty[1]} has no value yet: add {empty[1]}=VALUE."
    if isinstance(error, InterpolationKeyError):
        return (
            f"{error.full_key}: {said}. Hydra takes ${{...}} for the name of another setting; a text with "
            r"these characters is written \${...}."
        )
    return said


def _missing_config(missing: str, options: Sequence[str], config_dirs: tuple[Path, ...]) -> str:
    group, _, name = missing.rpartition("/")
    if missing.startswith("experiment/"):  # of which Hydra lists one folder alone
        group, name = "experiment", missing.removeprefix("experiment/")
        tops = [folder / group for folder in config_dirs]
        options = [f.relative_to(top).with_suffix("").as_posix() for top in tops for f in top.rglob("*.yaml")]
    return f"No {group} {name!r}: {choices(name, options)}"
