"""norm="scaled": against its plain-Python learner, under any units and offsets, with features of every kind."""

import pickle

import numpy as np
import pytest
from cases import (
    AVERAGES,
    cost_table,
    intercept_settings,
    layouts,
    name,
    pairwise,
    random_costs,
    state,
    updates_of_the_reference,
)
from inside import predicting_scores, weights_of
from reference.scaled import Features, ScaledReference
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler
from worlds import RANKING_LOSSES, assert_agrees

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
from sklearn_predtron.losses import CostMatrix, Reject, ZeroOne
from sklearn_predtron.representations import OneHot, SharedThermometer, Sign, Thermometer
from sklearn_predtron.updates import Adaptive, LossDriven, Subgradient
from tests.families.test_ranking import learn, make_queries

K = 4
LAYOUTS = ["dense float64", "dense float32", "csr float64 int32", "csr float32 int64"]
PROBLEMS = [
    (2, Sign(), ZeroOne()),
    (K, OneHot(), CostMatrix(random_costs(K))),
    (K, Thermometer(), ZeroOne()),
    (K, SharedThermometer(), ZeroOne()),
]


def raw(n=70, p=23, k=K, seed=0):
    """Features that float32 holds exactly: dense ones with offsets, sparse ones, a constant, an empty one, a late one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * 10 ** rng.uniform(-2, 2, p) + rng.choice([0, 0, 5, -30], p)
    X[:, p // 2 :] *= rng.random((n, p - p // 2)) < 0.3
    X[:, 3], X[:, 4], X[: n // 2, 5] = 2.5, 0, 0
    X[n // 3] = 0
    X[n - 5, 6] += 1e3 * np.abs(X[:, 6]).max()
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    y = (Z @ rng.standard_normal((p, k)) + 0.5 * rng.standard_normal((n, k))).argmax(axis=1)
    y[:k] = np.arange(k)[::-1]
    return X.astype(np.float32).astype(np.float64), y


def make(update="adaptive", average="linear", representation="onehot", loss="zero_one", **settings):
    parts = {"update": update, "average": average, "representation": representation, "loss": loss}
    return PredtronClassifier(norm="scaled", **{"decision": "learned", **parts, **settings})


def reference_for(update, problem, p, intercept="auto", form="dense"):
    k, representation, loss = problem
    shared, code = isinstance(representation, SharedThermometer), representation.code(k)
    settings = {"dense": form.startswith("dense"), "intercept": intercept, "shared": shared}
    return ScaledReference(code, cost_table(loss, k), p, update.alias, update.get_params(), **settings)


# ------------------------------------------------------------------------------------------------------- by the reference


@pytest.mark.parametrize("update", [Adaptive(), LossDriven(eta=0.3), Subgradient()], ids=name)
@pytest.mark.parametrize("problem", [PROBLEMS[0], (4, SharedThermometer(), ZeroOne())], ids=["onehot", "shared"])
@pytest.mark.parametrize("intercept", ["auto", 0.7])
def test_rows_that_are_all_equal_at_first(update, problem, intercept):
    """From the second row on they teach the intercept, which stays as it is when rows begin to differ."""
    X, y = raw(k=problem[0])
    X[:30], weight = X[1], np.random.default_rng(5).uniform(0.2, 2.5, len(X))  # no scores tie exactly
    references = [reference_for(update, problem, X.shape[1], intercept, form) for form in ("dense", "csr")]
    models = {
        (form, average): make(update, average, *problem[1:], **intercept_settings(intercept))
        for form, average in zip(LAYOUTS, [*AVERAGES, "linear", "uniform"], strict=False)
    }
    for first, last in ((0, 20), (20, 30), (30, 33), (33, len(X))):
        references = [reference.learn(X[first:last], y[first:last], weight[first:last]) for reference in references]
        for (form, average), model in models.items():
            rows = layouts(X)[form][first:last]
            model.partial_fit(rows, y[first:last], classes=np.arange(problem[0]), sample_weight=weight[first:last])
            reference = references[form.startswith("csr")]
            if last > 30:
                assert_agrees(model, reference, average)
            else:
                assert model.n_updates_ == reference.n_updates > 4 and not np.any(model.coef_)
                expected = reference.averages(average)[0][1]
                np.testing.assert_allclose(model.intercept_, expected[: len(np.atleast_1d(model.intercept_))], rtol=1e-12)


@pytest.mark.parametrize("form", LAYOUTS)
@pytest.mark.parametrize("problem", PROBLEMS, ids=[type(problem[1]).__name__ for problem in PROBLEMS])
def test_statistics_are_those_of_all_rows_from_the_first_epoch_of_fit_on(problem, form):
    X, y = raw(k=problem[0])
    reference = reference_for(Adaptive(), problem, X.shape[1], form=form)
    reference.features.update_statistics_of_all(X)
    reference.all_met = True
    reference.learn(X, y)
    reference.frozen = True
    reference.learn(X, y).learn(X, y)
    model = make("adaptive", "linear", *problem[1:], max_iter=3, shuffle=False).fit(layouts(X)[form], y)
    assert_agrees(model, reference, "linear")
    reference.frozen = reference.all_met = False
    assert_agrees(model.partial_fit(layouts(X)[form][:20], y[:20]), reference.learn(X[:20], y[:20]), "linear")


# ---------------------------------------------------------------------------------------------------- units and offsets

SETS = {"digits": load_digits, "wine": load_wine, "breast_cancer": load_breast_cancer}


@pytest.mark.parametrize("form", ["dense", "CSR"])
@pytest.mark.parametrize("data", SETS)
def test_units_of_the_features_change_no_prediction(data, form):
    X, y = SETS[data](return_X_y=True)
    units = 10 ** np.random.default_rng(0).uniform(-3, 3, X.shape[1])
    as_given = sparse.csr_matrix if form == "CSR" else np.asarray
    models = [PredtronClassifier(norm="scaled", random_state=0, max_iter=3).fit(as_given(Z), y) for Z in (X, X * units)]
    scores = [model.decision_function(as_given(Z)) for model, Z in zip(models, (X, X * units), strict=True)]
    top = np.sort(scores[0].reshape(len(y), -1), axis=1)
    lead = top[:, -1] - top[:, -2] if top.shape[1] > 1 else np.abs(top[:, 0])
    clear = lead > 1e-6 * np.abs(top).max()
    assert clear.mean() > 0.99
    assert np.array_equal(models[0].predict(X)[clear], models[1].predict(X * units)[clear])


@pytest.mark.parametrize("data", SETS)
def test_offsets_change_no_score(data):
    X, y = SETS[data](return_X_y=True)
    train = np.random.default_rng(0).random(len(y)) < 0.6
    accuracy = [
        PredtronClassifier(norm="scaled", random_state=0).fit(Z[train], y[train]).score(Z, y)
        for Z in (X, X + 1000 * X.std(axis=0))
    ]
    assert abs(accuracy[0] - accuracy[1]) < 0.005


def frequencies(n=500, p=24, seed=0):
    """Features as of spam, mostly exact zeros with heavy tails, and two mostly 1; their sums with whole numbers are exact."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    rates = 1 / (1 + np.exp(-rng.normal(-2, 1, p) - rng.normal(0, 1, (3, p))))[y]
    X = (rng.random((n, p)) < rates) * np.exp(rng.normal(0, 1.5, (n, p))) * 10 ** rng.uniform(-1, 2, p)
    X[:, :2] = rng.random((n, 2)) < 0.97
    X[:, 2], X[: n // 2, 3] = 0, 0
    return np.round(X * 64) / 64, y


OFFSETS = [1.0, -7.0, np.arange(24) % 5 * 30.0]


@pytest.mark.parametrize(
    ("update", "settings", "offset"),
    pairwise(updates_of_the_reference(), [{}, {"reject": Reject(0.2, -1), "decision": None}, {"average": False}], OFFSETS),
    ids=lambda part: str(part).replace("\n", "")[:40],
)
def test_an_offset_of_dense_rows_with_zeros_changes_no_prediction(update, settings, offset):
    X, y = frequencies()
    for way in ("partial_fit", "fit"):
        classes = {"classes": [0, 1, 2]} if way == "partial_fit" else {}
        models = [getattr(make(update, random_state=0, **settings), way)(Z, y, **classes) for Z in (X, X + offset)]
        scores = [model.decision_function(Z) for model, Z in zip(models, (X, X + offset), strict=True)]
        np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=1e-8 * np.abs(scores[0]).max())
        np.testing.assert_array_equal(models[1].predict(X + offset), models[0].predict(X))
        counts = [(model.t_, model.n_updates_, model.n_mistakes_) for model in models]
        assert counts[0] == counts[1] and counts[0][1] > 5


