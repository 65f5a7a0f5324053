"""Scores of chunks beside a plain reading of labels, token by token, as conlleval reads them."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_predtron.metrics import chunk_f1_score, chunk_precision_recall_fscore_support

POOLS = {
    "bio": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "no types": ["O", "B", "I"],
    "with and without types": ["O", "B", "I", "B-X", "I-X"],
    "inside only": ["O", "I-X", "I-Y"],
    "ends and singles": ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y", "E", "S"],
    "dashes": ["O", "B-a-b", "I-a-b", "I-a", "B-", "I-_", "B"],
}


def conlleval_chunks(labels):
    """The set of (type, first, last) of a sequence, by conlleval's rules of where chunks end and begin."""
    chunks, first, before, type_before = set(), None, "O", ""
    for i, label in enumerate([*labels, "O"]):
        tag, _, kind = label.partition("-")
        kind = kind or "_"
        end = (
            (before, tag) in {("B", "B"), ("B", "O"), ("B", "S"), ("I", "B"), ("I", "O"), ("I", "S")}
            or before in {"E", "S"}
            or (before != "O" and type_before != kind)
        )
        begin = (
            tag in {"B", "S"}
            or (before, tag) in {("E", "E"), ("E", "I"), ("S", "E"), ("S", "I"), ("O", "E"), ("O", "I")}
            or (tag != "O" and before != "O" and type_before != kind)
        )
        if end:
            chunks.add((type_before, first, i - 1))
        if begin:
            first = i
        before, type_before = tag, kind
    return chunks


def counted(y_true, y_pred, kinds=None):
    """Found, predicted and true chunks of lists of sequences."""
    counts = np.zeros(3)
    for sequences in zip(y_true, y_pred, strict=True):
        true, predicted = ({c for c in conlleval_chunks(each) if kinds is None or c[0] in kinds} for each in sequences)
        counts += len(true & predicted), len(predicted), len(true)
    return counts


def expected(found, predicted, true):
    precision, recall = found / predicted if predicted else 0, found / true if true else 0
    return precision, recall, 2 * precision * recall / (precision + recall) if found else 0, true


def random_sequences(rng, pool):
    lengths = rng.integers(1, 9, rng.integers(1, 6))
    y_true = [rng.choice(pool, length).tolist() for length in lengths]
    return y_true, [[a if rng.random() < 0.7 else str(rng.choice(pool)) for a in labels] for labels in y_true]


def stacked(sequences):
    return [label for labels in sequences for label in labels]


@pytest.mark.parametrize("pool", POOLS)
def test_random_sequences(pool):
    rng = np.random.default_rng(len(pool))
    found = 0
    for _ in range(150):
        y_true, y_pred = random_sequences(rng, POOLS[pool])
        sid = np.repeat(np.arange(len(y_true)), list(map(len, y_true)))
        true, predicted = stacked(y_true), stacked(y_pred)
        of_all = chunk_precision_recall_fscore_support(true, predicted, sid, average="micro")
        assert_allclose(of_all, expected(*counted(y_true, y_pred)))
        assert chunk_f1_score(true, predicted, sid) == of_all[2]
        kinds = sorted({kind for labels in y_true + y_pred for kind, _, _ in conlleval_chunks(labels)})
        each = chunk_precision_recall_fscore_support(np.array(true, dtype=object), np.array(predicted), sid)
        assert_allclose(
            np.array(each).T.reshape(-1, 4), [expected(*counted(y_true, y_pred, {k})) for k in kinds] or np.zeros((0, 4))
        )
        mixed = interleaved(rng, sid)
        assert chunk_f1_score(np.array(true)[mixed], np.array(predicted)[mixed], sid[mixed]) == of_all[2]
        found += of_all[2] > 0
    assert found > 100


def interleaved(rng, sid):
    """An order of the tokens that mixes the sequences and keeps the order within each."""
    mixed, places = np.empty(len(sid), dtype=int), rng.permutation(sid)
    for one in np.unique(sid):
        mixed[places == one] = np.flatnonzero(sid == one)
    return mixed


