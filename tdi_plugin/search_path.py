"""Where our Hydra configs are, and whether this process is one that should see them."""

from __future__ import annotations

from pathlib import Path

from tdi_plugin.s4.process import is_s4_process

_PACKAGE = Path(__file__).parent
_own_command = False


def config_dir() -> Path:
    """The folder with experiment/tdi and the groups beside it: packaged in a wheel, else the repository's.

    Raises:
        FileNotFoundError: neither is there (an incomplete installation).
    """
    candidates = (_PACKAGE / "configs", _PACKAGE.parent / "configs")
    for folder in candidates:
        if (folder / "experiment" / "tdi").is_dir():
            return folder
    raise FileNotFoundError(
        f"tdi-plugin's configs are in neither {candidates[0]} nor {candidates[1]}; reinstall the package."
    )


def builtin_config_dir() -> Path:
    """The primary config and the groups that only the builtin trainer needs."""
    return _PACKAGE / "builtin_conf"


def announce_own_command() -> None:
    """Called by our own Hydra commands, so that the search path shows our groups to them."""
    global _own_command
    _own_command = True


def wants_our_configs() -> bool:
    """True in our own commands and in a state-spaces/s4 process, False in every other Hydra app."""
    return _own_command or is_s4_process()
