"""The default of `fit`: a feature map if held-out rows show that it is better, and otherwise the columns, to the last bit."""

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
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.families.training.maps import MapComparison
from sklearn_predtron.features import Auto, FeatureMap, PiecewiseLinear
from sklearn_predtron.inspection import CoefficientDisplay, EffectsDisplay
from sklearn_predtron.norms import RKHS
from sklearn_predtron.predictor import load
from tests.cases import weights_of

pytestmark = pytest.mark.default_features
RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 4))
STRAIGHT = X @ [2.0, -1.0, 0.5, 0.0] + 0.5 * RNG.standard_normal(600)
CURVED = np.abs(X[:, 0]) + X[:, 1] + 0.3 * RNG.standard_normal(600)
COSTS = np.abs(RNG.standard_normal((600, 2, 2))) * (1 - np.eye(2))


def ranked(score):
    return np.stack([score, -score, np.zeros(len(score))], axis=1) + 9


WORLDS = {
    "two": (PredtronBinaryClassifier, lambda score: (score > 0.5).astype(int)),
    "classes": (PredtronClassifier, lambda score: np.digitize(score, [-0.5, 1.0])),
    "ranks": (PredtronOrdinalClassifier, lambda score: np.digitize(score, [-0.5, 0.5, 1.5])),
    "preferences": (PredtronLabelRanker, ranked),
}


def kept(model):
    return not hasattr(model, "features_")


@pytest.mark.parametrize("n", [60, 600])
@pytest.mark.parametrize("name", WORLDS)
def test_a_straight_world_keeps_its_columns_to_the_last_bit(name, n):
    family, labels = WORLDS[name]
    model, plain = (family(random_state=0, **how).fit(X[:n], labels(STRAIGHT)[:n]) for how in ({}, {"features": None}))
    assert kept(model)
    assert_array_equal(model.coef_, plain.coef_)
    assert_array_equal(model.intercept_, plain.intercept_)
    assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.held_out_loss_ == plain.held_out_loss_ and model.n_iter_ == plain.n_iter_
    more = X[:50], labels(STRAIGHT)[:50]
    assert_array_equal(model.partial_fit(*more).coef_, plain.partial_fit(*more).coef_)


@pytest.mark.parametrize(
    "given", [{"sample_weight": np.arange(600) % 3}, {"costs": COSTS}, {"cv": 4}], ids=["weights", "costs", "cv"]
)
def test_weights_costs_and_folds_do_not_change_what_is_kept(given):
    how = {"cv": given["cv"]} if "cv" in given else {}
    given = {} if how else given
    y = (STRAIGHT > 0).astype(int)
    models = [PredtronBinaryClassifier(random_state=0, **how, **more).fit(X, y, **given) for more in ({}, {"features": None})]
    assert kept(models[0])
    assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


@pytest.mark.parametrize("name", WORLDS)
def test_a_curved_world_gets_a_map_that_is_better_on_new_rows(name):
    family, labels = WORLDS[name]
    train, new = slice(0, 400), slice(400, 600)
    model, plain = (family(random_state=0, **how).fit(X[train], labels(CURVED)[train]) for how in ({}, {"features": None}))
    assert isinstance(model.features_, FeatureMap) and not hasattr(model, "coef_")
    assert 1 - model.score(X[new], labels(CURVED)[new]) < 0.8 * (1 - plain.score(X[new], labels(CURVED)[new]))
    twin = family(random_state=0).fit(X[train], labels(CURVED)[train])
    assert_array_equal(model.decision_function(X), twin.decision_function(X))
    assert not kept(copy.deepcopy(model).partial_fit(X[new], labels(CURVED)[new]))


@pytest.mark.parametrize(
    "model",
    [
        PredtronBinaryClassifier(cv=0),
        PredtronBinaryClassifier(decision="learned"),
        PredtronBinaryClassifier(warm_start=True),
        PredtronBinaryClassifier(average="auto"),
        PredtronBinaryClassifier(norm=RKHS(budget=50)),
    ],
    ids=["cv", "learned", "warm_start", "average", "kernel"],
)
def test_where_nothing_is_compared_columns_are_kept(model):
    y = (CURVED > 1).astype(int)
    model.set_params(random_state=0, features="auto").fit(X, y)
    plain = copy.deepcopy(model).set_params(features=None).fit(X, y) if not model.warm_start else None
    assert kept(model)
    if plain is not None:
        assert_array_equal(model.decision_function(X), plain.decision_function(X))


