"""From parameters to a learner: its problem, weights, update and average."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_predtron._core.averages import Average, ChoosingAverage, LinearAverage
from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron._core.rows import Rows
from sklearn_predtron._parts import resolve
from sklearn_predtron.families._bounded import Bounded
from sklearn_predtron.families._parameters import Parameterized
from sklearn_predtron.families._row_formats import warn_of_scales
from sklearn_predtron.norms import Auto, Norm
from sklearn_predtron.norms._base import Weights
from sklearn_predtron.norms._intercept import Intercept
from sklearn_predtron.problems._base import Labels, Problem
from sklearn_predtron.updates import Update, build_rule
from sklearn_predtron.updates._bounds import fingerprint

FIXED_AVERAGES = {"linear": LinearAverage, "uniform": Average}
FEW_WEIGHTS, FEW_OF_SEVERAL = 4096, 256
LEAST_OFTEN, WRITTEN_A_ROUND = 64, 8192  # rounds between two charges at most, and weights written for them in a round


class Composed(Bounded, Parameterized):
    """Makes a learner of the parameters, or changes the parts of the one that there is."""

    average: Any
    representation: Any
    _learned_with: Any
    _build_observer: Callable[..., Observer | None]

    def _prepare_learner(self, rows: Rows, labels: Labels, *, fresh: bool, partial: bool, sparse: bool | None = None) -> None:
        """Make a learner for these rows and labels, or give the one that there is the present parts.

        Where the format of new rows does not tell whether they are `sparse`, it is given.
        """
        problem = self._build_problem()
        problem.prepare(labels)
        observer = self._build_observer(problem, None if fresh else self._learner.observer)
        if fresh:
            self._fix_norm(rows, sparse=rows.sparse if sparse is None else sparse)
            self._learner = self._new_learner(problem, rows, observer, partial=partial)
            self._fixed, self._learned_with = self._fixed_parameters(), fingerprint(problem, self._learner.update)
        else:
            update, average = self._build_update(problem), self._build_average(problem, rows, partial=partial)
            self._change_parts(problem, update, average, observer)

    def _fix_norm(self, rows: Rows, *, sparse: bool) -> None:
        """Fix what "auto" stands for by the first rows, and keep their format until rows of the other one come.

        Dense rows that a file stores as CSR are of both formats, and none is another.
        """
        self._choose_norm(sparse=sparse)
        automatic = isinstance(resolve(Norm, self.norm, "norm"), Auto)
        self._first_sparse = rows.sparse if automatic and rows.sparse == sparse else None
        if self._first_sparse:
            warn_of_scales(rows.matrix())

    def _new_learner(self, problem: Problem, rows: Rows, observer: Observer | None, *, partial: bool = False) -> Learner:
        """Make a learner that has learned nothing, for rows like these."""
        update, average = self._build_update(problem), self._build_average(problem, rows, partial=partial)
        weights = self._build_weights(problem, rows, average=average is not None)
        weights.keep_averages(kept_by(average, weights))
        weights.expect(rows)
        return Learner(weights, problem, update, average or Average(), observer)

    def _build_weights(self, problem: Problem, rows: Rows, *, average: bool) -> Weights:
        norm, intercept = self._norm_of_weights(), self._build_intercept()
        return problem.score_map.build(norm, rows.p, intercept, sparse=rows.sparse, average=average)

    def _build_update(self, problem: Problem) -> Any:
        return build_rule(resolve(Update, self.update, "update", lambda update: build_rule(update, problem)), problem)

    def _build_intercept(self) -> Intercept:
        return Intercept(self.fit_intercept, self._scaling())

    def _build_average(self, problem: Problem, rows: Rows, *, partial: bool) -> Average | None:
        """Build the average of a stream, or of epochs; None where the last iterate predicts."""
        average = self.average
        if isinstance(average, (bool, np.bool_)) and not average:
            return None
        if isinstance(average, (bool, np.bool_)):
            raise ValueError(
                "average=True is ambiguous; accepted are None, 'auto', 'linear', 'uniform', a half-life in rounds and False."
            )
        if average is None:
            average = "auto" if partial else "linear"
        if average == "auto":
            return ChoosingAverage(charged_every(problem, rows.p))
        return FIXED_AVERAGES[average]() if isinstance(average, str) else Average(float(average))

    def _change_parts(self, problem: Problem, update: Any, average: Average | None, observer: Observer | None) -> None:
        """Take over what `set_params` changed since the last call."""
        learner = self._learner
        self._check_fixed()
        if made_of_scores(problem) != made_of_scores(learner.problem):
            start = "call fit with warm_start=False" if self.warm_start else "call fit"
            raise ValueError(
                f"{self._what_makes_scores()} has {number_of_scores(problem)} and the weights so far have "
                f"{number_of_scores(learner.problem)}; {start} to start anew."
            )
        if update.kind == learner.update.kind:
            update.restore(learner.update.state())
        kept = kept_by(average, learner.weights)
        if learner.weights.averaging > kept:
            self._learner = learner = copy.deepcopy(learner)  # others may be reading the average
            if average is not None and average.keep < 1:
                learner.weights.put_first(2)  # the one that forgets goes on
        with learner.lock.changing():
            learner.weights.keep_averages(kept)
        if type(average) is type(learner.average) is ChoosingAverage:
            average = learner.average
        self._learner = learner.with_parts(problem, update, average, observer)
        if learner.t > 0 and self._differs(problem, update):
            self._learned_with = "several"

    def _what_makes_scores(self) -> str:
        """Name the parameter that says how many scores there are, and its value."""
        return f"representation={self.representation!r}"


def charged_every(problem: Problem, p: int) -> int:
    """Return in every how many rounds the candidates of "auto" are scored and decoded: where that is most of a round, in some.

    A query comes with rows enough to learn from that it never is; and a stream has fewer of them than of rows.
    """
    few = problem.d * p <= (FEW_WEIGHTS if problem.d == 1 else FEW_OF_SEVERAL)
    costly = problem.in_python or (problem.score_map.of_blocks and not problem.score_map.offsets_cancel)
    if not costly and (few or problem.score_map.offsets_cancel):
        return 1
    return min(max(8, problem.score_map.written_for_means(p) // WRITTEN_A_ROUND), LEAST_OFTEN)


def kept_by(average: Average | None, weights: Weights) -> int:
    """Return how many averages weights keep for a parameter `average`."""
    return 0 if average is None else min(average.kept, weights.most_averages)


def made_of_scores(problem: Problem) -> tuple:
    """Return what must not change while the weights live: the number of scores, and what they are of."""
    return problem.d, type(problem.score_map), problem.of_one_score is None


def number_of_scores(problem: Problem) -> str:
    """Say how many scores a problem has."""
    which = " of one direction" if problem.score_map.offsets_apart else "" if problem.of_one_score is None else " of pairs"
    return f"{problem.d} score{'s' * (problem.d > 1)}{which}"
