"""Hats, raw values, indicators and products, against their definition in plain NumPy; how knots and pairs are chosen."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from feature_cases import reference, table
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron.features import PiecewiseLinear, _row_map
from sklearn_predtron.features._knots import describe_column, knots


def description_of(encoder):
    return encoder._layout().description


def same(A, B):
    assert A.shape == B.shape
    assert A.data.tobytes() == B.data.tobytes()
    assert_array_equal(A.indices, B.indices)
    assert_array_equal(A.indptr, B.indptr)


@pytest.mark.parametrize("seed", range(8))
def test_features_are_those_of_the_definition(seed):
    random = np.random.default_rng(seed)
    p = int(random.integers(1, 9))
    X = table(int(random.integers(2, 200)), p, seed, missing=0.2 * (seed % 2))
    settings = {
        "n_knots": int(random.integers(2, 20)),
        "pair_knots": int(random.integers(2, 8)),
        "n_pairs": int(random.integers(9)),
    }
    encoder = PiecewiseLinear(**settings).fit(X)
    later = table(100, p, seed + 100, missing=0.2) * random.choice([1, 3, 1e6])
    for rows in (X, later):
        made = encoder.transform(rows)
        assert made.shape == (len(rows), encoder.n_features_out_)
        assert made.has_sorted_indices and made.dtype == np.float64
        expected = np.array([reference(description_of(encoder), row) for row in rows])
        assert_allclose(made.toarray(), expected, atol=1e-12)


def test_hats_are_a_partition_of_one():
    X = table(400, 6, missing=0.1)
    encoder = PiecewiseLinear(n_pairs=0).fit(X)
    d, places = description_of(encoder), encoder._layout()
    Z = encoder.transform(X).toarray()
    for j in np.flatnonzero(d.n_hats):
        total = Z[:, places.base[j] : places.base[j] + d.n_hats[j]].sum(axis=1) + Z[:, places.missing[j]]
        assert_allclose(total, 1, atol=1e-15)


def test_products_of_a_pair_are_a_partition_of_one():
    X = table(400, 5, missing=0)
    encoder = PiecewiseLinear().fit(X)
    Z = encoder.transform(X).toarray()
    for number, term in enumerate(encoder.terms_):
        if len(term) == 2:
            assert_allclose(Z[:, encoder.term_of_ == number].sum(axis=1), 1, atol=1e-15)
    assert len(encoder.term_of_) == encoder.n_features_out_
    assert [term for term in encoder.terms_ if len(term) == 2] == list(combinations(range(5), 2))


def test_a_function_that_is_linear_between_knots_is_linear_in_the_hats():
    X = np.random.default_rng(0).normal(size=(500, 1))
    encoder = PiecewiseLinear(n_knots=7, n_pairs=0).fit(X)
    at = np.random.default_rng(1).normal(size=7)
    assert_allclose(encoder.transform(X)[:, :7] @ at, np.interp(X[:, 0], encoder.knots_[0], at), atol=1e-12)


def test_knots_are_quantiles_or_the_values():
    values = np.sort(np.random.default_rng(0).normal(size=1000))
    assert_allclose(knots(values, 12), np.quantile(values, np.linspace(0.01, 0.99, 12)), rtol=1e-12)
    assert_array_equal(knots(np.array([1.0, 1, 2, 5, 5]), 12), [1, 2, 5])
    mostly = np.sort(np.where(np.arange(1000) < 900, 0, np.abs(values)))
    found = knots(mostly, 12)
    assert len(found) == 12 and found[0] == 0 and (np.diff(found) > 0).all()
    assert_array_equal(knots(np.sort(np.r_[np.zeros(999), 1:14]), 12)[[0]], [0])


def test_a_weight_counts_a_value_so_often():
    random = np.random.default_rng(0)
    values, weight = random.standard_normal(300), random.integers(1, 5, 300)
    found, expected = (
        describe_column(values, [(12, 5)], weight.astype(float)),
        describe_column(np.repeat(values, weight), [(12, 5)]),
    )
    assert_allclose([found.mean, found.sd], [expected.mean, expected.sd])
    assert_allclose(np.concatenate(found.knots[0]), np.concatenate(expected.knots[0]))


def test_constant_columns_have_nothing():
    X = np.c_[np.full(50, 0.1), np.linspace(0, 1, 50), np.full(50, np.nan), 0.1 + 1e-17 * np.arange(50)]
    encoder = PiecewiseLinear().fit(X)
    assert [len(knots) for knots in encoder.knots_] == [0, 12, 0, 0]
    assert list(encoder.get_feature_names_out()[-2:]) == ["x1", "x2 missing"]
    assert encoder.transform([[5.0, np.nan, 1.0, 7.0]]).nnz == 0
    only = PiecewiseLinear().fit(np.ones((5, 2)))
    assert only.transform(np.ones((5, 2))).shape == (5, 0)


def test_missing_values():
    X = table(200, 3, missing=0.3)
    encoder = PiecewiseLinear().fit(X)
    row = encoder.transform([[np.nan] * 3])
    assert_array_equal(row.data, [1, 1, 1])
    assert [str(encoder.get_feature_names_out()[j]) for j in row.indices] == ["x0 missing", "x1 missing", "x2 missing"]
    whole = PiecewiseLinear().fit(np.nan_to_num(X))
    assert whole.transform([[np.nan] * 3]).nnz == 0
    with pytest.raises(ValueError, match=r"missing value .NaN. in row 1 of column 2"):
        PiecewiseLinear(missing=False).fit(np.array([[1, 2, 3], [1, 2, np.nan]]))
    with pytest.raises(ValueError, match=r"infinite value \(inf\) in row 0 of column 1"):
        encoder.transform([[np.nan, -np.inf, 0]])


def test_extreme_values():
    X = np.c_[np.linspace(-1, 1, 20) * 1e149, np.linspace(1, 2, 20) * 1e-140, 1e15 + np.arange(20.0)]
    encoder = PiecewiseLinear(n_knots=5).fit(X)
    Z = encoder.transform(np.array([[1.7e308, -1.7e308, 1.7e308], [0, 5e-324, -1e-320]]))
    assert np.isfinite(Z.data).all() and np.abs(Z.data).max() == 6
    with pytest.raises(ValueError, match=r"beyond 1e\+150 in column 0"):
        PiecewiseLinear().fit(X * 1e10)


@pytest.mark.parametrize("several", [False, True])
def test_pairs_are_those_that_explain_most(several):
    """Against a fit by the normal equations and means over the cells in plain NumPy."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 8))
    X[random.random(X.shape) < 0.05] = np.nan
    whole = np.nan_to_num(X)
    y = whole[:, 1] * whole[:, 6] + np.sign(whole[:, 3] * whole[:, 4]) + whole[:, 0] + 0.1 * random.normal(size=3000)
    Y = np.c_[y, whole[:, 2] * whole[:, 7]] if several else y[:, None]
    encoder = PiecewiseLinear(n_pairs=5).fit(X, Y if several else y)
    edges = [np.nanquantile(X[:, c], np.arange(1, 8) / 8) for c in range(8)]
    bins = [np.where(np.isnan(X[:, c]), 8, np.searchsorted(edges[c], X[:, c], side="right")) for c in range(8)]
    Z = np.concatenate([np.eye(9)[of_column] for of_column in bins], axis=1)
    T = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    left = T - Z @ np.linalg.solve(Z.T @ Z + np.eye(72), Z.T @ T)
    gains = {}
    for i, j in combinations(range(8), 2):
        there = ~np.isnan(X[:, [i, j]]).any(axis=1)
        cells = bins[i] + 8 * bins[j]
        gains[i, j] = (
            sum(len(r) * r.mean(axis=0) ** 2 for r in (left[there & (cells == cell)] for cell in range(64)) if len(r)).sum()
            - (there.sum() * left[there].mean(axis=0) ** 2).sum()
        )
    best = sorted(sorted(gains, key=gains.get)[-5:])
    assert [term for term in encoder.terms_ if len(term) == 2] == best
    assert {(1, 6), (3, 4)} < set(best)


