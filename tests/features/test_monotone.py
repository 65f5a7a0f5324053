"""Monotone curves: no prediction violates a constraint, and each step is projected as isotonic regression says."""

import copy
import pickle
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    predictor,
)
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron.features import Auto, PiecewiseLinear, _layout
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms._monotone import MonotoneWeights
from tests.cases import weights_of

N = 700
CST = [1, -1, 0, 0]
ROUNDING = 1e-12


def table(seed=0, n=N, missing=0.1):
    """Numbers, some of them missing, and noisy labels that rise with no column."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.standard_normal(n),
            np.exp(2 * random.standard_normal(n)),
            random.integers(0, 5, n).astype(float),
            random.standard_normal(n),
        ]
    )
    signal = np.sin(3 * X[:, 0]) + 0.5 * X[:, 0] + np.cos(np.log(X[:, 1])) + X[:, 2] * X[:, 3] / 3
    y = (signal + random.standard_normal(n) > 0.5).astype(int)
    X[random.random((n, 4)) < missing] = np.nan
    return X, y, np.digitize(signal, [-0.5, 0.5, 1.5])


X, TWO, RANKS = table()
MODELS = {
    "binary": (PredtronBinaryClassifier(), TWO),
    "two classes": (PredtronClassifier(), TWO),
    "names": (PredtronClassifier(), np.array(["b", "a"])[TWO]),
    "simplex": (PredtronClassifier(representation="simplex"), TWO),
    "falling code": (PredtronClassifier(representation=[[1.0], [-1.0]]), TWO),
    "costs": (PredtronClassifier(loss={(1, 0): 5}), TWO),
    "ranks": (PredtronOrdinalClassifier(representation="shared"), RANKS),
    "two ranks": (PredtronOrdinalClassifier(), TWO),
    "fold models": (PredtronBinaryClassifier(cv=3, max_iter=4), TWO),
    "one model": (PredtronBinaryClassifier(cv=0), TWO),
    "last iterate": (PredtronBinaryClassifier(cv=0, average=False), TWO),
    "chosen average": (PredtronBinaryClassifier(average="auto"), TWO),
    "half-life": (PredtronBinaryClassifier(average=50.0), TWO),
    "shrinking": (PredtronBinaryClassifier(update="subgradient"), TWO),
    "bounded steps": (PredtronBinaryClassifier(update="passive_aggressive"), TWO),
}
EVERY = pytest.mark.parametrize(("model", "y"), MODELS.values(), ids=list(MODELS))


def with_features(model, **parameters):
    return clone(model).set_params(features=PiecewiseLinear(**{"monotonic_cst": CST, **parameters}), random_state=0)


def curves(column, seed=0, others=30):
    """Rows along a column, far beyond its values, for some values of the others."""
    random = np.random.default_rng(seed)
    values = X[~np.isnan(X[:, column]), column]
    knots = [np.quantile(values, np.linspace(0.01, 0.99, n)) for n in (12, 32)]
    grid = np.sort(np.concatenate([np.linspace(-20, 40, 150), values[:50], *knots]))
    rows = np.repeat(X[random.integers(0, len(X), others)], len(grid), axis=0)
    rows[:, column] = np.tile(grid, others)
    return rows, (others, len(grid))


def violation(values, sign):
    """By how much values along the last axis go the wrong way, relative to the largest."""
    return float(np.max(-sign * np.diff(values, axis=-1), initial=0)) / max(1.0, float(np.abs(values).max()))


def leads(model, rows):
    """The score of the second class, or by how much the score of each rank exceeds that of the rank below."""
    scores = model.decision_function(rows)
    return scores[None] if scores.ndim == 1 else np.diff(scores, axis=1).T


def assert_monotone(model, constraints=CST):
    for column in np.flatnonzero(constraints):
        rows, shape = curves(column)
        # Models without held-out rows have no probabilities, and those of ranks are not of one score.
        has_two = hasattr(model, "predict_proba") and len(model.classes_) == 2
        of_second = [model.predict_proba(rows)[:, 1]] if has_two else []
        for values in (*leads(model, rows), *of_second):
            assert violation(values.reshape(shape), constraints[column]) <= ROUNDING


@EVERY
def test_no_score_or_probability_violates_a_constraint(model, y):
    fitted = with_features(model).fit(X, y)
    assert_monotone(fitted)
    free = with_features(model, monotonic_cst=None).fit(X, y)
    wrong = [(leads(free, rows)[0].reshape(shape), CST[j]) for j in (0, 1) for rows, shape in [curves(j)]]
    assert max(violation(values, sign) for values, sign in wrong) > 0.01


@pytest.mark.parametrize("seed", range(8))
def test_nor_in_random_tables(seed):
    random = np.random.default_rng(seed)
    rows, y, _ = table(seed + 1, n=int(random.integers(25, 600)), missing=0.3 * (seed % 2))
    constraints = random.integers(-1, 2, 4)
    parameters = {"n_knots": [None, 2, 40][seed % 3], "n_pairs": [None, 3][seed % 2], "pair_knots": [None, 3][seed % 2]}
    model = with_features(PredtronBinaryClassifier(), monotonic_cst=constraints, **parameters).fit(rows, y)
    assert_monotone(model, constraints)


@EVERY
def test_nor_after_any_call_of_a_stream(model, y):
    stream = with_features(model, n_knots=9)
    for start, end in pairwise([0, 1, 50, 200, 499, 500, 501, N]):
        stream.partial_fit(X[start:end], y[start:end], **({"classes": np.unique(y)} if start == 0 else {}))
        for column in (0, 1):
            rows = np.repeat(np.nan_to_num(X[:5]), 40, axis=0)
            rows[:, column] = np.tile(np.linspace(-9, 30, 40), 5)
            for values in leads(stream, rows):
                assert violation(values.reshape(5, 40), CST[column]) <= ROUNDING
    assert_monotone(stream)
    assert_monotone(with_features(model).fit(X, y).partial_fit(X[::-1], y[::-1]))


def ordered(values, sign):
    """The nearest values in order, along the first axis."""
    return np.stack([isotonic_regression(line, increasing=sign > 0) for line in values.T], axis=1)


def projected(weights, features, constraints):
    """The nearest weights in order, by the definition of the map's terms."""
    weights, d = weights.copy(), features._layout().description
    for k, term in enumerate(features.terms_):
        own = weights[features.term_of_ == k]
        signs = [constraints[j] for j in term]
        if len(term) == 1 and signs[0]:
            n = len(features.knots_[term[0]])
            own[:n] = ordered(own[:n, None], signs[0])[:, 0]
            own[n] = signs[0] * max(0, signs[0] * own[n])
        elif any(signs):
            grid = own.reshape([d.n_factors[j] for j in term])
            own = (ordered(grid, signs[0]) if signs[0] else ordered(grid.T, signs[1]).T).ravel()
        weights[features.term_of_ == k] = own
    return weights


