"""Streams that grow: features and classes that nobody knew of when learning began."""

from __future__ import annotations

import sys
from numbers import Integral
from typing import Any

import numpy as np

from sklearn_predtron._core.averages import Average, ChoosingAverage
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.input.reading import Columns
from sklearn_predtron.families.input.tables import FirstRows
from sklearn_predtron.families.training.calls import open_stream
from sklearn_predtron.families.training.composition import build_update, differs
from sklearn_predtron.families.training.intervals import evaluation_interval, set_recording_interval
from sklearn_predtron.features import ROWS_OF_STREAMS
from sklearn_predtron.losses._by_row import KnownCosts


def widen(estimator: Any, n_features: Any, classes: Any) -> None:
    """Give an estimator a model with room for more, which has learned the same."""
    model: Model = estimator._model
    if model.columns.n is None:
        n = model.learner.weights.p
        raise ValueError(
            f"problem={estimator.problem!r} has {n} joint features, whose number it states: widen is for columns of X; call "
            "fit to start anew."
        )
    if model.columns.features is not None:
        check_same_table(estimator, model, n_features)
    columns, opened = wider_columns(model.columns, n_features), model.resolved
    wider = model.but(columns=columns, stream=model.stream, resolved=model.resolved)
    learner, problem = model.learner, model.learner.problem
    places = list(range(problem.d))
    if classes is not None:
        estimator._validate_params()
        wider.labels, places = estimator._widen_labels(model.labels, classes)
        rebuilt = estimator._build_problem(wider.labels)
        problem = problem if rebuilt.d == problem.d else rebuilt
        wider.settled = kept_of(model.settled) if problem is rebuilt else model.settled
        if isinstance(model.noted, KnownCosts) and problem is rebuilt:
            wider.noted = model.noted.widened(places, problem.d, of_sets=hasattr(wider.labels, "n_labels"))
    n, width = learner.weights.n_features, columns.n if model.columns.features is None else learner.weights.n_features
    check_constants(estimator, (learner.problem.d, n), (problem.d, width))
    room = learner.weights.room_for(width)
    if room > learner.weights.p or problem is not learner.problem:
        learner = copied(estimator, model, wider, max(room, learner.weights.p), places, problem)
    average = average_of_width(learner.average, problem, width)
    if average is not learner.average:
        learner = learner.with_parts(problem, learner.update, average, learner.observer)
    set_recording_interval(learner, width)
    learner.widen(width)
    if learner is not model.learner:
        wider.learner = learner
    if classes is None and learner is model.learner:
        estimator._model = wider
        return
    if model.stream is not None:
        model.stream.close()
    wider.stream, wider.resolved = None, False
    estimator._model = wider
    if opened:
        open_stream(estimator)


def check_same_table(estimator: Any, model: Model, n_features: Any) -> None:
    """Refuse more columns than the map is made of, and more classes before it is made."""
    if n_features is not None:
        raise ValueError(
            f"n_features={shortened(n_features)}: features={estimator.features!r} is made of the columns of the first rows; "
            "accepted are more classes, and another fit for more columns."
        )
    if isinstance(model.columns.features, FirstRows):
        raise ValueError(
            f"classes= of features={estimator.features!r} may be widened once the map is made, of the first {ROWS_OF_STREAMS} "
            f"rows; there are {model.columns.features.n}."
        )


def kept_of(settled: Any) -> Any:
    """Return the calibration results that remain valid with more classes or labels: only the cuts so far."""
    return {"cut": settled["cut"]} if settled and "cut" in settled else None


def copied(estimator: Any, model: Model, wider: Model, room: int, places: list[int], problem: Problem) -> Learner:
    """Return a learner with more room, for this problem; others may be reading the present one."""
    learner, observer = model.learner, model.learner.observer
    if problem is learner.problem:
        return learner.resized(room, places, problem, observer)
    resized = None if observer is None else observer.resized(problem, places)
    observer = estimator._decision(wider.labels).observer(problem, resized)
    learner = learner.resized(room, places, problem, observer)
    update = build_update(estimator, problem)
    if update.kind == learner.update.kind:
        update.restore(learner.update.state())
    if learner.t > 0 and differs(model, problem, update):
        wider.learned_with = "several"
    return learner.with_parts(problem, update, learner.average, observer)


def wider_columns(known: Columns, n_features: Any) -> Columns:
    """Return the features to come, with their names if they have any."""
    n, names, _, first = known
    if n_features is None:
        return known
    if names is not None:
        given = np.asarray(n_features, dtype=object)
        texts = given.ndim == 1 and all(isinstance(name, str) for name in given)
        if not texts or len(set(given)) < len(given) or not np.array_equal(given[:n], names):
            raise ValueError(
                f"n_features={shortened(n_features)}: learning began with named features; accepted is a list of different "
                f"names that begins with the {n} known ones, {shortened(names.tolist())}."
            )
        return Columns(len(given), given)
    if not isinstance(n_features, Integral) or isinstance(n_features, bool) or not n <= n_features <= sys.maxsize:
        raise ValueError(
            f"n_features={shortened(n_features)} must be an integer of at least {n}, the features so far (a model does "
            f"not become narrower), and at most {sys.maxsize}."
        )
    return known if n_features == n else Columns(int(n_features), first=n if first is None else first)


def check_constants(estimator: Any, known: tuple[int, Any], wanted: tuple[int, Any]) -> None:
    """Refuse numbers of scores and features for which a parameter of the norm would be another."""
    norm = estimator._norm_of_weights()
    before, after = norm.constants(*known), norm.constants(*wanted)
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        name, several = changed[0], known[0] != wanted[0]
        sizes, wider = (f"{d} scores of {p}" if several else f"{p}" for d, p in (known, wanted))
        raise ValueError(
            f"norm={estimator.norm!r} has {name}={before[name]:g} for the {sizes} features so far, and would have "
            f"{name}={after[name]:g} for {wider}, which cannot change once learning has begun; give {name} to the norm."
        )


def check_takes(classes: Any, name: str, value: Any, part: Any, accepted: str) -> None:
    """Refuse new classes where a parameter of some value is a part that does not take them."""
    if not part.takes_new_classes:
        raise ValueError(
            f"classes={shortened(classes)}: {name}={shortened(value)} does not take more classes than it began with; accepted is "
            f"{name}={accepted}."
        )


def average_of_width(average: Average, problem: Problem, width: Any) -> Average:
    """Return the average for a new width; it evaluates its candidates less often where they have many weights."""
    if not isinstance(average, ChoosingAverage) or evaluation_interval(problem, width) == average.every:
        return average
    return average.charging(evaluation_interval(problem, width))
