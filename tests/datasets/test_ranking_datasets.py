"""Queries: the reader of files with query ids, and the simulations of the papers."""

import bz2
import gzip
import tracemalloc
from itertools import groupby, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.datasets import load_svmlight_file

from sklearn_predtron import PredtronRanker
from sklearn_predtron.datasets import BrokenLineError, SvmlightReader, make_ranking_queries

PLAIN = {"n_features": 9, "zero_based": False}


def random_rows(rng, n_queries, longest=7):
    """Rows of queries, as lines; an id may return, also right after one other."""
    ids = rng.integers(-3, 4, n_queries)
    ids = ids[np.insert(np.diff(ids) != 0, 0, True)]
    rows = []
    for qid in ids:
        for _ in range(rng.integers(1, longest)):
            indices = np.flatnonzero(rng.random(9) < 0.3) + 1
            features = "".join(f" {i}:{rng.standard_normal():.3f}" for i in indices)
            rows.append((qid, f"{rng.integers(5)} qid:{qid}{features}"))
    return rows


def write(tmp_path, lines, name="data.svm", pack=bytes):
    path = tmp_path / name
    path.write_bytes(pack("".join(line + "\n" for line in lines).encode()))
    return path


def read(path, **parameters):
    """The chunks before the end or the broken line, and the broken line."""
    chunks, error = [], None
    try:
        for chunk in SvmlightReader(path, query_id=True, **parameters):
            chunks.append(chunk)  # noqa: PERF402
    except BrokenLineError as broken:
        error = broken
    return chunks, error


def lengths(qid):
    return [len(list(group)) for _, group in groupby(qid)]


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
@pytest.mark.parametrize("seed", range(10))
def test_chunks_are_whole_queries_of_the_whole_file(tmp_path, seed, suffix, pack):
    rng = np.random.default_rng(seed)
    lines = []
    for _, row in random_rows(rng, 60):
        lines += [["# qid:99", "", " \t"][rng.integers(3)]] * (rng.random() < 0.2) + [row + " # 7 qid:8" * (rng.random() < 0.2)]
    path = write(tmp_path, lines, "data.svm" + suffix, pack)
    X, y, qid = load_svmlight_file(str(path), query_id=True, zero_based=False)
    aim = int(rng.integers(1, 60))
    form = {"zero_based": False, "n_features": X.shape[1]} if seed % 2 else {}
    chunks, error = read(path, chunk_rows=aim, **form)
    assert error is None
    assert (sparse.vstack([chunk[0] for chunk in chunks]) != X).nnz == 0
    assert_array_equal(np.concatenate([chunk[1] for chunk in chunks]), y)
    assert_array_equal(np.concatenate([chunk[2] for chunk in chunks]), qid)
    assert all(chunk[2].dtype == np.int64 and chunk[1].dtype == np.float64 and len(chunk[2]) == len(chunk[1]) for chunk in chunks)
    # No query is cut, and each chunk ends with the query that reaches the aim, or where one of its ids would return.
    assert [n for chunk in chunks for n in lengths(chunk[2])] == lengths(qid)
    for (_, labels, ids), following in pairwise(chunks):
        assert len(labels) >= aim or following[2][0] in ids
        assert aim > len(labels) - lengths(ids)[-1]
        assert len(set(ids.tolist())) == len(lengths(ids))


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


def test_an_id_that_returns_is_a_new_query(tmp_path):
    path = write(tmp_path, ["1 qid:7 1:1", "# between", "", "0 qid:007 2:1", "1 qid:+3 1:1", "0 qid:7 1:1", "2 qid:7 1:1"])
    chunks, _ = read(path, chunk_rows=1, **PLAIN)
    assert [qid.tolist() for _, _, qid in chunks] == [[7, 7], [3], [7, 7]]
    chunks, _ = read(path, **PLAIN)
    assert [qid.tolist() for _, _, qid in chunks] == [[7, 7, 3], [7, 7]]
    assert SvmlightReader(path, query_id=True, chunk_rows=2).scan().n_queries == 3
    assert SvmlightReader(path).scan().n_queries is None


