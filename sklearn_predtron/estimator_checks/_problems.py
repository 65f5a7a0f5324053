"""Checks of problems written in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.estimator_checks._joint_problems import check_joint_problem
from sklearn_predtron.estimator_checks._part_helpers import CLOSE, checked_call, copies_of, random_scores
from sklearn_predtron.families._joint import is_joint
from sklearn_predtron.problems._user import PythonProblem

MOST_FOUND = 2000


def check_problem(problem: Any, labels: Iterable[Any]) -> None:
    """Check a problem written in Python.

    Decoders are compared with all predictions, which the problem's own `predictions` lists.  Without it, they are those found as
    sigma_y of a label or decoded at many random scores, some of them tied.

    - ``decode(t)`` maximises <rep(sigma), t>, and ``augmented_decode(t, y)`` maximises L(sigma, y) + <rep(sigma), t>;
    - ``decode(representation(sigma))`` is sigma, and representations are unit vectors;
    - losses are numbers from 0 to 1e100, those of ``correct(y, sigma)`` are 0, and all are consistent with c_L and C_L;
    - no method changes t, and each returns the same in repeated calls, and for clones, copies and pickles.

    For a `JointProblem` the same is checked for each x separately, with random weights w instead of scores, and for ``features``,
    which need not be unit vectors.

    Parameters
    ----------
    problem : Problem or JointProblem
        The problem.
    labels : iterable
        Some distinct labels; about ten are enough.  For a `JointProblem`, pairs (x, y) of an object and its label.

    Raises
    ------
    AssertionError
        If a check fails; the message has the method, its arguments, its result and the expected result.

    See Also
    --------
    sklearn_predtron.Problem : The methods to define.
    sklearn_predtron.JointProblem : The methods if features depend on the prediction as well.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import Problem
    >>> from sklearn_predtron.estimator_checks import check_problem
    >>> class Parity(Problem):
    ...     n_scores, c_L, C_L = 1, 1.0, 1.0
    ...     def decode(self, t):
    ...         return int(t[0] > 0)
    ...     def loss(self, prediction, y):
    ...         return float(prediction != y)
    ...     def representation(self, prediction):
    ...         return np.array([2.0 * prediction - 1])
    ...     def augmented_decode(self, t, y):
    ...         return self.decode(t + (1 - 2 * y) / 2)
    >>> check_problem(Parity(), [0, 1])
    >>> class Swapped(Parity):
    ...     def augmented_decode(self, t, y):
    ...         return self.decode(t - (1 - 2 * y) / 2)
    >>> check_problem(Swapped(), [0, 1])
    Traceback (most recent call last):
        ...
    AssertionError: Swapped.augmented_decode([0.0], 0) returned 0, where loss + <rep, t> is 0; expected is a
    maximiser, as 1 with 1...
    """
    refuse_class("problem", problem)
    labels = list(labels)
    if not labels:
        raise ValueError("labels is empty; accepted is an iterable of at least one label.")
    if is_joint(problem):
        check_joint_problem(problem, labels)
        return
    asked = ProbedProblem(problem, labels)
    asked.find_predictions()
    asked.check_losses()
    asked.check_decoders()
    for way, other in copies_of(problem):
        asked.check_copy(way, other)


class ProbedProblem:
    """A problem, labels, and the predictions found so far."""

    def __init__(self, problem: Any, labels: list[Any]):
        self.problem, self.labels = problem, labels
        self.name = type(problem).__name__
        self.compiled = checked_call(PythonProblem, problem)
        self.found: dict[bytes, tuple[Any, NDArray]] = {}  # predictions with their representations

    # The checked results of the methods

    def rep(self, prediction: Any) -> NDArray:
        """Return rep(sigma)."""
        return np.array(checked_call(self.compiled.representation_of, prediction))

    def loss(self, prediction: Any, y: Any) -> float:
        """Return L(sigma, y)."""
        return checked_call(self.compiled.loss_of, prediction, y)

    def decode(self, t: NDArray, *y: Any) -> Any:
        """Return the prediction at scores, or a label's competitor."""
        method = "augmented_decode" if y else "decode"
        given = t.copy()
        prediction = getattr(self.problem, method)(given, *y)
        assert np.array_equal(given, t), (
            f"{self.name}.{method} changed the scores it was given: found {shortened(given.tolist())}, expected "
            f"{shortened(t.tolist())}"
        )
        return prediction

    def correct(self, y: Any, competitor: Any) -> Any:
        """Return sigma_y."""
        right = self.problem.correct(y, competitor)
        loss = self.loss(right, y)
        assert loss == 0, (
            f"{self.name}.correct({shortened(y)}, {shortened(competitor)}) returned {shortened(right)}, whose loss is "
            f"{loss:.9g}; expected is a prediction of loss 0"
        )
        return right

    # The predictions

    def add(self, prediction: Any) -> None:
        rep = self.rep(prediction)
        key = (np.round(rep, 7) + 0.0).tobytes()
        if key not in self.found:
            if len(self.found) < MOST_FOUND:
                self.found[key] = prediction, rep
            return
        other = self.found[key][0]
        for y in self.labels:
            losses = self.loss(prediction, y), self.loss(other, y)
            assert losses[0] == losses[1], (
                f"{self.name}.representation is the same for {shortened(prediction)} and {shortened(other)}, whose losses on "
                f"{shortened(y)} are {losses[0]:.9g} and {losses[1]:.9g}; expected are different unit vectors"
            )

    def find_predictions(self) -> None:
        listed = getattr(self.problem, "predictions", None)
        if listed is not None:
            for prediction in listed() if callable(listed) else listed:
                self.add(prediction)
        for t in random_scores(self.compiled.d, 40):
            prediction = self.decode(t)
            self.add(prediction)
            for y in self.labels:
                self.loss(prediction, y)
                competitor = self.decode(t, y)
                self.add(competitor)
                self.add(self.correct(y, competitor))
                self.add(self.correct(y, prediction))

    @property
    def reps(self) -> NDArray:
        """Return the representations of the found predictions."""
        return np.array([rep for _, rep in self.found.values()])

    # The checks

    def check_losses(self) -> None:
        """Check the losses and decodings of all predictions."""
        for prediction, rep in self.found.values():
            for y in self.labels:
                self.loss(prediction, y)
            back = self.decode(rep)
            assert np.abs(self.rep(back) - rep).max() <= CLOSE, (
                f"{self.name}.decode(representation({shortened(prediction)})) returned {shortened(back)}; expected is "
                f"{shortened(prediction)}, whose representation is {shortened(rep.tolist())}"
            )

    def check_decoders(self) -> None:
        """Check both decoders against all predictions."""
        reps, predictions = self.reps, [prediction for prediction, _ in self.found.values()]
        costs = [np.array([self.loss(prediction, y) for prediction in predictions]) for y in self.labels]
        for t in random_scores(self.compiled.d, 15, seed=1):
            scores = reps @ t
            self.assert_best(scores, predictions, t)
            for y, cost in zip(self.labels, costs, strict=True):
                self.assert_best(cost + scores, predictions, t, y)

    def assert_best(self, values: NDArray, predictions: list[Any], t: NDArray, *y: Any) -> None:
        """Assert that a decoder's result is a maximiser."""
        prediction, best = self.decode(t, *y), int(values.argmax())
        found = self.rep(prediction) @ t + (self.loss(prediction, *y) if y else 0)
        method, what = ("augmented_decode", "loss + <rep, t>") if y else ("decode", "<rep, t>")
        given = ", ".join(map(shortened, [t.tolist(), *y]))
        assert found >= values[best] - CLOSE * (np.linalg.norm(t) + np.abs(values).max()), (
            f"{self.name}.{method}({given}) returned {shortened(prediction)}, where {what} is {found:.9g}; expected is a "
            f"maximiser, as {shortened(predictions[best])} with {values[best]:.9g}"
        )

    def check_copy(self, way: str, other: Any) -> None:
        """Check that copies and repeated calls agree."""
        twin = ProbedProblem(other, self.labels)
        for t in random_scores(self.compiled.d, 4, seed=2):
            calls: list[tuple] = [(t,), *((t, y) for y in self.labels)]
            for call in calls:
                found, expected = twin.decode(*call), self.decode(*call)
                method = "augmented_decode" if len(call) > 1 else "decode"
                assert np.array_equal(twin.rep(found), self.rep(expected)), (
                    f"{self.name}.{method}, {way}, at t = {shortened(t.tolist())}: found {shortened(found)}, expected "
                    f"{shortened(expected)}"
                )
        for prediction, _ in self.found.values():
            for y in self.labels:
                found, expected = twin.loss(prediction, y), self.loss(prediction, y)
                assert found == expected, (
                    f"{self.name}.loss({shortened(prediction)}, {shortened(y)}), {way}: found {found:.9g}, expected "
                    f"{expected:.9g}"
                )
