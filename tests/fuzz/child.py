"""Run cases of one part, seed after seed, in a process that may crash: FOLDER PART SEED CASES SECONDS TIMEOUT."""

import faulthandler
import importlib
import itertools
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from .lessons import Count
from .watch import CASES, EXCUSED, IDLE, LEARNED, SEED, Watch

LONGEST_TEXT = 6000
SLOW = "The case took too long."


def load(part: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.{part}")


def explain(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT // 2] + "\n[...]\n" + text[-LONGEST_TEXT // 2 :]


def run_cases(folder: Path, part: str, seed: int, cases: int, seconds: float, timeout: float) -> None:
    """Run cases until there were enough of them or the time is over, and write down what was found."""
    module, end = load(part), time.monotonic() + seconds
    run = run_forked if getattr(module, "FORKED", False) else run_one
    if hasattr(module, "prepare"):
        module.prepare()
    with open(folder / "faults", "w+") as faults, open(folder / "findings", "w") as findings:
        faulthandler.enable(faults)
        for number in itertools.count(seed):
            if number - seed >= cases or time.monotonic() >= end:
                break
            Watch.numbers[SEED] = number
            text = run(module, number, faults, timeout)
            if text is not None:
                print(json.dumps([number, text]), file=findings, flush=True)
            Watch.numbers[CASES] += 1
        faulthandler.cancel_dump_traceback_later()
        faulthandler.disable()


def run_one(module: ModuleType, number: int, faults: TextIO, timeout: float) -> str | None:
    before = Count.learned
    unraised: list[str] = []  # what compiled code could not raise: an index out of bounds, where bounds are checked

    def note_unraised(failure: Any) -> None:
        if isinstance(failure.object, str):  # Cython names the function; Python's own callbacks may have met an interrupt
            unraised.append(f"Ignored: {failure.exc_value!r} in {failure.object!r}")

    sys.unraisablehook = note_unraised
    faulthandler.dump_traceback_later(timeout, exit=True, file=faults)
    try:
        Watch.numbers[IDLE] += module.run(number) == "refused"
    except BaseException as error:  # any exception that a part lets through is a finding
        return explain(error)
    finally:
        Watch.numbers[LEARNED] += Count.learned - before
    return "\n".join(unraised) or None


def run_forked(module: ModuleType, number: int, faults: TextIO, timeout: float) -> str | None:
    """Run a case in a process of its own, whose memory it may ruin, and return what it found."""
    faults.truncate(0)
    faults.seek(0)
    sys.stderr.flush()
    errors = os.fstat(2).st_size
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        text = run_one(module, number, faults, timeout)
        os.write(writer, (text or "").encode()[:LONGEST_TEXT])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status == 0:
        return text or None
    if hasattr(module, "excused") and module.excused(status, Watch.read_note()):
        Watch.numbers[EXCUSED] += 1
        return None
    faults.seek(0)
    return ended(status, faults.read(), Watch.read_note(), os.pread(2, LONGEST_TEXT, errors).decode(errors="replace"))


def ended(status: int, faults: str, note: str, errors: str) -> str:
    """Say how a process ended, and what it left."""
    if "Timeout (" in faults:
        how = SLOW
    elif status < 0:
        how = f"The process was ended by {signal.Signals(-status).name}."
    else:
        how = f"The process ended with status {status}."
    return f"{how}  Note: {note or '-'}\n{faults}\n{errors[-LONGEST_TEXT:]}"


if __name__ == "__main__":
    folder, part = Path(sys.argv[1]), sys.argv[2]
    Watch.open(folder)
    run_cases(folder, part, int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]))
