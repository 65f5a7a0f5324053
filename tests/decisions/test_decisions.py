"""Decisions as objects, against what each of them says by hand or by trying everything; none knows an estimator."""

import itertools
import types

import numpy as np
import pytest

from sklearn_predtron import PredtronMultilabelClassifier
from sklearn_predtron.decisions._base import PLAIN, HeldOut, UnseenRows, values_of_fit
from sklearn_predtron.decisions._calibration import BinaryScores, Calibration, LabelScores
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.decisions._recent_scores import RecentScores
from sklearn_predtron.decisions._threshold import CutBy, Measure, best_cut, best_cut_of_groups
from sklearn_predtron.families._cost_classifier import top_two
from sklearn_predtron.problems._finite import FiniteProblem, OneHotProblem, SignProblem
from sklearn_predtron.problems._label_sets import HammingProblem

K = 3
CALIBRATION = Calibration(LabelScores())
SCORES = np.random.default_rng(0).integers(-6, 7, (200, K)) / 4.0  # with ties
CODE = np.array([[1.0, 0.0], [0.6, 0.8]])


def mistakes(a, b, c, d):
    return b + 3.0 * c


def beside(problem, observer=None):
    """Return what a decision asks of a learner."""
    return types.SimpleNamespace(problem=problem, observer=observer, t=1)


def fitted(decision, learner, values=None):
    return decision.fitted(UnseenRows.of(learner, values))


def lost(cut, scores, positive, weight):
    above = scores > cut
    return mistakes(0, (weight * (above & ~positive)).sum(), (weight * (~above & positive)).sum(), 0)


def test_plain_takes_the_scores_as_they_are():
    problem = OneHotProblem(K)
    assert not PLAIN.needs_scores and not PLAIN.shifts
    assert PLAIN.observer(problem, None) is None and PLAIN.shift(problem) is None
    assert fitted(PLAIN, beside(problem)) is PLAIN and values_of_fit(PLAIN, beside(problem), None) == {}
    np.testing.assert_array_equal(PLAIN.predict(problem, SCORES), SCORES.argmax(axis=1))


@pytest.mark.parametrize(
    "problem", [SignProblem(None), FiniteProblem(CODE, None), OneHotProblem(2)], ids=["d=1", "code", "onehot"]
)
@pytest.mark.parametrize("cut", [-0.7, 0.0, 1.5])
def test_a_cut_of_two_classes_is_where_their_scores_meet(problem, cut):
    """Less the shift the second class wins just above the cut, and the score that is cut is 0 at it."""
    of, scores = BinaryScores(), np.random.default_rng(1).standard_normal((100, problem.d))
    decision = CutAt(of, np.array([cut]))
    assert decision.shifts and not decision.needs_scores and decision.observer(problem, None) is None
    assert fitted(decision, beside(problem)) is decision
    shifted = scores - decision.shift(problem)
    np.testing.assert_allclose(of.scores(problem, shifted), of.scores(problem, scores) - cut, atol=1e-12)
    decoded = problem.decision(scores)
    difference = (decoded[:, 1] - decoded[:, 0]) / (2 if problem.d == 1 else 1)
    np.testing.assert_array_equal(decision.predict(problem, shifted), (difference > cut).astype(int))


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_cuts_lose_least(pooled, weighted):
    """Of the rows that were held out; those of weight 0 have no say."""
    random = np.random.default_rng(2)
    n, m = 30, 3
    scores, sets = random.integers(-4, 5, (n, m)) / 2.0, random.integers(0, 2, (n, m)).astype(np.uint8)
    weight = random.integers(0, 3, n) / 1.0 if weighted else None
    order = np.flatnonzero(weight) if weighted else None
    problem = HammingProblem(m)
    observer, there = RecentScores(problem, "sets"), np.arange(n) if order is None else order
    decision = CutBy(Measure("mistakes", mistakes, pooled), "mistakes", CALIBRATION)
    assert decision.shifts and decision.needs_scores
    held = HeldOut(scores[there], sets[there].astype(np.intc), None if weight is None else weight[there], there)
    rounds, name, cuts = values_of_fit(decision, beside(problem, observer), held)["cut"]
    assert (name, rounds) == ("mistakes", len(there)) and len(cuts) == m
    whole = np.ones((n, m)) if weight is None else np.repeat(weight[:, None], m, axis=1)
    columns = [slice(None)] if pooled else range(m)
    for column in columns:
        found = [part[:, column].ravel() for part in (scores, sets == 1, whole)]
        tries = np.append(np.unique(scores), scores.min() - 1)
        cut = cuts[0 if pooled else column]
        assert lost(cut, *found) <= min(lost(other, *found) for other in tries) + 1e-12
    assert not pooled or len(set(cuts)) == 1


