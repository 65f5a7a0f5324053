"""The kernelised learner beside Nystroem features and SVC: sets that are not linear, budgets, the cost of a fit and of a row."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from benchmarks.contestants import GaussianSVC, NystroemOurs, Ours, OursOrdinal
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, Measured, interleave, no_collection, ratios, timed
from benchmarks.read import Dataset, dense
from benchmarks.report import Table, mean_error, spread
from benchmarks.suites.fits import at_most, fit_case
from benchmarks.suites.memory import python
from benchmarks.suites.ordinal import mean_absolute
from benchmarks.suites.quality import standard_error
from benchmarks.tasks import Options, Task, arcs, held_out, radial_ranks, rings
from sklearn_predtron.norms import RKHS

OURS, LINEAR, SVC = "ours, RKHS", "ours, linear", GaussianSVC.name
COMPONENTS = (100, 500)
GAMMAS = {"digits": 0.001, "letter": 0.25}
CURVED, STRAIGHT = 0.95, 0.7
BUDGETS = (None, 500, 200, 100, 50)
BUDGET, SHARE = 500, 0.98
ROWS, COLUMNS, CLASSES, EPOCHS = 20_000, 64, 10, 10
MOST_REPEATS, LONGEST, MOST_US = 3, 2.0, 200.0
BUDGETED = f"ours, RKHS, budget {BUDGET}"
ROWS_ONE_BY_ONE = 200
LEARN = "partial_fit"
CALLS = ("predict", "decision_function", LEARN)
NO_SETS = "No --data: letter is skipped."


def run(options: Options) -> list[Table]:
    """Sets that are not linear, budgets, a fit beside SVC's, its memory, one row at a time."""
    found, data = fitted(options)
    return [nonlinear(options), budgets(options), costs(found, data), memory(options), one_row(found, data, options)]


# ------------------------------------------------------------------------------------------------------------------ non-linear


@dataclass(frozen=True)
class MadeUp:
    """Rows that are drawn anew for each seed, half of them held out."""

    name: str
    draw: Callable[..., tuple[NDArray, NDArray]]
    rows: int = 1000

    def split(self, seed: int, options: Options) -> tuple:
        n = options.rows(self.rows)
        return held_out(*self.draw(2 * n, seed=seed), n)


@dataclass(frozen=True)
class Trial:
    """A set, the kernel's gamma, and which of our estimators learns it."""

    data: MadeUp | Dataset
    classes: int
    gamma: float
    family: type[Ours] = Ours
    curved: bool = False

    def contestants(self) -> list[Contestant]:
        """Ours in the kernel's space, on approximate features, and on the columns as they are; SVC."""
        linear = self.family(LINEAR)
        return [
            self.family(OURS, norm=RKHS(gamma=self.gamma)),
            *(NystroemOurs(components, self.gamma, linear) for components in COMPONENTS),
            linear,
            GaussianSVC(self.gamma),
        ]

    def goal(self, learner: str, accuracy: float) -> list:
        """Cells of the goals of classes that no line parts."""
        goals = {OURS: [f"above {CURVED}", accuracy > CURVED], LINEAR: [f"below {STRAIGHT}", accuracy < STRAIGHT]}
        return goals.get(learner, [None, None]) if self.curved else [None, None]


def trials(options: Options) -> Iterator[Trial]:
    """Made-up sets, digits, letter."""
    yield Trial(MadeUp("rings", partial(rings, k=4)), 4, gamma=1.0, curved=True)
    yield Trial(MadeUp("arcs", partial(arcs, k=4)), 4, gamma=1.0)
    for columns, gamma in ((2, 1.0), (5, 0.1)):
        data = MadeUp(f"radial ranks, {columns} columns", partial(radial_ranks, p=columns, r=5))
        yield Trial(data, 5, gamma, OursOrdinal)
    for data in real(options):
        yield Trial(data, len(np.unique(data.y)), GAMMAS[data.name])


def real(options: Options) -> list[Dataset]:
    """digits as it is; letter, which is to be standardised."""
    return [replace(data, standardise=data.name == "letter") for data in dense(options) if data.name in GAMMAS]