def test_each_step_is_the_nearest_one_in_order_by_isotonic_regression():
    constraints = [1, 0, 0, -1]
    features = PiecewiseLinear(n_knots=6, n_pairs=100, pair_knots=4, monotonic_cst=constraints)
    model = PredtronBinaryClassifier(features=features, average="uniform", cv=0, max_iter=1, random_state=0).fit(X, TWO)
    assert {(0, 1), (1, 3)} < set(model.features_.terms_)
    made, free = model.features_.transform(X).toarray(), model.features_.term_of_ == 1
    before = model._model.learner.read(lambda weights: weights.last())[0][0]
    total, t, n_projected = weights_of(model)[0] * model.t_, model.t_, 0
    for i in np.flatnonzero(~np.isnan(X[:, 1])):
        model.partial_fit(X[i : i + 1], TWO[i : i + 1])
        after = model._model.learner.read(lambda weights: weights.last())[0][0]
        length = (after - before)[free] @ made[i][free] / (made[i][free] @ made[i][free])
        expected = projected(before + length * made[i], model.features_, constraints)
        n_projected += not np.array_equal(expected, before + length * made[i])
        assert_allclose(after, expected, rtol=1e-9, atol=1e-12)
        before, t, total = after, t + 1, total + after
        assert_allclose(weights_of(model)[0], total / t, rtol=1e-9, atol=1e-12)
    assert n_projected > 50


@pytest.mark.parametrize("places", [2**20, 64], ids=["direct", "hashed"])
def test_pairs_with_categories_are_monotone_for_each_category(monkeypatch, places):
    monkeypatch.setattr(_layout, "MOST_PRODUCTS", places)
    random = np.random.default_rng(0)
    town, y = random.integers(0, 30, N), (X[:, 3] > random.standard_normal(N)).astype(int)
    frame = pd.DataFrame({"age": random.standard_normal(N), "town": np.char.add("t", town.astype(str)), "b": X[:, 3]})
    y ^= (np.sin(3 * frame["age"]) * (town % 3) > 1).to_numpy()
    model = with_features(PredtronBinaryClassifier(), monotonic_cst={"age": 1}, n_pairs=3).fit(frame, y)
    layout = model.features_._layout()
    assert (0, 1) in model.features_.terms_
    assert (layout.hashed != _layout.DIRECT).any() == (places == 64)
    grid = frame.loc[np.repeat(np.arange(60), 80)].assign(age=np.tile(np.linspace(-4, 4, 80), 60))
    assert violation(model.decision_function(grid).reshape(60, 80), 1) <= ROUNDING
    free = with_features(PredtronBinaryClassifier(), monotonic_cst=None, n_pairs=3).fit(frame, y)
    assert violation(free.decision_function(grid).reshape(60, 80), 1) > 0.01


