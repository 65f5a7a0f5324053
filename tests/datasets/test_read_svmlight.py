"""Files as a whole, beside scikit-learn's `load_svmlight_file`."""

import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from sklearn_predtron.datasets import BrokenLineError, read_svmlight

TEXT = b"1 qid:7 2:0.5 5:1e-3 # first\n\n0 qid:7 1:3\r\n2 qid:-4\n1 qid:7 4:0 5:.25"


def write(tmp_path, content=TEXT, name="rows.svm"):
    (tmp_path / name).write_bytes(content)
    return str(tmp_path / name)


def check_same(found, expected):
    (X, *others), (Z, *those) = found, expected
    assert X.shape == Z.shape and X.dtype == Z.dtype and X.format == "csr"
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(X, part), getattr(Z, part))
    for a, b in zip(others, those, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ids", [None, "query_id", "sequence_id"])
@pytest.mark.parametrize("form", [{}, {"zero_based": True}, {"zero_based": False}, {"n_features": 9}])
def test_it_is_what_scikit_learn_reads(tmp_path, form, ids, dtype, n_jobs):
    path, how = write(tmp_path), {} if ids is None else {ids: True}
    expected = load_svmlight_file(path, query_id=ids is not None, dtype=dtype, **form)
    check_same(read_svmlight(path, dtype=dtype, n_jobs=n_jobs, **how, **form), expected)


@pytest.mark.parametrize("classes", [None, [9, 1, 2, 3]])
def test_sets_of_labels(tmp_path, classes):
    path = write(tmp_path, b"1,3 1:1\n2:1\n3,3 1:1\n2,9\n")
    X, Y, found = read_svmlight(path, multilabel=True, classes=classes)
    expected, labels = load_svmlight_file(path, multilabel=True)
    check_same((X,), (expected,))
    assert_array_equal(Y.toarray(), MultiLabelBinarizer(classes=[1, 2, 3, 9]).fit_transform(labels))
    assert_array_equal(found, [1, 2, 3, 9])


@pytest.mark.parametrize("text", [b"", b"# nothing\n", b"1\n2\n", b"1 0:1\n"])
@pytest.mark.parametrize("zero_based", ["auto", True])
def test_few_rows_or_entries(tmp_path, text, zero_based):
    path = write(tmp_path, text)
    check_same(read_svmlight(path, zero_based=zero_based), load_svmlight_file(path, zero_based=zero_based))


def test_many_chunks(tmp_path):
    rng = np.random.default_rng(0)
    lines = (b"%d %d:%r %d:1" % (i % 3, 1 + i % 7, float(v), 9 + i % 5) for i, v in enumerate(rng.standard_normal(25_000)))
    path = write(tmp_path, b"\n".join(lines))
    for n_jobs in (None, 2):
        check_same(read_svmlight(path, n_jobs=n_jobs), load_svmlight_file(path))


def test_lines_and_queries_may_be_long(tmp_path):
    """Longer than any chunk of the reader's."""
    row = b"1 qid:1 " + b" ".join(b"%d:0.5" % i for i in range(1, 10**6)) + b"\n"
    path = write(tmp_path, row)
    assert len(row) > 8 * 2**20
    assert read_svmlight(path)[0].nnz == read_svmlight(path, query_id=True)[0].nnz == 10**6 - 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    check_same(read_svmlight(path), load_svmlight_file(write(tmp_path)))
    writer.join()


def test_a_broken_line_is_named(tmp_path):
    path = write(tmp_path, TEXT + b"\nx\n")
    with pytest.raises(BrokenLineError, match=r"rows\.svm, line 6: at 'x': could not convert"):
        read_svmlight(path)
    with pytest.raises(BrokenLineError, match=r"line 5: at '1': the label is not one of the classes \[0, 2\]") as broken:
        read_svmlight(write(tmp_path, b"2\n0\n\n2\n1\n"), classes=[0, 2])
    assert broken.value.line_number == 5


def test_too_few_features(tmp_path):
    path = write(tmp_path)
    with pytest.raises(ValueError, match=r"n_features=4 must be at least 5, the features of '.*rows\.svm'"):
        read_svmlight(path, n_features=4)
    with pytest.raises(BrokenLineError, match="line 1: at '5:1e-3': n_features was set to 4"):
        read_svmlight(path, n_features=4, zero_based=False)
    with pytest.raises(ValueError, match="zero_based='yes' is not known"):
        read_svmlight(path, zero_based="yes")