BROKEN = [
    ("1 1:1", None, "at '1:1': expected qid:ID, with an integer of 64 bits, after the label"),
    ("1", None, "at '1': expected qid:ID"),
    ("1 1:1 qid:{}", None, "at '1:1': expected qid:ID"),
    ("1 qid:", None, "at 'qid:': expected qid:ID"),
    ("1 qid:x 1:1", None, "at 'qid:x': expected qid:ID"),
    ("1 qid:1.0 1:1", None, "at 'qid:1.0': expected qid:ID"),
    ("1 qid:9223372036854775808", None, "at 'qid:9223372036854775808': expected qid:ID"),
    ("1 qidx:1", None, "at 'qidx:1': expected qid:ID"),
    ("-1 qid:{} 1:1", True, "at '-1': the relevance is negative"),
    ("-1e-9 qid:{}", True, "at '-1e-9': the relevance is negative"),
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
def test_broken_lines(tmp_path, line, readable, reason, same):
    """A broken line of the same id leaves its query out; one of another id ends the query before it, if the id can be read."""
    rng = np.random.default_rng(len(line))
    for aim in (1, 2, 5, 13, 1000):
        rows = random_rows(rng, 30)
        at = int(rng.integers(1, len(rows)))
        before = rows[at - 1][0]
        lines = ["# head", *(row for _, row in rows)]
        lines.insert(at + 1, line.replace("{}", str(before if same else 8)))
        path = write(tmp_path, lines)
        chunks, error = read(path, chunk_rows=aim, chunk_bytes=3000, classes=range(5), **PLAIN)
        with pytest.raises(BrokenLineError, match=reason):
            raise error
        assert error.line_number == at + 2
        runs = lengths([qid for qid, _ in rows[:at]])
        whole = at if readable and not same else at - runs[-1]
        assert_array_equal(np.concatenate([[], *(chunk[2] for chunk in chunks)]), [qid for qid, _ in rows[:whole]])
        assert [n for chunk in chunks for n in lengths(chunk[2])] == (runs if whole == at else runs[:-1])
        found = SvmlightReader(path, query_id=True, zero_based=False, chunk_rows=aim).scan()
        if "n_features" not in reason and "classes" not in reason and "chunk_bytes" not in reason:
            assert (found.n_rows, found.error.line_number) == (whole, at + 2)
            assert found.n_queries == len(runs) - (whole < at)


def test_the_first_broken_line_is_named(tmp_path):
    """Though the row with no id, further down, ends the block first."""
    path = write(tmp_path, ["1 qid:1 1:1", "1 qid:2 1:1", "1 qid:2 x", "1 qid:2 1:1", "1 1:1"])
    chunks, error = read(path, **PLAIN)
    assert (error.line_number, error.reason) == (3, "at 'x': expected INDEX:VALUE")
    assert [qid.tolist() for _, _, qid in chunks] == [[1]]


@pytest.mark.parametrize("chunk_rows", [1, 3, 1000])
def test_a_query_that_is_too_long(tmp_path, chunk_rows):
    short, long = ["1 qid:1 1:1"] * 3, ["0 qid:2 1:1"] * 10
    path = write(tmp_path, [*short, *["# not counted " * 6] * 20, *long, *short])
    # A row is 12 bytes: ten are 120.
    chunks, error = read(path, chunk_rows=chunk_rows, chunk_bytes=120, **PLAIN)
    assert error is None and sum(len(y) for _, y, _ in chunks) == 16
    chunks, error = read(path, chunk_rows=chunk_rows, chunk_bytes=119, **PLAIN)
    assert (error.line_number, error.reason) == (33, "the query of qid:2, from line 24 on, is longer than chunk_bytes=119")
    assert_array_equal(np.concatenate([qid for _, _, qid in chunks]), [1, 1, 1])


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_byte_order_mark(tmp_path, suffix, pack):
    rows = ["\ufeff2 qid:7 1:0.5", "0 qid:7 2:1", "1 qid:3 1:2"]
    chunks, error = read(write(tmp_path, rows, "data.svm" + suffix, pack), chunk_rows=1)
    assert error is None and [chunk[1].tolist() for chunk in chunks] == [[2, 0], [1]]
    chunks, error = read(write(tmp_path, [*rows[1:], rows[0]], "data.svm" + suffix, pack), chunk_rows=1)
    assert error.line_number == 3 and [chunk[1].tolist() for chunk in chunks] == [[0], [1]]


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
def test_nothing(tmp_path, content):
    path = write(tmp_path, content)
    assert read(path) == ([], None)
    found = SvmlightReader(path, query_id=True).scan()
    assert (found.n_rows, found.n_queries, found.error) == (0, 0, None)


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"query_id": "yes"}, "query_id='yes' is not known; accepted are True and False"),
        ({"query_id": True, "multilabel": True}, "query_id=True is not accepted with multilabel=True"),
    ],
)
def test_parameters_of_the_reader(parameters, message):
    with pytest.raises(ValueError, match=message):
        SvmlightReader("no such file", **parameters)


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


