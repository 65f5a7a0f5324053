"""Fuzz interrupts: a SIGINT at any moment of fit or partial_fit leaves a model of the first rounds of its stream."""

import copy
import os
import pickle
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from sklearn_predtron import Predtron, PredtronBipartiteClassifier, PredtronRanker, PredtronSequenceTagger
from sklearn_predtron.families._cost_classifier import TableClassifier
from sklearn_predtron.families.input.reading import Batch
from sklearn_predtron.families.training.runs import Epochs
from tests.own_checks import is_same

from . import lessons
from .lessons import Count, Lesson
from .models import Case, common_settings, draw, families, plain
from .promises import check_same

ROUNDS = 12000  # the loop looks at pending interrupts every 4096 rounds
WIDTH = 5
SLOW_ROUNDS = 600  # of kernels and of problems in Python
COUNTS = ["t_", "n_mistakes_", "n_updates_", "cumulative_loss_"]


def run(seed: int) -> str:
    """Draw a model and its stream, interrupt it, and compare it with the model of the rounds it says it has learned."""
    random = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = draw_long_case(random)
        return in_fit(case, random) if random.random() < 0.4 else in_stream(case, random)


def draw_long_case(random: np.random.Generator) -> Case:
    """Draw an estimator that takes its lesson, of thousands of rounds."""
    while True:
        kind = draw(random, families())
        settings = common_settings(random, kind, ranker=False)
        settings |= {"max_iter": 3, "warm_start": False, "tol": None}
        if "cv" in settings:
            settings["cv"] = 0  # folds go back to where they were looked at
        if "decision" in kind._get_param_names():
            settings["decision"] = "learned"  # others end with rows held out, of which the rounds so far know nothing
        slow = issubclass(kind, Predtron) or "rkhs" in str(settings["norm"]).lower()
        n = SLOW_ROUNDS if slow else ROUNDS
        estimator = plain(random, kind, settings, WIDTH)
        lesson = long_lesson(random, estimator, n)
        try:
            lesson.part(0, 20).partial_fit(copy.deepcopy(estimator))
        except ValueError:
            continue
        return Case(estimator, lesson)


def long_lesson(random: np.random.Generator, estimator: Any, n: int) -> Lesson:
    """Draw many rows, dense or sparse, with the labels that the estimator wants."""
    tags = estimator.__sklearn_tags__()
    X = random.standard_normal((n, WIDTH))
    if isinstance(estimator, PredtronRanker):
        lesson = Lesson(X, random.integers(0, 3, n), qid=np.repeat(np.arange(n), 3)[:n])
    elif isinstance(estimator, PredtronBipartiteClassifier):
        on = (lessons.scored(random, X, 1)[:, 0] > 0.3).astype(np.int64)
        lesson = Lesson(X, on, qid=np.repeat(np.arange(n), 3)[:n], ids="groups", classes=np.arange(2))
    elif isinstance(estimator, PredtronSequenceTagger):
        y = lessons.scored(random, X, 3).argmax(axis=1)
        lesson = Lesson(X, y, qid=np.repeat(np.arange(n), 3)[:n], ids="sid", classes=np.arange(3))
    elif isinstance(estimator, TableClassifier):
        k = 3 if tags.classifier_tags.multi_class else 2
        lesson = Lesson(X, lessons.scored(random, X, k).argmax(axis=1), classes=np.arange(k))
    elif isinstance(estimator, Predtron):
        lesson = Lesson(X, random.integers(0, 3, n))
    else:
        lesson = Lesson(X, (lessons.scored(random, X, 3) > 0).astype(np.int64))
    return replace(lesson, X=sparse.csr_array(X)) if random.random() < 0.4 else lesson


class Alarm(BaseException):
    """Interrupt at a moment of the clock, as Ctrl-C does."""


