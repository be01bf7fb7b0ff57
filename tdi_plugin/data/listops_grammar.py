"""The ListOps grammar (Nangia & Bowman 2018) with the sizes of the Long Range Arena (Tay et al. 2021).

An expression is a digit, or an operator with two or more expressions: MIN, MAX, MED (median, rounded down)
or SM (sum modulo 10). In the published form every argument is wrapped once more, from the left:
``( ( ( [MAX 2 ) 9 ) ] )`` is MAX(2, 9) = 9.
"""

from __future__ import annotations

import hashlib
import random
import statistics
from collections.abc import Iterator
from typing import TypeAlias

from tdi_plugin.errors import OptionError

Expression: TypeAlias = "int | tuple[str, list[Expression]]"

OPERATORS = ("MIN", "MAX", "MED", "SM")
BRANCH_PROBABILITY = 0.25
"""Chance of an operator where the depth still allows one; the rest are digits."""


_PATIENCE = 200_000


class _TooLong(Exception):
    pass


def random_expression(
    rng: random.Random, max_depth: int, max_args: int, max_length: int
) -> Expression | None:
    """One draw from the grammar, or None if it would have more than ``max_length`` tokens."""
    left = max_length

    def draw(depth: int) -> Expression:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooLong
        if depth >= max_depth or rng.random() > BRANCH_PROBABILITY:
            return rng.randrange(10)
        left -= 1  # the closing bracket
        arguments = [draw(depth + 1) for _ in range(rng.randint(2, max_args))]
        return rng.choice(OPERATORS), arguments

    try:
        return draw(1)
    except _TooLong:
        return None


def expressions(
    seed: int, min_length: int = 500, max_length: int = 2000, max_depth: int = 10, max_args: int = 10
) -> Iterator[Expression]:
    """Distinct expressions of ``min_length`` to ``max_length`` tokens, parentheses not counted, without end.

    Raises:
        OptionError: no new expression of that length turns up any more.
    """
    rng, seen, in_vain = random.Random(seed), set(), 0
    while in_vain < _PATIENCE:
        in_vain += 1
        expression = random_expression(rng, max_depth, max_args, max_length)
        if expression is None or n_tokens(expression) < min_length:
            continue
        fingerprint = hashlib.blake2b(source(expression).encode(), digest_size=16).digest()
        if fingerprint not in seen:
            seen.add(fingerprint)
            in_vain = 0
            yield expression
    raise OptionError(
        f"No new expression of {min_length} to {max_length} tokens in {_PATIENCE} draws after {len(seen)}; "
        "ask for fewer, or allow other lengths (min_length, max_length, max_depth, max_args)."
    )


def n_tokens(expression: Expression) -> int:
    """Digits, operators and closing brackets."""
    if isinstance(expression, int):
        return 1
    return 2 + sum(n_tokens(argument) for argument in expression[1])


def value(expression: Expression) -> int:
    """The answer, 0..9."""
    if isinstance(expression, int):
        return expression
    operator, arguments = expression
    values = [value(argument) for argument in arguments]
    if operator == "SM":
        return sum(values) % 10
    if operator == "MED":
        return int(statistics.median(values))
    return min(values) if operator == "MIN" else max(values)


def source(expression: Expression) -> str:
    """The published text form."""
    if isinstance(expression, int):
        return str(expression)
    operator, arguments = expression
    wrapped = " ) ".join(source(argument) for argument in arguments)
    return f"{'( ' * (len(arguments) + 1)}[{operator} {wrapped} ) ] )"
