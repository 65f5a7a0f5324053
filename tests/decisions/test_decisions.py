"""Decisions as objects, against what each of them says by hand or by trying everything; none knows an estimator."""

import itertools
import types

import numpy as np
import pytest

from sklearn_predtron import PredtronMultilabelClassifier
from sklearn_predtron._core.averages import Average
from sklearn_predtron._core.lock import Lock
from sklearn_predtron._core.problem import Codes
from sklearn_predtron.decisions._abstain import AbstainBelow, AbstainByCode, AbstainByMargin, AbstainOnline, top_two
from sklearn_predtron.decisions._base import PLAIN, PROGRESSIVE, UNSEEN, HeldOut
from sklearn_predtron.decisions._cut import CutBy, Measure, best_cut_of_groups, best_cuts
from sklearn_predtron.decisions._cut_at import CutAt, CutOfTwoClasses, OfEachLabel
from sklearn_predtron.decisions._margin_histogram import MarginHistogram
from sklearn_predtron.decisions._score_histogram import PLACES, LabelScores
from sklearn_predtron.problems._finite import FiniteProblem, OneHotProblem, SignProblem
from sklearn_predtron.problems._label_sets import HammingProblem, Indicators

K = 3
COSTS = np.array([[0.0, 1.0, 2.0, 0.3], [1.0, 0.0, 1.0, 0.2], [4.0, 1.0, 0.0, 0.4]])
SCORES = np.random.default_rng(0).integers(-6, 7, (200, K)) / 4.0  # with ties
CODE = np.array([[1.0, 0.0], [0.6, 0.8]])


def mistakes(a, b, c, d):
    return b + 3.0 * c


def beside(problem, observer=None):
    """Return what a decision asks of a learner."""
    return types.SimpleNamespace(problem=problem, observer=observer, lock=Lock())


def lost(cut, scores, positive, weight):
    above = scores > cut
    return mistakes(0, (weight * (above & ~positive)).sum(), (weight * (~above & positive)).sum(), 0)


def test_plain_takes_the_scores_as_they_are():
    problem = OneHotProblem(K)
    assert PLAIN.asks_for is None and not PLAIN.shifts
    assert PLAIN.observer(problem, None) is None and PLAIN.shift(problem) is None
    assert PLAIN.now(beside(problem), "settled") is PLAIN and PLAIN.after_fit(beside(problem), None) == {}
    np.testing.assert_array_equal(PLAIN.predict(problem, SCORES), SCORES.argmax(axis=1))


@pytest.mark.parametrize(
    "problem", [SignProblem(None), FiniteProblem(CODE, None), OneHotProblem(2)], ids=["d=1", "code", "onehot"]
)
@pytest.mark.parametrize("cut", [-0.7, 0.0, 1.5])
def test_a_cut_of_two_classes_is_where_their_scores_meet(problem, cut):
    """Less the shift the second class wins just above the cut, and the score that is cut is 0 at it."""
    of, scores = CutOfTwoClasses(), np.random.default_rng(1).standard_normal((100, problem.d))
    decision = CutAt(of, np.array([cut]))
    assert decision.shifts and decision.asks_for is None and decision.observer(problem, None) is None
    assert decision.now(beside(problem), None) is decision
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
    observer, there = LabelScores(problem), np.arange(n) if order is None else order
    decision = CutBy(OfEachLabel(), Measure("mistakes", mistakes, pooled), "mistakes")
    assert decision.shifts and decision.asks_for == UNSEEN
    held = HeldOut(scores[there], sets[there].astype(np.intc), None, Indicators(sets), there, weight)
    learner = types.SimpleNamespace(**vars(beside(problem, observer)), average=Average(), t=n)
    name, rounds, cuts = decision.after_fit(learner, held)["cut"]
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
    decision = CutBy(OfEachLabel(), Measure("mistakes", mistakes, pooled), "mistakes")
    rounds = learner.observer.rounds
    settled = "mistakes", rounds, [0.25, -0.5]
    np.testing.assert_array_equal(decision.now(learner, {"cut": settled}).cuts, settled[2])
    weights = learner.observer.weights()
    assert weights.sum() > 0
    places = np.broadcast_to(PLACES[:, None], (len(PLACES), 2))
    by_bins = best_cuts(decision.measure, places, weights[:, :, 1].T, weights[:, :, 0].T)
    for other in (None, ("mistakes", rounds - 1, [9.0, 9.0]), ("another", rounds, [9.0, 9.0])):
        now = decision.now(learner, {"cut": other} if other else None)
        assert type(now) is CutAt
        np.testing.assert_array_equal(now.cuts, by_bins)
    assert np.abs(by_bins).max() > 0


