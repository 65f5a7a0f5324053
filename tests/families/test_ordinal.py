"""Ordinal regression: the printed algorithms trace by trace, shared thresholds, inference by brute force."""

import functools
import pickle

import numpy as np
import pytest
from cases import assert_close, cost_table, losses, name, random_code, random_costs, updates
from euclidean import PredtronOrdinalClassifier
from given_scores import unit_rows, weights_with_scores
from scipy import sparse

from sklearn_predtron._core.averages import Average
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Codes
from sklearn_predtron.losses import CostMatrix, ZeroOne
from sklearn_predtron.representations import Code, OneHot, SharedThermometer, Thermometer
from sklearn_predtron.updates import PassiveAggressive, PerceptronUpdate, PRank
from sklearn_predtron.updates import _rules as core

LAST = {"average": False, "shuffle": False}


def whole_numbers(r, n=200, p=3, seed=0):
    """Small whole-number rows and noisy ranks: sums are exact, and ties frequent."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, p)).astype(float)
    y = np.clip(np.round((r - 1) / 2 + X @ rng.integers(-2, 3, p) / 2 + rng.standard_normal(n)), 0, r - 1)
    return X, y.astype(int)


def real_numbers(r, n=150, p=4, seed=0):
    """Rows without exact ties, and noisy ranks."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    score = X @ rng.standard_normal(p) + rng.standard_normal(n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, r) / r), score)


def with_minus_one(X):
    """The paper's rows: the last feature is -1."""
    return np.column_stack([X, -np.ones(len(X))])


def rounds_of(model, X, y, r):
    """The prediction before each round, which then is learned."""
    model.partial_fit(X[:1], y[:1], classes=np.arange(r), sample_weight=[0])
    for i in range(len(y)):
        before = model.predict(X[i : i + 1])[0]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        yield before


# --------------------------------------------------------------------------------------------------- figure 1: the perceptron


def cusum(X, y, r, step):
    """Figures 1 and 2: w_2, ..., w_r after each round, the ranks that tie for the best score, and the competitor."""
    W, trace = np.zeros((r - 1, X.shape[1])), []
    for x, label in zip(X, y, strict=True):
        total = np.append(0, np.cumsum(W @ x))
        best = np.flatnonzero(total == total.max())
        competitor = best[np.abs(best - label).argmax()]
        low, high = min(label, competitor), max(label, competitor)
        if competitor != label:
            W[low:high] += step(np.sign(label - competitor), high - low, W[low:high].sum(axis=0) @ x, x @ x) * x
        trace.append((W.copy(), best, competitor))
    return trace


def sign_of(sign, distance, score, norm2):
    return sign


