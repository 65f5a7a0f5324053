"""The reader of svmlight files with ids: whole queries, or sequences with labels of any sign, in every chunk."""

import bz2
import gzip
import tracemalloc
from itertools import groupby, pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from sklearn_predtron import PredtronRanker, PredtronSequenceTagger
from sklearn_predtron.datasets import BrokenLineError, SvmlightReader

PLAIN = {"n_features": 9, "zero_based": False}
IDS = pytest.mark.parametrize("ids", ["query_id", "sequence_id"])


def random_rows(rng, n_queries, longest=7, least=0):
    """Rows of queries, as lines; an id may return, also right after one other."""
    ids = rng.integers(-3, 4, n_queries)
    ids = ids[np.insert(np.diff(ids) != 0, 0, True)]
    rows = []
    for qid in ids:
        for _ in range(rng.integers(1, longest)):
            indices = np.flatnonzero(rng.random(9) < 0.3) + 1
            features = "".join(f" {i}:{rng.standard_normal():.3f}" for i in indices)
            rows.append((qid, f"{rng.integers(least, 5)} qid:{qid}{features}"))
    return rows


def write(tmp_path, lines, name="data.svm", pack=bytes):
    path = tmp_path / name
    path.write_bytes(pack("".join(line + "\n" for line in lines).encode()))
    return path


def read(path, ids="query_id", **parameters):
    """The chunks before the end or the broken line, and the broken line."""
    chunks, error = [], None
    try:
        for chunk in SvmlightReader(path, **{ids: True}, **parameters):
            chunks.append(chunk)  # noqa: PERF402
    except BrokenLineError as broken:
        error = broken
    return chunks, error


def lengths(qid):
    return [len(list(group)) for _, group in groupby(qid)]


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
@pytest.mark.parametrize("seed", range(10))
@IDS
def test_chunks_are_whole_rounds_of_the_whole_file(tmp_path, ids, seed, suffix, pack):
    rng = np.random.default_rng(seed)
    lines = []
    for _, row in random_rows(rng, 60, least=0 if ids == "query_id" else -2):
        lines += [["# qid:99", "", " \t"][rng.integers(3)]] * (rng.random() < 0.2) + [row + " # 7 qid:8" * (rng.random() < 0.2)]
    path = write(tmp_path, lines, "data.svm" + suffix, pack)
    X, y, qid = load_svmlight_file(str(path), query_id=True, zero_based=False)
    aim = int(rng.integers(1, 60))
    form = {"zero_based": False, "n_features": X.shape[1]} if seed % 2 else {}
    chunks, error = read(path, ids, chunk_rows=aim, **form)
    assert error is None
    assert (sparse.vstack([chunk[0] for chunk in chunks]) != X).nnz == 0
    assert_array_equal(np.concatenate([chunk[1] for chunk in chunks]), y)
    assert_array_equal(np.concatenate([chunk[2] for chunk in chunks]), qid)
    assert all(chunk[2].dtype == np.int64 and chunk[1].dtype == np.float64 and len(chunk[2]) == len(chunk[1]) for chunk in chunks)
    # No query is cut, and each chunk ends with the query that reaches the aim, or where one of its ids would return.
    assert [n for chunk in chunks for n in lengths(chunk[2])] == lengths(qid)
    for (_, labels, found), following in pairwise(chunks):
        assert len(labels) >= aim or following[2][0] in found
        assert aim > len(labels) - lengths(found)[-1]
        assert len(set(found.tolist())) == len(lengths(found))


def test_bytes_end_a_chunk_too(tmp_path):
    rows = random_rows(np.random.default_rng(0), 80)
    path = write(tmp_path, [row for _, row in rows])
    chunks, error = read(path, chunk_bytes=600, **PLAIN)
    assert error is None and len(chunks) > 5
    sizes = np.array([len(row) + 1 for _, row in rows])
    ends = np.cumsum([len(y) for _, y, _ in chunks])
    for (_, _, ids), start, end, following in zip(chunks[:-1], [0, *ends], ends[:-1], chunks[1:], strict=False):
        assert sizes[start:end].sum() >= 600 or following[2][0] in ids
        assert sizes[start:end].sum() < 1200
        assert sizes[start : end - lengths(ids)[-1]].sum() < 600


