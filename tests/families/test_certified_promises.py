"""Estimators with promises for predicted labels and several at once: `Reject(risk={...})` and ``certify(X, y, promises)``."""

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_predict

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron.decisions import AtLeast, AtMost
from sklearn_predtron.losses import Reject

HOME = Reject(risk={"well": 0.02})


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(6000, n_informative=8, class_sep=1.8, weights=[0.2], flip_y=0, random_state=3)
    return X, np.where(y == 1, "well", "ill")


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return PredtronBinaryClassifier(reject=HOME, random_state=0).fit(X[:1000], y[:1000])


def certified(model, *rows, **more):
    return pickle.loads(pickle.dumps(model)).certify(*rows, **more)


def test_one_prediction_is_limited_and_the_other_always_given(fitted, rows):
    X, y = rows[0][1000:2000], rows[1][1000:2000]
    model = certified(fitted, X, y)
    found, ill, predicted = model.certificate_, model.predict_proba(X)[:, 0], model.predict(X)
    (result,) = found.results
    home = predicted == "well"
    assert result.promise == AtMost("risk", 0.02, predicted="well")
    assert (result.kept, result.n_rows, result.value) == (True, home.sum(), (y == "ill")[home].mean())
    assert result.p_value == pytest.approx(binom.cdf((y == "ill")[home].sum(), home.sum(), 0.02))
    assert result.p_value <= 0.05
    assert_array_equal(home, ill <= found.limits["well"])
    assert_array_equal(predicted == "ill", ill > 0.5)
    assert found.n_answered == (predicted != "reject").sum() < found.n_rows == 1000


ESTIMATED = "ignore:.* is estimated on the held-out rows of training"


@pytest.mark.filterwarnings(ESTIMATED)
def test_before_certify_the_recorded_rows_decide(fitted, rows):
    """As an estimate: by the same tests, without a certificate, which a warning says."""
    X, y = rows[0][1000:], rows[1][1000:]
    with pytest.warns(UserWarning, match=r"^reject\.risk=.* is estimated .*; certify\(X, y\) with rows not seen"):
        predicted = fitted.predict(X)
    home = predicted == "well"
    assert not hasattr(fitted, "certificate_")
    assert home.mean() > 0.5
    assert (y == "ill")[home].mean() < 0.02
    assert (predicted == "reject").any() and (predicted == "ill").any()
    assert_array_equal(np.concatenate([fitted.predict(X[i : i + 1]) for i in range(50)]), predicted[:50])
    stream = PredtronBinaryClassifier(reject=Reject(risk=0.05)).partial_fit(X[:3000], y[:3000], classes=["ill", "well"])
    answered = stream.predict(X[3000:]) != "reject"
    assert answered.mean() > 0.5
    assert (stream.predict(X[3000:]) != y[3000:])[answered].mean() < 0.07


def test_without_held_out_rows_nothing_is_promised(rows):
    model = PredtronBinaryClassifier(reject=HOME, cv=0, max_iter=3, random_state=0).fit(rows[0][:300], rows[1][:300])
    for call in (lambda: model.predict(rows[0]), lambda: model.certify(*rows)):
        with pytest.raises(
            (ValueError, AttributeError), match="needs scores of held-out rows, and cv=0 with several epochs has none"
        ):
            call()


def test_a_certificate_that_lapsed_is_an_error(rows):
    X, y = rows[0][:2000], rows[1][:2000]
    sparse = PredtronBinaryClassifier(norm="l1", reject=HOME, random_state=0).fit(X[:1000], y[:1000])
    several = PredtronClassifier(reject=HOME, random_state=0).fit(X[:1000], y[:1000])
    for model, change in [
        (sparse, lambda model: model.sparsify(tol=0.05)),
        (several, lambda model: model.widen(classes=["worse"])),
        (several, lambda model: model.set_params(reject=Reject(risk={"well": 0.03}))),
        (several, lambda model: model.partial_fit(X[:1], y[:1])),
    ]:
        model = change(certified(model, X[1000:], y[1000:]))
        assert not hasattr(model, "certificate_")
        again = pickle.loads(pickle.dumps(model))
        for one in (model, again):
            with pytest.raises(ValueError, match=r"reject\.risk=\{'well': 0\.0.\} needs a certificate from held-out rows"):
                one.predict(X)