def pairs(X, y, qid):
    """The differences of documents of a query, the more relevant one first."""
    for query in np.unique(qid):
        rows, grades = X[qid == query], y[qid == query]
        above, below = np.nonzero(grades[:, np.newaxis] > grades)
        yield rows[above] - rows[below]


@pytest.mark.parametrize("rows", ["gaussian", "uniform"])
@pytest.mark.parametrize("n_documents", [1, 2, 3, 30])
def test_relevance_by_its_definition(rows, n_documents):
    X, y, qid, coef = make_ranking_queries(40, n_documents, 3, rows=rows, return_coef=True, random_state=n_documents)
    m = n_documents
    # With m = 1 both ends are infinite: there is one relevance.
    zeta = {j: 1 / j for j in range(2, m + 1)} | {1: np.inf, m + 1: -np.inf}
    for x, relevance in zip(X, y, strict=True):
        assert zeta[m - relevance + 1] <= x @ coef <= zeta[m - relevance]
    assert (X.dtype, y.dtype, qid.dtype) == (np.float64, np.int64, np.int64)
    assert_array_equal(qid.reshape(40, m), np.arange(40)[:, np.newaxis] + np.zeros((1, m)))
    assert set(y) <= set(range(m)) and (m == 1 or {0, m - 1} <= set(y))
    assert all((difference @ coef > 0).all() for difference in pairs(X, y, qid))


def test_rows_are_around_means_that_queries_share():
    X, _, _ = make_ranking_queries(4000, 5, 6, random_state=0)
    documents = X.reshape(4000, 5, 6)
    means = documents.mean(axis=0)
    assert_allclose(documents[::2].mean(axis=0), documents[1::2].mean(axis=0), atol=0.15)
    assert np.std(means) > 0.5
    assert_allclose(np.cov((documents - means).reshape(-1, 6).T), np.eye(6), atol=0.06)
    # Rows are independent: documents of a query have nothing in common but their means.
    assert_allclose(np.corrcoef((documents - means)[:, :, 0].T), np.eye(5), atol=0.08)