@pytest.mark.parametrize(
    "orders",
    [
        [[0, 1, 1, 4, 1, 0]],
        [[-1, 1, 1, 4, 1, 1]],
        [[6, 1, 1, 5, 1, 1]],
        [[0, 1, 1, 0, 1, 1]],
        [[0, 2, 1, 4, 1, 1]],
        [[0, 1, 1, 4, 1, 1], [3, 1, 1, 2, 1, -1]],
        [[0, 1, 1, 4, 1]],
        None,
    ],
)
def test_orders_of_damaged_weights_are_an_error(orders):
    orders = None if orders is None else np.array(orders, dtype=np.intp)
    with pytest.raises(ValueError, match=r"orders must|damaged"):
        MonotoneWeights(1, 10, Intercept(True, 1.0), orders=orders)


@pytest.mark.parametrize("model", [PredtronBinaryClassifier(), PredtronClassifier(), MODELS["ranks"][0]])
def test_streams_have_the_same_bits_in_any_split(model):
    y = RANKS if isinstance(model, PredtronOrdinalClassifier) else TWO
    found = []
    for sizes in ([N], [1] * 40 + [N - 40], [499, 1, 1, N - 501], [300, 300, 100]):
        stream, start = with_features(model), 0
        for size in sizes:
            stream.partial_fit(X[start : start + size], y[start : start + size], classes=np.unique(y))
            start += size
        found.append(stream.decision_function(X))
    for other in found[1:]:
        assert_array_equal(other, found[0])


@EVERY
def test_saved_models_predictors_and_copies_have_the_same_bits(model, y, tmp_path):
    fitted = with_features(model, monotonic_cst=np.array(CST)).fit(X, y)
    fitted.save(tmp_path / "model")
    scores = fitted.decision_function(X)
    loaded = sklearn_predtron.load(tmp_path / "model")
    assert_array_equal(predictor.load(tmp_path / "model").decision_function(X), scores)
    found = [fitted, loaded, pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)]
    for other in found:
        assert_array_equal(other.decision_function(X), scores)
        other.partial_fit(X, y)
        assert_array_equal(other.decision_function(X), found[0].decision_function(X))
    assert_monotone(loaded)