@pytest.mark.parametrize(("pooled", "new"), [(False, 0.0), (True, -0.5)])
def test_labels_since_are_as_labels_of_which_no_row_was_seen(pooled, new):
    learner = seen(3)
    settled = "mistakes", learner.observer.rounds, [0.25, -0.5]
    decision = CutBy(OfEachLabel(), Measure("mistakes", mistakes, pooled), "mistakes")
    np.testing.assert_array_equal(decision.now(learner, {"cut": settled}).cuts, [0.25, -0.5, new])


def test_a_present_histogram_is_kept_and_another_is_not():
    learner = seen()
    decision = CutBy(OfEachLabel(), Measure("mistakes", mistakes), "mistakes")
    assert decision.observer(learner.problem, learner.observer) is learner.observer
    assert type(decision.observer(learner.problem, None)) is LabelScores
    with pytest.raises(ValueError, match="decision='mistakes' is chosen while the estimator learns"):
        decision.now(beside(learner.problem), None)
    problem = OneHotProblem(K)
    online = AbstainOnline(COSTS)
    histogram = online.observer(problem, None)
    assert type(histogram) is MarginHistogram and online.observer(problem, histogram) is histogram
    assert online.observer(problem, learner.observer) is not learner.observer


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


# --------------------------------------------------------------------------------------------------------------- abstain


def test_the_two_best_of_each_row():
    best, margin = top_two(SCORES)
    rest = np.sort(SCORES, axis=1)
    rows = np.arange(len(SCORES))
    np.testing.assert_array_equal(SCORES[rows, best[:, 0]], rest[:, -1])
    np.testing.assert_array_equal(SCORES[rows, best[:, 1]], rest[:, -2])
    np.testing.assert_array_equal(margin, rest[:, -1] - rest[:, -2])
    assert (best[:, 0] != best[:, 1]).all()


def test_a_margin_below_what_it_costs_to_be_wrong_is_rejected():
    problem = OneHotProblem(K)
    found = AbstainByMargin(COSTS).predict(problem, SCORES)
    assert set(found) == {0, 1, 2, K}
    for row, prediction in zip(SCORES, found, strict=True):
        first = int(np.argmax(row))
        second = max((c for c in range(K) if c != first), key=lambda c: (row[c], -c))
        rejected = row[first] - row[second] < COSTS[second, first] - 2 * COSTS[first, K]
        assert prediction == (K if rejected else first)


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 100.0])
def test_margins_below_a_threshold_are_rejected(threshold):
    """And one at it is not."""
    found = AbstainBelow(COSTS, threshold).predict(OneHotProblem(K), SCORES)
    np.testing.assert_array_equal(found == K, top_two(SCORES)[1] < threshold)
    np.testing.assert_array_equal(found[found < K], SCORES.argmax(axis=1)[found < K])


def test_the_online_threshold_is_the_histograms():
    problem, online = OneHotProblem(K), AbstainOnline(COSTS)
    assert online.asks_for == PROGRESSIVE and not online.shifts
    histogram = online.observer(problem, None)
    y = np.where(np.random.default_rng(5).random(len(SCORES)) < 0.7, SCORES.argmax(axis=1), 0)
    histogram.show(problem, np.ascontiguousarray(SCORES), Codes(y), np.arange(len(y)))
    now = online.now(beside(problem, histogram), None)
    assert type(now) is AbstainBelow and now.threshold == histogram.threshold(COSTS[:, -1]) > 0
    with pytest.raises(ValueError, match=r"reject\.rule='online' chooses its threshold while it learns"):
        online.now(beside(problem), None).predict(problem, SCORES)


def test_the_code_of_a_rejection_is_learned():
    code = np.vstack([np.eye(K), np.full(K, K**-0.5)])
    decision = AbstainByCode(K)
    found = decision.predict(FiniteProblem(code, COSTS), SCORES)
    np.testing.assert_array_equal(found, (SCORES @ code.T).argmax(axis=1))
    assert K in found
    with pytest.raises(ValueError, match=r"reject\.rule='code' is learned; call fit after setting it"):
        decision.predict(OneHotProblem(K), SCORES)
