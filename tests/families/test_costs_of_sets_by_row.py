"""Costs of labels that come with the rows: what is predicted, paid and learned by them, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

from sklearn_predtron import PredtronMultilabelClassifier

N, M = 240, 4


@pytest.fixture(scope="module")
def rows():
    X, Y = make_multilabel_classification(N, n_classes=M, random_state=0)
    random = np.random.default_rng(0)
    return X + 5 * random.standard_normal(X.shape), Y, random.lognormal(sigma=1.0, size=(N, M, 2))


@pytest.fixture(scope="module")
def fitted(rows):
    return PredtronMultilabelClassifier(random_state=0).fit(*rows[:2])


def test_the_set_that_costs_least_in_expectation_is_predicted_and_paid(fitted, rows):
    """By a loop over all sets."""
    X, Y, costs = rows
    P, predicted = fitted.predict_proba(X), fitted.predict(X, costs=costs)
    sets = [np.array([s >> j & 1 for j in range(M)]) for s in range(2**M)]

    def realised(i, chosen, true):
        return sum(costs[i, j, 0] * (true[j] > chosen[j]) + costs[i, j, 1] * (true[j] < chosen[j]) for j in range(M))

    for i in range(0, N, 7):
        weights = [np.prod(np.where(true, P[i], 1 - P[i])) for true in sets]
        expected = [sum(w * realised(i, chosen, true) for w, true in zip(weights, sets, strict=True)) for chosen in sets]
        assert_array_equal(predicted[i], sets[int(np.argmin(expected))])
    assert_allclose(fitted.sample_loss(X, Y, costs=costs), [realised(i, predicted[i], Y[i]) for i in range(N)])
    assert (predicted != fitted.predict(X)).any()
    assert_array_equal([fitted.predict(X[[i]], costs=costs[[i]])[0] for i in range(20)], predicted[:20])


def test_all_forms_say_the_same(rows):
    X, Y, costs = rows
    named = PredtronMultilabelClassifier(random_state=0).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    numbered = PredtronMultilabelClassifier(random_state=0).fit(X, Y)
    for model, labels in ((named, "abcd"), (numbered, range(M))):
        pairs = {(label, side): costs[:, i, j] for i, label in enumerate(labels) for j, side in enumerate(["missed", "false"])}
        for form in (pairs, pd.DataFrame(pairs)):
            assert_array_equal(model.predict(X, costs=form), model.predict(X, costs=costs))
    of_sparse = PredtronMultilabelClassifier(random_state=0).fit(X, sparse.csr_array(Y))
    assert_array_equal(of_sparse.predict(X, costs=costs).toarray(), numbered.predict(X, costs=costs))
    assert_array_equal(of_sparse.sample_loss(X, sparse.csr_array(Y), costs=costs), numbered.sample_loss(X, Y, costs=costs))


def equal(a, b, c, d):
    return 2.0 * (b + c)


def misses(a, b, c, d):
    return b + 5 * c


def test_pairs_left_out_cost_what_the_loss_says(rows):
    X, Y, _ = rows
    model = PredtronMultilabelClassifier(loss=misses, random_state=0).fit(X, Y)
    assert_array_equal(model.predict(X, costs={}), model.predict(X))
    assert_allclose(model.sample_loss(X, Y, costs={}), model.sample_loss(X, Y))
    f1 = PredtronMultilabelClassifier(loss="f1", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"costs does not name \(0, 'false'\), and loss is no sum of costs of labels"):
        f1.predict(X, costs={(0, "missed"): 2})


def test_rows_weigh_the_root_of_what_mistakes_cost(rows):
    X, Y, costs = rows
    weight = np.sqrt([np.mean([costs[i, j, side] for j in range(M) for side in (0, 1)]) for i in range(N)])
    by_costs, by_weights = (PredtronMultilabelClassifier(cv=0, random_state=0) for _ in range(2))
    assert_allclose(by_costs.fit(X, Y, costs=costs).coef_, by_weights.fit(X, Y, weight).coef_, rtol=1e-12)
    stream, parts = PredtronMultilabelClassifier().partial_fit(X, Y, costs=costs), PredtronMultilabelClassifier()
    for part in (slice(0, 3), slice(3, N)):
        parts.partial_fit(X[part], Y[part], costs=costs[part])
    assert_array_equal(parts.coef_, stream.coef_)
    assert_array_equal(parts.predict_proba(X), stream.predict_proba(X))
    assert_array_equal(stream._model.learner.observer.rows()[2], np.ones(N))
    assert_allclose(stream.coef_, PredtronMultilabelClassifier().partial_fit(X, Y, sample_weight=weight).coef_, rtol=1e-12)


def test_a_power_is_chosen_by_what_is_paid():
    random = np.random.default_rng(0)
    V, dear = random.standard_normal((2000, 4)), random.random(2000) < 0.1
    labels = np.column_stack([np.where(dear, V[:, 0], V[:, 1]), V[:, 2]]) + 0.3 * random.standard_normal((2000, 2)) > 0
    costs = np.repeat(np.where(dear, 100.0, 1.0), 4).reshape(2000, 2, 2)
    first, rest = slice(0, 1000), slice(1000, 2000)
    model = PredtronMultilabelClassifier(random_state=0).fit(V[first], labels[first].astype(int), costs=costs[first])
    plain = PredtronMultilabelClassifier(random_state=0).fit(V[first], labels[first].astype(int))
    assert model.cost_power_ == 1
    paid, before = (one.sample_loss(V[rest], labels[rest].astype(int), costs=costs[rest]).mean() for one in (model, plain))
    assert paid < 0.8 * before
    assert pickle.loads(pickle.dumps(model)).cost_power_ == 1


@pytest.mark.parametrize("how", ["fit", "stream"])
@pytest.mark.parametrize("loss", ["hamming", equal])
def test_probabilities_are_of_rows_as_they_came_and_sets_follow_them(how, loss):
    random = np.random.default_rng(0)
    X = random.standard_normal((4000, 4))
    Y = (X[:, :2] + 1.5 * random.standard_normal((4000, 2)) > 2).astype(int)
    costs = np.ones((4000, 2, 2))
    costs[:, :, 0] = 100
    model = PredtronMultilabelClassifier(loss=loss, random_state=0)
    model = model.fit(X, Y, costs=costs) if how == "fit" else model.partial_fit(X, Y, costs=costs).partial_fit(X[:1], Y[:1])
    model = pickle.loads(pickle.dumps(model))
    p = model.predict_proba(X)
    assert_allclose(p.mean(axis=0), Y.mean(axis=0), atol=0.03)
    assert_array_equal(model.predict(X), 100 * p > 1 - p)  # by the mean costs
    assert_array_equal(model.predict(X, costs={}), p > 0.5)
    assert_array_equal(model.set_params(decision=0.0).predict(X), model.decision_function(X) > 0)


REFUSED = {
    "shape": (np.ones((N, M)), r"costs has shape \(240, 4\); accepted here is \(240, 4, 2\), rows, labels, and missed and false"),
    "text": ("dear", "costs='dear' does not hold numbers"),
    "negative": (-np.ones((N, M, 2)), r"costs has -1 for the pair \(0, 'missed'\) in row 0"),
    "nan": ({(1, "false"): np.full(N, np.nan)}, r"costs has nan for the pair \(1, 'false'\) in row 0"),
    "label": (
        {(4, "missed"): 1},
        r"the pair \(4, 'missed'\); accepted are pairs of one of the labels \[0, 1, 2, 3\]",
    ),
    "side": ({(1, "wrong"): 1}, r"one of \['missed', 'false'\]"),
    "no pair": ({"missed": 1}, "costs names 'missed', which is no pair; accepted are an array of shape"),
    "rows": ({(0, "missed"): np.ones(3)}, r"costs\[\(0, 'missed'\)\] is an array of shape \(3,\)"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_costs_are_refused(fitted, rows, what):
    given, message = REFUSED[what]
    X, Y, _ = rows
    model = pickle.loads(pickle.dumps(fitted))
    for call in (
        model.predict,
        lambda X, costs: model.fit(X, Y, costs=costs),
        lambda X, costs: model.partial_fit(X, Y, costs=costs),
    ):
        with pytest.raises(ValueError, match=message):
            call(X, costs=given)
        assert_array_equal(model.coef_, fitted.coef_)
