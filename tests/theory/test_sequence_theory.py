"""Margins and bounds of sequences: learners stay within them, and margins are those of the list of all sequences."""

from itertools import pairwise, product

import numpy as np
import pytest
from cases import name
from euclidean import PredtronClassifier, PredtronSequenceTagger
from numpy.testing import assert_allclose

from sklearn_predtron.losses import SequenceHamming
from sklearn_predtron.theory import margin, radius, theorem_of, unit_margin
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate

COSTS = [[0, 1, 0.5], [2, 0, 1], [1, 1, 0]]
UPDATES = [
    Adaptive(),
    Adaptive(kappa=0.5),
    LossAugmented(eta="theory"),
    LossDriven(),
    LossDriven(eta="theory"),
    PerceptronUpdate(),
]
UPDATES += [PassiveAggressive(variant="pa")]


def separable(seed, n=30, longest=4, k=3):
    """Sequences with few features that a chain separates by far: what a token is shows, but for noise, in its row."""
    random = np.random.default_rng(seed)
    size = random.integers(1, longest + 1, n)
    y = random.integers(0, k, size.sum())
    y[:k] = np.arange(k)
    return np.eye(k)[y] + 0.15 * random.standard_normal((len(y), k)), y, np.repeat(np.arange(n), size)


def learned(update, loss, data):
    X, y, sid = data
    model = PredtronSequenceTagger(update=update, loss=loss, intercept_scaling=0.5, transition_scaling=0.2)
    for i in range(sid.max() + 1):
        model.partial_fit(X[sid == i], y[sid == i], classes=np.arange(3), sid="one")
    return model


def judge_of(data):
    """Weights of a large margin, which others are judged by."""
    X, y, sid = data
    how = {"intercept_scaling": 0.5, "transition_scaling": 0.2, "max_iter": 200, "random_state": 0}
    return PredtronSequenceTagger(update=PassiveAggressive(variant="pa"), **how).fit(X, y, sid=sid)


@pytest.mark.parametrize("update", UPDATES, ids=name)
@pytest.mark.parametrize("loss", ["hamming", "zero_one", SequenceHamming(COSTS)], ids=str)
def test_learners_stay_within_their_bounds(update, loss):
    for seed in range(5):
        data = separable(seed)
        model, judge = learned(update, loss, data), judge_of(data).set_params(loss=loss)
        X, y, sid = data
        gamma = judge.margin(X, y, sid=sid)
        assert gamma > 0
        R = radius(model, X)
        bound = model.loss_bound(gamma, R)
        assert 0 < model.cumulative_loss_ <= bound
        if not isinstance(update, LossDriven):
            rate = unit_margin(judge, X, y, sid=sid)
            assert model.cumulative_loss_ <= model.loss_bound(unit_margin=rate, radius=R)
    assert theorem_of(model)


def test_perceptron_bound_is_of_the_order_of_the_loss():
    """Orthogonal tokens, one a sequence: each is a mistake, and the bound is not far."""
    X, y = np.eye(24), np.arange(24) % 2
    how = {"update": "perceptron", "intercept_scaling": 1e-3, "transition_scaling": 1e-3, "average": False}
    model = PredtronSequenceTagger(**how)
    for x, label in zip(X, y, strict=True):
        model.partial_fit([x], [label], classes=[0, 1], sid="one")
    fitted = PredtronSequenceTagger(**how, max_iter=50, random_state=0).fit(X, y, sid=np.arange(24))
    bound = model.loss_bound(fitted.margin(X, y, sid=np.arange(24)), radius(model, X))
    assert 12 <= model.cumulative_loss_ <= bound <= 4 * model.cumulative_loss_ + 1


@pytest.mark.parametrize("loss", ["hamming", "zero_one", SequenceHamming(COSTS)], ids=str)
def test_unit_margins_are_those_of_the_list(loss):
    for seed in range(10):
        X, y, sid = separable(seed)
        model = learned(Adaptive(), loss, (X, y, sid))
        X = X + 0.5 * np.random.default_rng(seed).standard_normal(X.shape)  # so that some margins are negative
        part = loss if isinstance(loss, SequenceHamming) else SequenceHamming()
        cost = 1 - np.eye(3) if part.table(np.arange(3)) is None else part.table(np.arange(3))
        u, least, gaps = X @ model.coef_.T + model.intercept_, [], []
        for i in range(sid.max() + 1):
            scores, true = u[sid == i], y[sid == i]
            found = {s: score_of(model, scores, s) for s in product(range(3), repeat=len(true))}
            lead = {s: found[tuple(true)] - score for s, score in found.items() if s != tuple(true)}
            losses = {s: 1.0 if loss == "zero_one" else cost[true, list(s)].sum() for s in lead}
            least.append(min(lead[s] / losses[s] for s in lead if losses[s] > 0))
            gaps.append(min(lead.values()))
        rho = model.transition_scaling * 0.25
        squares = (model.coef_**2).sum() + (model.intercept_**2).sum() / 0.25
        squares += sum((part**2).sum() for part in (model.transitions_, model.start_, model.end_)) / rho
        assert_allclose(unit_margin(model, X, y, sid=sid), min(least) / squares**0.5, rtol=1e-9, atol=1e-12)
        assert_allclose(model.margin(X, y, sid=sid), min(gaps) / squares**0.5, rtol=1e-9, atol=1e-12)


