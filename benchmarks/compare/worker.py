"""The process of one revision: python -m benchmarks.compare.worker DIRECTORY [CORE].

It begins with a line of JSON on what it runs with.  Each line of its input names a case; it answers with a line of JSON: the
seconds of one repetition, or why there are none.
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Case, no_collection, timed
from benchmarks.report import conditions


def use(directory: str) -> None:
    """Import the package of a directory, and no other."""
    sys.path.insert(0, directory)
    import sklearn_predtron

    found = Path(sklearn_predtron.__file__).resolve()
    if not found.is_relative_to(Path(directory).resolve()):
        raise SystemExit(f"{found} was imported, which is not below {directory}.")


class Repetitions:
    """The case that is being timed."""

    def __init__(self, cases: dict[str, Callable[[], Case]]):
        self._cases = cases
        self._name = ""
        self._case: Case | None = None

    def answer(self, name: str) -> dict[str, float | str]:
        """Time one repetition of a case, which is made when it is first asked for."""
        try:
            if name != self._name or self._case is None:
                self._name, self._case = name, None
                gc.collect()
                self._case = self._cases[name]()
            return {"seconds": timed(self._case)[0]}
        except Exception as error:  # another revision may lack what the case needs, in any way
            return {"error": f"{type(error).__name__}: {error}"}


def main(directory: str, core: str | None = None) -> None:
    """Answer until the input ends."""
    if core is not None:
        os.sched_setaffinity(0, {int(core)})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what else is printed is no answer
    use(directory)
    from benchmarks.compare.cases import CASES

    print(json.dumps(conditions()), file=answers, flush=True)
    repetitions = Repetitions(CASES)
    with no_collection():
        for line in sys.stdin:
            print(json.dumps(repetitions.answer(line.strip())), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
