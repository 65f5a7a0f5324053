"""What averaging and each update cost beside the plain perceptron, and the default fit beside averaged SGD."""

from statistics import median
from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants import Ours, OursPerceptron, SGDAveraged
from benchmarks.measure import interleave, ratios
from benchmarks.report import Table, spread
from benchmarks.suites.fits import fit_case, us_per_row, verdict
from benchmarks.tasks import Options, Task, gaussian_classes, held_out, text
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, Subgradient

MOST = 1.5
PLAIN = OursPerceptron("perceptron")
UPDATES = (
    Adaptive(),
    LossAugmented(),
    LossDriven(),
    PassiveAggressive(C=1.0),
    PassiveAggressive(variant="pa2", C=1.0),
    Subgradient(),
)
VARIANTS = [
    PLAIN,
    *(OursPerceptron(f"perceptron, average={average!r}", average=average) for average in ("linear", "uniform", 1000.0)),
    *(Ours(repr(update), norm="l2", average=False, intercept_scaling=1.0, update=update) for update in UPDATES),
]


def run(options: Options) -> list[Table]:
    """One table of variants of ours, one of default fits."""
    return [variants(options), defaults(options)]


def _set(kind: str, p: int, k: int, n: int) -> tuple:
    X, y = text(n + n // 10, k) if kind == "CSR" else gaussian_classes(n + n // 10, p, k)
    return held_out(X, y, n)


def variants(options: Options) -> Table:
    """Each variant beside the plain perceptron, by the work done."""
    table = Table(
        "Averages and updates",
        ["data", "classes", "variant", "seconds", "rounds", "updates", "ns per round and update", "ratio", "goal", "met"],
        note="Five epochs in the given order.  The ratio is the time of a round or update over that of the plain perceptron.",
    )
    for kind, p, n in (("dense", 100, 20_000), ("dense", 1000, 10_000), ("CSR", 100_000, 20_000)):
        for k in (2, 10):
            X, y, *_ = _set(kind, p, k, options.rows(n))
            table.rows += _variant_rows([f"{kind}, {p} columns", k], X, y, Task(k, epochs=5, shuffle=False), options)
    return table


def _variant_rows(about: list, X: Any, y: NDArray, task: Task, options: Options) -> list[list]:
    measured = interleave([fit_case(contestant, task, X, y) for contestant in VARIANTS], options.repeats)
    work = {name: found.result.t_ + found.result.n_updates_ for name, found in measured.items()}
    rows = []
    for name, found in measured.items():
        model = found.result
        cost = [ratio * work[PLAIN.name] / work[name] for ratio in ratios(found, measured[PLAIN.name])]
        goal = [None, None] if name == PLAIN.name else [f"at most {MOST}", median(cost) <= MOST]
        each = found.seconds / work[name] * 1e9
        rows.append([*about, name, found.seconds, model.t_, model.n_updates_, each, spread(cost), *goal])
    return rows


def defaults(options: Options) -> Table:
    """The default fit beside averaged SGD in as many epochs."""
    table = Table(
        "The default fit",
        ["data", "classes", "learner", "seconds", "us per row", "times faster (ratio)", "goal", "met", "accuracy"],
        note="All defaults of ours (10 epochs, averaged) beside `SGDClassifier(average=True, max_iter=10, tol=None)`.",
    )
    for kind, p, n in (("dense", 100, 20_000), ("dense", 1000, 2000), ("CSR", 100_000, 20_000)):
        for k in (2, 10, 100):
            table.rows += _default_rows([f"{kind}, {p} columns", k], _set(kind, p, k, options.rows(n)), k, options)
    return table


def _default_rows(about: list, data: tuple, k: int, options: Options) -> list[list]:
    X, y, X_test, y_test = data
    theirs, ours = SGDAveraged(), Ours("ours, default")
    measured = interleave([fit_case(contestant, Task(k, epochs=10), X, y) for contestant in (theirs, ours)], options.repeats)
    rows = []
    for contestant, goal in ((theirs, None), (ours, 1.0)):
        found = measured[contestant.name]
        ratio = ratios(measured[theirs.name], found)
        accuracy = float((contestant.predict(found.result, X_test) == y_test).mean())
        rows.append(
            [*about, contestant.name, found.seconds, us_per_row(found, X) / 10, spread(ratio), *verdict(ratio, goal), accuracy]
        )
    return rows
