"""Settings as words of a command line: ``key=value`` with YAML values."""

from __future__ import annotations

from typing import Any

import yaml

from tdi_plugin.errors import OptionError


def parse_overrides(words: list[str]) -> dict[str, Any]:
    """``key=value`` words with YAML values; ``tdi.option=value`` reaches into the TDI options.

    Raises:
        OptionError: a word without ``=``, a value that is not YAML, or ``tdi.`` options of a plain value.
    """
    found: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise OptionError(
                f"{word!r} is not of the form key=value; for example ratios=[0.02,0.04] or epochs=30."
            )
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise OptionError(f"{word!r}: the value is not YAML ({error}).") from error
        if key.startswith("tdi."):
            options = found.setdefault("tdi", {})
            if not isinstance(options, dict):
                raise OptionError(f"tdi={options!r} beside {word!r}: give the options alone, as in {word}.")
            options[key[4:]] = value
        else:
            found[key] = value
    return found
