"""What predicts: a row has the same scores, to the last bit, in any batch, in any form, and by whichever way they are found."""

import copy
import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from cases import AVERAGES, assert_close, layouts, pairwise, threads_of
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron._core.rows import dense_rows, sparse_rows
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.norms import RKHS, Norm

NORMS = [kind() for kind in kinds(Norm)]
MORE = [*NORMS, RKHS(budget=7), RKHS("rbf")]
LARGE = 6000  # features: with so many, weights are not written down for a few rows
READ = ["l2", "l1", "group", "trace"]  # norms whose weights are read line by line


def rows_of(n, p, seed=0):
    """Rows that float32 holds exactly, a third of their values zero, the last row empty."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p)) * (random.random((n, p)) < 2 / 3)
    X[-1] = 0
    return X.astype(np.float32).astype(np.float64)


def labels_of(X, d, seed=1):
    """A label of one score, or d labels of a score each, that some directions and some noise make."""
    random = np.random.default_rng(seed)
    Y = (X @ random.standard_normal((X.shape[1], d)) + random.standard_normal((len(X), d)) > 0).astype(int)
    return Y[:, 0] if d == 1 else Y


def learned(norm, d, X, sparsely=False, average="linear"):
    """A model of d scores."""
    model = (PredtronBinaryClassifier if d == 1 else PredtronMultilabelClassifier)(norm=norm, average=average)
    rows = sparse.csr_matrix(X) if sparsely else X
    return model.partial_fit(rows, labels_of(X, d), **({"classes": [0, 1]} if d == 1 else {}))


def scores(model, rows):
    return model.decision_function(rows).reshape(rows.shape[0], -1)


def forms(X):
    """Forms of the same rows by how they are read: the scores of a kind of them are the same."""
    for form, rows in layouts(X).items():
        yield form.split()[0], rows
    yield "dense", np.asfortranarray(X)
    yield "dense", np.repeat(X, 2, axis=1)[:, ::2]
    yield "dense", X[::-1].copy()[::-1]


def comparison(model):
    """Equal to the last bit, or with a kernel, which is computed block by block, but for rounding."""
    return assert_array_equal if model._model.learner.weights.expansion is None else assert_close


def assert_same_in_every_batch(model, score, X, expected):
    """`score` gives the rows X their scores alone, in batches of any size, and in any order."""
    n, same = X.shape[0], comparison(model)
    for size in {1, 2, 3, 4, 5, 8, 31, 32, 33} & set(range(1, n)):
        same(np.concatenate([score(X[i : i + size]) for i in range(0, n, size)]), expected)
    for order in (np.arange(n)[::-1], np.random.default_rng(n).permutation(n)):
        same(score(X[order]), expected[order])


CASES = pairwise(MORE, [1, 2, 3, 5, 9, 17], [1, 7, 8, 9, 16, 33], [*range(1, 10), 31, 33, 65], [False, True])


@pytest.mark.parametrize(("norm", "d", "p", "n", "sparsely"), CASES)
def test_a_row_has_its_scores_in_every_batch(norm, d, p, n, sparsely):
    model = learned(norm, d, rows_of(24, p), sparsely)
    X = rows_of(n, p, seed=2)
    expected = {}
    for kind, rows in forms(X):
        found = scores(model, rows)
        comparison(model)(found, expected.setdefault(kind, found))
        if model._model.learner.weights.expansion is None:
            assert_close(found, X @ model.coef_.T + model.intercept_, 1e-12)
    for rows in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        kind = "csr" if sparse.issparse(rows) else "dense"
        assert_same_in_every_batch(model, lambda some: scores(model, some), rows, expected[kind])


def as_rows(X):
    return sparse_rows(X.data, X.indices, X.indptr.astype(np.intp), X.shape[1]) if sparse.issparse(X) else dense_rows(X)


def by_core(model, X, mean=True):
    """Scores of the average, or of the last iterate."""
    out = np.empty((X.shape[0], model._model.learner.weights.d))
    model._model.learner.scores(as_rows(X), out, mean=mean)
    return out


def test_documents_have_the_scores_of_their_rows():
    """Whichever query they are of."""
    X, qid = rows_of(40, 9), np.repeat(np.arange(8), 5)
    model = PredtronRanker().partial_fit(X, np.arange(40) % 3, qid)
    assert_close(model.predict(X), X @ model.coef_.ravel(), 1e-12)
    one_by_one = np.concatenate([model.rank(X[qid == i], "one") for i in range(8)])
    assert_array_equal(np.argsort(one_by_one.reshape(8, 5)), np.argsort(np.stack(np.split(model.rank(X, qid), 8))))


def test_rows_that_are_summed_lie_in_batches():
    """Of CSR rows some of which hold features twice, in between rows that do not."""
    X = sparse.csr_matrix(rows_of(33, 40))
    model = learned("l2", 5, X.toarray())
    expected = scores(model, X)
    for twice in ([0], [31], [3, 4, 7], range(0, 33, 2), range(33)):
        times = np.isin(np.arange(33), twice) + 1
        parts = [(row.data.repeat(t) / t, row.indices.repeat(t)) for row, t in zip(X, times, strict=True)]
        start = np.cumsum([0, *(len(index) for _, index in parts)])
        value, index = map(np.concatenate, zip(*parts, strict=True))
        rows = sparse.csr_matrix((value, index, start), shape=X.shape)
        assert_array_equal(scores(model, rows), expected)
        assert rows.nnz > X.nnz


# --------------------------------------------------------------------------------- weights written down, and read in passing


def large(d, sparsely, n=30, seed=0):
    """Many features, of which a CSR row has few."""
    if not sparsely:
        return rows_of(n, LARGE, seed)
    random = np.random.default_rng(seed)
    return sparse.random(n, LARGE, 0.003, "csr", random_state=random, data_rvs=random.standard_normal)


def make(norm, d, average):
    return (PredtronBinaryClassifier if d == 1 else PredtronMultilabelClassifier)(norm=norm, average=average)


def learn(model, X, d):
    random = np.random.default_rng(X.shape[0])
    Y = random.integers(2, size=(X.shape[0], d))
    return model.partial_fit(X, Y[:, 0] if d == 1 else Y, **({"classes": [0, 1]} if d == 1 else {}))


@pytest.mark.parametrize(
    ("norm", "d", "average", "trained", "sparsely", "mean"),
    pairwise(READ, [1, 2, 3, 9, 12], AVERAGES, [False, True], [False, True], [True, False]),
)
def test_a_row_has_the_same_scores_by_either_way(norm, d, average, trained, sparsely, mean):
    """First alone, while weights are read in passing; then in a batch for which they are written down; then again."""
    A, B, X = large(d, trained), large(d, trained, seed=1), large(d, sparsely, seed=2)
    model = learn(make(norm, d, average), A, d)
    for rows in (B[:1], B[1:2], B[2:9]):
        learn(model, rows, d)
        passing = by_core(model, X[:1], mean)
        frozen = np.concatenate([by_core(model, X, mean) for _ in range(1 + (LARGE // X.nnz if sparsely else 0))])
        W, b = model._model.learner.weights.mean() if mean else model._model.learner.weights.last()
        assert_array_equal(frozen, np.tile(frozen[: X.shape[0]], (len(frozen) // X.shape[0], 1)))
        assert_array_equal(passing[0], frozen[0])
        assert_array_equal(by_core(model, X[:1], mean), passing)
        assert_close(passing, X[:1] @ W.T + b, 1e-12)


def test_blocks_of_rows_with_few_values_do_not_write_all_weights_down():
    n, p, d = 4000, 200_000, 20
    random = np.random.default_rng(0)
    X = sparse.csr_matrix((random.standard_normal(n), random.integers(p, size=n), np.arange(n + 1)), shape=(n, p))
    model = learn(PredtronMultilabelClassifier(norm="l2"), X[:2000], d)
    tracemalloc.start()
    try:
        found = model.decision_function(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * found.nbytes < 8 * p * d / 4
    assert_array_equal(found, model.decision_function(sparse.vstack([X] * 60, format="csr"))[-n:])  # by weights written down


@pytest.mark.parametrize(("norm", "average"), pairwise(READ, AVERAGES))
def test_so_it_has_along_a_shared_direction(norm, average):
    A, X = large(1, True, 60), large(1, True, seed=2)
    model = shared(norm).set_params(average=average).partial_fit(A[:30], np.arange(30) % 4, classes=np.arange(4))
    for i in range(30, 36):
        model.partial_fit(A[i], [i % 4])
        passing = by_core(model, X[:1])
        frozen = [by_core(model, X) for _ in range(2 + LARGE // X.nnz)]
        assert_array_equal(np.concatenate([found[:1] for found in frozen]), passing.repeat(len(frozen), axis=0))
        W, b = model._model.learner.weights.mean()
        assert_close(passing, X[:1] @ W.T + b, 1e-12)


@pytest.mark.parametrize("d", [3, 7, 8, 9, 12])
@pytest.mark.parametrize("norm", READ)
def test_a_weight_is_the_same_alone_and_among_others(norm, d):
    X, rows = large(d, True), sparse.identity(LARGE, format="csr")
    model = learn(PredtronMultilabelClassifier(norm=norm, fit_intercept=False), X, d)
    seen = np.unique(X.indices)
    alone = np.concatenate([by_core(model, rows[j]) for j in seen])
    assert_array_equal(alone, by_core(model, rows)[seen])


@pytest.mark.parametrize("sparsely", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: norm.alias)
def test_what_was_kept_is_dropped_when_something_is_learned(norm, sparsely):
    A, X = large(3, sparsely)[:, :2000], large(3, sparsely, seed=2)[:, :2000]
    model = learn(make(norm, 3, "linear"), A, 3)

    def check(model):
        fresh = pickle.loads(pickle.dumps(model))
        for rows in (X[:1], X, X[:1], X):
            assert_array_equal(model.decision_function(rows), copy.deepcopy(fresh).decision_function(rows))
        return model.decision_function(X)

    before = check(model)
    for change in (
        lambda: learn(model, A[:1], 3),
        lambda: learn(model, A[:7], 3),
        lambda: learn(model.set_params(average=False), A[:1], 3),
        lambda: learn(model.set_params(average="uniform"), A[:9], 3),
        lambda: model.fit(A[:20], np.random.default_rng(0).integers(2, size=(20, 3))),
    ):
        change()
        after = check(model)
        assert not np.array_equal(after, before)
        before = after


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copied", "saved"])
def test_what_was_kept_is_not_shared_with_copies(copied):
    X = rows_of(30, 50)
    model = learned("l2", 3, X)
    before = model.decision_function(X)
    other = learn(copied(model), X, 3)
    assert_array_equal(model.decision_function(X), before)
    after = other.decision_function(X)
    assert not np.array_equal(after, before)
    learn(model, X[:20], 3)
    assert_array_equal(other.decision_function(X), after)


def test_the_average_and_the_last_iterate_take_turns():
    X = rows_of(30, 50)
    model = learned("l2", 3, X)
    for mean in (True, False, False, True, True, False):
        W, b = model._model.learner.weights.mean() if mean else model._model.learner.weights.last()
        assert_close(by_core(model, X, mean), X @ W.T + b, 1e-12)
    assert not np.array_equal(by_core(model, X, True), by_core(model, X, False))


@pytest.mark.parametrize("sparsely", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: norm.alias)
def test_nothing_that_was_read_beside_learning_is_kept(norm, sparsely):
    """Scores that are read afterwards are of the last round."""
    A = large(3, sparsely, 60)[:, :1500]
    many = A[np.arange(300 if norm.alias == "rkhs" else 2000) % 60]  # a call that takes a while
    model, done = learn(make(norm, 3, "linear"), A[:5], 3), threading.Event()

    def go_on():
        try:
            for rows in (A[:5], A[5:30], many):
                learn(model, rows, 3)
        finally:
            done.set()

    def read(rows):
        while not done.is_set():
            assert np.isfinite(model.decision_function(rows)).all()

    threads_of(go_on, lambda: read(A[:1]), lambda: read(A))
    fresh = pickle.loads(pickle.dumps(model))
    for rows in (A[:1], A, A[:1]):
        assert_array_equal(model.decision_function(rows), fresh.decision_function(rows))


# ------------------------------------------------------------------------------------------------------------------- memory


def peak_of(task):
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def shared(norm):
    return PredtronOrdinalClassifier(norm=norm, representation="shared")


@pytest.mark.parametrize("form", ["multilabel", "shared"])
@pytest.mark.parametrize("norm", READ)
def test_a_row_does_not_have_all_weights_written_down(norm, form):
    """Between two rows of a stream a prediction takes the time and the memory of its row."""
    p, d = (2**15, 12) if form == "multilabel" else (2**16, 1)
    X = sparse.random(30, p, 20 / p, "csr", random_state=0)
    if form == "multilabel":
        model = learn(make(norm, d, "linear"), X, d)
    else:
        model = shared(norm).partial_fit(X, np.arange(30) % 3, classes=np.arange(3))
    assert peak_of(lambda: model.decision_function(X[:1])) < d * p * 8 / 4


def test_weights_written_down_before_are_gone_while_others_are_learned():
    X, size = rows_of(30, 5000), 9 * 5000 * 8
    tracemalloc.start()
    try:
        model = learn(make("l2", 9, "linear"), X, 9)
        model.decision_function(X)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(3):
            learn(model, X, 9)
            model.decision_function(X)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now - before < size / 4
    assert peak - before < size / 2
