"""Peak memory of a fit or prediction, in a process of its own: python -m benchmarks.child ACTION LEARNER DTYPE N P K [EPOCHS]."""

import json
import resource
import sys
from pathlib import Path
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


def filled(dtype: str, n: int, p: int, k: int) -> tuple[Any, Any]:
    """Gaussian rows and labels, made without a second array of their size."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = np.empty((n, p), dtype=dtype)
    for row in X:
        rng.standard_normal(out=row, dtype=X.dtype)
    return X, X[:, :k].argmax(axis=1)


def growth(action: str, name: str, dtype: str, n: int, p: int, k: int, epochs: int = 1) -> dict[str, int]:
    """Bytes by which the peak grew in a fit or a prediction, after a small one of each; bytes of X and of the prediction."""
    from benchmarks.contestants import CONTESTANTS, KERNEL_CONTESTANTS
    from benchmarks.tasks import Task

    contestant = next(contestant for contestant in [*CONTESTANTS, *KERNEL_CONTESTANTS] if contestant.name == name)
    task = Task(k, epochs=epochs)
    X, y = filled(dtype, n, p, k)
    model = contestant.fit(contestant.make(task), X[:100], y[:100])
    output = contestant.predict(model, X[:100])
    before = resident()
    if action == "fit":
        contestant.fit(contestant.make(task), X, y)
    else:
        output = contestant.predict(model, X)
    return {"growth": peak() - before, "X": X.nbytes, "output": output.nbytes}


if __name__ == "__main__":
    print(json.dumps(growth(*sys.argv[1:4], *map(int, sys.argv[4:]))))
