"""Generated sequences: shapes, seeds, transitions and emissions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from sklearn_predtron.datasets import make_sequences, unstack, window

RANDOM = {"random_state": 0}


def pairs(y, sid):
    return [(a, b) for labels in unstack(y, sid) for a, b in zip(labels[:-1].tolist(), labels[1:].tolist(), strict=True)]


def transitions(y, sid, k, step=1):
    """Estimated probabilities of the label some steps later."""
    counts = np.zeros((k, k))
    np.add.at(counts, (y[:-step], y[step:]), sid[step:] == sid[:-step])
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_tokens", [(5, 15), (1, 1), 7, [2, 3]])
@pytest.mark.parametrize("n_active", [None, 3])
def test_shapes(n_tokens, n_active):
    X, y, sid = make_sequences(200, 4, 6, n_tokens=n_tokens, n_active=n_active, **RANDOM)
    least, most = (n_tokens, n_tokens) if isinstance(n_tokens, int) else n_tokens
    lengths = np.bincount(sid)
    assert len(lengths) == 200 and lengths.min() == least and lengths.max() == most
    assert (np.diff(sid) >= 0).all()
    assert X.shape == (len(y), 6) == (len(sid), 6)
    assert X.dtype == np.float64 and y.dtype == sid.dtype == np.int64
    assert set(y) == set(range(4))
    assert sparse.issparse(X) == (n_active is not None)


def test_seeds():
    for kind in ({}, {"n_active": 2}):
        first, again, other = (make_sequences(5, **kind, random_state=seed) for seed in (1, 1, 2))
        assert all(sparse.issparse(a) or (a == b).all() for a, b in zip(first, again, strict=True))
        assert abs(first[0] - again[0]).sum() == 0
        assert first[0].shape != other[0].shape or abs(first[0] - other[0]).sum() > 0


def test_labels_are_a_markov_chain_in_balance():
    _, y, sid = make_sequences(5000, 4, 1, n_tokens=10, **RANDOM)
    one = transitions(y, sid, 4)
    assert_allclose(transitions(y, sid, 4, step=2), one @ one, atol=0.03)
    assert_allclose(one.sum(axis=0), 1, atol=0.05)
    assert_allclose(np.bincount(y) / len(y), 0.25, atol=0.02)


def test_concentration():
    def largest(concentration):
        _, y, sid = make_sequences(1000, 6, 1, concentration=concentration, **RANDOM)
        return transitions(y, sid, 6).max(axis=1).mean()

    assert 0.9 > largest(0.1) > largest(0.3) > largest(1) > largest(1000) < 0.25


@pytest.mark.parametrize("concentration", [1e-6, 0.3, 100.0])
def test_bio_labels(concentration):
    _, y, sid = make_sequences(500, 7, 1, bio=True, concentration=concentration, **RANDOM)
    assert set(y) <= {"O", "B-0", "I-0", "B-1", "I-1", "B-2", "I-2"} and {"O", "B-0", "B-1", "B-2"} <= set(y)
    for before, after in pairs(y, sid):
        assert not after.startswith("I") or before[1:] == after[1:]
    assert not any(labels[0].startswith("I") for labels in unstack(y, sid))
    assert concentration < 100 or "I-0" in y


@pytest.mark.parametrize("emissions", [{}, {"n_features": 100, "n_active": 10}])
def test_neighbours_tell_of_a_label(emissions):
    X, y, sid = make_sequences(1000, **emissions, **RANDOM)
    W, train = window(X, sid, 1, 1), sid < 700
    alone, beside = (LogisticRegression().fit(A[train], y[train]).score(A[~train], y[~train]) for A in (X, W))
    assert 0.35 < alone < beside - 0.02


def test_noise_of_dense_rows():
    scores = []
    for noise in (0.01, 0.5, 5.0):
        X, y, _ = make_sequences(100, noise=noise, **RANDOM)
        centred = X - np.array([X[y == k].mean(axis=0) for k in range(5)])[y]
        assert_allclose(centred.std(), noise, rtol=0.05)
        scores.append(LogisticRegression(C=100, max_iter=1000).fit(X, y).score(X, y))
    assert scores[0] == 1 > scores[1] > scores[2]


def test_sparse_rows_are_text_like():
    X, y, _ = make_sequences(2000, 3, 1000, n_active=10, noise=1.0, **RANDOM)
    assert X.format == "csr" and set(X.data) == {1.0} and X.has_canonical_format
    drawn = np.diff(X.indptr)
    assert drawn.max() == 10 and drawn.mean() > 7
    frequency = np.sort(np.asarray(X.mean(axis=0)).ravel())[::-1]
    rank = np.arange(1, 1001)
    assert_allclose(frequency[:20], 1 - (1 - np.log1p(1 / rank[:20]) / np.log(1001)) ** 10, rtol=0.1)
    shares = np.array([np.asarray(X[y == k].mean(axis=0)).ravel() for k in range(3)])
    assert abs(shares - shares.mean(axis=0)).max() < 0.03  # nothing tells of the label
    X, y, _ = make_sequences(2000, 3, 1000, n_active=10, noise=0.0, **RANDOM)
    shares = np.array([np.asarray(X[y == k].mean(axis=0)).ravel() for k in range(3)])
    assert abs(shares - shares.mean(axis=0)).max() > 0.3


def test_a_label_and_a_token():
    X, y, sid = make_sequences(1, 1, 1, n_tokens=1, **RANDOM)
    assert X.shape == (1, 1)
    assert_array_equal([y, sid], [[0], [0]])
    assert_array_equal(make_sequences(1, 1, 1, n_tokens=2, n_active=1, bio=True, **RANDOM)[1], ["O", "O"])


@pytest.mark.parametrize("outside", [0.3, 0.9])
def test_the_share_of_what_is_outside(outside):
    """O has its share at every place, B and I of all types have theirs, and no I-x follows anything but B-x and I-x."""
    _, y, sid = make_sequences(4000, 5, 3, n_tokens=30, n_active=1, bio=True, outside=outside, **RANDOM)
    assert_allclose(np.mean(y == "O"), outside, atol=0.03)
    for label in ("B-0", "B-1", "I-0", "I-1"):
        assert_allclose(np.mean(y == label), (1 - outside) / 4, rtol=0.25)
    for a, b in set(pairs(y, sid)):
        assert b[0] != "I" or a in (f"B{b[1:]}", f"I{b[1:]}")