# Values that seqeval 1.2.2 gives in its default mode: precision, recall, F1 and the number of true chunks.
CASES = [
    (["B-X I-X O B-Y"], ["B-X I-X O B-Y"], (1, 1, 1, 2)),
    (["B-X I-X O B-Y"], ["B-X O O B-Y"], (0.5, 0.5, 0.5, 2)),
    (["B-X I-X O"], ["I-X I-X O"], (1, 1, 1, 1)),
    (["B-X B-X I-X"], ["B-X I-X I-X"], (0, 0, 0, 2)),
    (["B-X I-Y O"], ["B-X B-Y O"], (1, 1, 1, 2)),
    (["O I-X I-Y I-Y"], ["O B-X B-Y I-Y"], (1, 1, 1, 2)),
    (["B-X", "I-X"], ["B-X", "B-X"], (1, 1, 1, 2)),
    (["O O"], ["O O"], (0, 0, 0, 0)),
    (["O O"], ["B-X O"], (0, 0, 0, 0)),
    (["B-X O"], ["O O"], (0, 0, 0, 1)),
    (["B I O B"], ["B I O I"], (1, 1, 1, 2)),
    (["B I I-X"], ["B I B-X"], (1, 1, 1, 2)),
    (["B-X I-X E-X S-X"], ["B-X I-X I-X B-X"], (1, 1, 1, 2)),
    (["B-X E-X E-X I-X"], ["B-X I-X B-X B-X"], (1, 1, 1, 3)),
    (["S-X I-X O E-X"], ["B-X B-X O B-X"], (1, 1, 1, 3)),
    (["B-a-b I-a-b I-a"], ["B-a-b I-a-b I-b"], (0.5, 0.5, 0.5, 2)),
    (["B-X I-X I-X O B-Y I-Y O B-X", "B-X O"], ["B-X I-X O O B-Y I-Y O I-X", "O B-X"], (0.5, 0.5, 0.5, 4)),
]


@pytest.mark.parametrize(("y_true", "y_pred", "values"), CASES)
def test_values_of_seqeval(y_true, y_pred, values):
    y_true, y_pred = ([labels.split() for labels in sequences] for sequences in (y_true, y_pred))
    sid = np.repeat(np.arange(len(y_true)), list(map(len, y_true)))
    found = chunk_precision_recall_fscore_support(stacked(y_true), stacked(y_pred), sid, average="micro")
    assert found == values
    assert all(isinstance(value, float) for value in found)


def test_no_chunk_crosses_to_another_sequence():
    y_true, y_pred = ["B-X", "I-X"], ["B-X", "B-X"]
    assert chunk_f1_score(y_true, y_pred, sid=["a", "b"]) == 1
    assert chunk_f1_score(y_true, y_pred) == chunk_f1_score(y_true, y_pred, sid="one") == 0


def test_types():
    y_true, y_pred = ["B-X", "B-Y", "B", "O"], ["B-X", "B-X", "I", "B-Z"]
    precision, recall, f1, support = chunk_precision_recall_fscore_support(y_true, y_pred)  # of X, Y, Z and _
    assert_array_equal(precision, [0.5, 0, 0, 1])
    assert_array_equal(recall, [1, 0, 0, 1])
    assert_allclose(f1, [2 / 3, 0, 0, 1])
    assert_array_equal(support, [1, 1, 0, 1])
    some = chunk_precision_recall_fscore_support(y_true, y_pred, labels=["_", "Q", "Y"])
    assert_array_equal(some, [[1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 1]])
    assert chunk_precision_recall_fscore_support(y_true, y_pred, labels=["X", "Y"], average="micro") == (0.5, 0.5, 0.5, 2)


@pytest.mark.parametrize("seed", range(5))
def test_a_weight_counts_a_sequence_so_often(seed):
    rng = np.random.default_rng(seed)
    y_true, y_pred = random_sequences(rng, POOLS["bio"])
    often = rng.integers(0, 4, len(y_true))
    sid = np.repeat(np.arange(len(y_true)), list(map(len, y_true)))
    mixed = interleaved(rng, sid)
    weighted = chunk_precision_recall_fscore_support(
        *(np.array(stacked(labels))[mixed] for labels in (y_true, y_pred)),
        sid[mixed],
        average="micro",
        sample_weight=often[sid[mixed]],
    )
    copies = [[labels for labels, n in zip(y, often, strict=True) for _ in range(n)] for y in (y_true, y_pred)]
    assert_allclose(weighted, expected(*counted(*copies)))


def test_nothing():
    assert chunk_f1_score([], []) == chunk_f1_score([], [], []) == 0
    assert [values.shape for values in chunk_precision_recall_fscore_support([], [])] == [(0,)] * 4
    assert chunk_f1_score(["O"], ["O"]) == 0


def test_a_weight_of_another_token_is_named_where_it_stands():
    with pytest.raises(ValueError, match=r"sample_weight\[2\]=5 is not"):
        chunk_f1_score(["O"] * 4, ["O"] * 4, sid=[0, 1, 0, 1], sample_weight=[1, 2, 5, 2])


def test_a_million_tokens_take_about_a_second():
    rng = np.random.default_rng(0)
    y_true = rng.choice(POOLS["bio"], 10**6)
    y_pred = np.where(rng.random(10**6) < 0.9, y_true, "O")
    start = time.process_time()
    assert 0.8 < chunk_f1_score(y_true, y_pred, np.arange(10**6) // 20) < 0.95
    assert time.process_time() - start < 3  # 0.3 on a quiet machine; token by token it takes 4 and more