@pytest.mark.parametrize("learner", [PredtronOrdinalClassifier, PredtronMultilabelClassifier, PredtronLabelRanker])
def test_an_offset_of_dense_rows_with_zeros_changes_no_score_of_others(learner):
    X, y = frequencies()
    y = y if learner is PredtronOrdinalClassifier else np.eye(3, dtype=int)[y]
    models = [learner(norm="scaled", random_state=0, max_iter=10).fit(Z, y) for Z in (X, X + 30)]
    scores = [model.decision_function(Z) for model, Z in zip(models, (X, X + 30), strict=True)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=1e-8 * np.abs(scores[0]).max())


@pytest.mark.parametrize("offset", [2.0**20, 2.0**30, -(2.0**34)])
@pytest.mark.parametrize("average", AVERAGES)
def test_an_offset_of_dense_rows_may_be_far_larger_than_the_deviations(average, offset):
    """As times and coordinates have it: a feature is constant only where its deviations may be those of rounding."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.round(rng.standard_normal((300, 4)) * 64) / 64, rng.random((300, 2)) < 0.02]).astype(float)
    y = (X @ [1, -1, 2, 0, 5, 9] > 0).astype(int)
    for way, args in [("partial_fit", [[0, 1]]), ("fit", [])]:
        models = [getattr(make(average=average, random_state=0), way)(Z, y, *args) for Z in (X, X + offset)]
        scores = [model.decision_function(Z) for model, Z in zip(models, (X, X + offset), strict=True)]
        np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=1e-14 * abs(offset) * np.abs(scores[0]).max())
        variance = [1 / weights_of(model)._field(1) for model in models]
        np.testing.assert_allclose(variance[1], variance[0], rtol=1e-14 * abs(offset))


def test_what_varies_by_rounding_is_constant():
    X, y = two_classes()
    noisy = 0.1 * (1 + 2.0**-52 * np.random.default_rng(0).integers(-2, 3, len(y)))
    assert len(np.unique(noisy)) > 2
    plain, model = fitted(X, y), fitted(np.column_stack([X, noisy]), y)
    np.testing.assert_allclose(model.coef_[:, :-1], plain.coef_, rtol=1e-9)
    assert np.all(model.coef_[:, -1] == 0)


def test_what_ends_a_constant_is_no_outlier():
    """Be it a constant up to rounding."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 2)), rng.integers(0, 2, 600)
    X[:500] = 0.1 * (1 + 2.0**-52 * rng.integers(-2, 3, (500, 1)) * [0, 1])
    model = make().partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(1 / weights_of(model)._field(1), X.var(axis=0), rtol=0.1)


