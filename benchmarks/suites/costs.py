"""Average costs on held-out rows under unequal costs, compared with classifiers that minimise the expected cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.contestants import (
    Calibrated,
    LightGBMClassifier,
    OneVsRest,
    Ours,
    OursMultilabel,
    OursOrdinal,
    SklearnLinearSVC,
    SklearnLogisticRegression,
    SklearnLogisticRegressionCV,
)
from benchmarks.contestants.base import Contestant
from benchmarks.deciding import ByCut, ByItself, ByProbabilities, Decider, Loss
from benchmarks.headlines import ABOVE, AVERAGE_COST, COST_RATIO
from benchmarks.measure import Case, interleave, ratios
from benchmarks.prediction_costs import both_ways, calibration_error, log_loss, of_labels, of_ranks, rejecting, unequal, zero_one
from benchmarks.report import Table, spread
from benchmarks.suites import costs_sets
from benchmarks.suites.costs_sets import Set
from benchmarks.suites.fits import at_most
from benchmarks.tasks import Options, Task, gaussian_classes, gaussian_ranks, label_sets

NO_SETS = "No --data: the sets that are not scikit-learn's or generated are skipped."
RATIOS, ABSTENTION = (5.0, 20.0, 100.0), "with abstention"
MOST = 1.05
OURS, BEFORE = "ours, default", "ours, decision=learned"
PEER, STRONGER = SklearnLogisticRegression(), SklearnLogisticRegressionCV()
PEERS: list[Contestant] = [PEER, STRONGER, Calibrated(PEER), Calibrated(SklearnLinearSVC()), LightGBMClassifier()]
PER_LABEL: list[Contestant] = [OneVsRest(peer) for peer in PEERS]
WARNINGS = (  # of folds of few rows, of LightGBM, and of costs that are the same for all sets
    "The least populated class in y has only",
    "X does not have valid feature names",
    r"reject\.cost=.* is never paid",
)


@dataclass(frozen=True)
class Family:
    """A task: its data sets, its losses by the shares of the classes, and the deciders."""

    name: str
    sets: costs_sets.Draw
    asked: Callable[[NDArray], dict[str, list[Loss]]]
    deciders: Sequence[Decider]


def ours(kind: type[Ours]) -> list[Decider]:
    """Return the estimators of sklearn_predtron: by default, and without decision rules."""
    return [ByItself(kind(OURS)), ByItself(kind(BEFORE, decision="learned"), has_probabilities=False)]


def by_probabilities(contestants: Iterable[Contestant]) -> list[Decider]:
    """Return the deciders that are installed."""
    return [ByProbabilities(contestant) for contestant in contestants if contestant.installed]


def costs_of_two(shares: NDArray) -> dict[str, list[Loss]]:
    """Return costs, and unit costs with abstention."""
    asking = rejecting([zero_one(2)], (0.05, 0.1, 0.2))
    return {"two classes": [*both_ways(RATIOS)], f"two classes, {ABSTENTION}": [*asking]}


def costs_of_many(shares: NDArray) -> dict[str, list[Loss]]:
    """Return costs, and the same costs with abstention."""
    asking = rejecting([zero_one(len(shares)), *unequal(shares)], (0.1, 0.3))
    return {"many classes": [*unequal(shares)], f"many classes, {ABSTENTION}": [*asking]}


def families() -> list[Family]:
    """Return all tasks, without peers that are not installed."""
    peers = by_probabilities(PEERS)
    return [
        Family("two classes", costs_sets.of_two, costs_of_two, [*peers, ByCut(), *ours(Ours)]),
        Family(
            f"two classes, {costs_sets.FEW_ROWS} rows",
            costs_sets.of_few_rows,
            lambda shares: {f"two classes, {costs_sets.FEW_ROWS} rows": [*both_ways(RATIOS)]},
            [*peers, ByCut(), *ours(Ours)],
        ),
        Family("many classes", costs_sets.of_many, costs_of_many, [*peers, *ours(Ours)]),
        Family(
            "ordinal classes",
            costs_sets.of_ranks,
            lambda shares: {"ordinal classes": [*of_ranks(shares)]},
            [*peers, *ours(OursOrdinal)],
        ),
        Family(
            "multilabel",
            costs_sets.of_labels,
            lambda shares: {"multilabel": [*of_labels(shares)]},
            [*by_probabilities(PER_LABEL), *ours(OursMultilabel)],
        ),
    ]


@dataclass
class Found:
    """Means over the splits of a data set: average costs by task, loss and decider; measures of probabilities."""

    cheapest: dict[tuple[str, str], float] = field(default_factory=dict)  # a mistake, as a mean over the rows
    costs: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    log_loss: dict[str, float] = field(default_factory=dict)
    calibration: dict[str, float] = field(default_factory=dict)

    def ratio(self, question: str, loss: str, name: str) -> float | None:
        """Return the average cost / the peer's; both have the cheapest mistake added once, as the peer may make none."""
        costs, more = self.costs[question, loss], self.cheapest[question, loss]
        return (costs[name] + more) / (costs[PEER.name] + more) if name in costs else None

    def log_loss_ratio(self, name: str) -> float | None:
        """Return the log loss over the peer's."""
        return self.log_loss[name] / self.log_loss[PEER.name] if name in self.log_loss else None

    def losses(self, question: str) -> list[str]:
        """Names of the losses under a question."""
        return [loss for asked, loss in self.costs if asked == question]