def test_few_rows_wide_rows_csr_and_streams_keep_their_columns():
    y = (CURVED > 1).astype(int)
    assert kept(PredtronBinaryClassifier().fit(X[:18], y[:18]))
    assert kept(PredtronBinaryClassifier().fit(sparse.csr_array(X), y))
    wide = np.hstack([X, np.zeros((600, 297))])
    assert kept(PredtronBinaryClassifier(random_state=0).fit(wide, y))
    stream, plain = (PredtronBinaryClassifier(**how).partial_fit(X, y, classes=[0, 1]) for how in ({}, {"features": None}))
    assert kept(stream)
    assert_array_equal(stream.coef_, plain.coef_)
    assert stream.partial_fit(X, y).t_ == 1200


def test_tables_with_words_or_gaps_have_maps():
    y = (STRAIGHT > 0).astype(int)
    table = pd.DataFrame(X, columns=list("abcd"))
    assert kept(PredtronBinaryClassifier(random_state=0).fit(table, y))
    words = table.assign(e=np.where(X[:, 3] > 0, "up", "down"))
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    for rows in (words, table.mask(np.isnan(gaps)), gaps):
        assert isinstance(PredtronBinaryClassifier(random_state=0).fit(rows, y).features_, PiecewiseLinear)
        stream = PredtronBinaryClassifier().partial_fit(rows[:300], y[:300], classes=[0, 1]).partial_fit(rows[300:], y[300:])
        assert isinstance(stream.features_, PiecewiseLinear)
    with pytest.raises(ValueError, match="NaN"):  # a stream of numbers
        PredtronBinaryClassifier().partial_fit(X, y, classes=[0, 1]).partial_fit(gaps, y)


@pytest.mark.parametrize("categories", [[3], (3,), np.array([3])], ids=["list", "tuple", "array"])
def test_listed_categories_of_numbers_are_categories(categories):
    """The codes are in no order: as numbers, or as other numbers than the map has given them, they tell nothing."""
    codes = RNG.integers(0, 6, 600) * 7 + 3
    rows, y = np.column_stack([X[:, :3], codes]), np.isin(codes, [3, 17, 31])
    model = PredtronBinaryClassifier(features=Auto(categories=categories), random_state=0).fit(rows[:400], y[:400])
    assert model.features_.categories_[3] is not None and model.score(rows[400:], y[400:]) > 0.99
    stream = PredtronBinaryClassifier(features=Auto(categories=categories)).partial_fit(rows, y, classes=[False, True])
    assert stream.features_.categories_[3] is not None


def test_gaps_are_an_error_where_fit_had_none():
    for score in (STRAIGHT, CURVED):
        model = PredtronBinaryClassifier(random_state=0).fit(X, score > 1)
        with pytest.raises(ValueError, match="NaN"):
            model.predict(np.where(X > 1, np.nan, X))


def test_weights_are_frequencies():
    times = RNG.integers(0, 4, 600)
    wide = np.hstack([np.round(X, 1), RNG.standard_normal((600, 16))])
    product = wide[:, 0] * wide[:, 1] > 0
    weighted, repeated = Auto(n_pairs=12), Auto(n_pairs=12)
    there = times > 0
    weighted._fit(wide[there], product[there], times[there].astype(float))
    repeated._fit(np.repeat(wide, times, axis=0), np.repeat(product, times))
    for one, other in zip(weighted.choices()[:-1], repeated.choices()[:-1], strict=True):
        assert_array_equal(one._layout().description.pairs, other._layout().description.pairs)
        for mine, theirs in zip(one.knots_, other.knots_, strict=True):
            assert_allclose(mine, theirs, rtol=1e-12)
    assert [0, 1] in weighted._layout().description.pairs.tolist()


def test_a_map_must_be_better_by_more_than_a_standard_error(monkeypatch):
    """On labels that are noise, maps that are ahead by chance are left: four fits in five keep the columns."""
    seen = []
    is_better = MapComparison.is_better
    monkeypatch.setattr(MapComparison, "is_better", lambda self, found: seen.append(found) or is_better(self, found))
    n_kept = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_kept += kept(PredtronBinaryClassifier(random_state=0).fit(rng.standard_normal((80, 3)), np.arange(80) % 2))
    assert n_kept >= 16 and len(seen) >= 5


# ----------------------------------------------------------------------------------------------------- default maps among tools

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
            with pytest.raises(AttributeError, match=rf"{attribute} has the weights .*feature_importances_, .*features=None"):
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
