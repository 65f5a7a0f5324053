"""Rejects of a share of the rows: how well it is held, by which rows, and what is refused."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron.losses import Reject

STEP = 0.005  # of the rule


def rows(n, k=2, seed=1):
    return make_classification(n, n_informative=8, n_classes=k, flip_y=0.05, random_state=seed)


def drifting(n):
    """Rows that become hard to tell, in the middle third, and clear again."""
    X, y = rows(n)
    middle = (np.arange(n) >= n // 3) & (np.arange(n) < 2 * n // 3)
    return np.where(middle[:, None], 0.3 * X, X), y


def in_turn(model, X, y):
    """Return what is predicted for each row before it is learned."""
    model.partial_fit(X[:1], y[:1], classes=np.unique(y))
    predicted = []
    for i in range(1, len(X)):
        predicted.append(model.predict(X[i : i + 1])[0])
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return np.array(predicted)


@pytest.mark.parametrize(
    ("model", "k"),
    [
        (PredtronBinaryClassifier(), 2),
        (PredtronBinaryClassifier(loss={(1, 0): 5}), 2),
        (PredtronClassifier(), 4),
        (PredtronOrdinalClassifier(), 4),
    ],
)
def test_the_share_is_held_and_is_that_of_the_predictions(model, k):
    """|share - rate| <= (1 + step) / (step T), and the rounds that count are those that `predict` rejects."""
    X, y = rows(1500, k)
    model = clone(model).set_params(reject=Reject(rate=0.2), norm="l2")  # "scaled" counts a row before its round is scored
    asked = in_turn(model, X, y) == -1
    assert abs(asked.mean() - 0.2) <= (1 + STEP) / (STEP * len(asked))
    assert abs(asked[200:].mean() - 0.2) < 0.05
    assert abs(asked.sum() - model.rejected_share_ * len(asked)) < 1.5  # one, for scores are recorded in single precision


def test_the_share_is_held_while_rows_drift():
    X, y = drifting(12_000)
    held = PredtronBinaryClassifier(reject=Reject(rate=0.1))
    fixed = PredtronBinaryClassifier(reject=Reject(rate=0.1), random_state=0).fit(X[:1000], y[:1000])
    for begin in range(0, len(X), 100):
        held.partial_fit(X[begin : begin + 100], y[begin : begin + 100], classes=[0, 1])
        if 2000 <= begin < len(X) - 100:
            predicted = held.predict(X[begin + 100 : begin + 200])
            assert (predicted == -1).mean() < 0.5
    assert abs(held.rejected_share_ - 0.1) < 0.005
    assert (fixed.predict(X[4000:8000]) == -1).mean() > 0.2  # what a threshold of the first rows would do


def test_rejected_rows_are_those_whose_best_answer_is_expected_to_cost_most():
    X, y = rows(6000, 3)
    costs = np.array([[0, 1, 2], [1, 0, 1], [6, 3, 0]])
    model = PredtronClassifier(loss=costs, reject=Reject(rate=0.25), random_state=0).fit(X[:2000], y[:2000])
    expected = model.predict_proba(X[2000:]) @ costs
    least, predicted = expected.min(axis=1), model.predict(X[2000:])
    rejected = predicted == -1
    assert least[rejected].min() > least[~rejected].max()
    assert_array_equal(predicted[~rejected], expected.argmin(axis=1)[~rejected])
    assert abs(rejected.mean() - 0.25) < 0.05
    assert model.sample_loss(X[2000:], y[2000:])[rejected].sum() == 0


@pytest.mark.parametrize("cuts", [[2500], list(range(7, 2500, 7)), [1, 2, 3, 99, 100, 101, 1000, 1099]])
def test_any_split_of_a_stream_rejects_the_same(cuts):
    X, y = drifting(2500)
    whole = PredtronBinaryClassifier(reject=Reject(rate=0.1)).partial_fit(X, y, classes=[0, 1])
    model = PredtronBinaryClassifier(reject=Reject(rate=0.1))
    for begin, end in zip([0, *cuts], [*cuts, 2500], strict=True):
        if begin < end:
            model.partial_fit(X[begin:end], y[begin:end], classes=[0, 1])
        if end % 3 == 0:
            model = pickle.loads(pickle.dumps(model))
        if end % 2 == 0:
            model.predict(X[:3])
    assert_array_equal(model.predict(X), whole.predict(X))
    assert model.rejected_share_ == whole.rejected_share_


def test_a_rate_may_come_and_change_in_mid_stream():
    X, y = rows(4000)
    model = PredtronBinaryClassifier(reject=0.1, random_state=0).fit(X[:2000], y[:2000])
    for rate in (0.3, 0.05):
        predicted = model.set_params(reject=Reject(rate=rate)).predict(X[2000:])
        assert abs((predicted == -1).mean() - rate) < 0.04
        assert not hasattr(model, "rejected_share_")
    model.partial_fit(X[2000:], y[2000:])
    assert abs(model.rejected_share_ - 0.05) < 0.05
    assert model.set_params(reject=0.1).predict(X).shape == (4000,)
    assert not hasattr(model, "rejected_share_")


def test_new_classes_keep_the_level():
    X, y = rows(1500, 3)
    known = y < 2
    model = PredtronClassifier(reject=Reject(rate=0.2)).partial_fit(X[known], y[known], classes=[0, 1])
    share = model.rejected_share_
    model.widen(classes=[2])
    assert model.rejected_share_ == share
    model.partial_fit(X, y)
    assert abs(model.rejected_share_ - 0.2) < 0.05


@pytest.mark.parametrize(
    ("reject", "message"),
    [
        (Reject(), r"reject.cost=None, reject.risk=None, reject.rate=None; accepted is exactly one"),
        (Reject(0.1, rate=0.1), r"reject.cost=0.1, reject.risk=None, reject.rate=0.1; accepted is exactly one"),
        (Reject(risk=0.1, rate=0.1), "accepted is exactly one"),
        (Reject(rate=0), r"reject.rate=0 must be a number above 0"),
        (Reject(rate=1), r"reject.rate=1 must be a number above 0 and below 1"),
        (Reject(rate="few"), r"reject.rate='few' must be a number"),
        (Reject(rate=float("nan")), "reject.rate=nan must be"),
    ],
)
def test_what_is_no_rate_is_refused(reject, message):
    X, y = rows(50)
    with pytest.raises(ValueError, match=message):
        PredtronBinaryClassifier(reject=reject).fit(X, y)


def test_a_rate_goes_with_expected_costs_alone():
    X, y = rows(200)
    with pytest.raises(ValueError, match=r"decision=Learned\(\) does not go with reject.rate=0.1; accepted are None"):
        PredtronBinaryClassifier(reject=Reject(rate=0.1), decision="learned").fit(X, y)
    model = PredtronBinaryClassifier(reject=Reject(rate=0.1), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"costs do not go with reject.rate=0.1"):
        model.predict(X, costs={(0, 1): 1.0})
    with pytest.raises(AttributeError, match="no attribute 'certify'"):
        model.certify(X, y)
