"""Two classes, of which one score is learned: what both would have been, under each update and norm that keeps them opposite."""

import pickle

import numpy as np
import pytest
from cases import name, updates
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron._core.averages import Average
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.learner import Learner
from sklearn_predtron.losses import CostMatrix
from sklearn_predtron.norms import L2, PNorm, Scaled
from sklearn_predtron.norms._opposite import OppositeMap, OppositeWeights, are_opposite
from sklearn_predtron.problems._finite import FiniteProblem, OneHotProblem
from sklearn_predtron.updates import Adaptive, PassiveAggressive, PerceptronUpdate
from sklearn_predtron.updates._basic_updates import build_rule

N, P = 300, 40
AVERAGES = ["linear", "uniform", 5.0, "auto", False]
NORMS = [L2, Scaled]
COSTS = CostMatrix([[0, 1], [3, 0]])


def drawn(n=N, p=P, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.5)
    y = np.where(X @ rng.standard_normal(p) + rng.standard_normal(n) > 0.3, "yes", "no")
    return X, y, rng.integers(1, 4, n).astype(float)


def both_ways(monkeypatch, norm, learn):
    """What is learned by one score, and by two."""
    one = learn()
    assert isinstance(one._model.learner.weights, OppositeWeights)
    monkeypatch.setattr(norm, "scores_apart", False)
    two = learn()
    assert not isinstance(two._model.learner.weights, OppositeWeights)
    monkeypatch.undo()
    return one, two


def assert_opposite(model):
    """The theorem, of weights that know nothing of it."""
    for values in (model.coef_, model.last_coef_, model.intercept_, model.last_intercept_):
        np.testing.assert_array_equal(values[0], -values[1])


