"""How long things take: once, in turn for some rounds, or in turn for some seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

Run = Callable[[], Any]
Clock = Callable[[], float]


def timed(run: Run, clock: Clock = time.perf_counter) -> tuple[float, Any]:
    """Seconds that one run takes, and its result."""
    start = clock()
    result = run()
    return clock() - start, result


def in_turn(runs: Iterable[Run], rounds: int, warm: int = 1) -> list[list[float]]:
    """Seconds of each run in each round, after ``warm`` rounds that do not count.

    Taken in turn, so that a busy machine slows all of them.
    """
    runs = list(runs)
    times = [[timed(run)[0] for run in runs] for _ in range(warm + rounds)]
    return [list(of_run) for of_run in zip(*times[warm:], strict=True)]


def shortest(runs: Iterable[Run], seconds: float = 6.0) -> list[float]:
    """Shortest CPU time of each, in turn for about so many seconds in all, after one run that does not count.

    CPU time of the process, so that other work on the machine counts for little. A quick run is repeated
    within its turn for a twentieth of a second.
    """
    runs = list(runs)
    for run in runs:
        run()
    best = [math.inf for _ in runs]
    rounds, spent = 0, 0.0
    while rounds < 3 or spent < seconds:
        for i, run in enumerate(runs):
            turn = 0.0
            while turn < 0.05:
                took, _ = timed(run, time.process_time)
                turn, best[i] = turn + took, min(best[i], took)
            spent += turn
        rounds += 1
    return best
