"""Readers of rounds as objects: what a call was given, as rows, blocks or batches; none knows an estimator."""

import types
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._support.queries import QID
from sklearn_predtron.families.input.batches import BatchEpochs, BatchReader, equal_batches, full_batches
from sklearn_predtron.families.input.reading import Batch, BlockReader, Columns, RowReader, as_rows
from sklearn_predtron.families.labels.classes import Classes
from sklearn_predtron.families.labels.relevances import DocumentRelevances
from sklearn_predtron.families.training.runs import Epochs
from sklearn_predtron.problems._label_sets import IndicatorBlocks
from sklearn_predtron.problems._relevance import Relevances

X = np.random.default_rng(0).standard_normal((12, 3))
Y = np.arange(12) % 2
IDS = np.array([7, 7, 3, 3, 3, 7, 5, 5, 3, 5, 5, 7])


def classes_of(y, classes, known, *, partial):
    if known is not None:
        return known, known.encode(y)
    return Classes.first(y, classes, partial=partial)


def relevances_of(y, classes, known, *, partial):
    codec = known or DocumentRelevances()
    return codec, codec.encode(y)


def on(values, start):
    return IndicatorBlocks(values.astype(np.uint8), start)


ROWS = RowReader("Own")
BLOCKS = BlockReader("Own", QID, Relevances)


def read_blocks(ids=None, known=None, y=Y, partial=False, **more):
    return BLOCKS.read(X, y, relevances_of, known, partial=partial, qid=ids, **more)


def read_batches(size, partial=False, known=None, y=Y, **more):
    return BatchReader("Own", size, on).read(X, y, classes_of, known, partial=partial, **more)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, np.float32, list], ids=str)
def test_rows_and_labels(form):
    reading = ROWS.read(form(X), Y.tolist(), classes_of, None, partial=False)
    batch = reading.batch
    assert (batch.rows.n, batch.rows.p, reading.columns) == (12, 3, Columns(3))
    np.testing.assert_array_equal(batch.labels.array, Y)
    assert batch.weight is batch.order is reading.call_metadata is None
    assert ROWS.rounds(batch) is batch and reading.labels.classes.tolist() == [0, 1]


def test_names_of_columns_are_those_of_the_first_rows():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    first = ROWS.read(frame, Y, classes_of, None, partial=False)
    assert first.columns.n == 3 and first.columns.names.tolist() == ["a", "b", "c"]
    known = types.SimpleNamespace(columns=first.columns, labels=first.labels, call_metadata=None)
    assert ROWS.read(frame, Y, classes_of, known, partial=True).columns is first.columns
    with pytest.raises(ValueError, match="feature names should match"):
        ROWS.read(frame[["b", "a", "c"]], Y, classes_of, known, partial=True)
    with pytest.raises(ValueError, match="X has 2 features, but Own is expecting 3"):
        ROWS.read(X[:, :2], Y, classes_of, types.SimpleNamespace(columns=Columns(3), labels=first.labels), partial=True)


class Weighing(RowReader):
    """Rows that weigh more the larger the number of their class."""

    def weights(self, codec, labels, weight, *, partial):
        return 1.0 + labels.array


def test_rows_of_weight_zero_are_not_among_the_order():
    weight = (np.arange(12) % 3).astype(float)
    batch = ROWS.read(X, Y, classes_of, None, partial=False, sample_weight=weight).batch
    np.testing.assert_array_equal(batch.order, np.flatnonzero(weight))
    np.testing.assert_array_equal(batch.weight, weight)
    weighed = Weighing("Own")
    np.testing.assert_array_equal(weighed.read(X, Y, classes_of, None, partial=False).batch.weight, 1.0 + Y)
    both = weighed.read(X, Y, classes_of, None, partial=False, sample_weight=weight).batch
    np.testing.assert_array_equal(both.weight, weight * (1 + Y))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        ROWS.read(X, Y, classes_of, None, partial=False, sample_weight=np.zeros(12))
    assert len(ROWS.read(X, Y, classes_of, None, partial=True, classes=[0, 1], sample_weight=np.zeros(12)).batch.order) == 0
    with pytest.raises(ValueError, match="times the weight of a class overflows"):
        weighed.read(X, Y, classes_of, None, partial=False, sample_weight=np.full(12, 1e308))


@pytest.mark.parametrize("reader", [ROWS, BLOCKS, BatchReader("Own", 4, on)], ids=lambda reader: type(reader).__name__)
def test_what_does_not_go_together_is_refused(reader):
    labels_of = relevances_of if reader is BLOCKS else classes_of
    with pytest.raises(ValueError, match="X has 12 rows and y has 11; both must have the same number"):
        reader.read(X, Y[1:], labels_of, None, partial=False)
    with pytest.raises(ValueError, match="This Own estimator requires y to be passed"):
        reader.read(X, None, labels_of, None, partial=False)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        reader.read(X, Y, labels_of, None, partial=False, tid=IDS)


def test_blocks_lie_together_in_the_order_of_their_first_rows():
    y = np.arange(12.0)
    reading = read_blocks(IDS, y=y)
    batch, order = reading.batch, np.concatenate([np.flatnonzero(name == IDS) for name in (7, 3, 5)])
    assert isinstance(batch.rows, QueryRows) and batch.rows.n == 3
    assert batch.labels.starts.tolist() == [0, 4, 8, 12]
    np.testing.assert_array_equal(batch.labels.relevances, y[order])
    assert reading.call_metadata and batch.order is None


