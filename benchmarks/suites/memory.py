"""Peak memory of fit and predict, and the time of the import; each number from a fresh process."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.contestants import Ours, SklearnPerceptron
from benchmarks.contestants.base import Contestant
from benchmarks.report import Table, spread
from benchmarks.tasks import Options

ROOT = Path(__file__).parents[2]
CONTESTANTS: list[Contestant] = [Ours(), SklearnPerceptron()]
DTYPES = ("float64", "float32")
CLASSES = (2, 10)
MOST = 0.05
MOST_MS = 50.0
IMPORTS = 9
NEEDED = (
    "import sys\nfrom sklearn_predtron import PredtronClassifier\n"
    "print(','.join(name for name in sys.modules if name.split('.')[0] in ('numpy', 'scipy', 'sklearn', 'joblib')))"
)
TIMED = (
    "import time, importlib\n"
    "start = time.perf_counter()\n"
    "for name in {!r}: importlib.import_module(name)\n"
    "print(time.perf_counter() - start)"
)


def run(options: Options) -> list[Table]:
    """Memory of fit, memory of predict, the import."""
    return [fits(options), predictions(options), imports(options)]


def fits(options: Options) -> Table:
    """Growth in fit beside the size of X."""
    table = Table(
        "Peak memory of fit",
        ["classes", "dtype", "X in MB", "learner", "growth in MB", "growth / X", "ratio to Perceptron", "goal", "met"],
        note="Growth of the peak of resident memory in one epoch, X in memory already.  Median (least-greatest) of the repeats.",
    )
    for dtype in DTYPES:
        found = _grown("fit", dtype, 2, options)
        for contestant in CONTESTANTS:
            share = [run["growth"] / run["X"] for run in found[contestant.name]]
            goal = [f"below {MOST}", median(share) < MOST] if isinstance(contestant, Ours) else [None, None]
            table.rows.append(
                [2, dtype, found[contestant.name][0]["X"] / 1e6, contestant.name, *_megabytes(found, contestant, share), *goal]
            )
    return table


def predictions(options: Options) -> Table:
    """Growth in predict beside the size of what it returns."""
    table = Table(
        "Peak memory of predict",
        ["classes", "dtype", "output in MB", "learner", "growth in MB", "growth / output", "ratio to Perceptron"],
        note="Growth of the peak of resident memory in one call on the whole of X.",
    )
    for k in CLASSES:
        found = _grown("predict", "float64", k, options)
        for contestant in CONTESTANTS:
            share = [run["growth"] / run["output"] for run in found[contestant.name]]
            table.rows.append(
                [k, "float64", found[contestant.name][0]["output"] / 1e6, contestant.name, *_megabytes(found, contestant, share)]
            )
    return table


def _megabytes(found: dict[str, list[dict]], contestant: Contestant, share: list[float]) -> list:
    grown, theirs = (median(run["growth"] for run in found[name]) for name in (contestant.name, SklearnPerceptron.name))
    return [grown / 1e6, spread(share), grown / theirs if theirs else None]


def _grown(action: str, dtype: str, k: int, options: Options) -> dict[str, list[dict]]:
    """What the child says of each contestant in each repeat."""
    found: dict[str, list[dict]] = {contestant.name: [] for contestant in CONTESTANTS}
    for _ in range(options.repeats):
        for contestant in CONTESTANTS:
            shape = [str(options.rows(100_000)), "1000", str(k)]
            found[contestant.name].append(json.loads(python("-m", "benchmarks.child", action, contestant.name, dtype, *shape)))
    return found


def python(*arguments: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout


def imports(options: Options) -> Table:
    """The import beside that of the modules of others which it needs."""
    needed = python("-c", NEEDED).strip().split(",")
    programs = {
        "what sklearn_predtron needs of others": TIMED.format(needed),
        "sklearn.linear_model": TIMED.format(["sklearn.linear_model"]),
        "sklearn_predtron": TIMED.format(["sklearn_predtron"]),
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for repeat in range(1 + max(options.repeats, IMPORTS if options.scale == 1 else 1)):
        for name, program in programs.items():
            took = float(python("-c", program))
            if repeat:
                seconds[name].append(took)
    return _import_table(seconds)


def _import_table(seconds: dict[str, list[float]]) -> Table:
    table = Table(
        "Import",
        ["import", "ms", "ms over the first row", "ratio to the first row", "goal", "met"],
        note="The first row imports what an estimator loads of NumPy, SciPy, scikit-learn and joblib.",
    )
    first = next(iter(seconds.values()))
    for name, times in seconds.items():
        over = [1e3 * (a - b) for a, b in zip(times, first, strict=True)]
        goal = [f"at most {MOST_MS:g} ms", median(over) <= MOST_MS] if name == "sklearn_predtron" else [None, None]
        ratio = spread([a / b for a, b in zip(times, first, strict=True)])
        table.rows.append([name, 1e3 * median(times), median(over), ratio, *goal])
    return table