def test_several_promises_and_groups(fitted, rows):
    X, y = rows[0][1000:5000], rows[1][1000:5000]
    place = np.where(X[:, 0] > 0, "north", "south")
    separate = [
        AtMost("risk", 0.02, predicted="well", group="north"),
        AtMost("risk", 0.03, predicted="well", group="south"),
        AtLeast("precision", 0.9, label="ill"),
    ]
    together = [AtMost("risk", 0.05), AtLeast("recall", 0.5, label="ill"), AtMost("abstention_rate", 0.5)]
    for promises, n_limits, groups in [(separate, 2, place), (together, 1, None)]:
        model = certified(fitted, X, y, promises=promises, groups=groups)
        found, predicted = model.certificate_, model.predict(X)
        assert [result.promise for result in found.results] == promises
        assert all(result.kept for result in found.results)
        assert len(set(found.limits.values())) == n_limits
        for result in found.results:
            home = (predicted == "well") & (place == result.promise.group)
            if result.promise.group is not None:
                assert (result.n_rows, result.value) == (home.sum(), (y == "ill")[home].mean())
    assert found.results[1].value == pytest.approx((predicted == "ill")[y == "ill"].mean())


def test_a_promise_that_cannot_be_kept_is_not_given(fitted, rows):
    X, y = rows[0][1000:1100], rows[1][1000:1100]
    model = pickle.loads(pickle.dumps(fitted))
    with pytest.warns(
        UserWarning,
        match=r"of the 100 rows was found to keep reject\.risk=\{'well': 0\.02\}, and 'well' is .* more rows \(at least 149 in",
    ):
        model.certify(X, y)
    predicted = model.predict(rows[0])
    assert set(predicted) == {"ill", "reject"}
    (result,) = model.certificate_.results
    assert not result.kept and result.p_value > 0.05 and model.certificate_.limits["well"] == -1
    assert "is not shown" in str(model.certificate_) and "'well' never" in str(model.certificate_)
    with pytest.warns(UserWarning, match=r"to keep AtLeast\('precision', 0\.99, label='ill'\), and 'ill' is never"):
        model.certify(X, y, promises=[AtLeast("precision", 0.99, label="ill")])