def test_curves_of_single_columns_leave_nothing_for_pairs():
    X = np.random.default_rng(0).uniform(-1, 1, (3000, 30))
    z = 3 * X[:, 10] * X[:, 11] + 2 * np.cos(3 * X[:, :4]).sum(axis=1)
    encoder = PiecewiseLinear(n_pairs=100).fit(X, z > np.median(z))
    pairs = [term for term in encoder.terms_ if len(term) == 2]
    assert (10, 11) in pairs
    assert sum(min(pair) < 4 for pair in pairs) < 50  # of 110 among 435


def test_labels_choose_pairs_as_their_indicators_do():
    X = np.random.default_rng(0).normal(size=(2000, 9))
    y = np.where(X[:, 2] * X[:, 5] > 0, "yes", "no")
    for target in (y, y == "yes", (y == "yes").astype(int), y[:, None], np.where(y == "yes", 2.5, 7)):
        encoder = PiecewiseLinear(n_pairs=1).fit(X, target)
        assert encoder.terms_[-1] == (2, 5)
    three = np.select([X[:, 0] * X[:, 8] > 1, X[:, 0] * X[:, 8] < -1], ["a", "b"], "c")
    assert PiecewiseLinear(n_pairs=1).fit(X, three).terms_[-1] == (0, 8)
    assert PiecewiseLinear(n_pairs=4).fit(X).terms_[-4:] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_single_precision_is_double_precision_of_the_same_values():
    X = table(300, 6).astype(np.float32)
    encoder, twin = PiecewiseLinear().fit(X), PiecewiseLinear().fit(X.astype(np.float64))
    same(encoder.transform(X), twin.transform(X.astype(np.float64)))
    assert encoder.read(X) is X
    assert encoder.read(X.astype(np.float16)).dtype == np.float64