def seen(m=2, n=60):
    """Return a learner whose observer has seen the scores of m labels."""
    X = np.random.default_rng(3).standard_normal((n, 4))
    model = PredtronMultilabelClassifier(decision="macro_f1").partial_fit(X, (X[:, :m] > 0.5).astype(int))
    return model._model.learner


@pytest.mark.parametrize("pooled", [False, True])
def test_cuts_of_a_moment_are_the_settled_ones_until_there_are_more_rounds(pooled):
    learner = seen()
    decision = CutBy(Measure("mistakes", mistakes, pooled), "mistakes", CALIBRATION)
    rounds = learner.observer.marked_at
    settled = rounds, "mistakes", [0.25, -0.5]
    np.testing.assert_array_equal(fitted(decision, learner, {"cut": settled}).cuts, settled[2])
    scores, sets, weight, _ = (part[rounds // 4 :] for part in learner.observer.marked())
    parts = scores.astype(float), (sets == 1) * weight[:, None], (sets == 0) * weight[:, None]
    columns = [[part.ravel() for part in parts]] * 2 if pooled else zip(*(part.T for part in parts), strict=True)
    by_record = [best_cut(mistakes, *column) for column in columns]
    for other in (None, (rounds - 1, "mistakes", [9.0, 9.0]), (rounds, "another", [9.0, 9.0])):
        now = fitted(decision, learner, {"cut": other} if other else None)
        assert type(now) is CutAt
        np.testing.assert_array_equal(now.cuts, by_record)
    assert np.abs(by_record).max() > 0


@pytest.mark.parametrize(("pooled", "new"), [(False, 0.0), (True, 0.0)])
def test_labels_since_are_as_labels_of_which_no_row_was_seen(pooled, new):
    learner = seen(3)
    settled = learner.observer.marked_at, "mistakes", [0.25, -0.5]
    decision = CutBy(Measure("mistakes", mistakes, pooled), "mistakes", CALIBRATION)
    np.testing.assert_array_equal(fitted(decision, learner, {"cut": settled}).cuts, [0.25, -0.5, new])


def test_a_present_record_is_kept():
    learner = seen()
    decision = CutBy(Measure("mistakes", mistakes), "mistakes", CALIBRATION)
    assert decision.observer(learner.problem, learner.observer) is learner.observer
    assert type(decision.observer(learner.problem, None)) is RecentScores
    with pytest.raises(ValueError, match="decision='mistakes' is chosen while the estimator learns"):
        fitted(decision, beside(learner.problem))


def lost_by_groups(cut, scores, on, start, weight):
    groups = [slice(first, end) for first, end in itertools.pairwise(start)]
    return sum(w * lost(cut, scores[g], on[g], 1.0) for w, g in zip(weight, groups, strict=True))


def test_the_best_cut_of_groups_by_trying_all():
    random = np.random.default_rng(4)
    for _ in range(30):
        start = np.append(0, np.cumsum(random.integers(1, 6, 5)))
        scores, on = random.integers(-3, 4, start[-1]) / 2.0, random.integers(0, 2, start[-1]) == 1
        given = scores, on, start, random.integers(1, 4, 5) / 1.0
        tries = np.append(np.unique(scores), scores.min() - 1)
        least = min(lost_by_groups(cut, *given) for cut in tries)
        assert lost_by_groups(best_cut_of_groups(mistakes, *given), *given) <= least + 1e-9


def test_the_two_best_of_each_row():
    best, margin = top_two(SCORES)
    rest = np.sort(SCORES, axis=1)
    rows = np.arange(len(SCORES))
    np.testing.assert_array_equal(SCORES[rows, best[:, 0]], rest[:, -1])
    np.testing.assert_array_equal(SCORES[rows, best[:, 1]], rest[:, -2])
    np.testing.assert_array_equal(margin, rest[:, -1] - rest[:, -2])
    assert (best[:, 0] != best[:, 1]).all()