def run(options: Options) -> list[Table]:
    """Return average costs over all data sets and by data set, log losses by data set, and times."""
    with quiet(), threadpool_limits(1):  # small problems, whose threads would wait for each other
        found = {family.name: {data.name: measured(family, data) for data in family.sets(options)} for family in families()}
        questions = {name: list(dict.fromkeys(asked for asked, _ in next(iter(of.values())).costs)) for name, of in found.items()}
        return [
            overview(found, questions, options),
            *(by_set(question, found[name]) for name, asked in questions.items() for question in asked),
            probabilities(found),
            times(options),
        ]


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore the warnings of the peers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for message in WARNINGS:
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


# ------------------------------------------------------------------------------------------------------------------- measures


def measured(family: Family, data: Set) -> Found:
    """All deciders on all splits of a set."""
    found, rows = Found(), sum(len(split[3]) for split in data.splits)
    for seed, split in enumerate(data.splits):
        y, y_test = split[1], split[3]
        shares = y.mean(axis=0) if y.ndim == 2 else np.bincount(y) / len(y)
        asked = [(question, loss) for question, losses in family.asked(shares).items() for loss in losses]
        found.cheapest |= {(question, loss.name): loss.least / rows for question, loss in asked}
        task, share = Task(len(shares), seed=seed), 1 / len(data.splits)
        for decider in family.deciders:
            decisions = decider.decide(split, [loss for _, loss in asked], task)
            for (question, loss), predicted in zip(asked, decisions.predicted, strict=True):
                if predicted is not None:
                    cost = float(loss.row_costs(predicted, y_test).mean())
                    add(found.costs.setdefault((question, loss.name), {}), decider.name, share * cost)
            if decisions.probabilities is not None:
                add(found.log_loss, decider.name, share * log_loss(decisions.probabilities, y_test))
                add(found.calibration, decider.name, share * calibration_error(decisions.probabilities, y_test))
    return found


def add(sums: dict[str, float], name: str, value: float) -> None:
    """Add to what is there."""
    sums[name] = sums.get(name, 0.0) + value


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Of those that were measured."""
    known = [value for value in values if value is not None]
    return float(np.exp(np.mean(np.log(known)))) if known else None


def by_name(question: str, sets: dict[str, Found], name: str) -> dict[str, float]:
    """Of each set, the geometric mean of a decider's ratios over the losses."""
    means = {data: geometric_mean(of.ratio(question, loss, name) for loss in of.losses(question)) for data, of in sets.items()}
    return {data: mean for data, mean in means.items() if mean is not None}


def deciders_of(sets: dict[str, Found], question: str) -> list[str]:
    """Names of those who decided."""
    return list(dict.fromkeys(name for of in sets.values() for loss in of.losses(question) for name in of.costs[question, loss]))


# --------------------------------------------------------------------------------------------------------------------- tables


def overview(found: dict[str, dict[str, Found]], questions: dict[str, list[str]], options: Options) -> Table:
    """Return a line for each decider and task."""
    table = Table(
        AVERAGE_COST,
        ["task", "learner", "data sets", COST_RATIO, "worst set", ABOVE, "log loss (ratio)", "calibration error"],
        note=f"Ratios to `{PEER.name}` (C = 1) with the lowest expected cost, the rule of all peers except `{ByCut.name}`.  "
        "Geometric means over the losses of a data set, then over the data sets.  The cost of the cheapest mistake is added "
        "once to the cost on the test rows of a data set.  Dense rows are standardised.  `decision=learned` has no "
        f"probabilities.  Means over {options.seeds} splits, from number {options.held_back[0]} on, or the given one; at most "
        f"{costs_sets.MOST_ROWS} rows.  Multilabel peers are trained once for each label.  Calibration error: mean over the "
        "data sets of the expected calibration error in bins of equal size.  " + ("" if options.data else NO_SETS),
    )
    for family, sets in found.items():
        for question in questions[family]:
            for name in deciders_of(sets, question):
                of = by_name(question, sets, name)
                losses = geometric_mean(data.log_loss_ratio(name) for data in sets.values())
                errors = [data.calibration[name] for data in sets.values() if name in data.calibration]
                probable = [losses, float(np.mean(errors)) if errors else None] if question == family else [None, None]
                above = sum(ratio > MOST for ratio in of.values())
                table.rows.append([question, name, len(of), geometric_mean(of.values()), max(of.values()), above, *probable])
    return table


