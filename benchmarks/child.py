"""Peak memory of a fit or prediction, in a process of its own.

python -m benchmarks.child ACTION LEARNER DTYPE N P K [EPOCHS [PERCENT OF LABELS BY CHANCE]].
"""

import json
import resource
import sys
from pathlib import Path
from time import process_time
from typing import Any

STATUS = Path("/proc/self/status")


def resident() -> int:
    """Bytes in use now, where the system says; else the peak so far."""
    return _field("VmRSS") if STATUS.exists() else peak()


def peak() -> int:
    """The most bytes that were in use; ru_maxrss alone can start at the peak of the parent process."""
    if STATUS.exists():
        return _field("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _field(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def filled(dtype: str, n: int, p: int, k: int, by_chance: int = 0) -> tuple[Any, Any]:
    """Gaussian rows and labels, some percent of them by chance, made without a second array of their size."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = np.empty((n, p), dtype=dtype)
    for row in X:
        rng.standard_normal(out=row, dtype=X.dtype)
    y = X[:, :k].argmax(axis=1)
    drawn = rng.random(n) < by_chance / 100
    y[drawn] = rng.integers(k, size=drawn.sum())
    return X, y


def growth(action: str, name: str, dtype: str, n: int, p: int, k: int, epochs: int = 1, by_chance: int = 0) -> dict:
    """Bytes by which the peak grew in a fit or a prediction, after a small one of each; of X and of the prediction; CPU time."""
    from benchmarks.contestants import CONTESTANTS, KERNEL_CONTESTANTS, TABLE_CONTESTANTS
    from benchmarks.tasks import Task

    known = [*CONTESTANTS, *KERNEL_CONTESTANTS, *TABLE_CONTESTANTS]
    contestant = next(contestant for contestant in known if contestant.name == name)
    task = Task(k, epochs=epochs)
    X, y = filled(dtype, n, p, k, by_chance)
    model = contestant.fit(contestant.make(task), X[:100], y[:100])
    output = contestant.predict(model, X[:100])
    before, start = resident(), process_time()
    if action == "fit":
        contestant.fit(contestant.make(task), X, y)
    else:
        output = contestant.predict(model, X)
    seconds = process_time() - start
    return {"growth": peak() - before, "seconds": seconds, "X": X.nbytes, "output": output.nbytes}


if __name__ == "__main__":
    print(json.dumps(growth(*sys.argv[1:4], *map(int, sys.argv[4:]))))
