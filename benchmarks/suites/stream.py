"""Latency of one row: learn from it, predict it; and streams that grow."""

from functools import partial
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants import CONTESTANTS, Ours, OursPerceptron, SGDAveraged, SGDHinge, SklearnPerceptron
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, interleave, ratios
from benchmarks.report import Table, spread
from benchmarks.suites.fits import verdict
from benchmarks.suites.growing import growing
from benchmarks.tasks import Options, Task, gaussian_classes

THEIRS = SGDHinge()
OURS = Ours("ours, default")
GOALS = {2: 35.0, 10: 200.0}
OUTSIDE = [contestant for contestant in CONTESTANTS if contestant.module not in ("sklearn", "sklearn_predtron")]
LEARNERS = [THEIRS, SGDAveraged(), SklearnPerceptron(), OURS, OursPerceptron(), *OUTSIDE]


def run(options: Options) -> list[Table]:
    """Binary and ten classes, 100 columns; text whose words appear over time."""
    table = Table(
        "Streams, one row at a time",
        ["classes", "learner", "learn, us", "ratio", "goal", "met", "predict, us", "ratio", "conversion, us"],
        note=(
            "100 columns, the same rows again in each repeat.  The ratios are `SGDClassifier` over the learner.  What other "
            "packages need to turn a row of an array into a dictionary (river) or a parsed example (Vowpal Wabbit) is not "
            "counted but given in the last column."
        ),
    )
    for k, goal in GOALS.items():
        table.rows += _rows(k, goal, options)
    return [table, growing(options)]


def _rows(k: int, goal: float, options: Options) -> list[list]:
    n = options.rows(1000)
    X, y = gaussian_classes(n, 100, k)
    learn, predict, conversion = [], [], {}
    for contestant in LEARNERS:
        if not contestant.installed:
            continue
        model = contestant.make(Task(k))
        start = perf_counter()
        rows = contestant.convert(model, X, y)
        conversion[contestant.name] = (perf_counter() - start) / n * 1e6 if contestant in OUTSIDE else None
        contestant.start(model, rows[0], Task(k))
        learn.append(Case(contestant.name, partial(learn_all, contestant, model, rows)))
        predict.append(Case(contestant.name, partial(predict_all, contestant, model, rows)))
    learned, predicted = interleave(learn, options.repeats), interleave(predict, options.repeats)
    table = []
    for contestant in LEARNERS:
        if not contestant.installed:
            table.append([k, contestant.name, "not installed", *[None] * 6])
            continue
        faster = [ratios(found[THEIRS.name], found[contestant.name]) for found in (learned, predicted)]
        seconds = [found[contestant.name].seconds / n * 1e6 for found in (learned, predicted)]
        goals = verdict(faster[0], goal if contestant is OURS else None)
        cells = [seconds[0], spread(faster[0]), *goals, seconds[1], spread(faster[1]), conversion[contestant.name]]
        table.append([k, contestant.name, *cells])
    return table


def learn_case(contestant: Contestant, k: int, X: NDArray, y: NDArray) -> Case:
    """Rows of a stream for a model that has seen the first."""
    model = contestant.make(Task(k))
    rows = contestant.convert(model, X, y)
    contestant.start(model, rows[0], Task(k))
    return Case(contestant.name, partial(learn_all, contestant, model, rows))


def learn_all(contestant: Contestant, model: Any, rows: list, _: None) -> None:
    """Learn from the rows of a stream, one after the other."""
    take = contestant.take
    for row in rows:
        take(model, row)


def predict_all(contestant: Contestant, model: Any, rows: list, _: None) -> None:
    """Predict the rows of a stream, one after the other."""
    guess = contestant.guess
    for row in rows:
        guess(model, row)