def test_a_step_may_be_long_where_the_loss_is_one():
    """A long sequence of equal tokens, and a short one, push to and fro: the step of the long one is T sqrt(q) long."""
    T, q = 250, 2.0 + 8e-9
    long, short = np.tile([[1.0, 0.0]], (T, 1)), np.array([[-0.9, 0.4]])
    how = {"intercept_scaling": 1e-3, "transition_scaling": 1e-3, "average": False}
    model = PredtronSequenceTagger(loss="zero_one", update="perceptron", **how)
    model.partial_fit(long, np.ones(T, int), classes=[0, 1], sid="one")
    for _ in range(300):
        model.partial_fit(short, [1], sid="one").partial_fit(long, np.ones(T, int), sid="one")
    w = np.array([1.0, 3.0]) / 10**0.5
    g = min(2 * (x @ w) / 2**0.5 for x in (long[0], short[0]))  # of weights by hand, rows -w and w over the length of both
    assert q / g**2 < model.cumulative_loss_ <= model.loss_bound(unit_margin=g, radius=1.0)
    assert model.loss_bound(unit_margin=g, radius=1.0) == pytest.approx(model.loss_bound(margin=g, radius=1.0))


@pytest.mark.parametrize(
    ("costs", "least"), [(None, 1.0), ([[0, 3], [0.5, 0]], 0.5), ([[0, 3], [0, 0]], None)], ids=["one", "costs", "free"]
)
def test_perceptron_bound_is_the_longest_step_for_a_unit_of_loss(costs, least):
    """max |Delta|^2 / L over h wrong tokens, that cost what they must at least: T of them, but where some are free."""
    T, q, g = 7, 2.0 + 8e-9, 0.3
    how = {"intercept_scaling": 1e-3, "transition_scaling": 1e-3}
    model = PredtronSequenceTagger(loss=SequenceHamming(costs), update="perceptron", **how)
    model.partial_fit(np.eye(T), np.arange(T) % 2, classes=[0, 1], sid="one")
    longest = T**2 * q if least is None else max(h**2 * q / max(h * least, least) for h in range(1, T + 1))
    bound = model.loss_bound(unit_margin=g, radius=1.0)
    assert bound == pytest.approx(longest / (3.0 if least is None else 1.0) / g**2)


def test_a_constant_target_is_bounded_by_the_least_loss():
    """k long sequences are learned by tiny steps; each of N single tokens, mostly of a feature of its own, undoes them all."""
    T, a, N = 100, 0.1, 40
    k, e = int((a * T) ** 2 * 0.9), (1 - a * a) ** 0.5
    p = k + N
    how = {"intercept_scaling": 1e-5, "transition_scaling": 1e-6, "average": False}
    model = PredtronSequenceTagger(update=PassiveAggressive(competitor="predicted", target="constant"), **how)
    longs, ids = np.repeat(np.eye(k, p), T, axis=0), np.repeat(np.arange(k), T)
    for j in range(N):
        model.partial_fit(longs, np.ones(k * T, int), classes=[0, 1], sid=ids)
        x = np.zeros((1, p))
        x[0, :k], x[0, k + j] = -a / k**0.5, e
        model.partial_fit(x, [1], sid="one")
    v = (1 + a * k**0.5) / (2 * e)  # weights by hand, of rows -w and w: each token leads by g
    g = 1 / (2 * (k / 4 + N * v * v)) ** 0.5
    bound = model.loss_bound(unit_margin=g, radius=1 + 1e-9)
    assert bound / T < model.cumulative_loss_ <= bound  # by the largest loss in the place of the least it would be exceeded


def test_labels_that_cost_nothing_but_score_more_leave_no_unit_margin():
    """No g > 0 has S(y) - S(sigma) >= g L(sigma, y) for such a sigma, however far y leads those that lose."""
    X, y, sid = [[1.0], [-1.0], [1.0], [-1.0]], [0, 1, 1, 0], [0, 0, 1, 1]
    model = PredtronSequenceTagger(loss=SequenceHamming([[0, 0], [1, 0]]), intercept_scaling=1.0, random_state=0)
    model.fit(X, y, sid=sid)
    assert model.predict([[1.0], [-1.0]], sid="one").tolist() == [1, 1]
    assert unit_margin(model, [[1.0], [-1.0]], [0, 1], sid="one") == -np.inf
    assert unit_margin(model, [[1.0], [-1.0]], [1, 1], sid="one") > 0


def score_of(model, u, s):
    A = model.transitions_
    inner = sum(A[a, b] for a, b in pairwise(s))
    return u[np.arange(len(s)), list(s)].sum() + inner + model.start_[s[0]] + model.end_[s[-1]]


def test_what_is_refused():
    X, y, sid = separable(0)
    model = learned(LossDriven(), "hamming", (X, y, sid))
    with pytest.raises(ValueError, match="No loss bound by a unit margin is proven for update"):
        model.loss_bound(unit_margin=1.0, radius=2.0)
    with pytest.raises(ValueError, match=r"takes margin=1\.0 or unit_margin=1\.0"):
        model.loss_bound(1.0, 2.0, unit_margin=1.0)
    with pytest.raises(ValueError, match="must be a PredtronSequenceTagger"):
        unit_margin(PredtronClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="Margins of given weights are not for sequences"):
        margin(model, X, y, model.coef_)
    with pytest.raises(ValueError, match="intercept_scaling='auto'"):
        PredtronSequenceTagger(intercept_scaling="length").fit(X, y, sid=sid).loss_bound(1.0, 1.0)
    with pytest.raises(ValueError, match="norm='scaled'"):
        PredtronSequenceTagger(norm="scaled", intercept_scaling=1.0).fit(X, y, sid=sid).loss_bound(1.0, 1.0)
