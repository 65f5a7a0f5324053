"""Classifiers that may reject."""

import pickle
from contextlib import suppress
from functools import partial

import numpy as np
import pandas as pd
import pytest
from cases import make_data
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron.decisions import AtMost
from sklearn_predtron.decisions._promises import p_of_bets
from sklearn_predtron.losses import CostMatrix, Reject


@pytest.mark.parametrize(("kind", "k"), [(PredtronBinaryClassifier, 2), (PredtronClassifier, 2), (PredtronClassifier, 4)])
def test_coverage_grows_with_the_cost_of_rejection(kind, k):
    """A row is rejected if its least expected cost, under the probabilities, is above that of a rejection."""
    X, y = make_data(k, n=300, noise=1.5)
    model = kind(max_iter=10, random_state=0).fit(X, y)
    coverage = []
    for beta in [0.02, 0.1, 0.2, 0.3, 0.4, 0.5]:
        triage = kind(reject=Reject(beta, -1), max_iter=10, random_state=0).fit(X, y)
        np.testing.assert_array_equal(triage.coef_, model.coef_)
        predicted, kept, probabilities = triage.predict(X), triage.predict(X) != -1, triage.predict_proba(X)
        np.testing.assert_array_equal(kept, 1 - probabilities.max(axis=1) <= beta)
        np.testing.assert_array_equal(predicted[kept], probabilities.argmax(axis=1)[kept])
        coverage.append(kept.mean())
        loss = np.where(kept, predicted != y, beta)
        np.testing.assert_array_equal(triage.sample_loss(X, y), loss)
        assert triage.score(X, y) == np.mean(predicted == y)
    assert coverage == sorted(coverage)
    assert coverage[0] < coverage[-1]


@pytest.mark.parametrize(
    ("labels", "label", "good"),
    [
        ([0, 1, 2], -1, True),
        ([0, 1, 2], np.int8(7), True),
        ([0, 1, 2], 1, False),
        ([0, 1, 2], None, True),
        ([0, 1, 2], "reject", False),
        ([0, 1, 2], 1.5, False),
        ([0, 1, 2], True, False),
        ([-1, 0, 1], None, False),
        (["a", "b", "c"], None, True),
        (["a", "reject", "b"], None, False),
        (["a", "b", "c"], "do not know", True),
        (["a", "b", "c"], "b", False),
        (["a", "b", "c"], 0, False),
        ([0.0, 1.0, 2.0], -1.0, True),
        ([0.0, 1.0, 2.0], "a", False),
        ([0, 1, 2], [-1], False),
        ([0, 1, 2], np.array([-1, -2]), False),
    ],
)
def test_reject_label_is_of_the_type_of_the_classes(labels, label, good):
    X, codes = make_data(noise=3.0)
    y = np.array(labels)[codes]
    model = PredtronClassifier(reject=Reject(0.05, label), random_state=0)
    if good:
        predicted = model.fit(X, y).predict(X)
        assert predicted.dtype.kind == y.dtype.kind
        assert ({"i": -1, "U": "reject"}[y.dtype.kind] if label is None else label) in predicted
    else:
        with pytest.raises(ValueError, match=r"reject\.label=.* accepted is an? \w+ other than the classes \[.*\], such as "):
            model.fit(X, y)


@pytest.mark.parametrize("label", [None, True, False, -1, "reject"], ids=str)
@pytest.mark.parametrize("form", [np.asarray, list, pd.Series], ids=["array", "list", "series"])
def test_boolean_classes_leave_no_label_to_reject_with(form, label):
    """The message says what to do, and that works."""
    X, codes = make_data(2, n=300, noise=1.5)
    for kind in (PredtronBinaryClassifier, PredtronClassifier):
        model = kind(reject=Reject(0.05, label), random_state=0)
        message = rf"reject\.label={label!r} .* True and False, .* y\.astype\(int\) with reject\.label=-1, or strings"
        with pytest.raises(ValueError, match=message):
            model.fit(X, form(codes > 0))
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, form(codes > 0), classes=[False, True])
        assert not model.__sklearn_is_fitted__()
        predicted = model.set_params(reject__label=-1).fit(X, (codes > 0).astype(int)).predict(X)
        assert set(predicted) == {-1, 0, 1}