def test_any_split_of_the_rows_has_the_same_bits(tmp_path):
    X = table(200, 6)
    encoder = PiecewiseLinear().fit(X)
    whole = encoder.transform(X)
    for size in (1, 7, 64):
        for first in range(0, 200, size):
            same(encoder.transform(X[first : first + size]), whole[first : first + size])
    np.save(tmp_path / "X.npy", X)
    same(encoder.transform(np.load(tmp_path / "X.npy", mmap_mode="r")), whole)
    same(encoder.transform(np.asfortranarray(X)), whole)
    same(encoder.transform(X[::-1].copy()[::-1]), whole)
    same(encoder.transform(X.tolist()), whole)


@pytest.mark.parametrize("cuts", [[1] * 40 + [700], [499, 1, 5], [300, 300], [700]])
def test_a_stream_is_its_first_rows(cuts):
    X = table(800, 16)
    y = np.where(np.nan_to_num(X[:, 0] * X[:, 6]) > 0, "a", "b")
    expected = PiecewiseLinear(n_pairs=3).fit(X[:500], y[:500])
    encoder, first = PiecewiseLinear(n_pairs=3), 0
    for size in cuts:
        encoder.partial_fit(X[first : first + size], y[first : first + size])
        first += size
        assert encoder.complete_ == (first >= 500)
    same(encoder.transform(X), expected.transform(X))
    before = pickle.dumps(encoder)
    encoder.partial_fit(X)
    assert pickle.dumps(encoder) == before


def test_a_short_stream_has_a_map_of_its_rows():
    X = table(60, 4)
    encoder = PiecewiseLinear()
    for first in range(0, 60, 20):
        encoder.partial_fit(X[first : first + 20])
        expected = PiecewiseLinear().fit(X[: first + 20])
        same(encoder.transform(X), expected.transform(X))
        encoder = pickle.loads(pickle.dumps(encoder))
        same(encoder.transform(X), expected.transform(X))
    assert not encoder.complete_
    assert encoder.fit(X).complete_


def test_copies():
    X = table(100, 4)
    encoder = PiecewiseLinear(n_knots=4).fit(X)
    for twin in (pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder), copy.copy(encoder)):
        same(twin.transform(X), encoder.transform(X))
        assert_array_equal(twin.get_feature_names_out(), encoder.get_feature_names_out())
    row_map = pickle.loads(pickle.dumps(encoder._row_map))
    assert row_map.width == encoder.n_features_out_
    assert not hasattr(clone(encoder), "_row_map")
    pickle.loads(pickle.dumps(PiecewiseLinear()))


def damaged(state):
    """States of which one field is wrong."""
    for k, part in enumerate(state):
        yield (*state[:k], None, *state[k + 1 :])
        yield (*state[:k], part[:-1], *state[k + 1 :])
        if part.dtype.kind == "i" and part.size:
            yield (*state[:k], part - 1000, *state[k + 1 :])
            yield (*state[:k], part + 10**12, *state[k + 1 :])
        elif part.size:
            yield (*state[:k], part * np.nan, *state[k + 1 :])
    yield state[:-1]
    yield (*state[:1], -state[1], *state[2:])
    yield (*state[:8], np.ones_like(state[8]), state[9])  # pairs of two monotone columns
    yield (*state[:9], state[9][:, ::-1].copy())