def test_weights_of_blocks_are_means_of_the_positive_ones():
    weight = np.where(IDS == 3, 0.0, np.where(np.arange(12) % 2, 3.0, 1.0))
    weight[0] = 0.0
    batch = read_blocks(IDS, sample_weight=weight).batch
    found = {name: weight[(name == IDS) & (weight > 0)] for name in (7, 5)}
    assert batch.labels.starts.tolist() == [0, len(found[7]), len(found[7]) + len(found[5])]
    np.testing.assert_allclose(sorted(batch.weight), sorted(np.mean(weights) for weights in found.values()))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        read_blocks(IDS, sample_weight=np.zeros(12))
    bad = X.copy()
    bad[2, 1] = np.nan  # of weight 0, which is not learned from, and is refused all the same
    with pytest.raises(ValueError, match="NaN"):
        BLOCKS.read(bad, Y, relevances_of, None, partial=False, qid=IDS, sample_weight=weight)


def test_it_is_noted_whether_any_call_had_several_blocks():
    first = read_blocks("one")
    assert not first.call_metadata
    for noted, ids, expected in [(False, "one", False), (False, IDS, True), (True, "one", True)]:
        known = types.SimpleNamespace(columns=Columns(3), labels=first.labels, call_metadata=noted)
        assert read_blocks(ids, known, partial=True).call_metadata == expected
        if noted:
            with pytest.raises(ValueError, match="predict was called without qid"):
                BLOCKS.check_ids_given(None, "predict", known)
        BLOCKS.check_ids_given("one", "predict", known)


def test_ids_in_a_column():
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(qid=IDS)
    rest, ids = BLOCKS.split_ids(frame, None)
    assert list(rest.columns) == ["a", "b", "c"] and np.asarray(ids).tolist() == IDS.tolist()
    with pytest.warns(UserWarning, match="qid=None"):
        assert BLOCKS.split_ids_or_warn(X, None)[1] is None


# --------------------------------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize(("n", "size"), [(12, 5), (12, 4), (1, 3), (7, 100), (13, 1)])
def test_where_batches_begin(n, size):
    equal, full = np.diff(equal_batches(n, size)), np.diff(full_batches(n, size))
    assert equal.sum() == full.sum() == n
    assert len(equal) == len(full) == -(-n // size)
    assert np.ptp(equal) <= 1 and equal.max() <= size
    assert (full[:-1] == size).all() and 0 < full[-1] <= size


def test_a_stream_is_cut_into_full_batches():
    reader = BatchReader("Own", 5, on)
    reading = read_batches(5, partial=True, classes=[0, 1])
    rounds = reader.rounds(reading.batch)
    assert rounds.labels.starts.tolist() == [0, 5, 10, 12] and rounds.order is rounds.weight is None
    weight = np.where(np.arange(12) < 4, 0.0, np.arange(12.0))
    some = reader.rounds(read_batches(5, partial=True, classes=[0, 1], sample_weight=weight).batch)
    assert some.labels.starts.tolist() == [0, 5, 8]
    np.testing.assert_allclose(some.weight, [np.mean([4, 5, 6, 7, 8]), 10.0])
    np.testing.assert_array_equal(some.labels.column, Y[4:])
    assert reader.rounds(read_batches(5, partial=True, classes=[0, 1], sample_weight=np.zeros(12)).batch) is None
    groups = read_batches(5, partial=True, classes=[0, 1], groups=IDS)
    assert reader.rounds(groups.batch) is groups.batch and groups.batch.rows.n == 3
    assert reader.short(groups.labels) is None


def test_how_many_were_positive_is_noted_of_a_stream():
    first = read_batches(5, partial=True, classes=[0, 1])
    assert first.call_metadata == (6, 12)
    known = types.SimpleNamespace(columns=Columns(3), labels=first.labels, call_metadata=first.call_metadata)
    assert read_batches(5, partial=True, known=known, groups=IDS).call_metadata == (12, 24)
    weight = (np.arange(12) < 3).astype(float)
    assert read_batches(5, partial=True, known=known, sample_weight=weight).call_metadata == (7, 15)
    assert read_batches(5, known=known).call_metadata == (6, 12)  # a fit begins anew


def test_a_warning_of_batches_without_positive_rows_is_given_by_a_fit_alone():
    reader, y = BatchReader("Own", 2, on), (np.arange(12) == 5).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few, groups = read_batches(2, y=y), read_batches(2, y=y, groups=IDS)
        BatchReader("Own", 12, on).warn_of_rounds(read_batches(12, y=y))
        ROWS.warn_of_rounds(few)
    with pytest.warns(UserWarning, match=r"y has 1 positive rows among 12: of the batches of 2 rows 8\d % have none"):
        reader.warn_of_rounds(few)
    with pytest.warns(UserWarning, match="groups: 67 % of them have no positive row"):
        reader.warn_of_rounds(groups)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_epochs_of_batches_have_each_row_once(whole, weighted):
    weight = np.where(np.arange(12) < 4, 0.0, 1.0) if weighted else None
    order = np.flatnonzero(weight) if weighted else None
    labels = read_batches(5).batch.labels
    batch = Batch(X, as_rows(X), labels, weight, order)
    epochs = BatchReader("Own", 5, on).epochs(Epochs(batch, np.random.default_rng(0)), whole=whole)
    assert type(epochs) is BatchEpochs
    seen = []
    for _ in range(3):
        rounds, drawn = epochs.draw()
        rows = rounds.rows
        assert sorted(rows.row_numbers if rows.row_numbers is not None else []) == list(range(4 if weighted else 0, 12))
        assert drawn["order"] is None if "order" in drawn and not seen else True
        seen.append(rounds)
    assert (seen[1] is seen[0]) == whole
