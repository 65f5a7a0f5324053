"""Fuzz parameter mixing: a mixture of any estimators keeps what is promised of threads, shards, checkpoints and failures."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_predtron.mixing import ParameterMixing, ShardError
from sklearn_predtron.mixing._checkpoint import MixingCheckpoint
from tests.own_checks import frozen, is_same

from . import learning
from .lessons import Count, Lesson, draw_layout
from .models import Case, draw, draw_case
from .promises import BAD_IN_STREAMS, bad_lessons, joint, takes_gaps

HOW_CALLED = ("n_jobs", "checkpoint")
PROMISES: list[Callable[[Mixture, np.random.Generator], None]] = []


@dataclass(frozen=True, repr=False)
class Mixture(Case):
    """Hold a mixture, which is cloned, and what it learns, in memory or from functions."""

    cuts: tuple[int, ...] | None = None  # between functions, by rounds

    def new(self, **parameters: Any) -> Any:
        return clone(self.estimator).set_params(**parameters)

    def shards(self) -> list[Callable[[], Any]]:
        return [as_function(self.lesson.part(*ends)) for ends in pairwise((0, *(self.cuts or ()), self.lesson.n))]

    def fit(self, mixed: Any) -> Any:
        Count.learned += 1
        if self.cuts is None:
            return self.lesson.fit(mixed)
        return mixed.fit(self.shards(), classes=self.lesson.classes)

    def partial_fit(self, mixed: Any) -> Any:
        Count.learned += 1
        first = self.lesson.classes is not None and not hasattr(mixed, "estimator_")
        classes = {"classes": self.lesson.classes} if first else {}
        if self.cuts is not None:
            return mixed.partial_fit(self.shards(), **classes)
        return mixed.partial_fit(self.lesson.X, self.lesson.y, **classes, **self.lesson.given())


def as_function(lesson: Lesson) -> Callable[[], Any]:
    return lambda: (lesson.X, lesson.y, lesson.given())


def draw_mixture(random: np.random.Generator) -> Mixture:
    case = draw_case(random)
    lesson = replace(case.lesson, X=draw_layout(random, case.lesson.X, case.lesson.wild))
    given = {name: draw(random, values) for name, values in {"rounds": [1, 2, 3], "passes": [1, 1, 2]}.items()}
    if "average" in case.estimator.get_params() and random.random() < 0.97:
        case.estimator.set_params(average=draw(random, [None, "linear", "uniform", False]))
    mixed = ParameterMixing(case.estimator, shards=draw(random, [1, 2, 3, 8, 20]), random_state=int(random.integers(9)), **given)
    cuts = None
    if random.random() < 0.4:
        cuts = tuple(sorted(random.integers(0, lesson.n + 1, random.integers(4)).tolist()))
    return Mixture(mixed, lesson, cuts)


def run(seed: int) -> str:
    """Draw a mixture and check some promises of it, and say how it went."""
    random = np.random.default_rng(seed)
    case = draw_mixture(random)
    return learning.check(case, random, PROMISES)  # type: ignore[arg-type]


def promise(function: Callable[[Mixture, np.random.Generator], None]) -> Callable[[Mixture, np.random.Generator], None]:
    PROMISES.append(function)
    return function


def state_of(mixed: Any) -> dict[str, Any]:
    """Return what a mixture has learned, and what it says of it."""
    left = {name: value for name, value in vars(mixed).items() if name not in mixed.get_params(deep=False)}
    return left | {"estimator_": left["estimator_"].__getstate__()}


def check_same(mixed: Any, other: Any, what: str) -> None:
    """Check that two mixtures are the same, to the last bit."""
    assert is_same(pickle.dumps(state_of(mixed)), pickle.dumps(state_of(other))), what


@promise
def any_number_of_threads(case: Mixture, random: np.random.Generator) -> None:
    """Learn the same, to the last bit, on any number of threads."""
    one, more = (case.fit(case.new(n_jobs=n_jobs)) for n_jobs in (1, 3))
    check_same(one, more, "on one thread, or three")
    check_same(case.partial_fit(one), case.partial_fit(more), "a round more, on one thread, or three")


@promise
def one_shard_is_the_learner(case: Mixture, random: np.random.Generator) -> None:
    """Learn one shard in memory as the estimator itself does, also where a checkpoint is kept."""
    if case.lesson.weight is not None or case.cuts is not None:
        return
    mixed = case.fit(case.new(shards=1))
    estimator = clone(case.estimator.estimator)
    average = "linear" if estimator.average is None else estimator.average
    epochs = {"max_iter": mixed.rounds * mixed.passes, "tol": None, "random_state": mixed.random_state}
    alone = case.lesson.fit(estimator.set_params(average=average, **epochs))
    for name in ("coef_", "intercept_", "last_coef_", "t_", "n_mistakes_", "n_updates_"):
        if hasattr(alone, name):
            np.testing.assert_array_equal(getattr(mixed.estimator_, name), getattr(alone, name), err_msg=name)
    np.testing.assert_array_equal(case.lesson.predict(mixed.estimator_), case.lesson.predict(alone))


class Stopped(Exception):
    """End a fit after some round."""


@promise
def checkpoints_are_gone_on_from(case: Mixture, random: np.random.Generator) -> None:
    """Go on from the rounds that a checkpoint holds to what a fit without one comes to."""
    last, save = int(random.integers(1, case.estimator.rounds + 1)), MixingCheckpoint.save
    with tempfile.TemporaryDirectory() as folder:
        kept = case.new(checkpoint=str(Path(folder) / "state"), n_jobs=draw(random, [1, 2]))

        def save_and_stop(self: MixingCheckpoint, progress: Any) -> None:
            save(self, progress)
            assert Path(self.path).exists(), "nothing was written"
            if len(progress.losses) == last:
                raise Stopped

        MixingCheckpoint.save = save_and_stop  # type: ignore[method-assign]
        try:
            case.fit(copy.deepcopy(kept))
        except Stopped:
            pass
        finally:
            MixingCheckpoint.save = save  # type: ignore[method-assign]
        case.fit(kept)
    whole = case.new(shards=kept.shards)
    if case.cuts is None and kept.shards == 1:  # which without a checkpoint is the learner, and may hold rows out
        return
    check_same(kept, case.fit(whole), f"stopped after round {last}, or not")


@promise
def failures_leave_no_trace(case: Mixture, random: np.random.Generator) -> None:
    """Raise a ValueError for bad input, and leave the mixture as it was."""
    half = replace(case, lesson=case.lesson.part(0, max(1, case.lesson.n // 2)), cuts=None)
    mixed = half.partial_fit(case.new(n_jobs=draw(random, [1, 2])))
    before = frozen(mixed)
    bad = bad_lessons(replace(case.lesson, weight=None) if joint(Case(case.estimator.estimator, case.lesson)) else case.lesson)
    for name in random.permutation(sorted(bad))[:3]:
        if name == "no rows" and case.cuts is not None:
            continue  # an empty shard counts for nothing
        wrong = replace(case, lesson=bad[name])
        in_fit = name not in BAD_IN_STREAMS and not takes_gaps(case.estimator.estimator, name)
        for call in (wrong.partial_fit, wrong.fit) if in_fit else (wrong.partial_fit,):
            if case.cuts is not None:
                wrong = replace(case, cuts=())
                call = getattr(Poisoned(case.estimator, case.lesson, case.cuts, bad[name]), call.__name__)
            try:
                call(mixed)
            except ValueError as error:
                assert " " in str(error), f"no words in {str(error)!r}"
                assert case.cuts is None or isinstance(error, ShardError), f"{error!r} names no shard"
            else:
                raise AssertionError(f"{call.__name__} with {name} raised nothing")
            assert is_same(frozen(mixed), before), f"{call.__name__} with {name} failed and left a trace"


@dataclass(frozen=True, repr=False)
class Poisoned(Mixture):
    """Has a last shard that cannot be learned from."""

    poison: Lesson | None = None

    def shards(self) -> list[Callable[[], Any]]:
        assert self.poison is not None
        return [*Mixture.shards(self), as_function(self.poison)]


@promise
def copies_go_on(case: Mixture, random: np.random.Generator) -> None:
    """Go on with a copy, or from a pickle, as with the mixture itself."""
    mixed = (case.fit if case.cuts is not None and random.random() < 0.5 else case.partial_fit)(case.new())
    other = copy.deepcopy(mixed) if random.random() < 0.5 else pickle.loads(pickle.dumps(mixed))
    check_same(case.partial_fit(other), case.partial_fit(mixed), "a copy, or the mixture itself")


@promise
def empty_shards_count_for_nothing(case: Mixture, random: np.random.Generator) -> None:
    """Learn the same with shards of no rows after the others."""
    shards = Mixture.shards(replace(case, cuts=case.cuts or ()))
    nothing = case.lesson.take(slice(0, 0))
    plain, more = (case.new().fit([*shards, *[as_function(nothing)] * n], classes=case.lesson.classes) for n in (0, 2))
    assert (plain.n_shards_, more.n_shards_) == (len(shards), len(shards) + 2)
    del plain.n_shards_, more.n_shards_
    check_same(plain, more, "without shards of no rows, or with two of them")
