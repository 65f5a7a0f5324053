"""Pairs of repetitions of one case, one in each revision."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from benchmarks.compare.builds import ROOT, Build
from benchmarks.report import PINS

SIDES = ("before", "after")


class NotRun(Exception):
    """A revision cannot run a case."""


class Worker:
    """The process of one build, on one core; it works only while it is asked."""

    def __init__(self, build: Build):
        self.build = build
        command = [sys.executable, "-m", "benchmarks.compare.worker", str(build.directory), *last_core()]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, text=True)
        try:
            self.conditions: dict[str, Any] = self._answer()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def seconds(self, case: str) -> float:
        """Seconds of one repetition of a case."""
        self._process.stdin.write(case + "\n")
        self._process.stdin.flush()
        found = self._answer()
        if "error" in found:
            raise NotRun(found["error"])
        return found["seconds"]

    def _answer(self) -> dict[str, Any]:
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"The process of {self.build.revision} has ended with code {self._process.wait()}.")
        return json.loads(answer)


def last_core() -> list[str]:
    """The number of the last core that may be used, where processes can be bound to one."""
    return [str(max(os.sched_getaffinity(0)))] if hasattr(os, "sched_getaffinity") else []


def environment() -> dict[str, str]:
    """One thread, and the kernels that the processor would get from OpenBLAS."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", *PINS)}
    return {**kept, **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}}


@dataclass
class Comparison:
    """Seconds of a case in both revisions, pair by pair, or why one of them has none."""

    case: str
    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return self.case.partition("/")[0]

    @property
    def ratios(self) -> list[float]:
        """After over before, in each pair."""
        return [after / before for before, after in zip(*self.seconds, strict=True)]

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """The 10th and the 90th percentile of the ratios."""
        cuts = quantiles(self.ratios, n=10, method="inclusive")
        return cuts[0], cuts[-1]

    @property
    def ratio_of_least(self) -> float:
        before, after = map(min, self.seconds)
        return after / before

    def summary(self) -> dict[str, Any]:
        """What is kept of it."""
        if self.errors:
            return {"case": self.case, "errors": self.errors}
        milliseconds = {f"{side}_ms": 1e3 * median(times) for side, times in zip(SIDES, self.seconds, strict=True)}
        low, high = self.spread
        ratios = {"ratio": self.ratio, "percentile_10": low, "percentile_90": high, "ratio_of_least": self.ratio_of_least}
        return {"case": self.case, **ratios, **milliseconds}


def compared(case: str, timers: Sequence[Callable[[str], float]], pairs: int) -> Comparison:
    """Time a case once uncounted and then in pairs, of which every other one begins with the second revision: ABBA."""
    found = Comparison(case)
    for side, timer in zip(SIDES, timers, strict=True):
        try:
            timer(case)
        except NotRun as error:
            found.errors[side] = str(error)
    if not found.errors:
        for pair in range(pairs):
            for i in (0, 1) if pair % 2 == 0 else (1, 0):
                found.seconds[i].append(timers[i](case))
    return found