@pytest.mark.parametrize("average", AVERAGES)
def test_a_unit_and_an_offset_of_dense_rows_with_zeros_change_no_prediction(average):
    X, y = frequencies()
    units = 2.0 ** np.random.default_rng(1).integers(-12, 12, X.shape[1])
    models = [make(average=average).partial_fit(Z, y, classes=[0, 1, 2]) for Z in (X, X * units + 8 * units)]
    np.testing.assert_array_equal(models[1].predict(X * units + 8 * units), models[0].predict(X))
    np.testing.assert_allclose(models[1].coef_ * units, models[0].coef_, rtol=1e-7, atol=1e-9 * np.abs(models[0].coef_).max())


# ---------------------------------------------------------------------------------------- all rows of a fit, before its rounds


@pytest.mark.parametrize("n", [40, 64, 65, 700])
@pytest.mark.parametrize("form", ["dense float64", "dense float32"])
def test_a_fit_is_that_of_rows_standardised_beforehand(n, form):
    rng = np.random.default_rng(n)
    X, y = layouts(rng.standard_normal((n, 7)) * 10.0 ** np.arange(-3, 4) + 5)[form], rng.integers(0, K, n)
    Z = StandardScaler().fit_transform(X.astype(float))
    found, expected = (
        PredtronClassifier(norm=norm, fit_intercept=False, random_state=0, cv=0).fit(rows, y)
        for norm, rows in [("scaled", X), ("l2", Z)]
    )
    assert found.n_updates_ == expected.n_updates_
    scores = expected.decision_function(Z)
    np.testing.assert_allclose(found.decision_function(X), scores, rtol=0, atol=1e-6 * np.abs(scores).max())


