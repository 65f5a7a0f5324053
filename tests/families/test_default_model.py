"""The default of `fit`: a feature map if held-out rows show that it is better, and otherwise the columns, to the last bit."""

import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronLabelRanker, PredtronOrdinalClassifier
from sklearn_predtron.families.training.maps import MapComparison
from sklearn_predtron.families.training.runs import RowLosses
from sklearn_predtron.features import Auto, FeatureMap, PiecewiseLinear
from sklearn_predtron.norms import RKHS

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


def test_a_gain_and_its_error_are_those_of_the_rows_of_both():
    rows = np.arange(50)
    one, other, weight = RNG.random(50), RNG.random(50), RNG.integers(1, 4, 50).astype(float)
    losses = RowLosses(one[10:], weight[10:], rows[10:])
    gain, error = losses.gain_over(RowLosses(other[:40][::-1], weight[:40][::-1], rows[:40][::-1]))
    less = np.repeat((other - one)[10:40], weight[10:40].astype(int))
    assert gain == pytest.approx(less.mean())
    share = weight[10:40] / weight[10:40].sum()
    assert error == pytest.approx(np.sqrt((share**2 * ((other - one)[10:40] - less.mean()) ** 2).sum()))


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
