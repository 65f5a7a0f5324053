"""Sparse fits of the perceptron, on rows like text."""

from benchmarks.report import Table
from benchmarks.suites.fits import COLUMNS, NOTE, perceptron_rows
from benchmarks.tasks import Options, Task, held_out, text

GOALS = {2: 2.0, 10: 2.5, 100: 4.0}


def run(options: Options) -> list[Table]:
    """CSR rows with 100,000 columns."""
    table = Table("Throughput, sparse", COLUMNS, note=NOTE)
    for k, goal in GOALS.items():
        n = options.rows(20_000)
        X, y = text(n + n // 10, k)
        data = held_out(X, y, n)
        megabytes = sum(part.nbytes for part in (data[0].data, data[0].indices, data[0].indptr)) / 1e6
        about = [k, X.shape[1], megabytes, f"CSR, {X.nnz / X.shape[0]:.1f} a row"]
        table.rows += perceptron_rows(Task(k, epochs=1, shuffle=False), data, about, goal, options)
    return [table]
