"""Checks of problems with joint features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.estimator_checks._part_helpers import CLOSE, checked_call, copies_of, random_scores
from sklearn_predtron.problems._joint import PythonJointProblem

MOST_FOUND = 2000


def check_joint_problem(problem: Any, pairs: list[Any]) -> None:
    """Check a problem of joint features on pairs (x, y)."""
    compiled = checked_call(PythonJointProblem, problem)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"labels holds {shortened(pair)}; accepted for joint features are pairs (x, y).")
    asked = [ProbedJointProblem(compiled, x, y) for x, y in pairs]
    for one in asked:
        one.find_predictions()
        one.check_decoders()
    for way, other in copies_of(problem):
        twin = checked_call(PythonJointProblem, other)
        for one in asked:
            one.check_copy(way, ProbedJointProblem(twin, one.x, one.y))


class ProbedJointProblem:
    """A problem, an example, and the predictions found so far."""

    def __init__(self, compiled: Any, x: Any, y: Any):
        self.compiled, self.problem, self.name = compiled, compiled.inner, compiled.name
        self.x, self.y = x, y
        self.found: dict[tuple[bytes, float], tuple[Any, NDArray, float]] = {}  # with their features and losses

    # The checked results of the methods

    def features(self, prediction: Any) -> NDArray:
        """Return Phi(x, sigma)."""
        return checked_call(self.compiled.dense_features, self.x, prediction)

    def loss(self, prediction: Any) -> float:
        """Return L(sigma, y)."""
        return checked_call(self.compiled.loss_of, prediction, self.y)

    def decode(self, w: NDArray, *y: Any) -> Any:
        """Return the prediction under w, or a label's competitor."""
        given = w.copy()
        given.setflags(write=False)  # as the learner hands it over
        return getattr(self.problem, method_of(y))(given, self.x, *y)

    def correct(self, competitor: Any) -> Any:
        """Return sigma_y."""
        right = self.problem.correct(self.y, competitor)
        loss = self.loss(right)
        assert loss == 0, (
            f"{self.name}.correct({shortened(self.y)}, {shortened(competitor)}) returned {shortened(right)}, whose loss is "
            f"{loss:.9g}; expected is a prediction of loss 0"
        )
        return right

    # The predictions

    def add(self, prediction: Any) -> None:
        features, loss = self.features(prediction), self.loss(prediction)
        key = (np.round(features, 7) + 0.0).tobytes(), loss
        if len(self.found) < MOST_FOUND:
            self.found.setdefault(key, (prediction, features, loss))

    def find_predictions(self) -> None:
        listed = getattr(self.problem, "predictions", None)
        if listed is not None:
            for prediction in listed(self.x):
                self.add(prediction)
        for w in random_scores(self.compiled.n_features, 20):
            prediction, competitor = self.decode(w), self.decode(w, self.y)
            for found in (prediction, competitor, self.correct(prediction), self.correct(competitor)):
                self.add(found)

    # The checks

    def check_decoders(self) -> None:
        """Check both decoders against all predictions."""
        table = np.array([features for _, features, _ in self.found.values()])
        losses = np.array([loss for _, _, loss in self.found.values()])
        for w in random_scores(self.compiled.n_features, 15, seed=1):
            self.assert_best(table @ w, w)
            self.assert_best(losses + table @ w, w, self.y)

    def assert_best(self, values: NDArray, w: NDArray, *y: Any) -> None:
        """Assert that a decoder's result is a maximiser."""
        prediction, best = self.decode(w, *y), int(values.argmax())
        features = self.features(prediction)
        found = features @ w + (self.loss(prediction) if y else 0)
        what = "loss + <w, features>" if y else "<w, features>"
        given = ", ".join(map(shortened, [w.tolist(), self.x, *y]))
        assert found >= values[best] - CLOSE * (np.abs(features * w).sum() + np.abs(values).max()), (
            f"{self.name}.{method_of(y)}({given}) returned {shortened(prediction)}, where {what} is {found:.9g}; expected is a "
            f"maximiser, as {shortened(list(self.found.values())[best][0])} with {values[best]:.9g}"
        )

    def check_copy(self, way: str, twin: ProbedJointProblem) -> None:
        """Check that copies and repeated calls agree."""
        for w in random_scores(self.compiled.n_features, 4, seed=2):
            for y in ((), (self.y,)):
                found, expected = twin.decode(w, *y), self.decode(w, *y)
                assert np.array_equal(twin.features(found), self.features(expected)), (
                    f"{self.name}.{method_of(y)}, {way}, at w = {shortened(w.tolist())} and x = {shortened(self.x)}: found "
                    f"{shortened(found)}, expected {shortened(expected)}"
                )
        for prediction, features, loss in self.found.values():
            given = f"({shortened(self.x)}, {shortened(prediction)}), {way}"
            now, now_lost = twin.features(prediction), twin.loss(prediction)
            assert np.array_equal(now, features), (
                f"{self.name}.features{given}: found {shortened(now.tolist())}, expected {shortened(features.tolist())}"
            )
            assert now_lost == loss, (
                f"{self.name}.loss({shortened(prediction)}, {shortened(self.y)}), {way}: found {now_lost:.9g}, expected "
                f"{loss:.9g}"
            )


def method_of(y: tuple[Any, ...]) -> str:
    """Return the name of the decoder with or without label."""
    return "augmented_decode" if y else "decode"
