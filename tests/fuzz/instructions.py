"""Fuzz interrupts at any instruction: a call leaves the estimator as it was, or complete rounds that every method can use."""

import copy
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import sklearn_predtron
from tests.own_checks import is_same
from tests.stopped import instructions_of, stopped_at

from .lessons import Lesson
from .models import draw
from .promises import before_map, check_same_bits
from .states import draw_fitted
from .tables import draw_table

TIMES = 5  # interrupts of a call
METHODS = ("predict", "predict_proba", "decision_function")
Call = Callable[[], Any]


def run(seed: int) -> str:
    """Draw a fitted model and a call, and interrupt it at several places."""
    random = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = draw_fitted(random)
        if found is None:
            return "refused"
        lesson, model = found[0].lesson, found[1]
        if lesson.calm and "features" in model.get_params(deep=False) and model.norm in ("auto", "l2", "scaled"):
            model = clone(model).set_params(features=draw(random, [None, "piecewise", "auto", "fourier"]))
            lesson = Lesson(draw_table(random, np.asarray(lesson.X, dtype=float)), lesson.y, qid=lesson.qid, ids=lesson.ids)
            try:
                (lesson.fit if random.random() < 0.5 else lesson.partial_fit)(model)
            except (TypeError, ValueError):
                return "refused"
        check: Callable[..., str] = draw(random, [check_fit, check_stream, check_reading])
        return check(random, model, lesson)


def state_of(model: Any) -> bytes:
    return pickle.dumps(model.__getstate__())


def places(random: np.random.Generator, call: Call) -> list[int]:
    """Draw instructions of a call, some of them near its end."""
    n = instructions_of(call)
    if n < 1:
        return []
    late = n - 1 - random.integers(min(n, 100), size=TIMES)
    return [int(place) for place in np.where(random.random(TIMES) < 0.3, late, random.integers(n, size=TIMES)) + 1]


def answers(model: Any, lesson: Lesson) -> dict[str, bytes]:
    """Return the answers of the methods that have one."""
    found = {}
    for name in METHODS:
        try:
            given = {} if lesson.ids == "qid" else {name: value for name, value in lesson.given().items() if name == lesson.ids}
            found[name] = pickle.dumps(np.asarray(getattr(model, name)(lesson.X, **given)))
        except (AttributeError, TypeError, ValueError):
            continue
    return found


def check_reading(random: np.random.Generator, model: Any, lesson: Lesson) -> str:
    """Interrupt a call that trains nothing: nothing is changed, and the next call gives what it would have given."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"

        def filed() -> Any:
            model.save(path)
            return sklearn_predtron.load(path)

        calls: list[Call] = [lambda: answers(model, lesson), filed, lambda: copy.deepcopy(model), lambda: clone(model)]
        calls += [lambda: model.explain(lesson.X), lambda: model.sample_loss(lesson.X, lesson.y), lambda: repr(model)]
        call, before, expected = draw(random, calls), state_of(model), answers(model, lesson)
        try:
            call()
        except (AttributeError, TypeError, ValueError):
            return "refused"
        for place in places(random, call):
            stopped_at(call, place)
            call()
            assert is_same(state_of(model), before), f"a call without training, interrupted at {place}, changes the state"
            assert answers(model, lesson) == expected, f"answers after an interrupt at {place}"
    return "interrupted"


def check_fit(random: np.random.Generator, model: Any, lesson: Lesson) -> str:
    """Interrupt fit: the estimator is as it was, or answers what it would answer after the whole call."""
    start = model if random.random() < 0.5 else clone(model)
    whole = copy.deepcopy(start)
    try:
        lesson.fit(whole)
    except (TypeError, ValueError):
        return "refused"
    before, methods = state_of(start), answers(whole, lesson).keys()
    for place in places(random, lambda: lesson.fit(copy.deepcopy(start))):
        other = copy.deepcopy(start)
        stopped_at(lambda other=other: lesson.fit(other), place)
        if not is_same(state_of(other), before):
            lost = methods - answers(other, lesson).keys()
            assert not lost, f"after an interrupt of fit at {place} there is no {lost}"
            assert is_same(state_of(copy.deepcopy(other)), state_of(other)), "the copy of an interrupted fit is another"
    return "interrupted"


def check_stream(random: np.random.Generator, model: Any, lesson: Lesson) -> str:
    """Interrupt partial_fit: the rounds that are left make it the model of the whole call."""
    if lesson.weight is not None or lesson.costs is not None:  # rows without weight are no rounds
        return "refused"
    rounds, whole = model.t_, copy.deepcopy(model)
    try:
        lesson.partial_fit(whole)
    except (TypeError, ValueError):
        return "refused"
    n = whole.t_ - rounds
    if n != lesson.n:
        return "refused"
    for place in places(random, lambda: lesson.partial_fit(copy.deepcopy(model))):
        other = copy.deepcopy(model)
        stopped_at(lambda other=other: lesson.partial_fit(other), place)
        done = other.t_ - rounds
        assert 0 <= done <= n, f"{done} of {n} rounds after an interrupt at {place}"
        if done < n:
            lesson.part(done, n).partial_fit(other)
        if not before_map(other):
            check_same_bits(other, whole, f"interrupted at {place} after {done} rounds, then the others")
    return "interrupted"
