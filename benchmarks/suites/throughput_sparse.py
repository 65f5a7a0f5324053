"""Sparse fits of the perceptron, on rows like text."""

from benchmarks.report import Table
from benchmarks.suites.fits import COLUMNS, NOTE, perceptron_rows, perceptrons
from benchmarks.tasks import Options, Task, held_out, text

GOALS = {2: 2.0, 10: 2.5, 100: 4.0}
INTERCEPT_SCALING = 0.1
SAME = (
    "  On CSR scikit-learn makes the steps of its intercept a hundredth as long, which `intercept_scaling=0.1` of ours does "
    "too: for two classes both learn the same weights."
)


def run(options: Options) -> list[Table]:
    """CSR rows with 100,000 columns."""
    table = Table("Throughput, sparse", COLUMNS, note=NOTE + SAME)
    for k, goal in GOALS.items():
        n = options.rows(20_000)
        X, y = text(n + n // 10, k)
        data = held_out(X, y, n)
        megabytes = sum(part.nbytes for part in (data[0].data, data[0].indices, data[0].indptr)) / 1e6
        about = [k, X.shape[1], megabytes, f"CSR, {X.nnz / X.shape[0]:.1f} a row"]
        task = Task(k, epochs=1, shuffle=False)
        table.rows += perceptron_rows(task, perceptrons(task, INTERCEPT_SCALING), data, about, goal, options)
    return [table]
