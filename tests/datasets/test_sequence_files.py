"""Files of sequences: whole ones in every chunk, with any labels."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import BrokenLineError, SvmlightReader

ROWS = ["-1 qid:5 1:1", "2 qid:5 2:1 # the second", "", "0 qid:-3 1:1", "# between", "-1 qid:5", "2 qid:5 1:2 3:1"]


def write(tmp_path, lines):
    path = tmp_path / "tokens.svm"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def read(path, **parameters):
    """The chunks before the end or the broken line, and the broken line."""
    chunks, error = [], None
    try:
        for chunk in SvmlightReader(path, sequence_id=True, **parameters):
            chunks.append(chunk)  # noqa: PERF402
    except BrokenLineError as broken:
        error = broken
    return chunks, error


@pytest.mark.parametrize("aim", [1, 2, 3, 4, 1000])
def test_chunks_are_whole_sequences_of_the_whole_file(tmp_path, aim):
    path = write(tmp_path, ROWS)
    X, y, sid = load_svmlight_file(str(path), query_id=True, zero_based=False)
    chunks, error = read(path, chunk_rows=aim)
    assert error is None and (sparse.vstack([X for X, _, _ in chunks]) != X).nnz == 0
    assert_array_equal(np.concatenate([y for _, y, _ in chunks]), y)
    assert_array_equal(np.concatenate([sid for _, _, sid in chunks]), sid)
    # An id that returns begins a chunk.
    expected = {1: [[5, 5], [-3], [5, 5]], 2: [[5, 5], [-3, 5, 5]]}.get(aim, [[5, 5, -3], [5, 5]])
    assert [sid.tolist() for _, _, sid in chunks] == expected


def test_the_first_pass_finds_labels_and_counts_sequences(tmp_path):
    found = SvmlightReader(write(tmp_path, ROWS), sequence_id=True).scan()
    assert (found.n_rows, found.n_features, found.n_sequences, found.n_queries) == (5, 3, 3, None)
    assert_array_equal(found.classes, [-1, 0, 2])
    assert SvmlightReader(tmp_path / "tokens.svm").scan().n_sequences is None
    assert SvmlightReader(write(tmp_path, ["1 qid:5"]), query_id=True).scan().n_sequences is None


def test_partial_fit_takes_what_is_read(tmp_path):
    path, models = write(tmp_path, ROWS * 20), []
    for aim in (1, 7, 1000):
        model = PredtronSequenceTagger()
        for X, y, sid in SvmlightReader(path, sequence_id=True, chunk_rows=aim):
            model.partial_fit(X, y, sid=sid, classes=[-1, 0, 2])
        models.append(model)
    assert [model.t_ for model in models] == [41, 41, 41]  # the last id of a copy goes on in the next one
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert_array_equal(models[0].transitions_, models[2].transitions_)


@pytest.mark.parametrize(
    ("line", "whole", "reason"),
    [
        ("1 1:1", [5, 5], "at '1:1': expected qid:ID, with an integer of 64 bits, after the label"),
        ("0 qid:-3 oops", [5, 5], "at 'oops': expected INDEX:VALUE"),
        ("0 qid:9 oops", [5, 5, -3], "at 'oops': expected INDEX:VALUE"),
        ("7 qid:9 1:1", [5, 5, -3], r"at '7': the label is not one of the classes \[-1, 0, 2\]"),
        ("0 qid:-3 " + "1:1 " * 20, [5, 5], "the line is longer than chunk_bytes=60"),
        (
            "0 qid:-3 1:0.123456789012345678901234567890123456",
            [5, 5],
            "the sequence of qid:-3, from line 4 on, is longer",
        ),
    ],
)
def test_broken_lines(tmp_path, line, whole, reason):
    """The sequences known to be whole come before the error."""
    path = write(tmp_path, [*ROWS[:5], line, *ROWS[5:]])
    chunks, error = read(path, chunk_bytes=60, n_features=3, zero_based=False, classes=[-1, 0, 2])
    with pytest.raises(BrokenLineError, match=reason):
        raise error
    found = np.concatenate([sid for _, _, sid in chunks]).tolist()
    assert error.line_number == 6 and found == whole


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sequence_id": 1.5}, "sequence_id=1.5 is not known; accepted are True and False"),
        ({"sequence_id": True, "multilabel": True}, "sequence_id=True is not accepted with multilabel=True"),
        ({"sequence_id": True, "query_id": True}, "sequence_id=True is not accepted with query_id=True"),
    ],
)
def test_parameters_of_the_reader(parameters, message):
    with pytest.raises(ValueError, match=message):
        SvmlightReader("no such file", **parameters)