def test_costs_that_name_the_reject_label():
    """What a rejected row costs is reject.cost; a cost given to it elsewhere would do nothing."""
    X, y = make_data(2)
    losses = [{(0, -1): 5}, {(-1, 0): 5, (0, 1): 2}, CostMatrix({(0, 1): 5}, labels=[0, 1, -1]), CostMatrix({(0, -1): 5})]
    for loss in [*losses, CostMatrix(1 - np.eye(3), labels=[-1, 0, 1])]:
        for kind in (PredtronBinaryClassifier, PredtronClassifier):
            model = kind(loss=loss, reject=Reject(0.2, -1))
            with pytest.raises(ValueError, match=r"loss names reject\.label=-1; .* reject\.cost"):
                model.fit(X, y)
    declared = CostMatrix({(0, 1): 5}, labels=[0, 1, 7])
    assert PredtronClassifier(loss=declared, reject=Reject(0.2, -1)).fit(X, y).t_ > 0


def test_reject_parameters_may_change_after_fit():
    X, y = make_data(3, n=300, noise=1.5)
    model = PredtronClassifier(reject=Reject(0.3, -1), random_state=0).fit(X, y)
    other = PredtronClassifier(reject=Reject(0.1, -1), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.set_params(reject__cost=0.1).predict(X), other.predict(X))
    assert {-1} < set(model.predict(X)) <= {-1, 0, 1, 2}
    model.set_params(reject=None)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_a_search_reaches_into_the_option():
    X, y = make_data(3, n=120, noise=1.5)
    model = PredtronClassifier(reject=Reject(0.1, -1), random_state=0)
    search = GridSearchCV(model, {"reject__cost": [0.05, 0.4], "reject__label": [-1, -2]}, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert clone(model).reject is not model.reject and clone(model).reject.get_params() == model.reject.get_params()
    assert repr(model.reject) == "Reject(cost=0.1, label=-1)"


def test_bytes_are_no_label_of_strings():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=r"^reject.label=b'no' is what a rejected row is predicted as"):
        PredtronBinaryClassifier(reject=Reject(0.3, b"no")).fit(X, np.array(["no", "yes"])[y])


META = {
    "one_vs_rest": OneVsRestClassifier,
    "one_vs_one": OneVsOneClassifier,
    "output_code": lambda model: OutputCodeClassifier(model, random_state=0),  # some code books are constant
    "calibrated": CalibratedClassifierCV,
    "voting": lambda model: VotingClassifier([("a", model)], voting="soft"),
    "stacking": lambda model: StackingClassifier([("a", model)]),
    "bagging": lambda model: BaggingClassifier(model, 2),
    "threshold": TunedThresholdClassifierCV,
}


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("meta", META)
def test_a_meta_estimator_that_predicts_by_scores_loses_abstention_with_a_warning(meta, wrapped):
    X, y = make_data(2, n=200, noise=1.5)
    inner = PredtronBinaryClassifier(reject=Reject(0.1, 7), max_iter=3, random_state=0)
    model = META[meta](make_pipeline(StandardScaler(), inner) if wrapped else inner)
    with pytest.warns(UserWarning, match=rf"reject=.* does not make {type(model).__name__} abstain") as said:
        model.fit(X, y).predict(X)
    assert all(warning.filename == __file__ for warning in said)


BY_LABELS = {
    "boosting": AdaBoostClassifier,
    "chain": ClassifierChain,
    "hard voting": lambda model: VotingClassifier([("a", model)]),
    "stacking": lambda model: StackingClassifier([("a", model)], stack_method="predict"),
    "last of a stack": lambda model: StackingClassifier([("a", LogisticRegression())], model),
}


