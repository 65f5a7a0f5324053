"""Parquet and Arrow files in chunks: the rows that were written, in order; bad input is refused by name."""

import pickle
import sys
import threading
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.datasets import ParquetReader
from tests.cases import weights_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LISTS = {"indices": "i", "values": "v"}


def write(path, columns, **options):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    if str(path).endswith(".arrow"):
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, **options)
    else:
        pq.write_table(table, path, **options)
    return path


def draw(n=500, width=40, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, width, 0.2, format="csr", random_state=rng)
    return X, rng.integers(3, size=n)


def lists(X, y, index=None, value=None, kind=pa.list_):
    index, value = index or pa.int32(), value or pa.float64()
    rows = [X.indices[a:b] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    values = [X.data[a:b] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    return {"i": pa.array(rows, kind(index)), "v": pa.array(values, kind(value)), "y": y}


def read(*args, **parameters):
    X, y, last = zip(*ParquetReader(*args, **parameters), strict=True)
    X = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    return X, np.concatenate(y), last


TABLE = {
    "a": [0.5, None, float("nan"), 2.0, -1.0, 0.0],
    "b": ["x", None, "y", "x", "x", "z"],
    "c": [True, False, None, True, True, False],
    "d": pa.array(["u", "v", "u", None, "v", "v"]).dictionary_encode(),
    "y": [0, 1, 0, 1, 1, 0],
    "q": [3, 3, 3, 5, 5, 6],
}


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
@pytest.mark.parametrize("chunk_rows", [1, 4, 100])
@pytest.mark.parametrize("qid", [None, "q"])
def test_columns_as_they_are(tmp_path, name, chunk_rows, qid):
    path = write(tmp_path / name, TABLE)
    features = [*"abcd"] if qid is None else None
    chunks = list(ParquetReader([path, path], label="y", qid=qid, features=features, dtype=None, chunk_rows=chunk_rows))
    whole = pa.concat_tables([pa.table(TABLE)] * 2).to_pandas()
    found = pa.concat_tables([X.unify_dictionaries() for X, _, _ in chunks], promote_options="default").to_pandas()
    pd.testing.assert_frame_equal(found.astype({"d": object}), whole[[*"abcd"]].astype({"d": object}))
    assert_array_equal(np.concatenate([y for _, y, _ in chunks]), whole["y"])
    if qid is not None:
        assert_array_equal(np.concatenate([ids for _, _, ids in chunks]), whole["q"])
        assert [ids.tolist() for _, _, ids in chunks if len(set(ids)) != len(np.flatnonzero(np.diff(ids))) + 1] == []


def test_tables_are_learned_as_data_frames(tmp_path):
    rng, n = np.random.default_rng(0), 1300
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["x", "y"], n), "c": rng.integers(5, size=n)})
    frame["y"] = ((np.abs(frame.a) > 0.6) ^ (frame.b == "x")).astype(int)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "b"] = None
    frame.to_parquet(tmp_path / "rows.parquet")
    model = PredtronBinaryClassifier(features="piecewise")
    for X, y, _ in ParquetReader(tmp_path / "rows.parquet", label="y", dtype=None, chunk_rows=333):
        model.partial_fit(X, y, classes=[0, 1])
    given = PredtronBinaryClassifier(features="piecewise").partial_fit(frame[[*"abc"]], frame.y, classes=[0, 1])
    assert_array_equal(weights_of(model), weights_of(given))
    assert model.score(frame[[*"abc"]], frame.y) > 0.85


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
@pytest.mark.parametrize("chunk_rows", [1, 7, 100, 10_000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_of_numbers(tmp_path, name, chunk_rows, dtype):
    a, b, c = np.arange(300) / 7, np.arange(300), np.arange(300) % 2 == 0
    y = np.arange(300) % 3
    path = write(tmp_path / name, {"a": a, "y": y, "b": b, "c": c}, **({} if name == "rows.arrow" else {"row_group_size": 64}))
    X, found, firsts = read(path, label="y", chunk_rows=chunk_rows, dtype=dtype)
    assert X.dtype == dtype and found.dtype == y.dtype
    assert_array_equal(X, np.column_stack([a, b, c]).astype(dtype))
    assert_array_equal(found, y)
    sizes = [len(y) for _, y, _ in ParquetReader(path, label="y", chunk_rows=chunk_rows)]
    assert max(sizes) <= chunk_rows
    assert_array_equal(firsts, 1 + np.cumsum([0, *sizes[:-1]]))
    X, _, _ = read(path, label="y", features=["c", "a"], chunk_rows=chunk_rows)
    assert_array_equal(X, np.column_stack([c, a]))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
@pytest.mark.parametrize("kind", [pa.list_, pa.large_list])
@pytest.mark.parametrize("index", [pa.int32(), pa.int64(), pa.uint16()])
@pytest.mark.parametrize("value", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("chunk_rows", [7, 10_000])
def test_columns_of_lists(tmp_path, name, kind, index, value, chunk_rows):
    X, y = draw()
    X.data = X.data.astype(value.to_pandas_dtype()).astype(float)
    path = write(tmp_path / name, lists(X, y, index, value, kind))
    reader = ParquetReader(path, label="y", **LISTS)
    assert (reader.scan().n_rows, reader.scan().n_features) == (500, 40)
    for n_features in (None, 40, 99):
        found, labels, _ = read(path, label="y", **LISTS, chunk_rows=chunk_rows, n_features=n_features)
        assert found.shape == (500, n_features or 40) and found.dtype == np.float64 and found.indices.dtype == np.int32
        for part in ("data", "indices", "indptr"):
            assert_array_equal(getattr(found, part), getattr(X, part))
        assert_array_equal(labels, y)


def test_lists_are_not_copied(tmp_path):
    X, y = draw(2000, 1000)
    path = write(tmp_path / "rows.arrow", lists(X, y))
    read(path, label="y", **LISTS, n_features=1000)
    reader = ParquetReader(path, label="y", **LISTS, n_features=1000)
    tracemalloc.start()
    for found, _, _ in reader:
        assert not found.data.flags.owndata and not found.indices.flags.owndata
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * X.nnz / 4


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_memory_is_bounded_by_the_chunk(tmp_path, name):
    """Though all rows are one row group."""
    n = 400_000
    starts, rng = pa.array(np.arange(0, 10 * n + 1, 10, dtype=np.int32)), np.random.default_rng(0)
    values = pa.ListArray.from_arrays(starts, pa.array(rng.standard_normal(10 * n)))
    indices = pa.ListArray.from_arrays(starts, pa.array(np.tile(np.arange(10, dtype=np.int32), n)))
    options = {} if name == "rows.arrow" else {"row_group_size": n, "compression": "none", "use_dictionary": False}
    path = write(tmp_path / name, {"i": indices, "v": values, "y": np.zeros(n)}, **options)
    del values, indices, starts
    before = pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() for _ in ParquetReader(path, label="y", n_features=10, **LISTS))
    assert most - before < path.stat().st_size / 5


def test_several_files(tmp_path):
    X, y = draw()
    paths = [write(tmp_path / name, lists(X[a:b], y[a:b])) for name, a, b in (("a.parquet", 0, 200), ("b.arrow", 200, 500))]
    reader = ParquetReader(paths, label="y", **LISTS, chunk_rows=150)
    found, labels, firsts = read(paths, label="y", **LISTS, chunk_rows=150)
    assert (found != X).nnz == 0
    assert_array_equal(labels, y)
    assert firsts == (1, 151, 201, 351)
    fractions = [reader.fraction_read for _ in reader]
    assert fractions == [0.3, 0.4, 0.7, 1.0]


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
@pytest.mark.parametrize("qid", [None, "q"])
@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_a_thread_reads_the_same(tmp_path, name, qid, n_jobs):
    X, y = draw()
    path = write(tmp_path / name, {**lists(X, y), "q": np.arange(500) // 7})
    found = []
    for how in ({}, {"n_jobs": n_jobs}):
        reader = ParquetReader([path, path], label="y", qid=qid, **LISTS, chunk_rows=64, **how)
        found.append([(pickle.dumps((X.data, X.indices, X.indptr, y, last)), reader.fraction_read) for X, y, last in reader])
    assert found[0] == found[1] and len(found[0]) > 10
    assert not threads()


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_chunks_before_what_is_bad_come_before_the_error(tmp_path, n_jobs):
    a, y = np.arange(100.0), np.zeros(100)
    a[77] = np.nan
    bad_row = write(tmp_path / "row.parquet", {"a": a, "y": y})
    bad_page = write(tmp_path / "page.parquet", lists(*draw(100)), row_group_size=50, write_page_checksum=True)
    content, second = bytearray(bad_page.read_bytes()), pq.ParquetFile(bad_page).metadata.row_group(1)
    content[second.column(0).dictionary_page_offset + 40] ^= 255
    bad_page.write_bytes(content)
    sparse_rows = {**LISTS, "n_features": 40}
    for path, form, reason, n in ((bad_row, {}, "row 78: 'a' is not", 70), (bad_page, sparse_rows, "cannot be read", 50)):
        seen = 0
        with pytest.raises(ValueError, match=reason):
            for _, labels, _ in ParquetReader(path, label="y", chunk_rows=10, n_jobs=n_jobs, **form):
                seen += len(labels)
        assert seen == n
        assert not threads()


def test_a_reader_that_is_left_early_leaves_no_thread(tmp_path):
    path = write(tmp_path / "rows.parquet", {"a": np.arange(1000.0), "y": np.zeros(1000)})
    chunks = iter(ParquetReader(path, label="y", chunk_rows=10, n_jobs=1))
    next(chunks)
    assert len(threads()) == 1
    del chunks
    assert not threads()
    for _ in ParquetReader(path, label="y", chunk_rows=10, n_jobs=1):
        break
    assert not threads()


@pytest.mark.parametrize("names", [["no", "yes"], [2.0, 3.0], [True, False], [-1, 1]])
@pytest.mark.parametrize("encoded", [False, True])
def test_labels(tmp_path, names, encoded):
    labels = pa.array([names[i % 2] for i in range(10)])
    path = write(tmp_path / "rows.parquet", {"a": np.arange(10.0), "y": labels.dictionary_encode() if encoded else labels})
    reader = ParquetReader(path, label="y", chunk_rows=4)
    classes = reader.scan().classes
    assert classes.tolist() == sorted(names)
    model = PredtronClassifier()
    for X, y, _ in reader:
        model.partial_fit(X, y, classes=classes)
    assert model.t_ == 10
    with pytest.raises(ValueError, match="more than max_classes=1 distinct labels in 'y' by the chunk from row 1 on"):
        reader.scan(max_classes=1)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_files_of_other_columns(tmp_path, name):
    """What the first file has not is not left out in silence, and words are no numbers."""
    first = write(tmp_path / f"first_{name}", {"a": [1.0, 2.0], "y": [0, 1], "b": [3, 4]})
    more = write(tmp_path / name, {"b": [5, 6], "c": [7, 8], "y": [0, 1], "a": [9, 9]})
    for use in (list, ParquetReader.scan):
        with pytest.raises(ValueError, match=r"features=None is all columns of '.*first_.*', and '.*' has 'c', too; accepted"):
            use(ParquetReader([first, more], label="y"))
    X, y, _ = read([first, more], label="y", features=["a", "b"])
    assert X.tolist() == [[1, 3], [2, 4], [9, 5], [9, 6]] and y.tolist() == [0, 1, 0, 1]
    words = pa.array(["0", "1"]).dictionary_encode() if name == "rows.arrow" else ["0", "1"]
    other = write(tmp_path / f"words_{name}", {"a": [1.0, 2.0], "y": words, "b": [3, 4]})
    for paths in ([first, other], [other, first]):
        for use in (list, ParquetReader.scan):
            with pytest.raises(ValueError, match="accepted are numbers in all files, or strings in all"):
                use(ParquetReader(paths, label="y"))


def test_a_null_in_a_dictionary(tmp_path):
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["u", None]))
    path = write(tmp_path / "rows.arrow", {"a": [1.0, 2.0, 3.0], "y": labels})
    for use in (list, ParquetReader.scan):
        with pytest.raises(ValueError, match="row 2: 'y' is null"):
            use(ParquetReader(path, label="y"))


def test_pandas_and_polars(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = load_iris(return_X_y=True)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    frame = pandas.DataFrame({**columns, "y": pandas.Categorical.from_codes(y, ["a", "b", "c"])})
    frame.to_parquet(tmp_path / "pandas.parquet")
    frame.to_feather(tmp_path / "pandas.arrow")
    polars.DataFrame({**columns, "y": [["a", "b", "c"][i] for i in y]}).write_parquet(tmp_path / "polars.parquet")
    polars.DataFrame({"i": [[0, 2], [1]], "v": [[1.0, 2.0], [3.0]], "y": [0, 1]}).write_parquet(tmp_path / "lists.parquet")
    for name in ("pandas.parquet", "pandas.arrow", "polars.parquet"):
        found, labels, _ = read(tmp_path / name, label="y")
        assert_array_equal(found, X)
        assert_array_equal(labels, np.array(["a", "b", "c"])[y])
    assert read(tmp_path / "lists.parquet", label="y", **LISTS)[0].toarray().tolist() == [[1, 0, 2], [0, 3, 0]]


# -------------------------------------------------------------------------------------------------------------- queries


@pytest.mark.parametrize("chunk_rows", [1, 3, 10, 1000])
@pytest.mark.parametrize("as_lists", [True, False])
def test_chunks_hold_whole_queries(tmp_path, chunk_rows, as_lists):
    ids = np.repeat([5, 3, 5, 9, 2, 2, 7, 5], [4, 1, 2, 12, 3, 1, 1, 2])
    X, y = draw(len(ids), 6)
    columns = lists(X, y) if as_lists else {**{f"x{j}": X.toarray()[:, j] for j in range(6)}, "y": y}
    form = {"label": "y", "qid": "q", "chunk_rows": chunk_rows, **(LISTS if as_lists else {})}
    cut = 9  # in the query 9
    paths = [
        write(tmp_path / f"{name}.parquet", pa.table({**columns, "q": ids}).slice(a, b))
        for name, a, b in (("a", 0, cut), ("b", cut, 99))
    ]
    assert ParquetReader(paths, **form).scan().n_queries == 7
    chunks = list(ParquetReader(paths, **form))
    found = [qid for _, _, qid in chunks]
    assert_array_equal(np.concatenate(found), ids)
    for qid, after in zip(found, [*found[1:], [None]], strict=True):
        runs = qid[np.concatenate([[True], np.diff(qid) != 0])]
        assert len(set(runs)) == len(runs) and qid[-1] != after[0]
    rows = [X.toarray() if as_lists else X for X, _, _ in chunks]
    assert_array_equal(np.concatenate(rows), X.toarray())
    assert_array_equal(np.concatenate([y for _, y, _ in chunks]), y)


# ------------------------------------------------------------------------------------------------------------- refusals

GOOD = {"i": [[0], [1, 2], [0]], "v": [[1.0], [2.0, 3.0], [4.0]], "y": [0, 1, 0], "a": [1.0, 2.0, 3.0]}
DENSE, SPARSE = {"label": "y", "features": ["a"]}, {"label": "y", "n_features": 3, **LISTS}


@pytest.mark.parametrize(
    ("column", "values", "form", "reason"),
    [
        ("y", [0, None, 0], DENSE, "row 2: 'y' is null"),
        ("y", [0.0, 1.0, np.nan], DENSE, "row 3: 'y' is not finite"),
        ("a", [1.0, 2.0, None], DENSE, "row 3: 'a' is null"),
        ("a", [1.0, np.inf, 3.0], DENSE, "row 2: 'a' is not a finite float64"),
        ("a", [1.0, 1e300, 3.0], {**DENSE, "dtype": np.float32}, "row 2: 'a' is not a finite float32"),
        ("i", [[0], [1, 3], [0]], SPARSE, r"row 2: 'i' holds 3; indices lie in 0\.\.2"),
        ("i", [[0], [1, 2], [-1]], SPARSE, r"row 3: 'i' holds -1; indices lie in 0\.\.2"),
        ("i", [[0], [1, 2**40], [0]], SPARSE, "row 2: 'i' holds 1099511627776"),
        ("i", [[0], None, [0]], SPARSE, "row 2: 'i' is null"),
        ("i", [[0], [1, None], [0]], SPARSE, "row 2: 'i' holds a null"),
        ("v", [[1.0], [2.0], [4.0]], SPARSE, "row 2: 'i' and 'v' differ in length"),
        ("v", [[1.0], [2.0], [3.0, 4.0]], SPARSE, "row 2: 'i' and 'v' differ in length"),
        ("v", [[1.0], [2.0, 3.0], [np.nan]], SPARSE, "row 3: 'v' holds nan, which is not a finite float64"),
        ("v", [[1.0], [2.0, 3.0], [None]], SPARSE, "row 3: 'v' holds a null"),
    ],
)
@pytest.mark.parametrize("chunk_rows", [1, 2, 10])
@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_bad_rows(tmp_path, name, column, values, form, reason, chunk_rows):
    path = write(tmp_path / name, {**GOOD, column: values})
    with pytest.raises(ValueError, match=rf"rows\.\w+, {reason}"):
        list(ParquetReader(path, **form, chunk_rows=chunk_rows))


@pytest.mark.parametrize(
    ("columns", "form", "message"),
    [
        ({}, {**DENSE, "label": "z"}, r"label='z' is no column of '.*rows.parquet', which has 'i', 'v', 'y', 'a'"),
        ({}, {**DENSE, "features": ["z"]}, "features='z' is no column"),
        ({}, {**DENSE, "qid": "z"}, "qid='z' is no column"),
        ({}, {"label": "y"}, "features='i' is a column of list<.*> in '.*'; accepted are numbers"),
        ({"a": ["u", "v", "w"]}, DENSE, "features='a' is a column of string in"),
        ({"y": [[0], [1], [2]]}, DENSE, "label='y' is a column of list<.*accepted are numbers or strings"),
        ({"q": [1.0, 2.0, 3.0]}, {**DENSE, "qid": "q"}, "qid='q' is a column of double in .*; accepted are integers"),
        ({"i": [[0.0]] * 3}, SPARSE, "indices='i' is a column of list<.*accepted are lists of integers"),
        ({"v": [["u"]] * 3}, SPARSE, "values='v' is a column of list<.*accepted are lists of numbers"),
        ({"v": [1.0] * 3}, SPARSE, "values='v' is a column of double"),
        ({}, {**DENSE, "features": []}, r"features=\[\] of '.*' holds no column"),
    ],
)
def test_bad_columns(tmp_path, columns, form, message):
    path = write(tmp_path / "rows.parquet", {**GOOD, **columns})
    for use in (list, ParquetReader.scan):
        with pytest.raises(ValueError, match=message):
            use(ParquetReader(path, **form))


def test_files_that_are_none(tmp_path):
    good = write(tmp_path / "good.parquet", GOOD)
    content = good.read_bytes()
    for name, damaged, reason in [
        ("text", b"1 1:1\n", "is neither a Parquet file nor an Arrow file"),
        ("empty", b"", "is neither a Parquet file nor an Arrow file"),
        ("short.parquet", content[:-20], "cannot be read"),
        ("start.parquet", content[:50], "cannot be read"),
        ("short.arrow", b"ARROW1\0\0" + bytes(50), "cannot be read"),
    ]:
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=f"path='.*{name}' {reason}"):
            list(ParquetReader([good, tmp_path / name], **DENSE))
    with pytest.raises(FileNotFoundError):
        list(ParquetReader(tmp_path / "none", **DENSE))


def test_without_pyarrow(tmp_path, monkeypatch):
    path = write(tmp_path / "rows.parquet", GOOD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    with pytest.raises(ImportError, match=r"^ParquetReader needs pyarrow: pip install pyarrow$"):
        list(ParquetReader(path, **DENSE))


def test_no_rows(tmp_path):
    path = write(tmp_path / "rows.parquet", pa.table(GOOD).slice(0, 0))
    for form in (DENSE, SPARSE, {**DENSE, "qid": "y"}):
        reader = ParquetReader(path, **form)
        assert list(reader) == []
        assert (reader.scan().n_rows, reader.scan().classes.tolist()) == (0, [])


def test_decimals_are_numbers(tmp_path):
    values, y = np.arange(40) / 4, np.arange(40) % 2
    columns = {"a": pa.array(values).cast(pa.decimal128(10, 2)), "b": values, "y": pa.array(y).cast(pa.decimal128(19, 0))}
    path = write(tmp_path / "a.parquet", columns)
    X, found, _ = read(path, label="y")
    assert_array_equal(X, np.column_stack([values, values]))
    assert_array_equal(found, y)
    missing = write(tmp_path / "b.parquet", {"a": pa.array([None, *values[1:].tolist()]).cast(pa.decimal128(10, 2)), "y": y})
    (table, _, _), *_ = ParquetReader(missing, label="y", dtype=None)  # which takes nulls
    model = PredtronBinaryClassifier(features="piecewise", cv=0).fit(table, y)
    assert_array_equal(model.features_.read(table)[:, 0], [np.nan, *values[1:]])


def test_folders(tmp_path):
    """Their files in the order of their names, as other programs write parts of a table."""
    (tmp_path / "t" / "part=2").mkdir(parents=True)
    (tmp_path / "t" / "_SUCCESS").write_text("")
    for name, first in (("b.parquet", 10), ("a.parquet", 0), ("part=2/c.pq", 20), (".hidden.parquet", 90)):
        write(tmp_path / "t" / name, {"a": np.arange(first, first + 10.0), "y": np.arange(10) % 2})
    X, y, _ = read(tmp_path / "t", label="y")
    assert_array_equal(X[:, 0], np.arange(30))
    assert len(y) == 30
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty' is a folder without files that end in \.parquet"):
        ParquetReader(tmp_path / "empty", label="y")
