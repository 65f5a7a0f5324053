"""Fuzz threads: on one model at a time one call learns, others are refused, and no round is lost."""

import copy
import pickle
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from sklearn_predtron import Predtron, PredtronSequenceTagger
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.norms import Norm
from tests.own_checks.data import corrupted

from .interrupts import WIDTH, long_lesson
from .lessons import Count, Lesson, predicted
from .models import draw, families, plain
from .problems import Circle

THREADS, SECONDS = 8, 0.4
LEARNING = "is being trained in another call"


def run(seed: int) -> str:
    """Draw a model, and let threads, a callback or a problem's method do with it what they like."""
    random = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how = random.integers(5)
        if how == 0 and find_spec("sklearn.callback"):  # from scikit-learn 1.9 on
            return in_callback(random)
        return in_method(random) if how == 1 else in_threads(random)


def draw_model(random: np.random.Generator) -> tuple[Any, Lesson]:
    """Draw an estimator of any family and norm, and rows for it."""
    kind = draw(random, families())
    sequences = kind is PredtronSequenceTagger
    norm = draw(random, [norm.alias for norm in kinds(Norm) if norm.of_sequences or not sequences])
    settings = {"norm": norm, "average": draw(random, ["linear", "uniform", False, 9.0]), "random_state": 0}
    model = plain(random, kind, settings, WIDTH)
    return model, long_lesson(random, model, 200 if norm == "rkhs" or kind is Predtron else 2000)


# -------------------------------------------------------------------------------------------------------------- threads


@dataclass
class Stage:
    """Hold a model that threads share, and what came of their calls."""

    model: Any
    lesson: Lesson
    end: float
    rounds: list[int] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)

    def act(self, seed: list[int]) -> None:
        """Call the model at random until the time is over; only what the contract allows may be raised."""
        random = np.random.default_rng(seed)
        calls = [self.predict, self.learn_one, self.learn_one, self.learn_many, self.set, self.pickle, self.copy, self.fail]
        learned = 0
        while time.monotonic() < self.end and not self.errors:
            call = calls[random.integers(len(calls))]
            try:
                learned += call(random) or 0
            except RuntimeError as error:
                allowed = LEARNING in str(error) or (call == self.predict and hasattr(self.model, "dual_coef_"))
                if not allowed:
                    self.errors.append(error)
            except BaseException as error:  # any other exception breaks the contract
                self.errors.append(error)
        self.rounds.append(learned)

    def learn(self, first: int, end: int) -> int:
        """Teach some rounds, and tell how many."""
        self.lesson.part(first, end).partial_fit(self.model)
        return end - first

    def learn_one(self, random: np.random.Generator) -> int:
        first = int(random.integers(self.lesson.n))
        return self.learn(first, first + 1)

    def learn_many(self, random: np.random.Generator) -> int:
        first = int(random.integers(self.lesson.n - 1))
        return self.learn(first, int(random.integers(first + 1, self.lesson.n)))

    def predict(self, random: np.random.Generator) -> None:
        assert len(predicted(self.model, self.lesson.X[: random.integers(1, 200)])) > 0

    def set(self, random: np.random.Generator) -> None:
        settings = [{"update": "perceptron"}, {"update": "adaptive"}, {"tol": 0.1}, {"average": "linear"}, {"average": "uniform"}]
        self.model.set_params(**draw(random, settings))

    def pickle(self, random: np.random.Generator) -> None:
        """Pickle the model, and use the copy."""
        predicted(pickle.loads(pickle.dumps(self.model)), self.lesson.X[:3])

    def copy(self, random: np.random.Generator) -> None:
        """Copy the model, and let the copy learn on."""
        self.lesson.part(0, 2).partial_fit(copy.deepcopy(self.model))

    def fail(self, random: np.random.Generator) -> None:
        """Teach NaN, which is refused."""
        lesson = self.lesson.part(0, 1)
        try:
            self.model.partial_fit(corrupted(np.zeros((1, lesson.X.shape[1])), np.nan), lesson.y[:1])
        except ValueError:
            return
        raise AssertionError("NaN was learned")


