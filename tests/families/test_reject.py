"""Classifiers that may reject."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from cases import make_data
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
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


@pytest.mark.parametrize("beta", [0.0, -0.1, 1.01, [0.1, 0.2], [0.1, 0.2, 0.0], [[0.1, 0.2, 0.3]], np.nan, ["a", "b", "c"]])
def test_reject_costs_that_are_none(beta):
    X, y = make_data()
    with pytest.raises(ValueError, match=r"reject\.cost=.*(above 0 and at most|does not hold numbers)"):
        PredtronClassifier(reject=Reject(beta, -1)).fit(X, y)


def test_reject_parameters_may_change_after_fit():
    X, y = make_data(3, n=300, noise=1.5)
    model = PredtronClassifier(reject=Reject(0.3, -1), random_state=0).fit(X, y)
    other = PredtronClassifier(reject=Reject(0.1, -1), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.set_params(reject__cost=0.1).predict(X), other.predict(X))
    assert {-1} < set(model.predict(X)) <= {-1, 0, 1, 2}
    model.set_params(reject=None)
    assert set(model.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier])
def test_it_is_for_decisions_by_probabilities(kind):
    X, y = make_data(2)
    for reject in (0.1, Reject(rate=0.1), Reject(risk=0.1)):
        with pytest.raises(
            ValueError, match=r"^decision=Learned\(\) does not go with reject\.\w+=0\.1; accepted are None and 'ex"
        ):
            kind(decision="learned", reject=reject).fit(X, y)


def test_a_search_reaches_into_the_option():
    X, y = make_data(3, n=120, noise=1.5)
    model = PredtronClassifier(reject=Reject(0.1, -1), random_state=0)
    search = GridSearchCV(model, {"reject__cost": [0.05, 0.4], "reject__label": [-1, -2]}, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert clone(model).reject is not model.reject and clone(model).reject.get_params() == model.reject.get_params()
    assert repr(model.reject) == "Reject(cost=0.1, label=-1)"


@pytest.mark.parametrize("wrong", [True, 0.0, -0.2, np.nan, "margin", Reject, (0.2, -1), {"cost": 0.2}], ids=str)
def test_what_is_no_option(wrong):
    X, y = make_data(3)
    model = PredtronClassifier(random_state=0).fit(X, y).set_params(reject=wrong)
    for call in (
        lambda: model.fit(X, y),
        lambda: model.partial_fit(X, y),
        lambda: model.predict(X),
        lambda: model.sample_loss(X, y),
    ):
        with pytest.raises(
            ValueError,
            match=r"^reject(=|\.cost=).*(accepted are None, a cost and|is a class; pass an instance|above 0 and at most)",
        ):
            call()


def test_a_parameter_of_an_option_that_is_not_there():
    with pytest.raises(
        ValueError, match=r"reject__cost=0\.3 cannot be set: reject=None has no parameters; pass an instance of Reject"
    ):
        PredtronClassifier().set_params(reject__cost=0.3)


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
