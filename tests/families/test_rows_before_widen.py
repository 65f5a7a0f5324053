"""Rows of a width from before `widen` are read as those that hold zeros in the features that were added."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from cases import state
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import L2, RKHS, Group, PNorm, Scaled

OLD, NEW, N = 4, 7, 60
X = np.random.default_rng(0).standard_normal((N, NEW))
SCORES = X @ np.random.default_rng(1).standard_normal((NEW, 3))
CLASSES, GRADES = SCORES.argmax(axis=1), np.digitize(SCORES, [-1, 1]).astype(float)
FAMILIES = {
    PredtronBinaryClassifier: (CLASSES % 2, {"classes": [0, 1]}, {}),
    PredtronClassifier: (CLASSES, {"classes": [0, 1, 2]}, {}),
    PredtronOrdinalClassifier: (CLASSES, {"classes": [0, 1, 2]}, {}),
    PredtronMultilabelClassifier: ((SCORES > 0).astype(int), {}, {}),
    PredtronRanker: (GRADES[:, 0], {"qid": "one"}, {}),
    PredtronLabelRanker: (GRADES, {}, {}),
    PredtronBipartiteClassifier: (CLASSES % 2, {"classes": [0, 1]}, {}),
    PredtronSequenceTagger: (CLASSES, {"classes": [0, 1, 2], "sid": "one"}, {"sid": "one"}),
}
FORMS = {"dense": np.ascontiguousarray, "csr": sparse.csr_array, "csc": sparse.csc_array, "list": np.ndarray.tolist}
KINDS = {
    **{kind: [L2(), Scaled()] for kind in FAMILIES},
    PredtronClassifier: [L2(), Scaled(), PNorm(q=8), Group(q=4), RKHS(gamma=0.1)],
}
CASES = [(kind, norm) for kind, norms in KINDS.items() for norm in norms]


def with_zeros(rows):
    """The rows with zeros in the features that they lack."""
    return np.hstack([rows, np.zeros((len(rows), NEW - rows.shape[1]))])


def begun(kind, norm):
    """A model that has learned from narrow rows, and then from wide ones."""
    y, first, _ = FAMILIES[kind]
    more = {name: value for name, value in first.items() if name != "classes"}
    model = kind(norm=norm).partial_fit(X[:20, :OLD], y[:20], **first)
    return model.widen(n_features=NEW).partial_fit(X[20:40], y[20:40], **more), more


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("kind", "norm"), CASES, ids=str)
@pytest.mark.filterwarnings("ignore:X is CSR, and the first rows were dense")
def test_as_rows_with_zeros(kind, norm, form):
    (model, more), (y, _, shown) = begun(kind, norm), FAMILIES[kind]
    known = deepcopy(model)
    for width in (OLD, NEW - 1, NEW):
        rows = X[40:, :width]
        given, wide = form(rows), sparse.csr_array(with_zeros(rows)) if "sparse" in str(form) else with_zeros(rows)
        np.testing.assert_array_equal(model.predict(given, **shown), known.predict(wide, **shown))
        model.partial_fit(given, y[40:], **more)
        known.partial_fit(wide, y[40:], **more)
    if isinstance(norm, RKHS):
        np.testing.assert_array_equal(model.dual_coef_, known.dual_coef_)
    else:
        np.testing.assert_array_equal(model.coef_, known.coef_)
        np.testing.assert_array_equal(model.last_intercept_, known.last_intercept_)
    assert (model.t_, model.cumulative_loss_) == (known.t_, known.cumulative_loss_)


@pytest.mark.parametrize("width", [1, OLD - 1, NEW + 1])
def test_other_widths_are_refused_as_before(width):
    model, _ = begun(PredtronClassifier, "l2")
    before, rows = state(model), np.ones((3, width))
    for call in (lambda: model.predict(rows), lambda: model.partial_fit(rows, [0, 1, 2]), lambda: model.explain(rows)):
        with pytest.raises(ValueError, match=f"X has {width} features, but PredtronClassifier is expecting 7 features"):
            call()
    assert state(model) == before


def test_narrow_rows_are_refused_of_a_model_that_was_never_widened():
    model = PredtronClassifier().fit(X, CLASSES).widen(n_features=NEW)
    with pytest.raises(ValueError, match="X has 4 features, but PredtronClassifier is expecting 7"):
        model.predict(X[:, :OLD])
    model, _ = begun(PredtronClassifier, "l2")
    model.fit(X, CLASSES)  # which begins anew
    with pytest.raises(ValueError, match="X has 4 features, but PredtronClassifier is expecting 7"):
        model.predict(X[:, :OLD])
    with pytest.raises(ValueError, match="expecting 5"):
        PredtronClassifier().fit(X[:, :5], CLASSES).widen(classes=[9]).predict(X[:, :OLD])


def test_what_is_saved_or_copied_reads_them_too():
    model, _ = begun(PredtronClassifier, "l2")
    expected = model.predict(X[:, :OLD])
    for other in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        np.testing.assert_array_equal(other.predict(X[:, :OLD]), expected)
        assert state(other.partial_fit(X[:, :OLD], CLASSES)) == state(deepcopy(model).partial_fit(X[:, :OLD], CLASSES))
        np.testing.assert_array_equal(other.widen(n_features=NEW + 2).predict(X[:, :OLD]), other.predict(X[:, :OLD]))
    with pytest.raises(ValueError, match="expecting 7"):
        clone(model).fit(X, CLASSES).predict(X[:, :OLD])


@pytest.mark.parametrize("first", [0, NEW, "4", True])
def test_a_saved_number_of_columns_that_cannot_be_is_refused(first):
    packed = begun(PredtronClassifier, "l2")[0]._model.packed()
    last = dict(packed["parts"][-1])
    last["state"] = [[name, [*value[:-1], first] if name == "columns" else value] for name, value in last["state"]]
    with pytest.raises(ValueError, match="damaged: TypeError: where a number of columns below 7 is expected"):
        Model.unpacked({**packed, "parts": [*packed["parts"][:-1], last]})


def test_a_fit_goes_on_with_narrow_rows():
    start = PredtronClassifier(norm="l2", warm_start=True, random_state=0, cv=0).fit(X, CLASSES).widen(n_features=NEW + 1)
    known = deepcopy(start).fit(np.hstack([X, np.zeros((N, 1))]), CLASSES)
    assert state(start.fit(X, CLASSES)) == state(known)


def test_a_mean_of_learners_reads_them():
    mixed = ParameterMixing(PredtronClassifier(norm="l2"), n_jobs=1).fit(X[:, :OLD], CLASSES).estimator_
    expected = mixed.predict(X[:, :OLD])
    np.testing.assert_array_equal(mixed.widen(n_features=NEW).predict(X[:, :OLD]), expected)


def test_measures_and_explanations_read_them():
    model, _ = begun(PredtronClassifier, "l2")
    narrow, wide = X[:, :OLD], with_zeros(X[:, :OLD])
    assert model.score(narrow, CLASSES) == model.score(wide, CLASSES) and model.margin(narrow, CLASSES) == model.margin(
        wide, CLASSES
    )
    np.testing.assert_array_equal(model.explain(narrow).values, model.explain(wide).values)


def test_single_precision_and_the_rows_given_are_kept():
    model, _ = begun(PredtronClassifier, "l2")
    rows = sparse.csr_matrix(X[:, :OLD].astype(np.float32))
    before = rows.copy()
    wide = sparse.csr_matrix(with_zeros(rows.toarray()).astype(np.float32))
    np.testing.assert_array_equal(model.decision_function(rows), model.decision_function(wide))
    assert rows.shape == before.shape and (rows != before).nnz == 0


def test_names_of_columns_are_wanted_as_before():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefg"))
    model = PredtronClassifier().fit(frame[list("abcd")], CLASSES).widen(list("abcdefg")).partial_fit(frame, CLASSES)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("abcd")])
    plain, _ = begun(PredtronClassifier, "l2")
    with pytest.warns(UserWarning, match="X has feature names, but PredtronClassifier was fitted without"):
        found = plain.predict(frame[list("abcd")])
    np.testing.assert_array_equal(found, plain.predict(X[:, :OLD]))