@IDS
def test_an_id_that_returns_is_a_new_round(tmp_path, ids):
    """Which begins a chunk: two of one id in one chunk would be gathered to one by `partial_fit`."""
    path = write(tmp_path, ["1 qid:7 1:1", "# between", "", "0 qid:007 2:1", "1 qid:+3 1:1", "0 qid:7 1:1", "1 qid:7 2:1"])
    kind, name = (PredtronRanker, "qid") if ids == "query_id" else (PredtronSequenceTagger, "sid")
    for aim, expected in {1: [[7, 7], [3], [7, 7]], 3: [[7, 7, 3], [7, 7]], 100: [[7, 7, 3], [7, 7]]}.items():
        (chunks, _), model = read(path, ids, chunk_rows=aim, **PLAIN), kind()
        assert [found.tolist() for _, _, found in chunks] == expected
        for X, y, found in chunks:
            model.partial_fit(X, y, **{name: found}, **({} if kind is PredtronRanker else {"classes": [0, 1]}))
        assert model.t_ == 3
    found, other = SvmlightReader(path, **{ids: True}, chunk_rows=2).scan(), SvmlightReader(path).scan()
    assert (found.n_queries, found.n_sequences) == ((3, None) if ids == "query_id" else (None, 3))
    assert other.n_queries is None and other.n_sequences is None


BROKEN = [
    ("1 1:1", None, "at '1:1': expected qid:ID, with an integer of 64 bits, after the label"),
    ("1", None, "at '1': expected qid:ID"),
    ("1 1:1 qid:{}", None, "at '1:1': expected qid:ID"),
    ("1 qid:", None, "at 'qid:': expected qid:ID"),
    ("1 qid:x 1:1", None, "at 'qid:x': expected qid:ID"),
    ("1 qid:1.0 1:1", None, "at 'qid:1.0': expected qid:ID"),
    ("1 qid:9223372036854775808", None, "at 'qid:9223372036854775808': expected qid:ID"),
    ("1 qidx:1", None, "at 'qidx:1': expected qid:ID"),
    ("-1 qid:{} 1:1", True, "at '-1': (the relevance is negative|the label is not one of the classes)"),
    ("-1e-9 qid:{}", True, "at '-1e-9': (the relevance is negative|the label is not one of the classes)"),
    ("nan qid:{} 1:1", True, "at 'nan': the label is not finite"),
    ("inf qid:{} 1:1", True, "at 'inf': the label is not finite"),
    ("1,2 qid:{} 1:1", True, "at '1,2': could not convert string to float"),
    ("1 qid:{} 1:nan", True, "at '1:nan': the value is not a finite"),
    ("1 qid:{} 2:1 1:1", True, "at '1:1': Feature indices .* should be sorted and unique"),
    ("1 qid:{} 10:1", True, "at '10:1': n_features was set to 9"),
    ("1 qid:{} qid:4", True, "at 'qid:4': invalid literal for int"),
    ("9 qid:{} 1:1", True, r"at '9': the label is not one of the classes \[0, 1, 2, 3, 4\]"),
    ("1 qid:{} " + "1:1 " * 1000, None, "the line is longer than chunk_bytes=3000"),
]


@pytest.mark.parametrize(("line", "readable", "reason"), BROKEN, ids=[line[:15] for line, _, _ in BROKEN])
@pytest.mark.parametrize("same", [True, False])
@IDS
def test_broken_lines(tmp_path, ids, line, readable, reason, same):
    """A broken line of the same id leaves its query out; one of another id ends the query before it, if the id can be read."""
    rng = np.random.default_rng(len(line))
    for aim in (1, 2, 5, 13, 1000):
        rows = random_rows(rng, 30)
        at = int(rng.integers(1, len(rows)))
        before = rows[at - 1][0]
        lines = ["# head", *(row for _, row in rows)]
        lines.insert(at + 1, line.replace("{}", str(before if same else 8)))
        path = write(tmp_path, lines)
        chunks, error = read(path, ids, chunk_rows=aim, chunk_bytes=3000, classes=range(5), **PLAIN)
        with pytest.raises(BrokenLineError, match=reason):
            raise error
        assert ("relevance" in error.reason) == ("relevance" in reason and ids == "query_id")
        assert error.line_number == at + 2
        runs = lengths([qid for qid, _ in rows[:at]])
        whole = at if readable and not same else at - runs[-1]
        assert_array_equal(np.concatenate([[], *(chunk[2] for chunk in chunks)]), [qid for qid, _ in rows[:whole]])
        assert [n for chunk in chunks for n in lengths(chunk[2])] == (runs if whole == at else runs[:-1])
        found = SvmlightReader(path, **{ids: True}, zero_based=False, chunk_rows=aim).scan()
        if "n_features" not in reason and "classes" not in error.reason and "chunk_bytes" not in reason:
            assert (found.n_rows, found.error.line_number) == (whole, at + 2)
            assert (found.n_queries or found.n_sequences or 0) == len(runs) - (whole < at)


