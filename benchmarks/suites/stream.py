"""Latency of one row: learn from it, predict it."""

from functools import partial
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from benchmarks.measure import Case, interleave, ratios
from benchmarks.peers import PEERS, Ours, OursPerceptron, SGDAveraged, SGDHinge, SklearnPerceptron
from benchmarks.peers.base import Peer
from benchmarks.report import Table, spread
from benchmarks.suites.fits import verdict
from benchmarks.tasks import Options, Task, gaussian_classes

THEIRS = SGDHinge()
OURS = Ours("ours, default")
GOALS = {2: 35.0, 10: 200.0}
OUTSIDE = [peer for peer in PEERS if peer.module not in ("sklearn", "sklearn_predtron")]
LEARNERS = [THEIRS, SGDAveraged(), SklearnPerceptron(), OURS, OursPerceptron(), *OUTSIDE]


def run(options: Options) -> list[Table]:
    """Binary and ten classes, 100 columns."""
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
    return [table]


def _rows(k: int, goal: float, options: Options) -> list[list]:
    n = options.rows(1000)
    X, y = gaussian_classes(n, 100, k)
    learn, predict, conversion = [], [], {}
    for peer in LEARNERS:
        if not peer.installed:
            continue
        model = peer.make(Task(k))
        start = perf_counter()
        rows = peer.convert(model, X, y)
        conversion[peer.name] = (perf_counter() - start) / n * 1e6 if peer in OUTSIDE else None
        peer.start(model, rows[0], Task(k))
        learn.append(Case(peer.name, partial(learn_all, peer, model, rows)))
        predict.append(Case(peer.name, partial(_predict_all, peer, model, rows)))
    learned, predicted = interleave(learn, options.repeats), interleave(predict, options.repeats)
    table = []
    for peer in LEARNERS:
        if not peer.installed:
            table.append([k, peer.name, "not installed", *[None] * 6])
            continue
        faster = [ratios(found[THEIRS.name], found[peer.name]) for found in (learned, predicted)]
        seconds = [found[peer.name].seconds / n * 1e6 for found in (learned, predicted)]
        goals = verdict(faster[0], goal if peer is OURS else None)
        cells = [seconds[0], spread(faster[0]), *goals, seconds[1], spread(faster[1]), conversion[peer.name]]
        table.append([k, peer.name, *cells])
    return table


def learn_case(peer: Peer, k: int, X: NDArray, y: NDArray) -> Case:
    """Rows of a stream for a model that has seen the first."""
    model = peer.make(Task(k))
    rows = peer.convert(model, X, y)
    peer.start(model, rows[0], Task(k))
    return Case(peer.name, partial(learn_all, peer, model, rows))


def learn_all(peer: Peer, model: Any, rows: list, _: None) -> None:
    """Learn from the rows of a stream, one after the other."""
    take = peer.take
    for row in rows:
        take(model, row)


def _predict_all(peer: Peer, model: Any, rows: list, _: None) -> None:
    guess = peer.guess
    for row in rows:
        guess(model, row)
