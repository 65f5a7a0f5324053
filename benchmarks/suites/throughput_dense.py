"""Dense fits of the perceptron, in the cache and beyond it."""

import numpy as np

from benchmarks.report import Table
from benchmarks.suites.fits import COLUMNS, NOTE, perceptron_rows, perceptrons
from benchmarks.tasks import Options, Task, gaussian_classes, held_out

GOALS = {(2, 100): 6.0, (2, 1000): 4.0, (10, 100): 10.0, (10, 1000): 7.0, (100, 100): 10.0, (100, 1000): 10.0}
VALUES = (2_000_000, 20_000_000)


def run(options: Options) -> list[Table]:
    """Gaussian classes as float64 and as float32."""
    table = Table("Throughput, dense", COLUMNS, note=NOTE)
    for (k, p), goal in GOALS.items():
        for values in VALUES:
            table.rows += _shape(k, p, options.rows(values // p), goal, options)
    return [table]


def _shape(k: int, p: int, n: int, goal: float, options: Options) -> list[list]:
    X, y = gaussian_classes(n + max(n // 10, k), p, k)
    task, rows = Task(k, epochs=1, shuffle=False), []
    for dtype, aim in ((np.float64, goal), (np.float32, None)):
        data = held_out(X.astype(dtype, copy=False), y, n)
        about = [k, p, data[0].nbytes / 1e6, np.dtype(dtype).name]
        rows += perceptron_rows(task, perceptrons(task, 1.0), data, about, aim, options)
    return rows