def test_the_first_broken_line_is_named(tmp_path):
    """Though the row with no id, further down, ends the block first."""
    path = write(tmp_path, ["1 qid:1 1:1", "1 qid:2 1:1", "1 qid:2 x", "1 qid:2 1:1", "1 1:1"])
    chunks, error = read(path, **PLAIN)
    assert (error.line_number, error.reason) == (3, "at 'x': expected INDEX:VALUE")
    assert [qid.tolist() for _, _, qid in chunks] == [[1]]


@pytest.mark.parametrize("chunk_rows", [1, 3, 1000])
@IDS
def test_a_round_that_is_too_long(tmp_path, ids, chunk_rows):
    short, long = ["1 qid:1 1:1"] * 3, ["0 qid:2 1:1"] * 10
    path = write(tmp_path, [*short, *["# not counted " * 6] * 20, *long, *short])
    # A row is 12 bytes: ten are 120.
    chunks, error = read(path, ids, chunk_rows=chunk_rows, chunk_bytes=120, **PLAIN)
    assert error is None and sum(len(y) for _, y, _ in chunks) == 16
    chunks, error = read(path, ids, chunk_rows=chunk_rows, chunk_bytes=119, **PLAIN)
    name = ids.removesuffix("_id")
    assert (error.line_number, error.reason) == (33, f"the {name} of qid:2, from line 24 on, is longer than chunk_bytes=119")
    assert_array_equal(np.concatenate([qid for _, _, qid in chunks]), [1, 1, 1])


def test_truncated_gzip(tmp_path):
    rows = random_rows(np.random.default_rng(5), 2000)
    path = write(tmp_path, [row for _, row in rows], "data.svm.gz", lambda content: gzip.compress(content)[:-2000])
    chunks, error = read(path, chunk_rows=10, **PLAIN)
    assert "end-of-stream" in error.reason
    read_rows = sum(len(y) for _, y, _ in chunks)
    broken = error.line_number - 1
    assert broken - 7 <= read_rows < broken < len(rows)
    assert rows[read_rows - 1][0] != rows[read_rows][0]


@pytest.mark.parametrize("content", [[], ["# nothing", ""]])
@IDS
def test_nothing(tmp_path, ids, content):
    path = write(tmp_path, content)
    assert read(path, ids) == ([], None)
    found = SvmlightReader(path, **{ids: True}).scan()
    assert (found.n_rows, found.n_queries or found.n_sequences or 0, found.error) == (0, 0, None)


def test_scan_of_queries(tmp_path):
    rows = random_rows(np.random.default_rng(1), 50)
    path = write(tmp_path, [row for _, row in rows])
    reader, calls = SvmlightReader(path, query_id=True, chunk_rows=10), []
    found = reader.scan(callback=lambda: calls.append(reader.fraction_read))
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    assert (found.n_rows, found.n_features, found.n_queries, found.zero_based) == (*X.shape, len(lengths(qid)), False)
    assert_array_equal(found.classes, np.unique(y))
    assert len(calls) == sum(1 for _ in reader) and calls[-1] == 1
    with pytest.raises(ValueError, match=r"more than max_classes=2 .* labels must be grades of relevance"):
        reader.scan(max_classes=2)


@pytest.mark.parametrize("one", [True, False], ids=["one query", "many queries"])
def test_memory_is_bounded(tmp_path, one):
    size = 2**14
    rows = (f"1 qid:{1 if one else i // 20} " + " ".join(f"{j}:0.25" for j in range(1, 10)) for i in range(10_000))
    path = write(tmp_path, rows)
    reader = SvmlightReader(path, query_id=True, chunk_bytes=size, **PLAIN)
    tracemalloc.start()
    n = 0
    try:
        for _, y, _ in reader:
            n += len(y)
    except BrokenLineError as error:
        assert one and error.line_number == size // (len("1 qid:1") + 9 * 7 + 1) + 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n == (0 if one else 10_000)
    assert peak < 16 * size < path.stat().st_size