def test_std_scales_what_surrounds_the_means():
    """The draws are the same, and the default is the unit: the data of the paper's figure need a smaller one."""
    shape = (6, 5, 4)
    usual, unit, narrow = (
        make_ranking_queries(*shape, return_coef=True, random_state=0, **std) for std in ({}, {"std": 1.0}, {"std": 0.1})
    )
    for a, b in zip(usual, unit, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(narrow[3], usual[3])
    wide, near = (X.reshape(shape) for X in (usual[0], narrow[0]))
    assert_allclose(near - near[0], 0.1 * (wide - wide[0]), atol=1e-14)
    means = make_ranking_queries(4000, 5, 4, std=0.1, random_state=0)[0].reshape(4000, 5, 4)
    assert_allclose(means.std(axis=0), 0.1, rtol=0.05)


def test_uniform_rows():
    X, _, _ = make_ranking_queries(500, 5, 4, rows="uniform", random_state=0)
    assert stats.kstest(X.ravel(), "uniform", (-1, 2)).pvalue > 0.001


@pytest.mark.parametrize(("norm", "order"), [("l1", 1), ("l2", 2)])
@pytest.mark.parametrize("n_informative", [None, 1, 4, 12])
def test_coef(norm, order, n_informative):
    coefs = [
        make_ranking_queries(
            1, 2, 12, n_informative=n_informative, norm=scaled, return_coef=True, random_state=np.random.RandomState(3)
        )[3]
        for scaled in (norm, None)
    ]
    assert all(np.count_nonzero(coef) == (n_informative or 12) for coef in coefs)
    assert np.linalg.norm(coefs[0], order) == pytest.approx(1)
    assert np.abs(coefs[1]).max() <= 1
    assert_allclose(coefs[0], coefs[1] / np.linalg.norm(coefs[1], order))


def test_more_ranking_queries_begin_with_the_same():
    for rows in ("gaussian", "uniform"):
        few, many = (make_ranking_queries(n, 4, 5, rows=rows, return_coef=True, random_state=7) for n in (3, 50))
        for a, b in zip(few[:3], many, strict=False):
            assert_array_equal(a, b[:12])
        assert_array_equal(few[3], many[3])


def test_seeds():
    first, again, other = (make_ranking_queries(5, random_state=seed) for seed in (0, 0, 1))
    for a, b in zip(first, again, strict=True):
        assert_array_equal(a, b)
    assert (first[0] != other[0]).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_queries": 0}, "n_queries=0 must be an integer of at least 1"),
        ({"n_documents": 1.5}, "n_documents=1.5 must be an integer"),
        ({"n_features": None}, "n_features=None must be an integer"),
        ({"n_informative": 21}, "n_informative=21 must be None or an integer from 1 to n_features=20"),
        ({"n_informative": 0}, "n_informative=0 must be None or"),
        ({"rows": "cauchy"}, "rows='cauchy' is not known; accepted are 'gaussian' and 'uniform'"),
        ({"std": 0}, "std=0 must be a finite number above 0"),
        ({"std": np.inf}, "std=inf must be a finite number above 0"),
        ({"std": "wide"}, "std='wide' must be a finite number above 0"),
        ({"std": True}, "std=True must be a finite number above 0"),
        ({"std": 2.0, "rows": "uniform"}, "std=2.0 is not accepted with rows='uniform'"),
        ({"norm": 2}, "norm=2 is not known; accepted are 'l1', 'l2' and None"),
    ],
)
def test_parameters_of_the_simulation(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_ranking_queries(**parameters)


def test_an_id_that_returns_begins_a_chunk(tmp_path):
    """Two queries of one id in one chunk would be gathered to one by `partial_fit`."""
    path = tmp_path / "queries.svm"
    path.write_text("2 qid:7 1:0.5\n0 qid:7 2:1\n1 qid:3 1:2\n0 qid:7 1:1\n1 qid:7 2:1\n")
    for chunk_rows in (1, 3, 100):
        chunks = [qid.tolist() for _, _, qid in SvmlightReader(path, query_id=True, chunk_rows=chunk_rows)]
        model = PredtronRanker()
        for X, y, qid in SvmlightReader(path, query_id=True, chunk_rows=chunk_rows):
            model.partial_fit(X, y, qid=qid)
        assert model.t_ == 3
        assert [qid for chunk in chunks for qid in chunk] == [7, 7, 3, 7, 7]
    assert chunks == [[7, 7, 3], [7, 7]]
