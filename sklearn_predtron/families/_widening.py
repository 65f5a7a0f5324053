"""Streams that grow: features and classes that nobody knew of when learning began."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.averages import Average, ChoosingAverage
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.lock import Lock
from sklearn_predtron._queries import shortened
from sklearn_predtron.families._composition import charged_every
from sklearn_predtron.problems._base import Problem

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self


class Widened:
    """Makes room for more features and classes."""

    _busy: Lock
    _learner: Learner
    norm: Any
    _norm_of_weights: Callable[[], Any]
    n_features_in_: Any
    _fitted_state: Callable[[], dict[str, Any]]
    _restore: Callable[[dict[str, Any]], None]
    _as_of_now: Callable[[], Any]
    _validate_params: Callable[[], None]
    _build_problem: Callable[[], Problem]
    _build_update: Callable[[Problem], Any]
    _build_observer: Callable[..., Any]
    _differs: Callable[[Problem, Any], bool]
    _learned_with: Any
    _close_stream: Callable[[], None]
    _open_stream: Callable[[], Any]

    def widen(self, n_features: Any = None, classes: Any = None) -> Self:
        """Make room for features or classes that appear in mid-stream.

        Weights of new features are zero, as if all rows so far had held zeros there: what is learned afterwards is, to the last
        bit, what a model would have learned that had known the width from the start (with ``norm="trace"`` and kernels but for
        rounding).  Room grows geometrically, so that a stream which grows by a feature a row costs no more for it.

        The scores of a new class begin at zero, too; but it has not competed so far, so that a model which had known the class
        from the start would be another one.

        Parameters
        ----------
        n_features : int or list of str, default=None
            Features of the rows to come, no fewer than so far; None leaves them as they are.  Where learning began with a data
            frame, the names of all columns to come, those known first.
        classes : array-like of shape (n_classes,), default=None
            Classes to come, beside those known; None adds none.  A multilabel classifier takes the numbers of all labels to
            come, 0, 1, ... (their names, if it knows names): new labels are the last columns.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ValueError
            If rows would become narrower; if a parameter of the norm follows from the width and so would change (``q=None``
            below 55 features, ``q="theory"``, ``gamma=None``); if the family, the representation or the loss cannot take more
            classes, as all but 0-1 losses and dicts of costs.

        Examples
        --------
        >>> from sklearn_predtron import PredtronClassifier
        >>> model = PredtronClassifier().partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1])
        >>> model.widen(n_features=3, classes=[2]).partial_fit([[0.0, 0.0, 1.0]], [2]).predict([[0.0, 0.0, 2.0]])
        array([2])
        """
        with self._busy:
            if "_learner" not in vars(self):
                check_is_fitted(self)
            wider = self._as_of_now()
            wider._widen_alone(n_features, classes)
            self._restore(wider._fitted_state())  # at once, as others may be predicting
        return self

    def _widen_alone(self, n_features: Any, classes: Any) -> None:
        """Make room, while no other call learns; what is there already is changed at last."""
        learner, known = self._learner, self.n_features_in_
        width, names = self._wider(n_features)
        places, problem = list(range(learner.problem.d)), learner.problem
        if classes is not None:
            self._validate_params()
            places, rebuilt = self._add_classes(classes), self._build_problem()
            problem = problem if rebuilt.d == problem.d else rebuilt
        self._check_constants((learner.problem.d, known), (problem.d, width))
        room = learner.weights.room_for(width)
        if room > learner.weights.p or problem is not learner.problem:
            learner = self._copied(max(room, learner.weights.p), places, problem)
        average = average_of_width(learner.average, problem, width)
        if average is not learner.average:
            learner = learner.with_parts(problem, learner.update, average, learner.observer)
        learner.widen(width)
        if learner is not self._learner:
            self._learner = learner
            if "_stream" in vars(self):
                self._close_stream()
                self._stream = self._open_stream()
        self.n_features_in_ = width
        if names is not None:
            self.feature_names_in_ = names

    def _copied(self, room: int, places: list[int], problem: Problem) -> Learner:
        """Return a learner with more room, for this problem; others may be reading the present one."""
        learner, observer = self._learner, self._learner.observer
        if problem is learner.problem:
            return learner.resized(room, places, problem, observer)
        observer = self._build_observer(problem, None if observer is None else observer.resized(problem, places))
        learner = learner.resized(room, places, problem, observer)
        update = self._build_update(problem)
        if update.kind == learner.update.kind:
            update.restore(learner.update.state())
        learner = learner.with_parts(problem, update, learner.average, observer)
        if learner.t > 0 and self._differs(problem, update):
            self._learned_with = "several"
        return learner

    def _wider(self, n_features: Any) -> tuple[int, NDArray | None]:
        """Return the number of features to come, and their names if they have any."""
        known, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        if n_features is None:
            return known, names
        if names is not None:
            given = np.asarray(n_features, dtype=object)
            texts = given.ndim == 1 and all(isinstance(name, str) for name in given)
            if not texts or len(set(given)) < len(given) or not np.array_equal(given[:known], names):
                raise ValueError(
                    f"n_features={shortened(n_features)}: learning began with named features; accepted is a list of different "
                    f"names that begins with the {known} known ones, {shortened(names.tolist())}."
                )
            return len(given), given
        if not isinstance(n_features, Integral) or isinstance(n_features, bool) or not known <= n_features <= sys.maxsize:
            raise ValueError(
                f"n_features={shortened(n_features)} must be an integer of at least {known}, the features so far (a model does "
                f"not become narrower), and at most {sys.maxsize}."
            )
        return int(n_features), None

    def _add_classes(self, classes: Any) -> list[int]:
        """Take over new classes, and return the number that each score so far gets."""
        raise ValueError(f"classes={shortened(classes)}: {type(self).__name__} does not take more classes; fit it anew.")

    def _check_constants(self, known: tuple[int, int], wanted: tuple[int, int]) -> None:
        """Refuse numbers of scores and features for which a parameter of the norm would be another."""
        norm = self._norm_of_weights()
        before, after = norm.constants(*known), norm.constants(*wanted)
        changed = [name for name in before if before[name] != after[name]]
        if changed:
            name, several = changed[0], known[0] != wanted[0]
            sizes, wider = (f"{d} scores of {p}" if several else f"{p}" for d, p in (known, wanted))
            raise ValueError(
                f"norm={self.norm!r} has {name}={before[name]:g} for the {sizes} features so far, and would have "
                f"{name}={after[name]:g} for {wider}, which cannot change once learning has begun; give {name} to the norm."
            )


def average_of_width(average: Average, problem: Problem, width: int) -> Average:
    """Return what goes on from an average: candidates of many weights are charged less often."""
    if not isinstance(average, ChoosingAverage) or charged_every(problem, width) == average.every:
        return average
    return average.charging(charged_every(problem, width))
