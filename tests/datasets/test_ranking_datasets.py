"""Simulated queries: relevance by its definition, means, norms and seeds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sklearn_predtron.datasets import make_ranking_queries


def pairs(X, y, qid):
    """The differences of documents of a query, the more relevant one first."""
    for query in np.unique(qid):
        rows, grades = X[qid == query], y[qid == query]
        above, below = np.nonzero(grades[:, np.newaxis] > grades)
        yield rows[above] - rows[below]


@pytest.mark.parametrize("rows", ["gaussian", "uniform"])
@pytest.mark.parametrize("n_documents", [1, 2, 3, 30])
def test_relevance_by_its_definition(rows, n_documents):
    X, y, qid, coef = make_ranking_queries(40, n_documents, 3, rows=rows, return_coef=True, random_state=n_documents)
    m = n_documents
    # With m = 1 both ends are infinite: there is one relevance.
    zeta = {j: 1 / j for j in range(2, m + 1)} | {1: np.inf, m + 1: -np.inf}
    for x, relevance in zip(X, y, strict=True):
        assert zeta[m - relevance + 1] <= x @ coef <= zeta[m - relevance]
    assert (X.dtype, y.dtype, qid.dtype) == (np.float64, np.int64, np.int64)
    assert_array_equal(qid.reshape(40, m), np.arange(40)[:, np.newaxis] + np.zeros((1, m)))
    assert set(y) <= set(range(m)) and (m == 1 or {0, m - 1} <= set(y))
    assert all((difference @ coef > 0).all() for difference in pairs(X, y, qid))


def test_rows_are_around_means_that_queries_share():
    X, _, _ = make_ranking_queries(4000, 5, 6, random_state=0)
    documents = X.reshape(4000, 5, 6)
    means = documents.mean(axis=0)
    assert_allclose(documents[::2].mean(axis=0), documents[1::2].mean(axis=0), atol=0.15)
    assert np.std(means) > 0.5
    assert_allclose(np.cov((documents - means).reshape(-1, 6).T), np.eye(6), atol=0.06)
    # Rows are independent: documents of a query have nothing in common but their means.
    assert_allclose(np.corrcoef((documents - means)[:, :, 0].T), np.eye(5), atol=0.08)


def test_std_scales_what_surrounds_the_means():
    """The draws are the same, and the default is the unit: the data of the paper's figure need a smaller one."""
    shape = (6, 5, 4)
    usual, unit, narrow = (
        make_ranking_queries(*shape, return_coef=True, random_state=0, **std) for std in ({}, {"std": 1.0}, {"std": 0.1})
    )
    for a, b in zip(usual, unit, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(narrow[3], usual[3])
    wide, near = (X.reshape(shape) for X in (usual[0], narrow[0]))
    assert_allclose(near - near[0], 0.1 * (wide - wide[0]), atol=1e-14)
    means = make_ranking_queries(4000, 5, 4, std=0.1, random_state=0)[0].reshape(4000, 5, 4)
    assert_allclose(means.std(axis=0), 0.1, rtol=0.05)


def test_uniform_rows():
    X, _, _ = make_ranking_queries(500, 5, 4, rows="uniform", random_state=0)
    assert stats.kstest(X.ravel(), "uniform", (-1, 2)).pvalue > 0.001


@pytest.mark.parametrize(("norm", "order"), [("l1", 1), ("l2", 2)])
@pytest.mark.parametrize("n_informative", [None, 1, 4, 12])
def test_coef(norm, order, n_informative):
    coefs = [
        make_ranking_queries(
            1, 2, 12, n_informative=n_informative, norm=scaled, return_coef=True, random_state=np.random.RandomState(3)
        )[3]
        for scaled in (norm, None)
    ]
    assert all(np.count_nonzero(coef) == (n_informative or 12) for coef in coefs)
    assert np.linalg.norm(coefs[0], order) == pytest.approx(1)
    assert np.abs(coefs[1]).max() <= 1
    assert_allclose(coefs[0], coefs[1] / np.linalg.norm(coefs[1], order))


def test_more_ranking_queries_begin_with_the_same():
    for rows in ("gaussian", "uniform"):
        few, many = (make_ranking_queries(n, 4, 5, rows=rows, return_coef=True, random_state=7) for n in (3, 50))
        for a, b in zip(few[:3], many, strict=False):
            assert_array_equal(a, b[:12])
        assert_array_equal(few[3], many[3])


def test_seeds():
    first, again, other = (make_ranking_queries(5, random_state=seed) for seed in (0, 0, 1))
    for a, b in zip(first, again, strict=True):
        assert_array_equal(a, b)
    assert (first[0] != other[0]).all()
