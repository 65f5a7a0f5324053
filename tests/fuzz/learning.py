"""Fuzz learning: any estimator on any rows keeps what the package promises of fit, partial_fit and predict."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from sklearn_predtron._core.rows import OVERFLOW

from .lessons import Lesson, draw_cuts, draw_layout
from .models import Case, draw_case, watch_warnings
from .promises import OF_TABLES, PROMISES, joint
from .tables import drawn_first_rows, with_costs, with_table

NO_NUMBER = "argument must be a string or a real number"  # of a TypeError, as in scikit-learn
CONSTANT = "X has no column that varies beyond rounding"  # among the first rows of a stream
CHOSEN = 3  # promises that are looked at in a case


class Refused(Exception):
    """Say that the estimator itself does not take the case."""


def run(seed: int) -> str:
    """Draw a case and check some promises of it, and say how it went."""
    random = np.random.default_rng(seed)
    case = draw_case(random)
    case = Case(case.estimator, replace(case.lesson, X=draw_layout(random, case.lesson.X, case.lesson.wild)))
    other = np.random.default_rng([seed, 1])  # so that what is drawn beside leaves the seeds of the rest as they were
    if other.random() < 0.2:
        case = with_costs(other, case)
    numbers = case.lesson.values in ("plain", "ties", "gaps") and isinstance(case.lesson.X, np.ndarray)
    if other.random() < 0.2 and numbers and not joint(case):
        with drawn_first_rows(other):
            return check(with_table(other, case), random, OF_TABLES)
    return check(case, random)


def check(case: Case, random: np.random.Generator, promises: list[Callable[..., Any]] = PROMISES) -> str:
    """Check some promises of a case, and say how it went."""
    with warnings.catch_warnings():
        watch_warnings()
        try:
            with named(case):
                if case.lesson.wild:
                    return survive(case, random)
                first(case, random)
                for i in random.permutation(len(promises))[:CHOSEN]:
                    with named(promises[i].__name__):
                        promises[i](case, random)
        except Refused:
            return "refused"
        except ValueError as error:
            if OVERFLOW not in str(error) and CONSTANT not in str(
                error
            ):  # which some orders of the rounds have, and others have not
                raise
            return "refused"
    return "checked"


@contextmanager
def named(what: Any) -> Iterator[None]:
    try:
        yield
    except Refused:
        raise
    except BaseException as error:
        error.add_note(f"in {what!r}")
        raise


def first(case: Case, random: np.random.Generator) -> None:
    """Let a model learn and predict; what it refuses it refuses in words, and remains without a trace."""
    for learn in [case.lesson.partial_fit, case.lesson.fit]:
        model = case.new()
        try:
            learn(model)
        except ValueError as error:
            check_words(error)
            raise Refused from None
        except TypeError as error:
            if NO_NUMBER not in str(error):
                raise
            raise Refused from None
        predict(model, case.lesson)


def predict(model: Any, lesson: Lesson) -> None:
    """Predict finite scores, or refuse in words."""
    try:
        predicted = lesson.predict(model)
    except ValueError as error:
        check_words(error)
        raise Refused from None
    assert len(predicted) == lesson.X.shape[0], "predict does not return a prediction for each row"


def check_words(error: ValueError) -> None:
    assert re.search(r"[A-Za-z]{2,}.* .*[a-z]{2,}", str(error)), f"the message {str(error)!r} has no words"


def survive(case: Case, random: np.random.Generator) -> str:
    """Learn and predict from values beyond what is promised: nothing crashes, and what is refused is so by a ValueError."""
    warnings.simplefilter("ignore")
    for learn in [
        case.lesson.fit,
        case.lesson.partial_fit,
        lambda model: case.lesson.stream(model, draw_cuts(random, case.lesson.n)),
    ]:
        model = case.new()
        try:
            learn(model)
            case.lesson.predict(model)
            case.lesson.partial_fit(model)
        except ValueError:
            continue
    return "survived"