def test_damaged_states_are_refused():
    encoder = PiecewiseLinear(n_knots=4).fit(table(100, 4, missing=0))
    saved = encoder.__getstate__()
    for state in damaged(encoder._state):
        if len(state) == 10 and state[9] is not None and len(state[9]) == len(encoder._state[9]) - 1:
            continue  # a pair less is a map, too
        with pytest.raises(ValueError, match="damaged"):
            PiecewiseLinear().__setstate__({**saved, "_state": state})


def test_wrong_parameters_are_refused():
    X = table(30, 3)
    wrong = [
        *[{"n_knots": value} for value in (1, 256, 3.0, "all")],
        *[{"n_pairs": value} for value in (-1, 0.5, "all")],
        *[{"pair_knots": value} for value in (1, 17)],
        *[{"categories": value} for value in ("all", 3, [1.5], [True], ["x0"], [7], {"a": 1})],
        {"missing": "no"},
        {"sparse_output": "no"},
    ]
    for settings in wrong:
        for call in ("fit", "partial_fit"):
            encoder = PiecewiseLinear(**settings)
            with pytest.raises(ValueError, match=next(iter(settings))):
                getattr(encoder, call)(X)
            assert vars(encoder) == vars(PiecewiseLinear(**settings))


def test_wrong_tables_are_refused():
    encoder = PiecewiseLinear().fit(table(30, 3))
    for call in (encoder.transform, encoder.fit, encoder.partial_fit):
        with pytest.raises(ValueError, match="features= takes dense rows and data frames"):
            call(sparse.csr_matrix(np.eye(3)))
    with pytest.raises(ValueError, match="3 features"):
        encoder.transform(np.ones((4, 2)))
    with pytest.raises(ValueError, match="inconsistent"):
        PiecewiseLinear().fit(table(30, 3), np.ones(20))
    with pytest.raises(ValueError, match="y holds NaN"):
        PiecewiseLinear().fit(table(30, 3), np.full(30, np.nan))


def test_names_are_unique_and_tell_the_knots():
    X = np.c_[[0.0, 30, 42], [1.0, 5, 9]]
    encoder = PiecewiseLinear(n_knots=3, pair_knots=2).fit(X)
    names = list(encoder.get_feature_names_out(["age", "age at 42"]))
    assert names[:5] == ["age at 0", "age at 30", "age at 42", "age", "age at 42 at 1"]
    assert names[-1] == "age at 41.8 x age at 42 at 8.92"
    assert "age at 42 (2)" in names and len(set(names)) == len(names) == encoder.n_features_out_
    close = PiecewiseLinear(n_pairs=0).fit((1e9 + np.arange(12.0))[:, None])
    assert close.get_feature_names_out()[1] == "x0 at 1000000001"


def test_what_is_wider_than_indices_is_refused(monkeypatch):
    monkeypatch.setattr(_row_map, "MOST_PLACES", 20)
    with pytest.raises(ValueError, match="n_knots, n_pairs and pair_knots"):
        PiecewiseLinear().fit(table(30, 3))


@pytest.mark.parametrize("parameters", [{}, {"n_pairs": 0}, {"n_knots": 3, "pair_knots": 2}])
def test_no_row_is_longer_than_the_radius(parameters):
    X = table(p=7, seed=1)
    encoder = PiecewiseLinear(**parameters).fit(X)
    wild = np.concatenate([X, 1e9 * X, -1e9 * X, np.full((1, 7), np.nan), np.full((1, 7), 1e9)])
    lengths = np.sqrt(encoder.transform(wild).power(2).sum(axis=1))
    assert 0.9 * encoder.radius_ < lengths.max() <= encoder.radius_  # reached but for the constant column
    frame = pd.DataFrame({"a": ["x", "y", "y"], "b": [0.0, 1.0, 2.0], "c": [1.0, 1.0, np.nan]})
    assert PiecewiseLinear().fit(frame).radius_ == pytest.approx(np.sqrt(37 + 1 + 1 + 1))  # b, a, c missing, a x b


def test_what_follows_from_a_saved_state_is_not_read_from_it():
    """A forged file may lack it."""
    X = np.random.default_rng(0).standard_normal((60, 3))
    found = PiecewiseLinear().fit(X, X[:, 0] > 0)
    state = {name: value for name, value in found.__getstate__().items() if name != "_of_numbers"}
    loaded = PiecewiseLinear.__new__(PiecewiseLinear)
    loaded.__setstate__(state)
    assert loaded.of_numbers_ is found.of_numbers_ is True
    assert_array_equal(loaded.transform(X).toarray(), found.transform(X).toarray())
