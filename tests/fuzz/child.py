"""Run cases of one part, seed after seed, in a process that may crash: FOLDER PART SEED CASES SECONDS TIMEOUT."""

from __future__ import annotations

import faulthandler
import importlib
import itertools
import json
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType

from .lessons import Count
from .watch import CASES, IDLE, LEARNED, SEED, Watch

LONGEST_TEXT = 6000


def load(part: str) -> ModuleType:
    """Import the module of a part."""
    return importlib.import_module(f"{__package__}.{part}")


def explain(error: BaseException) -> str:
    """Say what was raised, where, and in which case."""
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT // 2] + "\n[...]\n" + text[-LONGEST_TEXT // 2 :]


def run_cases(folder: Path, part: str, seed: int, cases: int, seconds: float, timeout: float) -> None:
    """Run cases until there were enough of them or the time is over, and write down what was found."""
    module, end = load(part), time.monotonic() + seconds
    if hasattr(module, "prepare"):
        module.prepare()
    with open(folder / "faults", "w") as faults, open(folder / "findings", "w") as findings:
        faulthandler.enable(faults)
        for number in itertools.count(seed):
            if number - seed >= cases or time.monotonic() >= end:
                break
            Watch.numbers[SEED] = number
            faulthandler.dump_traceback_later(timeout, exit=True, file=faults)
            try:
                Watch.numbers[IDLE] += module.run(number) == "refused"
            except BaseException as error:  # any exception that a part lets through is a finding
                print(json.dumps([number, explain(error)]), file=findings, flush=True)
            Watch.numbers[CASES] += 1
            Watch.numbers[LEARNED] = Count.learned
        faulthandler.cancel_dump_traceback_later()
        faulthandler.disable()


if __name__ == "__main__":
    folder, part = Path(sys.argv[1]), sys.argv[2]
    Watch.open(folder)
    run_cases(folder, part, int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]))