def assert_alike(one, two, X):
    for attribute in ("coef_", "intercept_", "last_coef_", "last_intercept_"):
        found, expected = getattr(one, attribute), getattr(two, attribute)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    assert one.t_ == two.t_ and one.n_updates_ == two.n_updates_ and one.n_mistakes_ == two.n_mistakes_
    assert one.cumulative_loss_ == pytest.approx(two.cumulative_loss_)
    lengths = [model._model.learner.read(lambda weights: weights.length()) for model in (one, two)]
    assert lengths[0] == pytest.approx(lengths[1])
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("number", range(len(updates())), ids=lambda i: name(updates()[i]))
def test_every_update(number, norm, monkeypatch):
    X, y, weight = drawn(seed=number)
    X = [np.asarray, sparse.csr_matrix][number % 2](X)
    how = {"average": AVERAGES[number % 5], "fit_intercept": number % 3 > 0, "loss": ["zero_one", COSTS][number // 2 % 2]}

    def learn():
        model = PredtronClassifier(update=updates()[number], norm=norm(), **how)
        for part in np.array_split(np.arange(N), 3):
            model.partial_fit(X[part], y[part], ["no", "yes"], sample_weight=weight[part] if number % 4 == 0 else None)
        return model

    one, two = both_ways(monkeypatch, norm, learn)
    assert_opposite(two)
    assert_opposite(one)
    assert_alike(one, two, X)
    assert one.n_updates_ > 5


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("norm", NORMS)
def test_default_fits(norm, as_rows, monkeypatch):
    X, y, _ = drawn(800)
    X = as_rows(X)
    one, two = both_ways(monkeypatch, norm, lambda: PredtronClassifier(norm=norm(), random_state=0).fit(X, y))
    assert_alike(one, two, X)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-7)


@pytest.mark.parametrize("update", [Adaptive(), PassiveAggressive()])
def test_the_binary_classifier_learns_the_same(update):
    """Its w is the second class's weights where steps follow from margins: g is twice as long, and so is a gap of scores."""
    X, y, _ = drawn()
    settings = {"update": update, "norm": "l2", "cv": 0, "random_state": 0}
    binary, several = PredtronBinaryClassifier(**settings).fit(X, y), PredtronClassifier(**settings).fit(X, y)
    if isinstance(update, Adaptive):  # PassiveAggressive's C bounds a step that is twice as long
        np.testing.assert_allclose(several.coef_[1], binary.coef_[0], rtol=1e-9, atol=1e-12)
    assert np.mean(several.predict(X) == binary.predict(X)) > 0.9


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("classes", [["maybe", "no", "yes"], ["no", "yes", "zebra"], ["a", "no", "x", "yes"]])
def test_new_classes(classes, norm, as_rows, monkeypatch):
    X, y, _ = drawn()
    X, more = as_rows(X), np.where(np.arange(N) % 3 == 0, sorted({*classes} - {"no", "yes"})[0], y)

    def learn():
        model = PredtronClassifier(norm=norm(), average="auto").partial_fit(X, y, ["no", "yes"])
        return model.widen(classes=classes)

    one = learn()
    monkeypatch.setattr(norm, "scores_apart", False)
    two = learn()
    assert one._model.learner.weights.by_feature == two._model.learner.weights.by_feature
    assert_alike(one, two, X)
    assert_alike(one.partial_fit(X, more), two.partial_fit(X, more), X)


@pytest.mark.parametrize("norm", NORMS)
def test_new_features_pickles_and_mixing(norm, monkeypatch):
    X, y, _ = drawn()

    def learn():
        model = PredtronClassifier(norm=norm(), average="auto").partial_fit(X[:, :30], y, ["no", "yes"])
        model = pickle.loads(pickle.dumps(model)).widen(n_features=P).partial_fit(X, y)
        learner = model._model.learner
        learner.adopt(learner.export(), True)
        return model

    one, two = both_ways(monkeypatch, norm, learn)
    assert_alike(one, two, X)
    assert len(pickle.dumps(one)) < len(pickle.dumps(two))


def test_sparse_weights_and_back(monkeypatch):
    X, y, _ = drawn()

    def learn():
        model = PredtronClassifier(norm="l2", random_state=0).fit(X, y)
        return model.sparsify(tol=0.01).densify().partial_fit(X, y)

    one, two = both_ways(monkeypatch, L2, learn)
    assert_alike(one, two, X)


def test_a_model_whose_weights_are_not_opposite():
    """What its two scores have in common predicts nothing."""
    X, y, _ = drawn()
    linear = LogisticRegression().fit(X, y)
    linear.coef_, linear.intercept_ = np.random.default_rng(0).standard_normal((2, P)), np.array([0.3, 0.1])
    model = PredtronClassifier.from_linear(linear, norm="l2")
    scores = X @ linear.coef_.T + linear.intercept_
    np.testing.assert_array_equal(model.predict(X), linear.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(model.decision_function(X), scores[:, 1] - scores[:, 0])
    assert_opposite(model)


def test_other_norms_keep_both():
    X, y, _ = drawn()
    assert not isinstance(PredtronClassifier(norm=PNorm(q=3)).fit(X, y)._model.learner.weights, OppositeWeights)


@pytest.mark.parametrize(
    ("code", "opposite"),
    [
        (np.eye(2), True),
        (np.array([[1.0, 0], [0, 1], [0.5, 0.5]]), True),
        (np.array([[1.0, 0], [0, 1], [0.5**0.5, 0.5**0.5]]), False),  # with a rejection
        (np.array([[0.1, 0.2], [0.3, 0.0]]), False),  # but for rounding
        (np.eye(3), False),
        (np.array([[1.0], [-1]]), False),
    ],
)
def test_whose_gradients_are_opposite(code, opposite):
    assert are_opposite(code) == opposite
    assert isinstance(FiniteProblem(code).score_map, OppositeMap) == opposite
    rule = build_rule(PerceptronUpdate(), FiniteProblem(code))
    weights = OppositeMap().build(L2(), 3, Intercept(True, 1.0), sparse=False, average=False)
    if opposite:
        assert Learner(weights, FiniteProblem(code), rule, Average()).t == 0
    else:
        with pytest.raises(ValueError, match=r"^weights (for 2 scores|of a OppositeMap) do not go with a problem of"):
            Learner(weights, FiniteProblem(code), rule, Average())


@pytest.mark.parametrize("norm", ["l2", "l1", "scaled"])
def test_a_code_whose_scores_are_not_opposite_may_follow_where_both_are_kept(norm):
    X, y, _ = drawn()
    code = np.array([[0.6, 0.8], [1, 0]])
    model = PredtronClassifier(norm=norm).partial_fit(X, y, ["no", "yes"])
    model.set_params(representation=code)
    if norm == "l1":
        assert model.partial_fit(X, y).t_ == 2 * N
    else:
        with pytest.raises(ValueError, match="has 2 scores and the weights so far have 2 scores that are opposite; call fit"):
            model.partial_fit(X, y)
        assert model.set_params(representation="onehot").partial_fit(X, y).t_ == 2 * N
    other = PredtronClassifier(norm=norm, representation=code).partial_fit(X, y, ["no", "yes"])
    assert other.set_params(representation="onehot").partial_fit(X, y).t_ == 2 * N


def test_what_is_inside_has_one_score():
    inner = L2().build(OneHotProblem(3).score_map, 4, intercept=Intercept(True, 1.0), sparse=False, average=False)
    with pytest.raises(ValueError, match=r"^the inner weights must be of one score, got 3\.$"):
        OppositeWeights(inner, False)