def interrupted(call: Callable[[], Any], seconds: float) -> bool:
    """Make a call, with a SIGINT after some time; whether it came before the end."""

    def pass_on(number: int, frame: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def stop(number: int, frame: Any) -> None:
        raise Alarm

    old_alarm, old_int = signal.signal(signal.SIGALRM, pass_on), signal.signal(signal.SIGINT, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return False
    except Alarm:
        return True
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_alarm)
        signal.signal(signal.SIGINT, old_int)


def in_stream(case: Case, random: np.random.Generator) -> str:
    """Interrupt calls of partial_fit; what was learned is the start of the stream, and the model goes on from there."""
    lesson, n = case.lesson, case.lesson.n
    model = lesson.part(0, 1).partial_fit(case.new())
    begin = time.perf_counter()
    whole = lesson.partial_fit(case.new())
    duration = time.perf_counter() - begin
    done, moment = 1, random.random() * duration
    edges = [1, n] if random.random() < 0.5 else [1, *range(2, 6), n // 3, n // 2, n]
    before = model.t_

    def learn() -> None:
        nonlocal done
        for first, end in pairwise(edges):
            done = first
            lesson.part(first, end).partial_fit(model)

    if not interrupted(learn, moment):
        return "refused"
    assert before <= model.t_ <= n, f"t_ is {model.t_}"
    assert model.t_ >= done, f"t_ is {model.t_}, and {done} rounds were learned before"
    if model.t_ < n:
        prefix = lesson.part(0, model.t_).partial_fit(case.new())
        check_same(case, random, model, prefix, f"interrupted, or the first {model.t_} rounds")
        lesson.part(model.t_, n).partial_fit(model)
    check_same(case, random, model, whole, "interrupted, then taught the rest, or the whole stream")
    return "interrupted"


def in_fit(case: Case, random: np.random.Generator) -> str:
    """Interrupt fit; what was learned is the start of its epochs, or nothing at all."""
    lesson = case.lesson
    begin = time.perf_counter()
    lesson.fit(case.new())
    duration = time.perf_counter() - begin
    model = case.new()
    fitted = random.random() < 0.5
    if fitted:
        lesson.part(0, 30).partial_fit(model)
    state = pickle.dumps(model.__getstate__())
    if not interrupted(lambda: lesson.fit(model), random.random() * duration):
        return "refused"
    if is_same(pickle.dumps(model.__getstate__()), state):
        return "interrupted"
    assert not fitted or model.__sklearn_is_fitted__(), "what was learned before is lost"
    assert model.__sklearn_is_fitted__(), "there are attributes, and nothing was learned"
    if model.t_ == 0:
        assert not fitted, "nothing was learned yet, and what was learned before is lost"
        return "interrupted"
    what = f"fit interrupted after {model.t_} rounds, or the same rounds"
    other = shortened(case, model.t_)
    if isinstance(model, PredtronBipartiteClassifier):  # which chooses its cut at the end, if it comes to that
        other._model.fitted_decision = model._model.fitted_decision
    if hasattr(model, "dual_coef_"):
        check_same(case, random, model, other, what)
    else:
        compare(model, other, what)
    return "interrupted"


def shortened(case: Case, rounds: int) -> Any:
    """Fit a fresh model to so many rounds of its epochs."""
    model, n = case.new(), case.lesson.n
    left = rounds

    class Some(Epochs):
        def draw(self, **how: Any) -> tuple[Batch, dict[str, Any]]:
            nonlocal left
            batch, found = super().draw(**how)
            order = self.rows if found["order"] is None else found["order"]
            found["order"] = order[:left]
            if found.get("counts") is not None:
                found["counts"] = found["counts"][:left]
            left -= len(found["order"])
            return batch, found

    model.set_params(max_iter=max(1, -(-rounds // n)))
    Count.learned += 1
    with patch("sklearn_predtron.families.training.runs.Epochs", Some):
        case.lesson.fit(model)
    return model


def compare(model: Any, other: Any, what: str) -> None:
    for attribute in ["coef_", "intercept_", "last_coef_", "last_intercept_", *COUNTS]:
        found, expected = getattr(model, attribute), getattr(other, attribute)
        assert np.array_equal(found, expected), f"{attribute}: {what}: {found}, {expected}"