def nonlinear(options: Options) -> Table:
    """Held-out accuracy, and what a fit takes."""
    table = Table(
        "Sets that are not linear",
        ["data", "gamma", "learner", "accuracy", "goal", "met", "MAE", "fit, seconds", f"to {OURS} (ratio)"],
        note=f"Mean ± standard error of {options.seeds} seeds; the Gaussian kernel with the same gamma for all, the rest at the "
        "defaults.  Made-up sets: as many rows held out as learned from; ranks by the ordinal classifier, by SVC as classes.  "
        "digits as it is; letter standardised, gamma the best of 1/16, 1/4 and 1 for SVC.  Median seconds of one fit for each "
        "seed; ratios within a seed.  " + ("" if options.data else NO_SETS),
    )
    for trial in trials(options):
        found = trial_results(trial, options)
        for learner, (measured, accuracies, errors) in found.items():
            accuracy = mean_error(np.mean(accuracies), standard_error(np.array(accuracies)))
            distance = float(np.mean(errors)) if trial.family is OursOrdinal else None
            ratio = spread(ratios(measured, found[OURS][0]))
            goal = trial.goal(learner, float(np.mean(accuracies)))
            table.rows.append([trial.data.name, trial.gamma, learner, accuracy, *goal, distance, measured.seconds, ratio])
    return table


def trial_results(trial: Trial, options: Options) -> dict[str, tuple[Measured, list[float], list[float]]]:
    """Of each learner and, in it, of each seed: seconds of a fit, accuracy, mean distance in ranks."""
    found: dict[str, tuple] = {contestant.name: (Measured(), [], []) for contestant in trial.contestants()}
    for seed in range(options.seeds):
        X, y, X_test, y_test = trial.data.split(seed, options)
        for contestant in trial.contestants():
            with no_collection():
                seconds, model = timed(fit_case(contestant, Task(trial.classes, seed=seed), X, y))
            measured, accuracies, errors = found[contestant.name]
            predicted = contestant.predict(model, X_test)
            measured.times.append(seconds)
            accuracies.append(float((predicted == y_test).mean()))
            if trial.family is OursOrdinal:
                errors.append(mean_absolute(predicted, y_test))
    return found


# --------------------------------------------------------------------------------------------------------------------- budgets


@dataclass
class Kept:
    """A fit within a budget."""

    seconds: float
    accuracy: float
    support: int
    lost: float


def budgets(options: Options) -> Table:
    """What a budget costs in accuracy, and saves in time."""
    table = Table(
        "Budgets",
        [
            *("data", "budget", "accuracy", "share of the unbounded (ratio)", "goal", "met"),
            *("support", "budget_loss_", "fit, seconds", "to the unbounded (ratio)"),
        ],
        note=f"digits as it is, gamma {GAMMAS['digits']}; mean ± standard error, means and median "
        f"seconds of {options.seeds} seeds.",
    )
    found = {budget: [] for budget in BUDGETS}
    data = real(options)[0]
    for seed in range(options.seeds):
        split = data.split(seed, options)
        for budget, fits in found.items():
            fits.append(within(budget, split, seed))
    for budget, fits in found.items():
        table.rows.append([data.name, budget or "none", *_budget_cells(budget, fits, found[None])])
    return table


def within(budget: int | None, split: tuple, seed: int) -> Kept:
    """The default fit of digits, and how it does on the test part."""
    X, y, X_test, y_test = split
    contestant = Ours(OURS, norm=RKHS(gamma=GAMMAS["digits"], budget=budget))
    with no_collection():
        seconds, model = timed(fit_case(contestant, Task(len(np.unique(y)), seed=seed), X, y))
    return Kept(seconds, float((model.predict(X_test) == y_test).mean()), len(model.support_), float(model.budget_loss_))


def _budget_cells(budget: int | None, fits: list[Kept], unbounded: list[Kept]) -> list:
    accuracies = np.array([fit.accuracy for fit in fits])
    share = float(np.mean([fit.accuracy / best.accuracy for fit, best in zip(fits, unbounded, strict=True)]))
    goal = [f"at least {SHARE}", share >= SHARE] if budget == BUDGET else [None, None]
    times, longer = (Measured([fit.seconds for fit in some]) for some in (fits, unbounded))
    means = [float(np.mean([fit.support for fit in fits])), float(np.mean([fit.lost for fit in fits]))]
    accuracy = mean_error(accuracies.mean(), standard_error(accuracies))
    return [accuracy, share, *goal, *means, times.seconds, spread(ratios(times, longer))]


# ------------------------------------------------------------------------------------------------------------------------ cost