def in_threads(random: np.random.Generator) -> str:
    """Let threads share a model, and count its rounds."""
    model, lesson = draw_model(random)
    lesson.part(0, 10).partial_fit(model)
    stage = Stage(model, lesson, time.monotonic() + SECONDS)
    seed = int(random.integers(2**31))
    threads = [threading.Thread(target=stage.act, args=([seed, number],), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if stage.errors:
        raise stage.errors[0]
    expected = 10 + sum(stage.rounds)
    assert model.t_ == expected, f"t_ is {model.t_}, and the calls without an error taught {expected} rounds: {model}"
    assert np.isfinite(getattr(model, "intercept_", 0)).all()
    lesson.part(0, 10).partial_fit(model)
    assert model.t_ == expected + 10
    return "shared"


# ---------------------------------------------------------------------------------------------------- calls from within


@dataclass
class Meddler:
    """Call the model that is learning, and note what it answers."""

    how: int
    model: Any = None
    lesson: Any = None
    answers: list[str] = field(default_factory=list)
    busy: bool = False

    def meddle(self) -> None:
        """Try to change the model."""
        if self.model is None or self.busy or len(self.answers) > 3:
            return
        self.busy = True
        part = self.lesson.part(0, 2)
        calls: list[Callable[[], Any]] = [
            lambda: part.partial_fit(self.model),
            lambda: part.fit(self.model),
            lambda: self.model.set_params(update="perceptron"),
        ]
        try:
            calls[self.how]()
            self.answers.append("nothing was raised")
        except RuntimeError as error:
            self.answers.append(str(error))
        finally:
            self.busy = False

    def check(self, same: Any) -> None:
        """Check that every try was refused, and that the model is that of a run without any."""
        assert self.answers, "nothing was tried"
        for answer in self.answers:
            assert LEARNING in answer, f"changing a model within its own learning: {answer}"
        assert self.model.t_ == same.t_, f"t_ is {self.model.t_}, and without the tries {same.t_}"
        for attribute in ["last_coef_", "last_dual_coef_"]:
            if hasattr(same, attribute):
                assert np.array_equal(getattr(self.model, attribute), getattr(same, attribute))
        assert self.model.get_params()["update"] == same.get_params()["update"]


class MeddlingCallback(Meddler):
    """Meddle at the begin and the end of epochs."""

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.meddle()

    teardown, on_fit_task_end = setup, on_fit_task_begin


class MeddlingCircle(Circle):
    """Meddle in a method of the problem, after some rounds."""

    meddler: Any = None
    rounds = 0

    def decode(self, t: Any) -> int:
        """Find the nearest place, and meddle now and then."""
        self.rounds += 1
        if self.meddler is not None and self.rounds % 5 == 0:
            self.meddler.meddle()
        return super().decode(t)


def in_callback(random: np.random.Generator) -> str:
    """Let a callback of fit change the model."""
    estimator, lesson = draw_model(random)
    lesson = lesson.part(0, min(lesson.n, 300))
    same = lesson.fit(copy.deepcopy(estimator))
    meddler = MeddlingCallback(int(random.integers(3)), lesson=lesson)
    meddler.model = estimator.set_callbacks(meddler)
    lesson.fit(estimator)
    meddler.check(same)
    return "meddled"


def in_method(random: np.random.Generator) -> str:
    """Let a method of a problem in Python change the model."""
    norm = draw(random, ["l2", "l1", "scaled", "rkhs"])
    model = Predtron(MeddlingCircle(3), norm=norm, random_state=0)
    lesson = long_lesson(random, model, 60)
    same = copy.deepcopy(model)
    meddler = Meddler(int(random.integers(3)), model, lesson)
    fits = random.random() < 0.5
    for one in [same, model]:
        one.problem.meddler = meddler if one is model else None
        Count.learned += 1
        one.fit(lesson.X, lesson.y) if fits else one.partial_fit(lesson.X, lesson.y)
    meddler.check(same)
    return "meddled"
