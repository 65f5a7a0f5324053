"""Rows that are made as they are asked for: to the last bit those of the matrix of all of them, wherever they are read."""

import threading

import numpy as np
import pytest
from feature_cases import table
from inside import reading_of
from numpy.testing import assert_array_equal
from ranking_cases import make_data
from scipy import sparse

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronRanker
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import QueryRows, csr_rows, dense_rows
from sklearn_predtron.features import PiecewiseLinear, RandomFourier
from sklearn_predtron.features._made_rows import MadeRows

MAPS = [PiecewiseLinear(n_pairs=6), PiecewiseLinear(n_pairs=0), RandomFourier(n_features=37)]


def stored(Z):
    return csr_rows(Z) if sparse.issparse(Z) else dense_rows(Z)


def fitted(encoder, n=300, kind=np.float64):
    X = table(n).astype(kind)
    y = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) > 3).astype(np.intp)
    encoder.fit(X, y)
    return encoder.read(X), encoder.transform(X), y


def learner_of(Z, y, model):
    """A learner that has seen some rows as they are stored."""
    return model.partial_fit(Z[:40], y[:40], classes=np.unique(y))._model.learner.copied()


def weights_of(learner):
    return learner.read(lambda weights: np.concatenate([part.ravel() for part in (*weights.last(), *weights.mean())]))


def scores_of(learner, rows, d):
    out = np.empty((rows.n, d))
    assert learner.scores(rows, out)
    return out


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("encoder", MAPS, ids=repr)
def test_learning_from_them_is_learning_from_the_matrix(encoder, kind):
    matrix, Z, y = fitted(encoder, kind=kind)
    made = encoder.rows(matrix)
    order = np.random.default_rng(1).permutation(len(y)).astype(np.intp)
    several = (np.arange(len(y)) % 3).astype(np.intp)
    for labels, d, kind_of_model in [(y, 1, PredtronBinaryClassifier), (several, 3, PredtronClassifier)]:
        twins = [learner_of(Z, labels, kind_of_model(norm="l2", decision="learned")) for _ in range(2)]
        for learner, rows in zip(twins, [made, stored(Z)], strict=True):
            assert rows.first_outside() == -1
            for how in (order, None, order[:7]):
                assert learner.learn(rows, Codes(labels), how) == -1
        assert_array_equal(*map(weights_of, twins))
        assert twins[0].n_updates > 50
        assert_array_equal(scores_of(twins[0], made, d), scores_of(twins[1], stored(Z), d))
        one = encoder.rows(matrix[:1])
        assert_array_equal(scores_of(twins[0], one, d), scores_of(twins[1], stored(Z), d)[:1])


@pytest.mark.parametrize("encoder", [MAPS[0], MAPS[-1]], ids=repr)
@pytest.mark.parametrize("norm", ["l2", "l1", "group", "scaled", "trace"])
@pytest.mark.parametrize("k", [2, 3, 100])
def test_other_norms_and_weights(norm, k, encoder):
    matrix, Z, _ = fitted(encoder, n=500)
    y = (np.arange(500) % k).astype(np.intp)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    average = "uniform" if k == 3 else False
    make = PredtronBinaryClassifier if k == 2 else PredtronClassifier
    models = [make(norm=norm, average=average).partial_fit(Z[:40], y[:40], classes=np.arange(k)) for _ in range(2)]
    twins = [model._model.learner.copied() for model in models]
    everything = np.arange(500).astype(np.intp)
    for learner, rows in zip(twins, [encoder.rows(matrix), stored(Z)], strict=True):
        assert learner.learn(rows, Codes(y), None, weight, unchecked=True, counted_first=everything) == -1
        assert learner.learn(rows, Codes(y), everything[::-1].copy(), weight, fresh=False) == -1
    assert_array_equal(*map(weights_of, twins))


@pytest.mark.parametrize("encoder", MAPS, ids=repr)
def test_queries(encoder):
    X, y, qid = make_data(n=30)
    X[::5, 1] = np.nan
    Z = encoder.fit(X, y).transform(X)
    start = np.concatenate([[0], np.flatnonzero(np.diff(qid)) + 1, [len(qid)]]).astype(np.intp)
    model = PredtronRanker(norm="l2").partial_fit(Z, y, qid)
    labels = reading_of(model, Z, y, qid=qid).batch.labels
    order = np.random.default_rng(0).permutation(len(start) - 1).astype(np.intp)
    twins = [model._model.learner.copied() for _ in range(2)]
    for learner, rows in zip(twins, [encoder.rows(encoder.read(X)), stored(Z)], strict=True):
        queries = QueryRows(rows, start)
        assert queries.first_outside() == -1
        assert learner.learn(queries, labels, order) == learner.learn(queries, labels) == -1
    assert_array_equal(*map(weights_of, twins))
    assert twins[0].n_updates > 5


@pytest.mark.parametrize("encoder", MAPS, ids=repr)
def test_threads_learn_and_predict_from_the_same_rows(encoder):
    matrix, Z, y = fitted(encoder, n=2000)
    made = encoder.rows(matrix)
    learners = [learner_of(Z, y, PredtronBinaryClassifier(norm="l2")) for _ in range(5)]
    orders = [np.random.default_rng(seed).permutation(len(y)).astype(np.intp) for seed in range(5)]
    found = [None] * 5

    def work(k):
        for _ in range(3):
            learners[k].learn(made, Codes(y), orders[k])
            found[k] = scores_of(learners[k], made, 1)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        learners[4] = learner_of(Z, y, PredtronBinaryClassifier(norm="l2"))
        for _ in range(3):
            learners[4].learn(stored(Z), Codes(y), orders[k])
        assert_array_equal(found[k], scores_of(learners[4], stored(Z), 1))


@pytest.mark.parametrize("encoder", [PiecewiseLinear(n_pairs=6), RandomFourier()], ids=repr)
def test_rows_that_are_kept_are_the_same(encoder):
    """Of a thousand cosines, 64 MB are the first 8,388 rows."""
    matrix, _, y = fitted(encoder, n=9000)
    order = np.random.default_rng(1).permutation(len(y)).astype(np.intp)
    found = []
    for kept in (False, True):
        made = encoder.rows(matrix)
        if kept:
            made.keep()
        learner = learner_of(encoder.transform(table(40)), y, PredtronBinaryClassifier(norm="l2"))
        assert learner.learn(made, Codes(y), order) == -1
        found.append((weights_of(learner), scores_of(learner, made, 1)))
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])


def test_blocks_are_as_long_as_they_must_be():
    matrix, Z, _ = fitted(PiecewiseLinear(n_pairs=100), n=400)
    encoder = PiecewiseLinear(n_pairs=100).fit(matrix)
    rows = encoder.rows(matrix)
    assert 1 <= rows.together <= 64
    assert (rows.first_rows(7) != encoder.transform(matrix)[:7]).nnz == 0
    assert rows.finite() and rows.sparse and rows.n == 400 and rows.p == encoder.n_features_out_
    assert 0 < len(rows.first_indices(100)) < Z.nnz + 1


def test_what_is_no_table_is_refused():
    matrix, _, _ = fitted(PiecewiseLinear())
    row_map = PiecewiseLinear().fit(matrix)._row_map
    for wrong in (matrix[:, :2], np.asfortranarray(matrix), matrix.astype(np.float16), matrix[0]):
        with pytest.raises(ValueError, match="table must be"):
            MadeRows(row_map, wrong)