def fitted(options: Options) -> tuple[dict[str, Measured], tuple]:
    """Default fits of ours, unbounded and within a budget, and of SVC, by turns; what they learn and are tested on."""
    n = options.rows(ROWS)
    X, y = make_classification(n + n // 4, COLUMNS, n_informative=20, n_classes=CLASSES, random_state=0)
    data = held_out(X, y, n)
    gamma = float(1 / (COLUMNS * data[0].var()))
    contestants = [Ours(OURS, norm=RKHS(gamma=gamma)), Ours(BUDGETED, norm=RKHS(gamma=gamma, budget=BUDGET)), GaussianSVC(gamma)]
    cases = [fit_case(contestant, Task(CLASSES), *data[:2]) for contestant in contestants]
    return interleave(cases, min(options.repeats, MOST_REPEATS)), data


def costs(found: dict[str, Measured], data: tuple) -> Table:
    """Whole fits beside SVC's."""
    _, y, X_test, y_test = data
    table = Table(
        "A fit beside SVC's",
        ["learner", "fit, seconds", f"to {SVC} (ratio)", "goal", "met", "accuracy", "support"],
        note=f"`make_classification`, {len(y)} rows to learn from, {len(y_test)} held out, {COLUMNS} columns, 20 of them "
        f"informative, {CLASSES} classes; gamma 1 / (columns * variance), the rest at the defaults; {len(found[SVC].times)} "
        "repeats.",
    )
    for learner, measured in found.items():
        ratio = ratios(measured, found[SVC])
        goal = at_most(median(ratio), LONGEST) if learner == OURS else [None, None]
        accuracy = float((measured.result.predict(X_test) == y_test).mean())
        table.rows.append([learner, measured.seconds, spread(ratio), *goal, accuracy, len(measured.result.support_)])
    return table


def memory(options: Options) -> Table:
    """Growth of the peak in a fit."""
    table = Table(
        "Peak memory of a fit",
        ["learner", "X in MB", "growth in MB", "growth / X", f"to {SVC} (ratio)"],
        note="Growth of the peak of resident memory, X in memory already, in one fresh process each: Gaussian rows, the class is "
        f"the largest of the first {CLASSES} columns, gamma 1 / columns; {EPOCHS} epochs.",
    )
    shape = [str(options.rows(ROWS)), str(COLUMNS), str(CLASSES), str(EPOCHS)]
    found = {name: json.loads(python("-m", "benchmarks.child", "fit", name, "float64", *shape)) for name in (OURS, SVC)}
    for name, run in found.items():
        ratio = run["growth"] / found[SVC]["growth"] if found[SVC]["growth"] else None
        table.rows.append([name, run["X"] / 1e6, run["growth"] / 1e6, run["growth"] / run["X"], ratio])
    return table


# --------------------------------------------------------------------------------------------------------------------- one row


def one_row(found: dict[str, Measured], data: tuple, options: Options) -> Table:
    """Calls with one row."""
    table = Table(
        "One row at a time",
        ["learner", "support", "call", "us per call", f"{SVC} to it (ratio)", "goal", "met"],
        note=f"The learners of the fits above; {ROWS_ONE_BY_ONE} rows that were held out, the same in each repeat, each "
        "`partial_fit` on a copy of the learner.",
    )
    X, y = (part[:ROWS_ONE_BY_ONE] for part in data[2:])
    models = {name: measured.result for name, measured in found.items()}
    cases = {
        (name, call): call_case(f"{name}, {call}", model, call, X, y)
        for name, model in models.items()
        for call in CALLS
        if hasattr(model, call)
    }
    measured = interleave(cases.values(), options.repeats)
    for (name, call), case in cases.items():
        times, of_svc = measured[case.name], measured.get(f"{SVC}, {call}")
        us = times.seconds / len(y) * 1e6
        ratio = spread(ratios(of_svc, times)) if of_svc else None
        goal = at_most(us, MOST_US) if name == BUDGETED and call != LEARN else [None, None]
        table.rows.append([name, len(models[name].support_), call, us, ratio, *goal])
    return table


def call_case(name: str, model: Any, call: str, X: NDArray, y: NDArray) -> Case:
    """A method with each row; with a copy of the model if it learns."""
    if call == LEARN:
        rows = [(X[i : i + 1], y[i : i + 1]) for i in range(len(y))]
        return Case(name, partial(call_each, call, rows), partial(deepcopy, model))
    return Case(name, partial(call_each, call, [(row,) for row in X[:, None]]), lambda: model)


def call_each(call: str, rows: list[tuple], model: Any) -> None:
    """One call after the other."""
    method = getattr(model, call)
    for row in rows:
        method(*row)