@pytest.mark.parametrize("column", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_figure_1_bit_by_bit(seed, column):
    """r = 5 and steps of 1; the offset is a column of -1, or the intercept with a feature of 1."""
    X, y = whole_numbers(5, seed=seed)
    settings = {"fit_intercept": False} if column else {"intercept_scaling": 1.0}
    trace = cusum(with_minus_one(X), y, 5, sign_of)
    assert sum(len(best) > 1 for _, best, _ in trace[1:]) > 10
    assert sum(len(best) > 1 and label in best for (_, best, _), label in zip(trace[1:], y[1:], strict=True)) > 5
    model, loss = PredtronOrdinalClassifier(update=PerceptronUpdate(), **settings, **LAST), 0
    rounds = rounds_of(model, with_minus_one(X) if column else X, y, 5)
    for (W, best, competitor), label, predicted in zip(trace, y, rounds, strict=True):
        loss += abs(competitor - label)
        assert predicted == best.max()
        np.testing.assert_array_equal(model.coef_, W if column else W[:, :-1])
        np.testing.assert_array_equal(model.intercept_, np.zeros(4) if column else -W[:, -1])
        assert model.cumulative_loss_ == loss
    assert (
        model.n_updates_
        == model.n_mistakes_
        == sum(competitor != label for (_, _, competitor), label in zip(trace, y, strict=True))
    )


@pytest.mark.parametrize("r", [2, 3, 4, 7, 12])
def test_figure_1_for_any_number_of_ranks(r):
    """eta = sqrt(r - 1) / 2 is a step of 1; the averaged weights are the mean of the trace."""
    X, y = real_numbers(r, seed=r)
    trace = cusum(with_minus_one(X), y, r, sign_of)
    update = PerceptronUpdate(eta=np.sqrt(r - 1) / 2)
    model = PredtronOrdinalClassifier(update=update, fit_intercept=False, average="uniform")
    for (W, _, _), _ in zip(trace, rounds_of(model, with_minus_one(X), y, r), strict=True):
        assert_close(model.last_coef_, W)
    assert_close(model.coef_, np.mean([W for W, _, _ in trace], axis=0))
    assert model.n_updates_ > 20


# ---------------------------------------------------------------------------------------------- figure 2: passive-aggressive

FIGURE_2 = {
    "constant": lambda delta: lambda sign, distance, score, norm2: (sign * delta - score) / (distance * norm2),
    "loss": lambda delta: lambda sign, distance, score, norm2: (sign * distance * delta - score) / (distance * norm2),
}


@pytest.mark.parametrize("delta", [0.3, 2.0])
@pytest.mark.parametrize("target", FIGURE_2)
@pytest.mark.parametrize("r", [2, 3, 5, 8])
def test_figure_2(r, target, delta):
    """Both readings of the printed step: the constant margin delta, and the loss-sensitive one delta |y - yhat|."""
    X, y = real_numbers(r, seed=r)
    X = with_minus_one(X)
    update = PassiveAggressive(competitor="predicted", target=target, delta=2 * delta / np.sqrt(r - 1))
    model, far = PredtronOrdinalClassifier(update=update, fit_intercept=False, **LAST), 0
    trace = cusum(X, y, r, FIGURE_2[target](delta))
    for (W, _, competitor), x, label, _ in zip(trace, X, y, rounds_of(model, X, y, r), strict=True):
        assert_close(model.coef_, W, rtol=1e-8)
        if competitor != label:
            low, high = min(label, competitor), max(label, competitor)
            margin = np.sign(label - competitor) * (model.coef_[low:high] @ x).sum()
            np.testing.assert_allclose(margin, delta * (high - low if target == "loss" else 1), rtol=1e-8)
            far += high - low > 1
    assert (far > 5) == (r > 2)
    assert model.n_updates_ == model.n_mistakes_ > 20


# ---------------------------------------------------------------------------------------------------------------------- PRank


def prank(X, y, r):
    """As printed, ranks from 1: the prediction, w and b after each round, the number of thresholds hit and the sum of tau."""
    w, b = np.zeros(X.shape[1]), np.zeros(r - 1)
    for x, label in zip(X, y + 1, strict=True):
        score = w @ x
        predicted = min([rank for rank in range(1, r) if score - b[rank - 1] < 0], default=r)
        hit, tau = np.flatnonzero(score == b), np.zeros(r - 1)
        if predicted != label:
            side = np.where(label <= np.arange(1, r), -1, 1)
            tau = np.where((score - b) * side <= 0, side, 0)
            w, b = w + tau.sum() * x, b - tau
        yield predicted - 1, w, b, len(hit), tau.sum()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("settings", [{}, {"intercept_scaling": 1.0}, {"update": PRank()}, {"loss": "squared"}], ids=str)
@pytest.mark.parametrize("r", [2, 3, 5, 9])
def test_prank_as_printed(r, settings, form):
    """Bit by bit on whole numbers, with scores that lie on a threshold; the loss decides nothing but what is counted."""
    X, y = whole_numbers(r, seed=2)
    rows, loss, hits, odd = form(X), 0, 0, 0
    model = PredtronOrdinalClassifier(representation="shared", decision="learned", **({"update": "prank"} | settings), **LAST)
    for round_, label, predicted in zip(prank(X, y, r), y, rounds_of(model, rows, y, r), strict=True):
        printed, w, b, hit, moved = round_
        loss += abs(printed - label) ** (2 if "loss" in settings else 1)
        hits += hit > 0 and printed != label
        odd += moved != label - printed
        assert predicted == printed
        np.testing.assert_array_equal(model.coef_, [w])
        np.testing.assert_array_equal(model.intercept_, -b)
        assert (np.diff(b) >= 0).all()
        assert model.cumulative_loss_ == loss
    assert model.n_mistakes_ == model.n_updates_ > 20
    assert hits > 5
    assert odd > 2 or r == 2


def test_prank_predictions_of_averages_are_the_printed_ones():
    X, y = real_numbers(6, seed=1)
    model = PredtronOrdinalClassifier(representation="shared", update="prank", random_state=0).fit(X, y)
    score = X @ model.coef_[0]
    printed = [min([rank for rank in range(5) if s + model.intercept_[rank] < 0], default=5) for s in score]
    np.testing.assert_array_equal(model.predict(X), printed)
    assert len(set(printed)) > 3


def test_prank_weighs_its_steps():
    """A row of three times the first one's weight moves everything 3 / 2 as far: so much is its weight of the mean."""
    X, y = whole_numbers(5, n=1)
    models = [PredtronOrdinalClassifier(representation="shared", update="prank", **LAST) for _ in range(2)]
    for model, weight in zip(models, (1.0, 3.0), strict=True):
        model.partial_fit(0 * X, [2], classes=np.arange(5))  # moves thresholds only
        before = model.intercept_
        model.partial_fit(X + 1, y, sample_weight=[weight])
        model.moved = model.intercept_ - before
    assert models[0].coef_.any() and models[0].moved.any()
    np.testing.assert_array_equal(models[1].coef_, 1.5 * models[0].coef_)
    np.testing.assert_array_equal(models[1].moved, 1.5 * models[0].moved)


# -------------------------------------------------------------------------------------------------------- shared thresholds


@pytest.mark.parametrize("number", range(len(updates()) + 1), ids=lambda i: name([*updates(), PRank()][i]))
def test_thresholds_are_ordered_after_every_round(number):
    """Also those of the average, exactly; and the iterates are no worse ordered for rows of weights of their own."""
    update = [*updates(), PRank()][number]
    settings = [{}, {"intercept_scaling": 0.3}, {"loss": "squared"}, {"loss": random_costs(5)}][number % 4]
    X, y = real_numbers(5, n=100)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    model = PredtronOrdinalClassifier(representation="shared", update=update, **settings)
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(5), sample_weight=weight[i : i + 1])
        assert (np.diff(model.last_intercept_) <= 0).all()
        assert (np.diff(model.intercept_) <= 0).all()
    assert np.ptp(model.intercept_) > 0
    assert model.n_updates_ > 10