def by_set(question: str, sets: dict[str, Found]) -> Table:
    """Ratios of each set, and means by loss."""
    others = [name for name in deciders_of(sets, question) if name != PEER.name]
    table = Table(f"{AVERAGE_COST}: {question}", ["data", "costs", *others], note=f"Ratios to `{PEER.name}`, as above.")
    means = {name: by_name(question, sets, name) for name in others}
    table.rows += [[data, "all", *(means[name].get(data) for name in others)] for data in sets]
    for loss in dict.fromkeys(loss for of in sets.values() for loss in of.losses(question)):
        known = [of for of in sets.values() if (question, loss) in of.costs]
        each = (geometric_mean(of.ratio(question, loss, name) for of in known) for name in others)
        table.rows.append(["geometric mean", loss, *each])
    table.rows.append(["geometric mean", "all", *(geometric_mean(means[name].values()) for name in others)])
    table.rows.append(["worst set", "all", *(max(means[name].values(), default=None) for name in others)])
    table.rows.append([ABOVE, "all", *(sum(ratio > MOST for ratio in means[name].values()) for name in others)])
    return table


def probabilities(found: dict[str, dict[str, Found]]) -> Table:
    """Log losses and calibration errors of each set."""
    names = list(dict.fromkeys(name for sets in found.values() for of in sets.values() for name in of.log_loss))
    beside, errors = [f"{name} (ratio)" for name in names[1:]], [f"calibration error of {name}" for name in names]
    columns = ["task", "data", f"log loss of {PEER.name}", *beside, *errors]
    table = Table("Log loss and reliability", columns, note=f"Ratios to `{PEER.name}`.")
    for family, sets in found.items():
        for data, of in sets.items():
            log_losses = [of.log_loss[PEER.name], *(of.log_loss_ratio(name) for name in names[1:])]
            table.rows.append([family, data, *log_losses, *(of.calibration.get(name) for name in names)])
    return table


# ---------------------------------------------------------------------------------------------------------------------- times


@dataclass(frozen=True)
class Work:
    """A set to time fits on, the loss, and the most that a fit may take of one under decision="learned"."""

    what: str
    rows: int
    columns: int
    k: int
    goal: float
    kind: type[Ours] = Ours

    def drawn(self, options: Options) -> tuple[NDArray, NDArray]:
        """Rows and labels."""
        draw = {OursOrdinal: gaussian_ranks, OursMultilabel: label_sets}.get(self.kind, partial(gaussian_classes, distance=2.0))
        return draw(options.rows(self.rows), self.columns, self.k)

    def peers(self) -> list[Contestant]:
        """Those that are installed."""
        return [peer for peer in (PER_LABEL if self.kind is OursMultilabel else PEERS) if peer.installed]

    def params(self) -> dict:
        """Parameters of ours: the first loss of the family."""
        losses = {OursOrdinal: of_ranks, OursMultilabel: of_labels}.get(self.kind, unequal)
        return next(iter(losses(np.full(self.k, 1 / self.k)))).params()


GOAL, GOAL_OF_MANY_ROWS = 3.5, 1.5
WORKS = (
    *(Work("two classes", n, 20, 2, goal) for n, goal in ((300, GOAL), (3000, GOAL), (20_000, GOAL_OF_MANY_ROWS))),
    *(Work("many classes", n, 20, 5, goal) for n, goal in ((3000, GOAL), (20_000, GOAL_OF_MANY_ROWS))),
    Work("ordinal classes", 3000, 20, 5, GOAL, OursOrdinal),
    Work("multilabel", 3000, 40, 8, GOAL, OursMultilabel),
)


def times(options: Options) -> Table:
    """Fits in turns."""
    table = Table(
        "Time of a fit with costs",
        ["task", "rows", "learner", "seconds", f"to {PEER.name} (ratio)", "to decision=learned (ratio)", "goal", "met"],
        note=f"Gaussian rows, unequal costs; multilabel peers have one fit of `{PEER.name}` for each label.",
    )
    for work in WORKS:
        X, y = work.drawn(options)
        mine = (work.kind(OURS), work.kind(BEFORE, decision="learned"))
        cases = [fit_case(peer, {}, X, y, work.k) for peer in work.peers()]
        cases += [fit_case(contestant, work.params(), X, y, work.k) for contestant in mine]
        found = interleave(cases, options.repeats)
        for name, of in found.items():
            to_peer, to_before = (ratios(of, found[other]) for other in (PEER.name, BEFORE))
            goal = at_most(float(np.median(to_before)), work.goal if name == OURS else None)
            table.rows.append([work.what, len(y), name, of.seconds, spread(to_peer), spread(to_before), *goal])
    return table


def fit_case(contestant: Contestant, params: dict, X: NDArray, y: NDArray, k: int) -> Case:
    """A fit of a new estimator."""
    return Case(contestant.name, lambda model: contestant.fit(model, X, y), lambda: contestant.make(Task(k)).set_params(**params))
