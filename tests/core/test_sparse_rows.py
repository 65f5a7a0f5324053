"""CSR rows as they come: in any order they are read in place, and only those in which a feature stands twice are summed."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_predtron import PredtronClassifier, PredtronRanker
from sklearn_predtron._core.rows import sparse_rows
from sklearn_predtron.norms import RKHS
from sklearn_predtron.theory import radius

P = 60


def stored(X):
    return X.data, X.indices, X.indptr


def bytes_of(X):
    return [part.tobytes() for part in stored(X)]


def out_of_order(X, seed=0):
    """The same rows, the entries of each shuffled."""
    random = np.random.default_rng(seed)
    place = np.concatenate([first + random.permutation(end - first) for first, end in zip(X.indptr, X.indptr[1:], strict=False)])
    return sparse.csr_matrix((X.data[place], X.indices[place], X.indptr), shape=X.shape)


def with_halves(X, which):
    """The same rows, the entries of some of them given as two halves."""
    times = np.ones(X.shape[0], dtype=int)
    times[which] = 2
    start = np.concatenate([[0], np.cumsum(np.diff(X.indptr) * times)])
    parts = [np.tile(part[first:end], t) for part in (X.data, X.indices) for first, end, t in each_row(X, times)]
    value, index = np.concatenate(parts[: X.shape[0]]), np.concatenate(parts[X.shape[0] :])
    return sparse.csr_matrix((value / np.repeat(times, np.diff(start)), index, start), shape=X.shape)


def each_row(X, times):
    return zip(X.indptr[:-1], X.indptr[1:], times, strict=True)


def drawn(n=60, p=P, density=0.4, seed=0):
    random = np.random.default_rng(seed)
    X = sparse.random(n, p, density, format="csr", random_state=random, data_rvs=random.standard_normal)
    X.sort_indices()
    return X, random.integers(3, size=n)


def read(X):
    return sparse_rows(X.data, X.indices, X.indptr.astype(np.intp), X.shape[1])


def repeating(rows, p, dtype=np.int32):
    index = np.array([j for row in rows for j in row], dtype=dtype)
    start = np.cumsum([0, *map(len, rows)])
    return sparse_rows(np.ones(len(index)), index, start, p).repeating().tolist()


# ------------------------------------------------------------------------------------------------- which rows are summed


@pytest.mark.parametrize("p", [10, 2**20, 2**31 - 1])
def test_rows_in_which_a_feature_stands_twice(p):
    last = p - 1
    assert repeating([[0, last], [], [last, 0], [3], [last, 0]], p) == []
    assert repeating([[0, 1], [1, 1]], p) == [1]
    assert repeating([[0, 0], [0], [last, 5, last], [5, last, 0], [], [4, 2, 3, 2]], p) == [0, 2, 5]


def test_rows_of_more_features_than_32_bits_number():
    p = 2**40
    assert repeating([[p - 1, 7], [2**33 + 7, 7], [p - 1, 7, p - 1]], p, np.int64) == [2]


@pytest.mark.parametrize("step", [1, 8, 1024, 2**16])
def test_long_rows_of_features_in_steps(step):
    """Whatever the features have in common, each is told from the others."""
    row = np.random.default_rng(0).permutation(5000) * step
    assert repeating([row, [*row[:-1], row[0]], row[::-1]], 5000 * step) == [1]


def test_any_rows_at_random():
    random = np.random.default_rng(1)
    for p in [3, 30, 3000, 2**30]:
        rows = [random.integers(p, size=random.integers(9)).tolist() for _ in range(300)]
        expected = [i for i, row in enumerate(rows) if len({*row}) < len(row)]
        assert repeating(rows, p) == expected


# ------------------------------------------------------------------------------------------------------ what is copied


def peak_of_fit(X, y, cv=0):
    before = bytes_of(X)
    tracemalloc.start()
    model = PredtronClassifier(max_iter=1, tol=None, random_state=0, cv=cv).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert bytes_of(X) == before
    return peak / sum(part.nbytes for part in stored(X)), model


def test_rows_out_of_order_are_not_copied():
    n, stored_each, p = 20000, 50, 5000
    random = np.random.default_rng(0)
    index = (random.integers(p, size=(n, 1)) + random.permutation(p)[:stored_each]) % p
    arrays = random.standard_normal(n * stored_each), index.ravel().astype(np.int32), np.arange(0, index.size + 1, stored_each)
    X, y = sparse.csr_matrix(arrays, shape=(n, p)), random.integers(2, size=n)
    assert repeating(index[:100], p) == []
    peak, _ = peak_of_fit(X, y)
    assert peak < 0.15
    peak, _ = peak_of_fit(X, y, cv=None)
    assert peak < 0.15 + 2 / 5  # the held-out rows of one of five fold models at a time
    X.indices.reshape(n, -1)[::200, 3] = X.indices.reshape(n, -1)[::200, 40]
    peak, model = peak_of_fit(X, y)
    assert peak < 0.2
    X.sum_duplicates()
    assert_allclose(model.coef_, peak_of_fit(X, y)[1].coef_, rtol=1e-12, atol=1e-13)


def test_flags_of_scipy_are_not_trusted():
    """They are kept from before the arrays were changed, or set by hand."""
    X, y = drawn()
    mixed = with_halves(out_of_order(X), slice(None, None, 3))
    mixed.has_canonical_format = True
    model = PredtronClassifier(random_state=0).fit(mixed, y)
    assert_allclose(model.coef_, PredtronClassifier(random_state=0).fit(X, y).coef_, rtol=1e-12, atol=1e-14)


# ------------------------------------------------------------------------------------------- every norm, every family


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_kernel_of_them_does_not_depend_on_the_other_rows(kernel):
    """Products of two matrices are summed in the order of either, as the sizes have it."""
    X, y = drawn(n=40)
    rows = out_of_order(X)
    before = bytes_of(rows)
    model, other = (PredtronClassifier(norm=RKHS(kernel), random_state=0, max_iter=3, tol=None).fit(x, y) for x in [rows, X])
    assert_array_equal(model.dual_coef_, other.dual_coef_)
    assert_array_equal(model.decision_function(rows), other.decision_function(X))
    assert bytes_of(rows) == before


@pytest.mark.parametrize("norm", ["l2", "l1", "group"])
def test_bounds_leave_them_as_they_are(norm):
    X, y = drawn()
    rows = with_halves(out_of_order(X), [7, 8, 30])
    before = bytes_of(rows)
    model = PredtronClassifier(update="perceptron", norm=norm, intercept_scaling=1.0, cv=0).fit(X, y)
    bounds = [model.loss_bound(comparator=model.coef_, X=x, y=y) for x in [rows, X]]
    assert_allclose(*bounds, rtol=1e-12)
    assert_allclose(radius(model, rows), radius(model, X), rtol=1e-12)
    assert bytes_of(rows) == before


def test_queries_of_documents_in_which_a_feature_stands_twice():
    X, y = drawn()
    rows, qid = with_halves(out_of_order(X), [7, 8, 30]), np.arange(60) % 10
    for order in [qid, np.sort(qid)]:
        model, other = (PredtronRanker(max_iter=1, tol=None, random_state=0).fit(x, y, qid=order) for x in [rows, X])
        assert model.n_updates_ == other.n_updates_ > 3
        assert_allclose(model.coef_, other.coef_, rtol=1e-12, atol=1e-12 * np.abs(other.coef_).max())
        assert_allclose(model.predict(rows), other.predict(X), rtol=1e-11, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------- bad values


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_refused_in_any_row(value):
    X, y = drawn()
    for row in [3, 4]:
        rows = with_halves(out_of_order(X), [3])
        rows.data[rows.indptr[row]] = value
        model = PredtronClassifier().fit(X, y)
        for call in [lambda rows=rows: PredtronClassifier().fit(rows, y), lambda rows=rows, model=model: model.predict(rows)]:
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                call()


def test_the_length_of_a_row_is_that_of_its_sums():
    """The values of row 1 are too large; in row 0 they cancel."""
    index, start = [3, 3, 1, 2, 2, 0], [0, 3, 6]
    X = sparse.csr_matrix(([1e200, -1e200, 1.0, 1e150, 1e150, 1.0], index, start), shape=(2, 4))
    with pytest.raises(ValueError, match=r"X\[1\] has the length 2e\+150, and 2e\+150 is its largest"):
        PredtronClassifier().fit(X, [0, 1])
    model = PredtronClassifier().fit(X[[0, 0]], [0, 1])
    assert_array_equal(model.coef_[:, [0, 2, 3]], 0)
