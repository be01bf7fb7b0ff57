"""Words of ``tdi sweep`` and ``tdi table``, and the values in them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tdi_plugin.errors import OptionError
from tdi_plugin.overrides import parse_overrides

AS_TYPED = ("study", "store", "name", "launcher", "output")
"""Names and paths, which YAML might read as numbers: name=2024_01 is not 202401."""


def read_words(prog: str, text: str, argv: Sequence[str]) -> list[str]:
    """The words after the command; ``--help`` shows the text."""
    parser = argparse.ArgumentParser(
        prog=prog, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("settings", nargs="*", metavar="key=value")
    return list(parser.parse_args(argv).settings)


def read_values(words: list[str]) -> dict[str, Any]:
    """Values by key: YAML, but for names and paths.

    Raises:
        OptionError: a word without ``=``, or a value that is not YAML.
    """
    found = parse_overrides(words)
    for word in words:
        key, _, typed = word.partition("=")
        if key in AS_TYPED and found[key] is not None and not isinstance(found[key], str):
            found[key] = typed
    return found


def take_count(given: dict[str, Any], key: str, default: int) -> int:
    """Take a whole number of at least 1 out of what was given.

    Raises:
        OptionError: anything else.
    """
    value = given.pop(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"{key}={value!r}; a whole number of at least 1 is needed.")
    return value
