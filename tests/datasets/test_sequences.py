"""Sequences stacked into rows of tokens, taken apart again, and tokens beside their neighbours."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.feature_extraction import DictVectorizer, FeatureHasher

from sklearn_predtron.datasets import stack_sequences, unstack, window

SENTENCES = [[{"word": "the"}, {"word": "dog"}, {"word": "runs"}], [{"word": "run", "first": True}]]
LABELS = [["DET", "NOUN", "VERB"], ["VERB"]]


def random_sequences(rng, n=20, p=4):
    return [rng.standard_normal((rng.integers(1, 7), p)) for _ in range(n)]


# -------------------------------------------------------------------------------------------------------- stack and unstack


def test_lists_of_dicts():
    tokens, y, sid = stack_sequences(SENTENCES, LABELS)
    assert tokens == [*SENTENCES[0], *SENTENCES[1]]
    assert_array_equal(y, ["DET", "NOUN", "VERB", "VERB"])
    assert_array_equal(sid, [0, 0, 0, 1])
    assert sid.dtype == np.int64 and y.dtype.kind == "U"
    assert DictVectorizer().fit_transform(tokens).shape == (4, 5)
    assert FeatureHasher(64).transform(tokens).shape == (4, 64)
    assert unstack(tokens, sid) == SENTENCES
    assert [labels.tolist() for labels in unstack(y, sid)] == LABELS


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix, pd.DataFrame])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays(make, dtype):
    arrays = [array.astype(dtype) for array in random_sequences(np.random.default_rng(0))]
    X, y, sid = stack_sequences(map(make, arrays))
    assert y is None and X.dtype == dtype
    if sparse.issparse(make(arrays[0])):
        assert X.format == "csr" and isinstance(X, sparse.sparray) == (make is sparse.csr_array)
    else:
        assert isinstance(X, np.ndarray)
    assert_array_equal(X.toarray() if sparse.issparse(X) else X, np.concatenate(arrays))
    for back, array in zip(unstack(X, sid), arrays, strict=True):
        assert type(back) is type(X)
        assert_array_equal(back.toarray() if sparse.issparse(back) else back, array)


def test_other_iterables():
    tokens, y, sid = stack_sequences(iter(["the", "dogs"]), iter([range(3), np.arange(4)]))
    assert "".join(tokens) == "thedogs"
    assert_array_equal(y, [0, 1, 2, 0, 1, 2, 3])
    assert_array_equal(sid, [0, 0, 0, 1, 1, 1, 1])
    tokens, _, sid = stack_sequences((letter for letter in word) for word in ["ab", "c"])
    assert tokens == ["a", "b", "c"]
    cube = np.arange(24).reshape(2, 3, 4)
    assert_array_equal(stack_sequences(cube)[0], cube.reshape(6, 4))


def test_no_sequences():
    tokens, y, sid = stack_sequences([], [])
    assert tokens == [] and y.shape == sid.shape == (0,)
    assert unstack([], sid) == []


@pytest.mark.parametrize("ids", [["b", "a", "b", "c", "a"], [7, -1, 7, 3, -1], [(1, 2), "x", (1, 2), None.__class__, "x"]])
def test_unstack_gathers_in_order_of_first_appearance(ids):
    sid = np.empty(5, dtype=object)
    sid[:] = ids
    assert unstack([10, 20, 30, 40, 50], sid) == [[10, 30], [20, 50], [40]]
    rows = np.arange(10).reshape(5, 2)
    for found, wanted in zip(unstack(rows, sid), ([0, 2], [1, 4], [3]), strict=True):
        assert_array_equal(found, rows[wanted])


@pytest.mark.parametrize("sid", [None, "one"])
def test_one_sequence(sid):
    assert unstack(["a", "b"], sid) == [["a", "b"]]
    assert_array_equal(unstack((1, 2), sid), [[1, 2]])


# ------------------------------------------------------------------------------------------------------------------- window


def plain_window(X, sid, before, after):
    """The definition, token by token."""
    out = np.zeros((len(X), (before + 1 + after) * X.shape[1]), dtype=X.dtype)
    for i, one in enumerate(sid):
        same = [j for j, other in enumerate(sid) if other == one]
        at = same.index(i)
        for d in range(-before, after + 1):
            if 0 <= at + d < len(same):
                out[i, (before + d) * X.shape[1] :][: X.shape[1]] = X[same[at + d]]
    return out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_window(seed, dtype):
    rng = np.random.default_rng(seed)
    n, (before, after) = int(rng.integers(1, 30)), rng.integers(0, 4, 2)
    X = (rng.integers(-3, 4, (n, 3)) * (rng.random((n, 3)) < 0.5)).astype(dtype)
    sid = rng.integers(0, 5, n)
    sid = np.sort(sid) if seed % 2 else sid
    wanted = plain_window(X, sid, before, after)
    found = window(X, sid, before, after)
    assert found.dtype == dtype
    assert_array_equal(found, wanted)
    for make in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix):
        found = window(make(X), sid, before, after)
        assert found.dtype == dtype and found.format == "csr" and found.shape == wanted.shape
        assert isinstance(found, sparse.sparray) == (make is sparse.csr_array)
        assert found.nnz == np.count_nonzero(wanted)
        assert_array_equal(found.toarray(), wanted)


def test_default_window_is_of_five_tokens():
    X = np.arange(1.0, 6.0)[:, None]
    assert_array_equal(window(X, None)[[0, 2, 4]], [[0, 0, 1, 2, 3], [1, 2, 3, 4, 5], [3, 4, 5, 0, 0]])
    assert_array_equal(window(X, "one", 0, 0), X)


def test_the_input_of_window_stays_as_it_is():
    X = sparse.csr_matrix(np.eye(3))
    before = X.copy()
    window(X, [0, 0, 1])
    assert X.shape == (3, 3) and (before != X).nnz == 0
    dense = np.eye(3)
    assert not np.shares_memory(window(dense, [0, 0, 1], 0, 0), dense)


def test_window_leaves_the_column_of_ids_out():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "sid": [0, 0, 1]})
    wanted = window(frame[["a"]], frame["sid"])
    assert wanted.shape == (3, 5)
    assert_array_equal(window(frame, None), wanted)
    assert_array_equal(window(frame, frame["sid"]), wanted)
    with pytest.raises(ValueError, match="is passed beside a column 'sid' of X that differs"):
        window(frame, [0, 1, 2])


@pytest.mark.parametrize(("n", "sid"), [(0, None), (0, [])])
def test_window_of_no_tokens(n, sid):
    assert window(np.zeros((n, 3)), sid).shape == window(sparse.csr_matrix((n, 3)), sid).shape == (0, 15)


def test_missing_values_pass_through_a_window():
    assert_array_equal(window(np.array([[np.nan], [1.0]]), None, 1, 0), [[0, np.nan], [np.nan, 1]])
