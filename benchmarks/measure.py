"""Timing: interleaved repeats, medians, ratios."""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any


@dataclass
class Case:
    """One thing to time: `run` is timed, on what `prepare` returns, which is not."""

    name: str
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = lambda: None


@dataclass
class Measured:
    """Seconds of each repeat of a case, and what its last run returned."""

    times: list[float] = field(default_factory=list)
    result: Any = None

    @property
    def seconds(self) -> float:
        return median(self.times)


def timed(case: Case, clock: Callable[[], float] = perf_counter) -> tuple[float, Any]:
    """Seconds of one run, and its result."""
    subject = case.prepare()
    start = clock()
    result = case.run(subject)
    return clock() - start, result


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector out of what is timed."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def interleave(cases: Iterable[Case], repeats: int, clock: Callable[[], float] = perf_counter) -> dict[str, Measured]:
    """Run every case once uncounted, then every case once before any runs again, `repeats` times."""
    cases = list(cases)
    measured = {case.name: Measured() for case in cases}
    with no_collection():
        for case in cases:
            timed(case, clock)
        for _ in range(repeats):
            gc.collect()
            for case in cases:
                seconds, result = timed(case, clock)
                measured[case.name].times.append(seconds)
                measured[case.name].result = result
    return measured


def ratios(slow: Measured, fast: Measured) -> list[float]:
    """In each repeat, how many times as long one took as the other."""
    return [a / b for a, b in zip(slow.times, fast.times, strict=True)]