def test_so_is_that_of_every_family():
    rng = np.random.default_rng(0)
    X, grades = rng.standard_normal((600, 5)) * 10.0 ** np.arange(-2, 3) + 7, rng.integers(0, 3, 600)
    Z = StandardScaler().fit_transform(X)
    plain = {"fit_intercept": False, "max_iter": 3, "random_state": 0}
    cases = [
        (PredtronMultilabelClassifier(**plain, cv=0), np.eye(3, dtype=int)[grades], {}),
        (PredtronOrdinalClassifier(**plain, cv=0), grades, {}),
        (PredtronLabelRanker(**plain, cv=0), rng.integers(0, 3, (600, 4)), {}),
        (PredtronRanker(max_iter=3, random_state=0, cv=0), grades, {"qid": np.arange(600) // 10}),
        (PredtronClassifier(**plain, cv=0), grades, {"sample_weight": np.ones(600)}),
    ]
    for model, y, given in cases:
        found, expected = (clone(model).set_params(norm=norm).fit(rows, y, **given) for norm, rows in [("scaled", X), ("l2", Z)])
        assert found.n_updates_ == expected.n_updates_
        scores = predicting_scores(expected, Z) - predicting_scores(expected, Z).mean(axis=0)
        centred = predicting_scores(found, X) - predicting_scores(found, X).mean(axis=0)
        np.testing.assert_allclose(centred, scores, rtol=0, atol=1e-6 * np.abs(scores).max())
    settings = {"norm": "scaled", "batch_size": 50, "average": "linear"}
    batches = PredtronBipartiteClassifier(max_iter=1, shuffle=False, **settings).fit(X, grades == 2)
    np.testing.assert_allclose(1 / weights_of(batches)._field(1), X.var(axis=0), rtol=1e-12)
    stream = PredtronBipartiteClassifier(**settings)
    for start in range(0, 600, 50):
        stream.partial_fit(X[start : start + 50], grades[start : start + 50] == 2, classes=[False, True])
    assert stream.t_ == batches.t_
    assert not np.allclose(stream.coef_, batches.coef_, rtol=0.01)  # whose first rounds knew less


@pytest.mark.parametrize("p", [1, 4, 11])
@pytest.mark.parametrize("offset", [0, 1e6])
def test_they_are_the_moments_of_all_rows(p, offset):
    rng = np.random.default_rng(p)
    X, y = rng.standard_normal((1000, p)) * 10 ** rng.uniform(-2, 2, p) + offset, rng.integers(0, 2, 1000)
    X[:, -1] = np.arange(1000) // 100  # in order, and so a block is all of one value
    weights = weights_of(fitted(X, y, max_iter=1))
    np.testing.assert_allclose(weights._field(0), X.mean(axis=0), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(1 / weights._field(1), X.var(axis=0), rtol=1e-10 if offset == 0 else 1e-6)


def test_outliers_are_clipped_as_in_a_stream():
    """A row far off is found by its block, whose values the feature then takes one by one."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 5)), rng.integers(0, 2, 600)
    X[[150, 151, 400], [1, 2, 1]] = 1e6, -1e5, 1e4
    reference = Features(5, dense=True)
    reference.update_statistics_of_all(X)
    assert 1.5 < reference.squares[1] / reference.squares[0] < 10  # each doubles the squares at most
    weights = weights_of(fitted(X, y, max_iter=1, cv=0))
    np.testing.assert_allclose(weights._field(0), reference.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights._field(1), reference.inverse, rtol=1e-9)


@pytest.mark.parametrize("form", ["dense float64", "dense float32"])
@pytest.mark.parametrize("counts", [(15, 6), (40, 20), (100, 30), (150, 60), (2000, 900)])
def test_values_that_are_far_off_and_many_are_no_outliers(counts, form):
    """Rows that lie class by class, of which one has a feature that the others have not but for noise."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], counts)
    X = rng.standard_normal((len(y), 6))
    X[:, 1] *= np.where(y == 1, 1e4, 1e-2)
    X[:, 5] += np.where(y == 1, 1e6, 0)
    X = layouts(X)[form]
    for rows in (X, X[::-1]):
        weights = weights_of(fitted(np.ascontiguousarray(rows), y, max_iter=1))
        np.testing.assert_allclose(weights._field(0), X.mean(axis=0, dtype=float), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(1 / weights._field(1), X.var(axis=0, dtype=float), rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_count_as_often_as_an_epoch_has_them(form):
    X, y = two_classes()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    weight[:2] = 0, 2
    model = PredtronBinaryClassifier(norm="scaled", random_state=0, max_iter=1).fit(form(X), y, sample_weight=weight)
    repeated = fitted(form(np.repeat(X, weight.astype(int), axis=0)), np.repeat(y, weight.astype(int)), max_iter=1)
    for field in (0, 1):
        found, expected = (weights_of(m)._field(field) for m in (model, repeated))
        np.testing.assert_allclose(found, expected, rtol=0.15, atol=0.15)
    there = PredtronBinaryClassifier(norm="scaled", shuffle=False, max_iter=1).fit(
        form(X), y, sample_weight=np.minimum(weight, 1)
    )
    plain = PredtronBinaryClassifier(norm="scaled", shuffle=False, max_iter=1).fit(form(X[weight > 0]), y[weight > 0])
    np.testing.assert_array_equal(there.coef_, plain.coef_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("bad", "message"), [(np.nan, "NaN"), (np.inf, "infinity"), (1e200, r"X\[333\] has the length")])
def test_a_row_that_is_refused_leaves_no_trace(form, bad, message):
    X, y = np.random.default_rng(0).standard_normal((500, 3)), np.arange(500) % 2
    model = fitted(form(X), y)
    before = pickle.dumps(model)
    X[333, 1] = bad
    for warm_start in (False, True):
        with pytest.raises(ValueError, match=message):
            model.set_params(warm_start=warm_start).fit(form(X), y)
        assert pickle.dumps(model.set_params(warm_start=False)) == before


@pytest.mark.parametrize("offset", [0, 5])
def test_statistics_of_dense_rows_are_those_of_all_values(offset):
    """However rare a value is."""
    rng = np.random.default_rng(0)
    rates = [0.002, 0.01, 0.2, 0.9, 0.998]
    X = np.column_stack([rng.standard_normal((3000, 5)), rng.random((3000, 5)) < rates])
    X[:40, 5:] = np.arange(40)[:, np.newaxis] % 2
    y, model = rng.integers(0, 2, 3000), make()
    for start, stop in [(0, 100), (100, 101), (101, 3000)]:
        model.partial_fit(X[start:stop] + offset, y[start:stop], classes=[0, 1])
        weights, Z = weights_of(model), X[:stop] + offset
        np.testing.assert_allclose(weights._field(0), Z.mean(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(1 / weights._field(1), Z.var(axis=0), rtol=1e-9)


def test_the_mean_is_of_all_values_after_dense_and_sparse_rows():
    y, rng, model = raw(n=90)[1], np.random.default_rng(0), make()
    X = rng.uniform(1, 2, (90, 20)) * (rng.random((90, 20)) < 0.4)  # nothing is clipped
    for i in range(0, 90, 10):
        rows = X[i : i + 10] if i % 20 == 0 else sparse.csr_matrix(X[i : i + 10])
        model.partial_fit(rows, y[i : i + 10], classes=np.arange(K))
        if i % 20 == 0:
            np.testing.assert_allclose(weights_of(model)._field(0), X[: i + 10].mean(axis=0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("data", SETS)
def test_as_good_as_standardised_beforehand(data):
    X, y = SETS[data](return_X_y=True)
    wrong = np.zeros(3)
    for seed in range(5):
        train = np.random.default_rng(seed).random(len(y)) < 0.7
        Z = StandardScaler().fit(X[train]).transform(X)
        for i, (norm, rows) in enumerate([("scaled", X), ("l2", Z), ("l2", X)]):
            model = PredtronClassifier(norm=norm, random_state=seed, cv=0).fit(rows[train], y[train])
            wrong[i] += (model.predict(rows[~train]) != y[~train]).sum()
    assert wrong[0] <= 1.1 * wrong[1] + 2
    assert wrong[0] <= wrong[2]


# ------------------------------------------------------------------------------------------------ features of every kind


def two_classes(n=400, p=6, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X @ np.arange(1, p + 1) > 0).astype(int)


def fitted(X, y, **settings):
    return PredtronBinaryClassifier(norm="scaled", random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_constant_features_say_nothing(form):
    X, y = two_classes()
    plain = fitted(form(X), y)
    for constant in (0.0, 1.0, 1e8, -0.1, 1e-200):
        model = fitted(form(np.column_stack([X, np.full(len(y), constant)])), y)
        np.testing.assert_allclose(model.coef_[:, :-1], plain.coef_, rtol=1e-9)
        assert np.all(model.coef_[:, -1] == 0)


def test_equal_rows_teach_the_intercept_from_the_second_on():
    X, y = two_classes()
    for update in ("adaptive", "perceptron", "subgradient"):
        model = PredtronBinaryClassifier(norm="scaled", update=update).partial_fit(X[:1], y[:1], classes=[0, 1])
        assert model.n_updates_ == 0
        for _ in range(5):
            model.partial_fit(X[:1], 1 - y[:1])
        assert model.n_updates_ > 0 and not model.coef_.any() and model.predict(X[:1]) == 1 - y[:1]
        assert model.partial_fit(X[1:], y[1:]).coef_.all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("value", [0.0, 1.0, -1e6])
def test_columns_that_never_vary(form, value):
    """Every family learns which labels are frequent, in a fit and in a stream."""
    X, y = form(np.full((400, 2), value)), (np.arange(400) % 10 > 0).astype(int)
    sets, sid = np.column_stack([y, 1 - y]), {"sid": np.arange(400) // 8}
    for learner, target, given in [
        (PredtronBinaryClassifier, y, {}),
        (PredtronClassifier, y, {}),
        (PredtronOrdinalClassifier, y, {}),
        (PredtronMultilabelClassifier, sets, {}),
        (PredtronLabelRanker, sets, {}),
        (PredtronSequenceTagger, y, sid),
    ]:
        fit = learner(norm="scaled", random_state=0).fit(X, target, **given)
        named = {} if learner is PredtronLabelRanker else {"classes": np.arange(2)}
        stream = learner(norm="scaled").partial_fit(X, target, **given, **named)
        for model in (fit, stream):
            found = model.predict(X, **given)
            assert np.mean(found == (target if found.ndim == target.ndim else y)) >= 0.9 or learner is PredtronLabelRanker
            assert learner is not PredtronLabelRanker or np.argmax(model.decision_function(X[:1])) == 0


def test_a_stream_that_begins_with_equal_rows_learns_the_rest():
    X, y = two_classes()
    late = PredtronBinaryClassifier(norm="scaled").partial_fit(np.ones((200, 6)), np.arange(200) % 10 > 0, classes=[False, True])
    late.partial_fit(X, y == 1)
    alone = PredtronBinaryClassifier(norm="scaled").partial_fit(X, y == 1, classes=[False, True])
    assert late.score(X, y == 1) > alone.score(X, y == 1) - 0.02


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_of_zeros(form):
    X, y = two_classes()
    X[::3] = 0
    assert np.isfinite(fitted(form(X), y).coef_).all()
    nothing = fitted(form(np.zeros_like(X)), y)
    assert nothing.n_updates_ > 0 and not nothing.coef_.any() and np.isfinite(nothing.intercept_).all()


def test_a_feature_that_comes_late_counts():
    X, y = two_classes(p=3)
    X[:200, 2] = 0
    model = PredtronBinaryClassifier(norm="scaled").partial_fit(X, y, classes=[0, 1])
    assert np.mean(model.predict(X[200:]) == y[200:]) > 0.9


def test_an_outlier_does_little():
    X, y = two_classes()
    clean = fitted(X, y).score(X, y)
    X[50] *= 1e4
    assert np.mean(np.delete(fitted(X, y).predict(X) == y, 50)) > clean - 0.03


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_huge_offsets(form):
    X, y = two_classes()
    clean = fitted(X, y).score(X, y)
    for offset in (1e3, 1e5, -1e6):
        assert fitted(form(X + offset), y).score(form(X + offset), y) > clean - 0.03


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("large", [1e150, 1e200, 1e307])
def test_a_row_that_overflows_leaves_everything_as_it_was(form, large):
    X, y = two_classes()
    model = PredtronBinaryClassifier(norm="scaled").partial_fit(form(X), y, classes=[0, 1])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"X\[0\] has the length"):
        model.partial_fit(form(X[:1] * large), y[:1])
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match=r"X\[0\] has the length"):
        fitted(form(X * large), y)


def test_tiny_features():
    X, y = two_classes()
    for unit in (1e-100, 1e-138):
        assert abs(fitted(X * unit, y).score(X * unit, y) - fitted(X, y).score(X, y)) < 0.01
    with pytest.raises(ValueError, match=r"X\[0\] has the length"):
        fitted(X * 1e-200, y)


# -------------------------------------------------------------------------------------- streams, pickles, what goes with it


@pytest.mark.parametrize("form", LAYOUTS)
def test_predictions_along_the_way_are_those_made_between_calls(form):
    """An estimator that watches what the average predicts sees what `predict` would say."""
    X, y = raw(n=120)
    rows = layouts(X)[form]
    settings = {"reject": Reject(0.3, -1), "decision": None}
    whole = make(**settings).partial_fit(rows, y, classes=np.arange(K))
    model = make(**settings)
    for i in range(len(y)):
        model.partial_fit(rows[i : i + 1], y[i : i + 1], classes=np.arange(K))
    assert state(model) == state(whole)
    np.testing.assert_array_equal(model.predict(rows), whole.predict(rows))


def test_predictions_along_the_way_are_the_same_for_dense_and_sparse_rows():
    """Of rows without zeros, whose statistics are the same."""
    X, y = np.random.default_rng(0).uniform(1, 2, (120, 9)), np.arange(120) % K
    seen = []
    for rows in (X, sparse.csr_matrix(X)):
        model = make(reject=Reject(0.3, -1), decision=None).partial_fit(rows, y, classes=np.arange(K))
        seen.append(model._model.learner.observer.rows()[0])
    np.testing.assert_allclose(*seen, rtol=1e-5, atol=1e-6)
    assert np.count_nonzero(seen[0]) > 50


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_margin_is_that_of_standardised_rows(form):
    """With the statistics of the end, it is l2's margin on the scaled rows."""
    X, y = two_classes()
    model = fitted(form(X * 10 ** np.arange(6) + 5), y, intercept_scaling=2.0)
    weights = weights_of(model)
    inverse, mean = weights._field(1), weights._field(0)
    U = model.coef_ / np.sqrt(inverse)
    c = (model.intercept_ + model.coef_ @ mean) / 2.0
    length = np.sqrt((U**2).sum() + (c**2).sum())
    scores = predicting_scores(model, form(X * 10 ** np.arange(6) + 5))[:, 0]
    margin = 2 * (np.where(y, 1, -1) * scores).min()
    np.testing.assert_allclose(model.margin(X * 10 ** np.arange(6) + 5, y) * length, margin, rtol=1e-9)


def test_queries_with_offsets_rank_as_without():
    rng, (X, y) = np.random.default_rng(0), make_queries(RANKING_LOSSES["ndcg"][2], n=60)
    X = [rng.standard_normal(x.shape) for x in X]
    models = [learn(PredtronRanker(norm="scaled"), [x + shift for x in X], y) for shift in (0, 1000.0)]
    np.testing.assert_allclose(models[1].last_coef_, models[0].last_coef_, rtol=0, atol=1e-6 * np.abs(models[0].last_coef_).max())


def test_sums_over_features_survive_a_feature_that_hardly_varied():
    """mean^2 / variance of the last feature falls from 1e12 to about 1: the running sum must not keep its rounding."""
    X, y = two_classes(n=200)
    rng = np.random.default_rng(2)
    X = np.column_stack([X, 1 + 1e-6 * rng.standard_normal(200)])
    X[70:, -1] += rng.standard_normal(130)
    model = PredtronClassifier(norm="scaled").partial_fit(sparse.csr_matrix(X[:70]), y[:70], classes=[0, 1])
    for i in range(70, 200):
        model.partial_fit(sparse.csr_matrix(X[i : i + 1]), y[i : i + 1])
        weights = weights_of(model)
        total = (weights._field(0) ** 2 * weights._field(1)).sum()
        running = pickle.loads(pickle.dumps(weights)).numbers()[-2]
        np.testing.assert_allclose(running, total, rtol=1e-8)
    assert total < 1e3


@pytest.mark.parametrize("average", ["linear", False])
@pytest.mark.parametrize(("d", "p"), [(1, 600), (3, 255), (8, 256), (9, 257), (17, 1100)])
def test_wide_rows_are_scored_by_the_weights_for_raw_features(d, p, average):
    """Predictions copy weights and sum offsets in pieces, for a few classes at a time; coef_ and intercept_ take them whole."""
    rng = np.random.default_rng(d)
    X, y = rng.standard_normal((60, p)) * 10.0 ** rng.integers(-2, 3, p) + rng.standard_normal(p), np.arange(60) % max(d, 2)
    X[:, 5] = 3.0  # constant
    family = PredtronBinaryClassifier if d == 1 else PredtronClassifier
    for rows in (X, X.astype(np.float32)):
        model = family(norm="scaled", average=average).partial_fit(rows, y, classes=range(max(d, 2)))
        expected = np.squeeze(rows @ model.coef_.T + model.intercept_)
        assert model.coef_.shape == (d, p) and (model.coef_[:, 5] == 0).all()
        np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        assert np.array_equal(model.decision_function(rows[:1]), model.decision_function(rows)[:1])
