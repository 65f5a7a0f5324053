"""Rejects whose risk is certified: how often it is kept, how long a certificate holds, and what is refused."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import make_classification

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron.decisions import AtMost
from sklearn_predtron.decisions._promises import p_of_bets
from sklearn_predtron.losses import Reject

RISK = 0.05


@pytest.fixture(scope="module")
def rows():
    return make_classification(22_000, n_informative=8, class_sep=1.5, flip_y=0.02, random_state=1)


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return PredtronBinaryClassifier(reject=Reject(risk=RISK), random_state=0).fit(X[:2000], y[:2000])


def certified(model, X, y):
    return pickle.loads(pickle.dumps(model)).certify(X, y)


def test_the_certificate_says_what_was_tested(fitted, rows):
    X, y = rows[0][2000:4000], rows[1][2000:4000]
    model = certified(fitted, X, y)
    found, predicted, p = model.certificate_, model.predict(X), model.predict_proba(X)
    answered = predicted != -1
    wrong = (predicted != y)[answered]
    (result,) = found.results
    assert (result.promise, result.kept, result.n_rows) == (AtMost("risk", RISK), True, answered.sum())
    assert (found.confidence, found.n_rows, found.n_answered) == (0.95, 2000, answered.sum())
    assert_allclose(result.value, wrong.mean())
    assert_allclose(result.p_value, binom.cdf(wrong.sum(), answered.sum(), RISK))
    assert found.limits[0] == found.limits[1]
    assert_array_equal(answered, p.min(axis=1) <= found.limits[0])
    assert_array_equal(predicted[answered], p.argmax(axis=1)[answered])
    assert binom.cdf(wrong.sum(), answered.sum(), RISK) <= 0.05  # the exact test
    assert model.sample_loss(X, y).sum() == wrong.sum()


@pytest.mark.slow
def test_the_risk_is_kept_as_often_as_promised(fitted, rows):
    """Of draws of the rows set aside at most 1 - confidence, but for the chance of as many draws, by all rows together."""
    X, y = rows[0][2000:], rows[1][2000:]
    model, draws = pickle.loads(pickle.dumps(fitted)), 200
    decision, inside = model._model.decision_of(model._decision), model._model
    p = model.predict_proba(X)
    least, right = p.min(axis=1), p.argmax(axis=1) == y
    random, exceeded, share = np.random.default_rng(0), 0, []
    for _ in range(draws):
        some = random.integers(0, len(y), 1000)
        limits = inside.of_unseen_rows(partial(decision.certified, probabilities=p[some], codes=y[some]))[-1]
        answered = least <= limits[0]
        exceeded += answered.any() and (~right)[answered].mean() > RISK
        share.append(answered.mean())
    assert exceeded <= binom.ppf(0.999, draws, 0.05)
    order = np.argsort(least)
    oracle = np.flatnonzero(np.cumsum(~right[order]) <= RISK * np.arange(1, len(y) + 1))[-1] / len(y)
    assert np.mean(share) > 0.8 * oracle


@pytest.mark.parametrize("mean", [0.02, 0.3])
def test_bets_against_the_truth_seldom_win(mean):
    """P(p <= level) <= level, of losses with few values, many zeros among them; a false mean is found out."""
    random = np.random.default_rng(0)
    losses = random.choice([0.0, 0.1, 1.0], p=[1 - 2 * mean / 1.1, mean / 1.1, mean / 1.1], size=(2000, 300))
    found = np.array([p_of_bets(x, mean, 0.05) for x in losses])
    assert np.mean(found <= 0.05) <= binom.ppf(0.999, 2000, 0.05) / 2000
    assert np.mean([p_of_bets(x, 4 * mean if mean < 0.1 else 0.5, 0.05) <= 0.05 for x in losses]) > 0.9


@pytest.mark.parametrize(
    ("model", "k"),
    [
        (PredtronClassifier(loss=[[0, 1, 2], [5, 0, 1], [10, 3, 0]], reject=Reject(risk=0.25)), 3),
        (PredtronOrdinalClassifier(reject=Reject(risk=0.15, confidence=0.9)), 3),
        (PredtronBinaryClassifier(loss={(1, 0): 5}, reject=Reject(risk=0.06)), 2),
    ],
)
def test_costs_and_ranks_are_certified_too(model, k):
    X, y = make_classification(9000, n_informative=8, n_classes=k, class_sep=1.5, random_state=0)
    model = clone(model).set_params(random_state=0).fit(X[:3000], y[:3000]).certify(X[3000:6000], y[3000:6000])
    predicted, found = model.predict(X[6000:]), model.certificate_
    answered = predicted != -1
    assert 0.1 < answered.mean() < 1
    (result,) = found.results
    assert result.kept and result.value < result.promise.bound
    assert model.sample_loss(X[6000:], y[6000:])[answered].mean() <= result.promise.bound * 1.1
    assert model.predict_proba(X[:5]).shape == (5, k)


def test_rows_may_be_sorted_by_what_they_lose():
    """Else bets would be won on the first rows, and lost too late."""
    X, y = make_classification(9000, n_informative=8, class_sep=1.0, random_state=0)
    model = PredtronBinaryClassifier(loss={(1, 0): 5}, reject=Reject(risk=0.1), random_state=0).fit(X[:3000], y[:3000])
    X, y = X[3000:], y[3000:]
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    order = np.argsort(costs[y, (model.predict_proba(X) @ costs).argmin(axis=1)], kind="stable")
    found = [certified(model, X[rows], y[rows]).certificate_ for rows in (slice(None), order)]
    assert max(one.results[0].value for one in found) < 0.1
    assert abs(found[0].n_answered - found[1].n_answered) < 0.1 * len(y)


def test_it_lapses_when_the_model_learns_on_or_promises_something_else(fitted, rows):
    X, y = rows[0][2000:4000], rows[1][2000:4000]
    changes = [
        lambda model: model.partial_fit(X[:1], y[:1]),
        lambda model: model.set_params(reject=Reject(risk=0.04)),
        lambda model: model.set_params(reject=Reject(risk=RISK, confidence=0.9)),
        lambda model: model.set_params(loss={(1, 0): 2.0}),
    ]
    for change in changes:
        model = certified(fitted, X, y)
        change(model)
        assert not hasattr(model, "certificate_")
        with pytest.raises(ValueError, match=r"reject\.risk=.* needs a certificate from held-out rows: call certify"):
            model.predict(X)
    model = certified(fitted, X, y)
    assert model.set_params(reject=Reject(risk=RISK, label=7)).certificate_.n_rows == 2000
    assert 7 in model.predict(X)
    again = pickle.loads(pickle.dumps(model))
    assert again.certificate_ == model.certificate_
    assert_array_equal(again.predict(X), model.predict(X))


def test_streams_are_certified_between_two_calls(rows):
    X, y = rows
    model = PredtronBinaryClassifier(reject=Reject(risk=RISK)).partial_fit(X[:3000], y[:3000], classes=[0, 1])
    model.certify(X[3000:6000], y[3000:6000])
    assert model.certificate_.n_answered > 1000


def test_where_nothing_can_be_promised_all_are_rejected(fitted, rows):
    X, y = rows[0][2000:2020], rows[1][2000:2020]
    model = pickle.loads(pickle.dumps(fitted))
    with pytest.warns(UserWarning, match=r"no share of the 20 rows was found to keep reject\.risk=0\.05, and all are rejected"):
        model.certify(X, y)
    assert model.certificate_.n_answered == 0
    assert (model.predict(rows[0]) == -1).all()


REFUSED = {
    "neither": ({"reject": Reject()}, "exactly one of them"),
    "both": (
        {"reject": Reject(cost=0.1, risk=0.1)},
        r"reject\.cost=0\.1, reject\.risk=0\.1, reject\.rate=None; accepted is exactly one",
    ),
    "zero": ({"reject": Reject(risk=0)}, r"reject\.risk=0 must be a number above 0"),
    "text": ({"reject": Reject(risk="low")}, r"reject\.risk='low' must be a number"),
    "all": ({"reject": Reject(risk=1.0)}, r"reject\.risk=1\.0 must be below the largest loss, 1: any model keeps it"),
    "unsure": ({"reject": Reject(risk=0.1, confidence=0.3)}, r"reject\.confidence=0\.3 must be a number from 0\.5 to below 1"),
    "sure": ({"reject": Reject(risk=0.1, confidence=1)}, r"reject\.confidence=1 must be"),
    "learned": ({"reject": Reject(risk=0.1), "decision": "learned"}, "does not go with reject.risk=0.1; accepted are None"),
    "a cut": ({"reject": Reject(risk=0.1), "decision": 0.3}, "does not go with"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_promises_are_refused(what, rows):
    parameters, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        PredtronBinaryClassifier(**parameters).fit(rows[0][:100], rows[1][:100])


def test_wrong_rows_leave_the_certificate(fitted, rows):
    X, y = rows[0][2000:4000], rows[1][2000:4000]
    model = certified(fitted, X, y)
    before = model.certificate_
    for A, b, message in [(X[:5], y[:4], "4"), (X[:, :3], y, "3 features"), (X, y + 5, "5")]:
        with pytest.raises(ValueError, match=message):
            model.certify(A, b)
    with pytest.raises(ValueError, match=r"costs do not go with reject\.risk=0\.05"):
        model.predict(X, costs={(1, 0): 3.0})
    assert model.certificate_ == before
    assert not hasattr(PredtronBinaryClassifier(reject=0.1), "certify")
    with pytest.raises(AttributeError, match="no attribute 'certify'") as error:
        PredtronBinaryClassifier(reject=0.1).certify  # noqa: B018
    assert "certify is for reject=Reject(risk=...), and here is" in str(error.value.__cause__)


def test_a_certificate_that_rests_on_a_free_mistake_warns():
    """Where a false alarm costs nothing, alarms for all rows keep any risk."""
    X, y = make_classification(600, class_sep=0.5, random_state=0)
    model = PredtronBinaryClassifier(loss={(0, 1): 0}, reject=Reject(risk=0.05), random_state=0).fit(X[:300], y[:300])
    with pytest.warns(UserWarning, match="by predicting 1 for all rows that are answered, a prediction that never costs"):
        model.certify(X[300:], y[300:])