def test_files_and_json_have_the_certificate(fitted, rows, tmp_path):
    X, y = rows[0][1000:3000], rows[1][1000:3000]
    groups = np.arange(2000) % 2
    promises = [AtMost("risk", 0.02, predicted="well", group=np.int64(1)), AtLeast("precision", 0.85, label="ill")]
    model = certified(fitted, X, y, promises=promises, groups=groups)
    model.save(tmp_path / "model")
    for again in (sklearn_predtron.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.certificate_ == model.certificate_
        assert_array_equal(again.predict(rows[0]), model.predict(rows[0]))
    read = json.loads(model.certificate_.to_json())
    assert read["results"][0]["promise"] == {
        "kind": "AtMost", "measure": "risk", "bound": 0.02, "label": None, "predicted": "well", "group": 1
    }  # fmt: skip
    assert read["results"][1]["n_rows"] == model.certificate_.results[1].n_rows
    assert [limit["label"] for limit in read["limits"]] == ["ill", "well"]
    damaged = pickle.loads(pickle.dumps(model))
    state = damaged._model.fitted_decision
    for i, wrong in [(4, ((0, "risk", 0.1, 7, None, None),)), (6, 5000), (7, "x"), (8, np.zeros(3))]:
        certificate = list(state["certificate"])
        certificate[i] = wrong
        damaged._model.fitted_decision = {**state, "certificate": tuple(certificate)}
        with pytest.raises(ValueError, match="damaged"):
            pickle.loads(pickle.dumps(damaged))


@pytest.mark.filterwarnings(ESTIMATED)
@pytest.mark.parametrize("kind", [PredtronClassifier, PredtronOrdinalClassifier])
def test_many_classes_in_searches(kind):
    X, y = make_classification(3000, n_informative=8, n_classes=3, class_sep=1.8, random_state=0)
    model = kind(reject=Reject(risk={0: 0.1, 2: 0.2}), loss="zero_one", random_state=0)
    assert clone(model).get_params()["reject__risk"] == {0: 0.1, 2: 0.2}
    assert -1 in cross_val_predict(model, X[:600], y[:600], cv=2)
    search = GridSearchCV(model, {"reject__risk": [{0: 0.02}, {0: 0.4}]}, cv=2).fit(X[:600], y[:600])
    assert search.best_params_ == {"reject__risk": {0: 0.4}}  # fewer rejections
    model.fit(X[:1000], y[:1000]).certify(X[1000:], y[1000:])
    predicted, limits = model.predict(X), model.certificate_.limits
    assert limits[0] != limits[2] and limits[1] > 1
    assert_array_equal(predicted[predicted == 1], model.predict_proba(X).argmax(axis=1)[predicted == 1])


REFUSED = [
    (Reject(risk={}), r"reject\.risk=\{\} must have a number above 0 for at least one label"),
    (Reject(risk={"well": -1}), r"reject\.risk=\{'well': -1\} must have a number above 0"),
    (Reject(risk={"healthy": 0.1}), r"reject\.risk names 'healthy', which is none of the classes \['ill', 'well'\]"),
    (Reject(risk={"well": 1.5}), r"reject\.risk=1\.5 must be below the largest loss of predicting 'well', 1: any model keeps it"),
]


@pytest.mark.parametrize(("reject", "message"), REFUSED)
def test_wrong_risks(reject, message, rows):
    with pytest.raises(ValueError, match=message):
        PredtronBinaryClassifier(reject=reject).fit(rows[0][:100], rows[1][:100])


def test_wrong_promises_leave_the_certificate(fitted, rows):
    X, y = rows[0][1000:3000], rows[1][1000:3000]
    model = certified(fitted, X, y)
    before, one = model.certificate_, AtMost("risk", 0.1, group="north")
    for promises, groups, message in [
        ([], None, r"promises=\[\] must be a list of AtMost"),
        ({"well": 0.1}, None, "promises=.* must be a list of AtMost"),
        ([AtMost("risk", 0.1, predicted="fine")], None, "promises names 'fine', which is none of the classes"),
        ([AtMost("risk", 1.0)], None, r"promises=AtMost\('risk', 1\) must be below the largest loss, 1: any model keeps it"),
        ([AtLeast("risk", 2.0)], None, "no model keeps it"),
        ([one], None, "groups=None does not go with a promise of group='north'"),
        ([one], ["south"] * 2000, r"promises name group='north', which is none of the groups \['south'\]"),
        ([one], "north", r"groups='north' must hold one group for each row, of shape \(2000,\)"),
        ([one], ["north"] * 3, "groups has 3 values for 2000 rows"),
        (
            [AtMost("risk", 0.1)],
            ["north"] * 2000,
            r"groups are given, and no promise has one; .* AtMost\('risk', 0.1, group=\.\.\.\)",
        ),
        (None, ["north"] * 2000, r"groups are given, and no promise has one; .* promises with group=..., as AtMost"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.certify(X, y, promises=promises, groups=groups)
    assert model.certificate_ == before


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
def test_rows_without_a_group_are_refused(missing):
    X, y = make_classification(200, random_state=0)
    model = PredtronBinaryClassifier(reject=Reject(risk=0.2), max_iter=3, random_state=0).fit(X, y)
    groups = pd.Series(["a", "b"] * 100, dtype=object)
    groups[3] = missing
    with pytest.raises(ValueError, match=r"^groups\[3\]=.* is missing; accepted is the group of each row"):
        model.certify(X, y, [AtMost("risk", 0.2, group="a")], groups=groups)


def test_a_promise_that_is_not_shown_is_said_with_a_bound_that_these_rows_show(rows):
    """A certificate of that bound, by the same rows, is kept; of a clearly stricter one it is not."""
    X, y = rows
    flipped = np.where(np.random.default_rng(0).random(len(y)) < 0.1, "ill", y)
    model = PredtronBinaryClassifier(reject=HOME, random_state=0).fit(X[:1000], flipped[:1000])
    held_out = X[1000:1800], flipped[1000:1800]
    with pytest.warns(UserWarning, match="'well' is never predicted") as said:
        model.certify(*held_out)
    bound = float(re.search(r"these rows show AtMost\('risk', ([\d.]+), predicted='well'\)", str(said[0].message))[1])
    assert 0.02 < bound < 0.3
    certificate = model.certify(*held_out, [AtMost("risk", bound, predicted="well")]).certificate_
    assert certificate.results[0].kept and certificate.results[0].n_rows > 0
    answered = round(100 * certificate.n_answered / certificate.n_rows)
    assert f"with {answered} % answered" in str(said[0].message)
    with pytest.warns(UserWarning, match="is never predicted"):
        model.certify(*held_out, [AtMost("risk", 0.6 * bound, predicted="well")])


def test_the_number_of_rows_like_these_that_would_show_a_promise_does():
    X, y = make_classification(3000, class_sep=1, flip_y=0.03, random_state=0)
    model = PredtronBinaryClassifier(reject=Reject(risk=0.02), features=None, random_state=0).fit(X[:1500], y[:1500])
    held_out = X[1500:2200], y[1500:2200]
    with pytest.warns(UserWarning, match="and about 2,100 rows like these would show it as it is"):
        model.certify(*held_out)
    with pytest.warns(UserWarning, match="all are rejected"):
        model.certify(*(np.concatenate([part] * 2) for part in held_out))
    assert model.certify(*(np.concatenate([part] * 3) for part in held_out)).certificate_.results[0].kept


def test_weights_are_refused_by_name_and_reason(fitted, rows):
    with pytest.raises(TypeError, match=r"^PredtronBinaryClassifier\.certify\(\) takes no sample_weight: the tests need rows"):
        fitted.certify(*rows, sample_weight=np.ones(len(rows[1])))