# ------------------------------------------------------------------------------------------------- inference by brute force

N = 10_000


def sign_codes(r):
    """Different rows of four signs, / 2: their scores tie, and are exact."""
    every = np.array(np.meshgrid(*[[-0.5, 0.5]] * 4)).reshape(4, -1).T
    return Code(np.random.default_rng(r).permutation(every)[:r])


def dear_costs(r):
    """Costs of a few sizes, some of them 0: losses tie as scores do."""
    cost = np.random.default_rng(r).integers(0, 3, (r, r)).astype(float)
    cost[0, 1:] = 2
    np.fill_diagonal(cost, 0)
    return CostMatrix(cost)


@functools.cache
def draws(d, falling):
    """Scores that are multiples of 1/2, some rows of zeros, and weights that give them."""
    rng = np.random.default_rng(d)
    T = rng.integers(-4, 5, (N, d)) * rng.choice([0, 0.5, 0.5, 0.5, 1.5], (N, 1))
    T = -np.sort(-T, axis=1) if falling else T
    return T, pickle.dumps(weights_with_scores(T, by_feature=True))


def one_round_each(weights, table, labels, update):
    """The change of each row's scores, the mistakes and the loss of one compiled round a row."""
    if table.score_map.offsets_apart:  # what the problem answers does not depend on where scores come from
        table = type(table)(table.k, table.cost_matrix)
    weights = pickle.loads(weights)
    before = weights.last()[0]
    learner = Learner(weights, table, update, Average())
    learner.learn(unit_rows(N), Codes(labels))
    return (weights.last()[0] - before).T, learner.n_mistakes, learner.cumulative_loss


SPACES = [  # every representation with every loss, of 2 or 5 and of 3 or 8 ranks
    (r, rep, loss)
    for i, r in enumerate((2, 3, 5, 8))
    for rep in (Thermometer(), SharedThermometer(), OneHot(), sign_codes(r), Code(random_code(r, 3)))
    for j, loss in enumerate((*losses(r), dear_costs(r)))
    if (i + j) % 2 == 0
]


@pytest.mark.parametrize(("r", "representation", "loss"), SPACES, ids=lambda value: name(value)[:24])
def test_inference_is_a_search_of_all_ranks(r, representation, loss):
    """Competitors, steps and losses of the compiled rounds against every rank's score and loss, ties included."""
    code, cost = representation.code(r), cost_table(loss, r)
    table = loss.build(representation, np.arange(r))
    T, weights = draws(code.shape[1], isinstance(representation, SharedThermometer))
    score = T @ code.T
    if isinstance(representation, Thermometer):
        score = T @ np.sign(code).T * (1 / np.sqrt(r - 1))  # whole numbers of halves, scaled at the end: ties are exact
    label, every = np.random.default_rng(0).integers(0, r, N), np.arange(N)
    lost, own, total = cost[label], score[every, label], score + cost[label]

    best = score == score.max(axis=1, keepdims=True)
    suffered = np.where(best, lost, 0).max(axis=1)
    predicted = (best & (lost == suffered[:, None])).argmax(axis=1)
    augmented = np.where(total.max(axis=1) == own, label, total.argmax(axis=1))
    hinge = total.max(axis=1) - own
    assert 100 < (best.sum(axis=1) > 1).sum() < N
    tied = (total == total.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert tied.sum() > 100 or r != 5 or not isinstance(loss, ZeroOne) or code.shape[1] == 3

    steps = {
        core.PerceptronRule(1.0): (suffered > 0, predicted),
        core.LossDrivenRule(1.0): (suffered, predicted),
        core.LossAugmentedRule(1.0): (suffered > 0, augmented),
        core.SubgradientRule(1e-200, 1.0): (hinge > 0, augmented),
    }
    for update, (step, competitor) in steps.items():
        change, mistakes, loss_suffered = one_round_each(weights, table, label, update)
        np.testing.assert_allclose(change, step[:, None] * (code[label] - code[competitor]), atol=1e-12)
        assert mistakes == (suffered > 0).sum()
        np.testing.assert_allclose(loss_suffered, suffered.sum(), rtol=1e-12)
    np.testing.assert_allclose(table.decision(T), score, rtol=1e-12, atol=1e-12)
    highest = isinstance(representation, Thermometer)
    np.testing.assert_array_equal(table.predict(T), r - 1 - best[:, ::-1].argmax(axis=1) if highest else best.argmax(axis=1))
