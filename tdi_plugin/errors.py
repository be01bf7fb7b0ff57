"""What the package raises: every message says what came, what was expected and what to do."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable


class TDIError(ValueError):
    """Base of every error that this package raises on purpose."""


class DataError(TDIError):
    """Series, labels or files that cannot be used as they are."""


class OptionError(TDIError):
    """An option name or value that does not exist."""


class HostError(TDIError):
    """A model whose state-space layers cannot be found, read or written."""


_MANY = 40


def choices(name: str, known: Iterable[object]) -> str:
    """The end of a message about an unknown name: the nearest match first, then what is known.

    Of more than 40 names only the nearest few are given.

    >>> choices("quantil", ["topk", "quantile"])
    "did you mean 'quantile'? Known: quantile, topk."
    """
    names = sorted({str(k) for k in known})
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    if len(names) <= _MANY:
        return f"{hint}Known: {', '.join(names)}."
    nearest = difflib.get_close_matches(name, names, n=8, cutoff=0.0)
    return f"{hint}Known: {', '.join(nearest)} and {len(names) - len(nearest)} more."


def check_options(what: str, given: Iterable[str], function: Callable[..., object]) -> None:
    """Refuse option names that ``function`` does not take, before it is called.

    Raises:
        OptionError: naming the first unknown option and its nearest match.
    """
    known = inspect.signature(function).parameters
    for name in given:
        if name not in known:
            raise OptionError(f"{what} has no option {name!r}: {choices(name, known)}")
