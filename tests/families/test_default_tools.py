"""What reads a fitted model works whatever feature map a fit has chosen; importances are those of the summands of scores."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.features import PiecewiseLinear
from sklearn_predtron.inspection import CoefficientDisplay, EffectsDisplay
from sklearn_predtron.predictor import load
from tests.cases import weights_of

N = 240
RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.normal(size=(N, 4)) * [1, 1, 10, 0.1] + [0, 0, 500, 0]
FRAME = pd.DataFrame(NUMBERS[:, :2], columns=["age", "income"]).assign(town=RANDOM.choice(["Ulm", "Bonn"], N))
FRAME.loc[::9, "income"] = np.nan
CSR = sparse.random(N, 30, density=0.2, format="csr", random_state=0)
CURVE = (np.sin(3 * NUMBERS[:, 0]) + NUMBERS[:, 1] > 0).astype(int)
LINE = (NUMBERS[:, 0] + NUMBERS[:, 1] > 0).astype(int)
FITS = {
    "map": (NUMBERS, CURVE, "auto"),
    "cosines": (NUMBERS, CURVE, "fourier"),
    "words": (FRAME, (NUMBERS[:, 0] * np.where(FRAME["town"] == "Ulm", 1, -1) > 0).astype(int), "auto"),
    "csr": (CSR, (CSR[:, [0]].toarray()[:, 0] + CSR[:, [1]].toarray()[:, 0] > 0.2).astype(int), None),
    "columns": (NUMBERS, LINE, "auto"),
}


@pytest.fixture(scope="module", params=FITS)
def fitted(request):
    X, y, features = FITS[request.param]
    return request.param, PredtronBinaryClassifier(features=features, random_state=0).fit(X, y), X, y


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def shares(model, X):
    """The summands of columns, with half of those of their pairs, term by term; of each score."""
    explanation = model.explain(X)
    values = explanation.values
    values = np.stack([dense(one) for one in values], axis=-1) if isinstance(values, list) else dense(values)
    values = values.reshape(*values.shape[:2], -1)
    found = np.zeros((len(values), model.n_features_in_, values.shape[2]))
    for t, term in enumerate(explanation.terms):
        for j in term:
            found[:, j] += values[:, t] / len(term)
    return found


def deviations(parts, weight=None):
    """The mean absolute deviations of the columns, row by row, averaged over the scores."""
    weight = np.ones(len(parts)) if weight is None else weight
    mean = sum(w * part for w, part in zip(weight, parts, strict=True)) / weight.sum()
    return (sum(w * abs(part - mean) for w, part in zip(weight, parts, strict=True)) / weight.sum()).mean(axis=1)


def test_selection_and_importances(fitted):
    name, model, X, y = fitted
    strongest = np.argsort(-model.feature_importances_)[:2]
    assert model.feature_importances_.shape == (X.shape[1],) and (model.feature_importances_ >= 0).all()
    selected = SelectFromModel(model, prefit=True, max_features=2, threshold=-np.inf, importance_getter="feature_importances_")
    assert_array_equal(np.sort(strongest), np.flatnonzero(selected.fit(X, y).get_support()))
    if name != "words":  # these read numbers only
        RFE(clone(model), n_features_to_select=3, step=0.5).fit(X, y)
        SequentialFeatureSelector(clone(model).set_params(max_iter=1), n_features_to_select=1, cv=2).fit(X[:, :2], y)
    found = permutation_importance(model, dense(X), y, n_repeats=2, random_state=0).importances_mean
    assert found.argmax() in strongest
    assert partial_dependence(model, dense(X), [0], grid_resolution=3)["average"].shape == (1, 3)


def test_coefficients_are_those_of_columns(fitted):
    name, model, X, _ = fitted
    assert hasattr(model, "coef_") == hasattr(model, "last_coef_") == (name in ("csr", "columns")) != hasattr(model, "features_")
    if name in ("csr", "columns"):
        assert model.coef_.shape == (1, X.shape[1])
        CoefficientDisplay.from_estimator(model)
    else:
        for attribute in ("coef_", "last_coef_"):
            with pytest.raises(AttributeError, match=rf"{attribute} has the weights .*feature_importances_ .*features=None"):
                getattr(model, attribute)
        with pytest.raises(ValueError, match="EffectsDisplay"):
            CoefficientDisplay.from_estimator(model)
    if name not in ("csr", "cosines"):
        names = [effect.name for effect in EffectsDisplay.from_estimator(model, X, n_terms=2).effects]
        assert set(names) & ({"age", "age x town"} if name == "words" else {"x0", "x1"})


def test_copies_files_and_streams_keep_importances(fitted, tmp_path):
    _, model, X, y = fitted
    model.save(tmp_path / "model")
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), sklearn_predtron.load(tmp_path / "model")]
    for other in [*others, others[0].partial_fit(X, y)]:
        assert_array_equal(other.feature_importances_, model.feature_importances_)
    rows = (X.data, X.indices, X.indptr) if sparse.issparse(X) else X
    assert_array_equal(load(tmp_path / "model").predict(rows), model.predict(X))
    assert not hasattr(clone(model), "feature_importances_")
    with pytest.raises(ValueError, match="read-only"):
        model.feature_importances_[0] = 1


def families(features):
    own = {"features": features, "random_state": 0, "max_iter": 2}
    grade = np.digitize(NUMBERS[:, 0] * NUMBERS[:, 1], [-0.3, 0.3])
    return {
        "classes": (PredtronClassifier(**own), grade, {}),
        "simplex": (PredtronClassifier(representation="simplex", **own), grade, {}),
        "ranks": (PredtronOrdinalClassifier(representation="shared", **own), grade, {}),
        "sets": (PredtronMultilabelClassifier(**own), np.eye(3, dtype=int)[grade], {}),
        "documents": (PredtronRanker(**own), grade, {"qid": np.repeat(np.arange(24), 10)}),
    }


@pytest.mark.parametrize("features", [None, PiecewiseLinear(n_knots=5, pair_knots=3), "csr"], ids=["columns", "map", "csr"])
@pytest.mark.parametrize("family", families(None))
@pytest.mark.parametrize("norm", ["auto", "l1"])
def test_importances_are_deviations_of_the_summands(family, features, norm):
    X, features = (CSR, None) if features == "csr" else (NUMBERS, features)
    model, y, ids = families(features)[family]
    model.set_params(norm=norm).fit(X, y, **ids)
    assert_allclose(model.feature_importances_, deviations(shares(model, X)), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", ["map", "words", "csr"])
def test_weights_count_as_repeated_rows(name):
    X, y, features = FITS[name]
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    model = PredtronBinaryClassifier(features=features, random_state=0).fit(X, y, sample_weight=weight)
    assert_allclose(model.feature_importances_, deviations(shares(model, X), weight), rtol=1e-9, atol=1e-14)


def test_importances_of_wide_rows_are_those_of_their_columns():
    X, y, _ = FITS["csr"]
    wide = sparse.csr_matrix((X.data, X.indices * 10_000, X.indptr), shape=(N, 300_000))
    narrow, found = (PredtronBinaryClassifier(norm="l2", random_state=0).fit(rows, y).feature_importances_ for rows in (X, wide))
    assert_array_equal(found[::10_000], narrow)
    assert np.count_nonzero(found) == np.count_nonzero(narrow)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_columns_that_occur_twice_in_a_row_have_their_sum(kind):
    X, y, _ = FITS["csr"]
    halves = np.repeat(X.data, 2) * np.tile([0.25, 0.75], X.nnz)
    twice = kind((halves, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    once, found = (PredtronBinaryClassifier(norm="l2", random_state=0).fit(rows, y) for rows in (X, twice))
    assert_allclose(found.feature_importances_, once.feature_importances_, rtol=1e-9, atol=1e-14)
    assert twice.nnz == 2 * X.nnz


def test_summands_of_cosines_are_integrals_of_gradients():
    """The integral from the mean row, by small steps: each changes the score by its gradient."""
    model = PredtronBinaryClassifier(features="fourier", random_state=0).fit(NUMBERS[:30], CURVE[:30])
    turns, phase, mean, sd, amplitude = model.features_._state
    steps, parts = (np.arange(500) + 0.5) / 500, []
    for row in (NUMBERS[:30] - mean) / sd:
        angles = 2 * np.pi * (phase + np.outer(steps, row @ turns))
        parts.append(row * ((-amplitude * np.sin(angles) * weights_of(model)) @ (2 * np.pi * turns).T).mean(axis=0))
    change = model.decision_function(NUMBERS[:30]) - model.decision_function(mean[None])
    assert_allclose(np.sum(parts, axis=1), change, atol=1e-4)
    assert_allclose(model.feature_importances_, deviations(np.array(parts)[:, :, None]), rtol=1e-3)


def test_a_constant_column_has_no_importance():
    X = np.column_stack([NUMBERS[:, :2], np.full(N, 7.0)])
    for rows in (X, sparse.csr_matrix(X)):
        assert PredtronBinaryClassifier(norm="l2", random_state=0).fit(rows, LINE).feature_importances_[2] <= 1e-15


def test_models_without_importances_say_so():
    stream = PredtronBinaryClassifier().partial_fit(NUMBERS, LINE, classes=[0, 1])
    kernel = PredtronBinaryClassifier(norm="rkhs").fit(NUMBERS[:50], LINE[:50])
    for model in (stream, kernel):
        with pytest.raises(AttributeError, match=r"computed by fit.*permutation_importance"):
            _ = model.feature_importances_
        assert not hasattr(model, "feature_importances_")


def test_columns_that_come_later_have_no_importance():
    model = PredtronBinaryClassifier(random_state=0).fit(NUMBERS, LINE)
    known = model.feature_importances_
    assert_array_equal(model.widen(n_features=6).feature_importances_, [*known, 0, 0])
    assert pickle.loads(pickle.dumps(model)).feature_importances_.shape == (6,)


def test_auto_begins_at_a_linear_model():
    given = LogisticRegression().fit(NUMBERS, LINE)
    model = PredtronBinaryClassifier.from_linear(given, features="auto", warm_start=True)
    assert_array_equal(model.predict(NUMBERS), given.predict(NUMBERS))
    assert model.fit(NUMBERS, LINE).coef_.shape == (1, 4)
    with pytest.raises(ValueError, match="features='piecewise' cannot begin"):
        PredtronBinaryClassifier.from_linear(given, features="piecewise")