@pytest.mark.parametrize("meta", BY_LABELS)
def test_a_meta_estimator_that_takes_abstentions_as_labels_warns(meta):
    X, y = make_data(2, n=200, noise=1.5)
    inner = PredtronBinaryClassifier(reject=Reject(0.1), max_iter=3, random_state=0)
    model = BY_LABELS[meta](inner if meta == "boosting" else make_pipeline(inner))
    labels = np.column_stack([y, 1 - y]) if meta == "chain" else y
    named = rf"reject=.* does not make {type(model).__name__} abstain: it takes abstentions as labels.  Accepted is reject=None"
    with pytest.warns(UserWarning, match=named), suppress(ValueError):  # of scikit-learn, which does not name the cause
        model.fit(X, labels).predict(X)
    model.set_params(**{name: None for name in model.get_params() if name.endswith("__reject")}).fit(X, labels).predict(X)


def test_a_chain_that_passes_probabilities_on_abstains_without_a_warning():
    X, y = make_data(2, n=200, noise=1.5)
    inner = PredtronBinaryClassifier(reject=0.1, max_iter=3, random_state=0)
    chain = ClassifierChain(inner, chain_method="predict_proba").fit(X, np.column_stack([y, 1 - y]))
    assert (chain.predict(X) == -1).any()


def test_scores_and_predictions_under_abstention_are_there_without_a_warning():
    X, y = make_data(2, n=200, noise=1.5)
    model = PredtronBinaryClassifier(reject=0.1, max_iter=3, random_state=0).fit(X, y)
    RocCurveDisplay.from_estimator(model, X, y)
    CalibrationDisplay.from_estimator(model, X, y)
    assert cross_val_score(model, X, y, scoring="roc_auc").min() > 0.5
    cross_val_predict(model, X, y, method="decision_function")
    both = MultiOutputClassifier(model).fit(X, np.column_stack([y, 1 - y]))
    assert (both.predict(X) == -1).any(axis=0).all() and len(both.predict_proba(X)) == 2
    search = GridSearchCV(make_pipeline(model), {"predtronbinaryclassifier__max_iter": [3]}, scoring="neg_log_loss").fit(X, y)
    assert (search.predict(X) == -1).any() and search.decision_function(X).shape == (200,)


# ---------------------------------------------------------------------------------------------------------- a share of the rows

STEP = 0.005  # of the rule


def rate_rows(n, k=2, seed=1):
    return make_classification(n, n_informative=8, n_classes=k, flip_y=0.05, random_state=seed)


def drifting(n):
    """Rows that become hard to tell, in the middle third, and clear again."""
    X, y = rate_rows(n)
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
    X, y = rate_rows(1500, k)
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
    X, y = rate_rows(6000, 3)
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
    X, y = rate_rows(4000)
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
    X, y = rate_rows(1500, 3)
    known = y < 2
    model = PredtronClassifier(reject=Reject(rate=0.2)).partial_fit(X[known], y[known], classes=[0, 1])
    share = model.rejected_share_
    model.widen(classes=[2])
    assert model.rejected_share_ == share
    model.partial_fit(X, y)
    assert abs(model.rejected_share_ - 0.2) < 0.05


def test_a_rate_goes_with_expected_costs_alone():
    X, y = rate_rows(200)
    with pytest.raises(ValueError, match=r"decision=Learned\(\) does not go with reject.rate=0.1; accepted are None"):
        PredtronBinaryClassifier(reject=Reject(rate=0.1), decision="learned").fit(X, y)
    model = PredtronBinaryClassifier(reject=Reject(rate=0.1), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"costs do not go with reject.rate=0.1"):
        model.predict(X, costs={(0, 1): 1.0})
    with pytest.raises(AttributeError, match="no attribute 'certify'"):
        model.certify(X, y)


# ----------------------------------------------------------------------------------------------------------------- certificates

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