def test_a_stream_that_is_saved_before_its_map_is_made_continues_the_same(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    stream = PredtronBinaryClassifier(features=PiecewiseLinear(monotonic_cst={"a": 1, "b": -1}))
    stream.partial_fit(frame[:200], TWO[:200], classes=[0, 1]).save(tmp_path / "model")
    loaded = sklearn_predtron.load(tmp_path / "model")
    scores = [model.partial_fit(frame[200:], TWO[200:]).decision_function(frame) for model in (stream, loaded)]
    assert_array_equal(*scores)


def test_mixed_models_are_monotone():
    model = ParameterMixing(with_features(PredtronBinaryClassifier()), shards=2, rounds=2, random_state=0).fit(X, TWO)
    assert_monotone(model)


def test_names_and_numbers_of_columns_mean_the_same():
    frame = pd.DataFrame(X, columns=list("abcd"))
    models = [with_features(PredtronBinaryClassifier(), monotonic_cst=given) for given in ({"b": -1, "a": 1}, CST, np.array(CST))]
    first, *others = [model.fit(frame, TWO).decision_function(frame) for model in models]
    for other in others:
        assert_array_equal(other, first)


@pytest.mark.parametrize("cst", [[0, 0, 0, 0], np.zeros(4)])
def test_free_columns_change_no_bit(cst):
    free = with_features(PredtronBinaryClassifier(), monotonic_cst=None).fit(X, TWO)
    assert_array_equal(
        with_features(PredtronBinaryClassifier(), monotonic_cst=cst).fit(X, TWO).decision_function(X), free.decision_function(X)
    )


def test_the_transformer_leaves_out_pairs_of_monotone_columns_and_nothing_else():
    free = PiecewiseLinear(n_pairs=100).fit(X, TWO)
    constrained = PiecewiseLinear(n_pairs=100, monotonic_cst=CST).fit(X, TWO)
    assert constrained.terms_ == [term for term in free.terms_ if term != (0, 1)]
    known = free.get_feature_names_out().tolist()
    places = [known.index(name) for name in constrained.get_feature_names_out()]
    assert_array_equal(constrained.transform(X).toarray(), free.transform(X).toarray()[:, places])


def test_saved_maps_without_constraints_are_read():
    encoder = PiecewiseLinear().fit(X, TWO)
    state = encoder.__getstate__()
    del state["monotonic_cst"]
    state["_state"] = (*state["_state"][:8], state["_state"][9])
    older = PiecewiseLinear.__new__(PiecewiseLinear)
    older.__setstate__(state)
    assert_array_equal(older.transform(X).toarray(), encoder.transform(X).toarray())


FRAME = pd.DataFrame({"age": X[:, 0], "town": np.where(X[:, 3] > 0, "north", "south"), "own": X[:, 3] > 0})
REFUSED = {
    "value": ([1, -1, 0, 2], X, "monotonic_cst=[1, -1, 0, 2] is not known"),
    "number": (1, X, "monotonic_cst=1 is not known"),
    "text": ("age", X, "monotonic_cst='age' is not known"),
    "length": ([1, 0], X, "has 2 entries, and X has 4 columns"),
    "matrix": (np.ones((1, 4)), X, "is not known; accepted are None, a list"),
    "names of an array": ({"age": 1}, X, "names a column 'age' that X does not have"),
    "another name": ({"aeg": 1}, FRAME, "names a column 'aeg' that X does not have"),
    "categories": ({"town": 1}, FRAME, "constrains column 'town', which holds categories"),
    "booleans": ([0, 0, -1], FRAME, "constrains column 'own', which holds categories"),
}


@pytest.mark.parametrize(("cst", "rows", "message"), REFUSED.values(), ids=list(REFUSED))
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_constraints_that_are_not_of_the_columns(cst, rows, message, method):
    encoder = PiecewiseLinear(monotonic_cst=cst)
    model = PredtronBinaryClassifier(features=encoder)
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(encoder, method)(rows, TWO)
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(model, method)(rows, TWO, **({"classes": [0, 1]} if method == "partial_fit" else {}))
    assert not hasattr(encoder, "n_features_in_")
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (PredtronClassifier(), RANKS, "accepted are classifiers of two classes"),
        (PredtronOrdinalClassifier(), RANKS, "representation='shared'"),
        (PredtronMultilabelClassifier(), np.column_stack([TWO, RANKS > 1]), "does not go with 2 scores"),
        (PredtronBipartiteClassifier(), TWO, "does not go with 1 score of a PredtronBipartiteClassifier"),
        (PredtronRanker(), RANKS, "does not go with 1 score"),
        (PredtronBinaryClassifier(norm="scaled"), TWO, "does not go with norm='scaled'; accepted are 'auto' and 'l2'"),
        (PredtronBinaryClassifier(norm="rkhs"), TWO, "does not go with norm='rkhs'"),
    ],
)
def test_estimators_that_have_no_monotone_score(model, y, message, method):
    model = clone(model).set_params(features=PiecewiseLinear(monotonic_cst=CST))
    given = {"qid": np.zeros(N, dtype=int)} if isinstance(model, PredtronRanker) else {}
    if method == "partial_fit" and y.ndim == 1 and not given:
        given["classes"] = np.unique(y)
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(model, method)(X, y, **given)
    assert not hasattr(model, "n_features_in_")


def test_two_classes_stay_two():
    model = with_features(PredtronClassifier()).fit(X, TWO)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="monotonic_cst goes with two classes"):
        model.widen(classes=[2])
    assert_array_equal(model.decision_function(X), pickle.loads(before).decision_function(X))
    assert model.classes_.tolist() == [0, 1]


def test_the_default_map_has_no_constraints():
    with pytest.raises(TypeError, match="monotonic_cst"):
        Auto(monotonic_cst=CST)


def test_constraints_cannot_change_while_weights_live():
    model = with_features(PredtronBinaryClassifier(), monotonic_cst=np.array(CST)).fit(X, TWO)
    model.set_params(features__monotonic_cst=np.array(CST)).partial_fit(X, TWO)
    with pytest.raises(ValueError, match="features cannot change"):
        model.set_params(features__monotonic_cst=[-1, -1, 0, 0]).partial_fit(X, TWO)
