"""Hydra's errors as one of ours: which name was not found, and which one is near."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tdi_plugin.errors import OptionError, choices

FULL_ERROR = "HYDRA_FULL_ERROR"


@contextmanager
def readable_hydra_errors() -> Iterator[None]:
    """Hydra raises its errors instead of printing them and exiting; those of configs become OptionError.

    With HYDRA_FULL_ERROR=1 in the environment they come out as they are, as Hydra's users expect.

    Raises:
        OptionError: for every error of Hydra, OmegaConf, or YAML.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    before = os.environ.get(FULL_ERROR)
    if before == "1":
        yield
        return
    os.environ[FULL_ERROR] = "1"
    try:
        yield
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        raise OptionError(explain(error)) from error
    finally:
        if before is None:
            os.environ.pop(FULL_ERROR, None)
        else:
            os.environ[FULL_ERROR] = before


def explain(error: BaseException) -> str:
    """Names that are missing with what to do about them; all else in Hydra's own words, on one line."""
    from omegaconf.errors import InterpolationKeyError, OmegaConfBaseException

    if found := _missing_config(error):
        return found
    said = " ".join(re.split(r"\n(?:Config search path|\s+full_key)", str(error))[0].split())
    if empty := re.search(r"Missing mandatory value: (\S+)", said):
        return f"{empty[1]} has no value yet: add {empty[1]}=VALUE."
    key = getattr(error, "full_key", None)
    if isinstance(error, InterpolationKeyError):
        said += (
            r": no such setting; add it with +KEY=VALUE, or write \${...} if the text itself has these "
            "characters."
        )
    cause = error.__cause__
    if isinstance(cause, OmegaConfBaseException) and not said.startswith("Could not override"):
        said = f"{said}: {explain(cause)}" if said else explain(cause)
    return f"{key}: {said}" if key and key not in said else said


def _missing_config(error: BaseException) -> str | None:
    """A config of a group that does not exist, where Hydra knows which ones do."""
    missing = str(getattr(error, "missing_cfg_file", None) or "")
    group, _, name = missing.rpartition("/")
    known = list(getattr(error, "options", None) or [])
    if missing.startswith("experiment/"):  # whose names have folders, of which Hydra lists one alone
        group, name = "experiment", missing.removeprefix("experiment/")
        tops = [Path(folder) / group for folder in re.findall(r"path=file://(.+)", str(error))]
        known = [f.relative_to(top).with_suffix("").as_posix() for top in tops for f in top.rglob("*.yaml")]
    return f"No {group} {name!r}: {choices(name, known)}" if group and known else None
