"""The reader of svmlight files, beside scikit-learn's on the whole file."""

import bz2
import gzip
import os
import pickle
import threading
import time
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from sklearn_predtron.datasets import BrokenLineError, SvmlightReader

BOM = b"\xef\xbb\xbf"
START = b"1 1:1\n# a comment\n\n2 2:1 3:0.5\n"


def random_data(rng, n=103, p=31):
    X = sparse.csr_matrix(rng.uniform(size=(n, p)) * (rng.uniform(size=(n, p)) < 0.2))
    return X, rng.integers(-1, 4, n)


def read(path, **parameters):
    """All rows before the end or the broken line, the chunks' first lines, and the broken line."""
    X, y, lines, error = [], [], [], None
    try:
        for rows, labels, line in SvmlightReader(path, **parameters):
            X.append(rows)
            y.append(labels)
            lines.append(line)
    except BrokenLineError as broken:
        error = broken
    return (sparse.vstack(X) if X else None), np.concatenate([*y, []]), lines, error


def write(tmp_path, content, name="data.svm"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("declared", ["auto", "told"])
@pytest.mark.parametrize("chunk", [{"chunk_rows": 1}, {"chunk_rows": 10}, {"chunk_bytes": 700}, {}])
def test_chunks_are_the_whole_file(tmp_path, zero_based, declared, chunk):
    X, y = random_data(np.random.default_rng(0))
    path = tmp_path / "data.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, query_id=np.arange(len(y)) // 5, comment="two\nlines")
    told = "auto" if declared == "auto" else zero_based
    rows, labels, lines, error = read(path, zero_based=told, **chunk)
    expected, expected_labels = load_svmlight_file(str(path), zero_based=told)
    assert error is None
    assert rows.shape == expected.shape and (rows != expected).nnz == 0
    assert rows.indices.dtype == np.int32
    assert_array_equal(labels, expected_labels)
    assert lines[0] == 1 or chunk == {"chunk_rows": 1}
    assert np.all(np.diff(lines) > 0)


@pytest.mark.parametrize("chunk_rows", [1, 10, 1000])
@pytest.mark.parametrize("declared", [True, False])
def test_sets_of_labels_are_those_of_the_whole_file(tmp_path, declared, chunk_rows):
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((103, 31)), (rng.random((103, 7)) < 0.3).astype(int)
    Y[0] = 0
    path = tmp_path / "data.svm"
    dump_svmlight_file(X, Y, str(path), multilabel=True, zero_based=False, query_id=np.arange(103))
    form = {"n_features": 31, "zero_based": False, "classes": range(6, -1, -1)} if declared else {}
    chunks = list(SvmlightReader(path, multilabel=True, chunk_rows=chunk_rows, **form))
    rows, labels = (sparse.vstack([chunk[i] for chunk in chunks]) for i in (0, 1))
    whole, expected = load_svmlight_file(str(path), multilabel=True)
    assert_array_equal(labels.toarray(), MultiLabelBinarizer(classes=range(7)).fit_transform(expected))
    assert_array_equal(labels.toarray(), Y)
    assert (rows != whole).nnz == 0
    assert all(sparse.issparse(y) and y.format == "csr" and y.dtype == np.int64 for _, y, _ in chunks)


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed(tmp_path, suffix, compress):
    X, y = random_data(np.random.default_rng(1))
    plain = tmp_path / "data.svm"
    dump_svmlight_file(X, y, str(plain))
    packed = write(tmp_path, compress(plain.read_bytes()), "data.svm" + suffix)
    for whole, part in zip(read(plain)[:2], read(packed, chunk_rows=10)[:2], strict=True):
        assert_array_equal(
            whole.toarray() if sparse.issparse(whole) else whole, part.toarray() if sparse.issparse(part) else part
        )
    cut = write(tmp_path, packed.read_bytes()[:-20], "cut.svm" + suffix)
    _, labels, _, error = read(cut, n_features=31, zero_based=True, chunk_rows=10)
    assert error.line_number == len(labels) + 1 and "end-of-stream" in error.reason
    assert_array_equal(labels, y[: len(labels)])


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_streams_one_after_the_other(tmp_path, suffix, compress):
    """As parallel packers write them; what follows a stream and is none is no row to drop in silence."""
    first, second = (b"".join(b"%d %d:1\n" % (j + i % 2, i + 1) for i in range(3000)) for j in (0, 2))
    known = {"n_features": 3000, "zero_based": False, "chunk_rows": 10}
    _, labels, _, error = read(write(tmp_path, compress(first) + compress(second), "data.svm" + suffix), **known)
    assert labels.tolist() == [0, 1] * 1500 + [2, 3] * 1500 and error is None
    broken = bytes([compress(second)[0] ^ 1]) + compress(second)[1:]
    for rest in (b"x", b"B", b"BZh9", b"1 1:1\n", broken, compress(second)[:-5]):
        _, labels, _, error = read(write(tmp_path, compress(first) + rest, "data.svm" + suffix), **known)
        assert error is not None and len(labels) > 2800 and labels[:2800].tolist() == [0, 1] * 1400


@pytest.mark.parametrize(("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_byte_order_mark(tmp_path, suffix, compress):
    for first, expected in (("\ufeff", None), ("", 3)):  # also before the rows of a query
        rows = "\n".join([f"{first}2 qid:7 1:0.5", "0 qid:7 2:1", f"{'' if first else BOM.decode()}1 qid:3 1:2"])
        reader = {"query_id": True, "chunk_rows": 1}
        _, labels, _, error = read(write(tmp_path, compress(rows.encode()), "queries.svm" + suffix), **reader)
        assert labels.tolist() == ([2, 0, 1] if first else [2, 0]) and (error and error.line_number) == expected
    path = write(tmp_path, compress(BOM + START + b"3 1:2\n"), "data.svm" + suffix)
    _, labels, lines, error = read(path, chunk_rows=1)
    assert (labels.tolist(), lines, error) == ([1, 2, 3], [1, 4, 5], None)
    _, labels, _, error = read(write(tmp_path, compress(BOM + START + BOM + b"3 1:2\n"), "data.svm" + suffix))
    assert labels.tolist() == [1, 2] and error.line_number == 5 and error.reason.startswith(r"at '\ufeff3'")
    _, labels, _, error = read(write(tmp_path, compress(BOM), "data.svm" + suffix))
    assert len(labels) == 0 and error is None
    # The mark is no part of the line, whose length may be that of a chunk.
    for size, n in [(5, 1), (4, 0)]:
        _, labels, _, error = read(write(tmp_path, compress(BOM + b"1 1:1"), "data.svm" + suffix), chunk_bytes=size)
        assert len(labels) == n and (error is None) == bool(n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype(tmp_path, dtype):
    rows, *_ = read(write(tmp_path, START), dtype=dtype)
    assert rows.dtype == dtype


@pytest.mark.parametrize(
    ("ending", "labels"),
    [
        (b"", [1, 2]),
        (b"# the end", [1, 2]),
        (b"1 1:2", [1, 2, 1]),
        (b"1 1:2 # caf\xe9 \x00 5:x\r\n\r\n2 1:4\r\n", [1, 2, 1, 2]),
        (b"2 qid:7 1:2\n1 qid:8\n", [1, 2, 2, 1]),
        (b"+1 1:2\n1e0\t2:+3e-1   3:0\n", [1, 2, 1, 1]),
    ],
    ids=["nothing", "comment", "no newline", "crlf", "qid", "numbers"],
)
def test_odd_lines(tmp_path, ending, labels):
    path = write(tmp_path, START + ending)
    for chunk_rows in (1, 2, 100):
        rows, found, _, error = read(path, n_features=3, zero_based=False, classes=[2, 1], chunk_rows=chunk_rows)
        assert error is None
        assert_array_equal(found, labels)
        assert_array_equal(rows.toarray(), load_svmlight_file(str(path), n_features=3, zero_based=False)[0].toarray())


BROKEN = [
    (b"a 1:2", "at 'a': could not convert string to float"),
    (b"1,2 1:2", "at '1,2': could not convert string to float"),
    (b"1:2 2:3", "at '1:2': could not convert string to float"),
    (b"\xef\xbb\xbf1 1:1", "could not convert string to float"),
    (b"nan 1:2", "at 'nan': the label is not finite"),
    (b"9 1:2", r"at '9': the label is not one of the classes \[1, 2\]"),
    (b"1 1:2 3", "at '3': expected INDEX:VALUE"),
    (b"1 1:2 3:", "at '3:': could not convert"),
    (b"1 1:2 x:4", "at 'x:4': invalid literal for int"),
    (b"1 1:nan 2:3", "at '1:nan': the value is not a finite float64"),
    (b"1 1:2 2:-inf", "at '2:-inf': the value is not a finite"),
    (b"1 1:1e999", "at '1:1e999': the value is not a finite"),
    (b"1 2:1 1:1 3:1", "at '1:1': Feature indices .* should be sorted and unique"),
    (b"1 2:1 2:1", "at '2:1': Feature indices .* should be sorted and unique"),
    (b"1 0:1", "at '0:1': the indices count from 1"),
    (b"1 -1:1", "at '-1:1': the indices count from 1"),
    (b"1 2:1 4:1 # far", "at '4:1': n_features was set to 3, but input file contains 4"),
    (b"1 3000000000:1", "at '3000000000:1': the index is beyond 2147483647"),
    (b"1 99999999999999999999:1", "the index is beyond 2147483647"),
    (b"1 1:1 qid:3", "at 'qid:3': invalid literal for int"),
    (b"1 1:1\r2 2:1", "at '2': expected INDEX:VALUE"),
    (b"1 " + b"x" * 500, "the line is longer than chunk_bytes=300"),
    (b"\x00\x01\x02", "could not convert string to float"),
]
BROKEN_SETS = [
    (b"1,a 1:2", "at '1,a': could not convert string to float"),
    (b"1,,2 1:2", "at '1,,2': could not convert string to float"),
    (b"1, 2 1:2", "at '1,': could not convert string to float"),
    (b"1,nan 1:2", "at '1,nan': the label is not finite"),
    (b"1,9 1:2", r"at '1,9': the label is not one of the classes \[1, 2\]"),
    (b"9 1:2", r"at '9': the label is not one of the classes \[1, 2\]"),
    (b"1 2", "at '2': expected INDEX:VALUE"),
    (b"1:2 oops", "at 'oops': expected INDEX:VALUE"),
    (b"1:2 4:1", "at '4:1': n_features was set to 3, but input file contains 4"),
    (b"0:1 1:2", "at '0:1': the indices count from 1"),
]


@pytest.mark.parametrize(
    ("sets", "line", "reason"),
    [(sets, *case) for sets, cases in ((False, BROKEN), (True, BROKEN_SETS)) for case in cases],
    ids=lambda value: value.decode("latin-1")[:20] if isinstance(value, bytes) else "",
)
@pytest.mark.always(each="sets")
@pytest.mark.parametrize("chunk_rows", [1, 3, 5, 100])
def test_broken_lines(tmp_path, sets, line, reason, chunk_rows):
    start = b"1,2 1:1\n# a comment\n 3:1\n2,2 1:1\n" if sets else START + b"2 1:4\n"
    path, found, number = write(tmp_path, start + line + b"\n1 1:1\n" * 3), [], start.count(b"\n") + 1
    form = {"n_features": 3, "zero_based": False, "classes": [2, 1], "multilabel": sets}
    with pytest.raises(BrokenLineError, match=reason) as error:
        for _, y, _ in SvmlightReader(path, **form, chunk_rows=chunk_rows, chunk_bytes=300):
            found += y.toarray().tolist() if sets else y.tolist()
    assert found == ([[1, 1], [0, 0], [0, 1]] if sets else [1, 2, 2])
    assert (error.value.path, error.value.line_number) == (str(path), number)
    assert str(error.value).startswith(f"{path}, line {number}: ")


def test_scan_finds_the_union_of_sets(tmp_path):
    reader = SvmlightReader(write(tmp_path, b"5,1 1:1\n 2:1\n3\nx,4 9:1\n"), multilabel=True, chunk_rows=2)
    found = reader.scan()
    assert (found.n_rows, found.n_features, found.zero_based, found.error.line_number) == (3, 2, False, 4)
    assert_array_equal(found.classes, [1, 3, 5])
    _, y, _ = next(iter(reader))
    assert_array_equal(y.toarray(), [[1, 0, 1], [0, 0, 0]])


def test_scan_stops_at_the_broken_line(tmp_path):
    found = SvmlightReader(write(tmp_path, START + b"x\n7 9:1\n")).scan()
    assert (found.n_rows, found.n_features, found.zero_based, found.error.line_number) == (2, 3, False, 5)
    assert_array_equal(found.classes, [1, 2])


@pytest.mark.parametrize(
    ("content", "zero_based", "expected"),
    [
        (b"", "auto", (0, 1, False)),
        (b"1\n-1\n", "auto", (2, 1, False)),
        (b"1 4:1\n2 2:1\n", "auto", (2, 4, False)),
        (b"1 4:1\n2 0:1\n", "auto", (2, 5, True)),
        (b"1 4:1\n2 2:1\n", True, (2, 5, True)),
        (b"1 4:1\n2 2:1\n", False, (2, 4, False)),
    ],
)
def test_scan(tmp_path, content, zero_based, expected):
    calls = []
    reader = SvmlightReader(write(tmp_path, content), zero_based=zero_based, chunk_rows=1)
    found = reader.scan(callback=lambda: calls.append(reader.fraction_read))
    assert (found.n_rows, found.n_features, found.zero_based) == expected
    assert found.error is None
    assert len(calls) == expected[0] and all(0 < fraction <= 1 for fraction in calls)


def test_too_many_labels(tmp_path):
    path = write(tmp_path, b"".join(b"%d 1:1\n" % i for i in range(50)))
    with pytest.raises(ValueError, match="more than max_classes=20 distinct labels by the chunk from line 21 on"):
        SvmlightReader(path, chunk_rows=10).scan(max_classes=20)
    assert len(SvmlightReader(path).scan().classes) == 50


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        SvmlightReader(tmp_path / "none.svm").scan()


def test_error_pickles():
    error = pickle.loads(pickle.dumps(BrokenLineError("a", 3, "b")))
    assert (error.path, error.line_number, error.reason, str(error)) == ("a", 3, "b", "a, line 3: b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_in_one_pass(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(START,))
    writer.start()
    reader = SvmlightReader(path, n_features=3, zero_based=False)
    assert [len(y) for _, y, _ in reader] == [2]
    assert reader.fraction_read is None
    writer.join()


@pytest.mark.parametrize(
    ("parameters", "missing"),
    [
        ({}, "n_features, zero_based"),
        ({"zero_based": True}, "n_features"),
        ({"n_features": 3}, "zero_based"),
        ({"multilabel": True, "n_features": 3, "zero_based": False}, "classes"),
    ],
)
def test_pipe_in_two_passes(parameters, missing):
    """Is refused before anything is read of it."""
    end, writing = os.pipe()
    os.write(writing, START)
    os.close(writing)
    with pytest.raises(ValueError, match=f"'/dev/fd/{end}' can be read only once, so {missing} must be given"):
        next(iter(SvmlightReader(f"/dev/fd/{end}", **parameters)))
    assert os.read(end, 100) == START
    os.close(end)


LONG = b"1 " + b" ".join(b"%d:0.25000000000000000000" % i for i in range(1, 501)) + b"\n"
MANY_LABELS = b",".join(b"%d" % i for i in range(100)) + b" 1:1\n"


@pytest.mark.parametrize(
    ("line", "size", "how", "most"),
    [
        (LONG, 2**20, {"n_features": 1000}, 5 * 2**20),
        (MANY_LABELS, 2**15, {"n_features": 1, "classes": range(100), "multilabel": True}, 2 * 2**20),
        # A chunk is its text, or while it is parsed its text and its rows; the buffer it is cut from is two.
        (LONG, 2**18, {"n_features": 1000, "n_jobs": 1}, 3 * 1.6 * 2**18 + 2 * 2**18),
        (LONG, 2**18, {"n_features": 1000, "n_jobs": 3}, 5 * 1.6 * 2**18 + 2 * 2**18),
    ],
    ids=["rows", "sets", "one thread", "threads"],
)
def test_memory_is_bounded_by_the_chunk(tmp_path, line, size, how, most):
    """Also where threads parse ahead of a caller who takes his time."""
    path = write(tmp_path, line * (40 * size // len(line)))
    reader = SvmlightReader(path, zero_based=False, chunk_bytes=size, **how)
    tracemalloc.start()
    found = 0
    for _, y, _ in reader:
        found += y.nnz if "multilabel" in how else len(y)
        if "n_jobs" in how:
            time.sleep(0.002)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == path.stat().st_size // len(line) * (100 if "multilabel" in how else 1)
    assert peak < most
