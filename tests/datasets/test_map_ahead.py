"""Chunks that are parsed ahead on threads: the same, in order, few at a time, and no thread is left."""

import threading
import time

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron.datasets import BrokenLineError, SvmlightReader
from sklearn_predtron.datasets._read_ahead import count_threads, map_ahead

ROWS = {"zero_based": False, "n_features": 9}


def threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("ThreadPool")}


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = threads()
    yield
    assert threads() == before


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 9)) * (rng.random((200, 9)) < 0.5), rng.integers(3, size=200)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False, query_id=np.arange(200) // 7)
    return tmp_path / "rows.svm"


def read(path, **parameters):
    """All chunks as bytes, the fractions read, and what the broken line raised."""
    reader, chunks, error = SvmlightReader(path, **parameters), [], None
    try:
        for X, y, last in reader:
            rows = b"".join(part.tobytes() for part in (X.data, X.indices, X.indptr))
            chunks.append((rows, y.tobytes(), np.asarray(last).tobytes(), reader.fraction_read))
    except BrokenLineError as broken:
        error = str(broken)
    return chunks, error


@pytest.mark.parametrize("ids", [{}, {"query_id": True}, {"sequence_id": True}])
@pytest.mark.parametrize("chunk_rows", [1, 7, 64, 1000])
def test_any_number_of_threads_reads_the_same(path, chunk_rows, ids):
    assert SvmlightReader(path, chunk_rows=16, n_jobs=2).scan().n_rows == 200
    expected = read(path, chunk_rows=chunk_rows, **ids, **ROWS)
    assert len(expected[0]) == -(-200 // max(chunk_rows, 7 if ids else 1)) or ids
    for n_jobs in (1, 2, 3, -1):
        assert read(path, chunk_rows=chunk_rows, n_jobs=n_jobs, **ids, **ROWS) == expected


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_a_broken_line_comes_after_the_rows_before_it(path, n_jobs):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[150] = b"1 qid:3 oops\n"
    lines[10] = b"x\n" if n_jobs == 3 else lines[10]  # the first one is named, though the other is parsed as early
    path.write_bytes(b"".join(lines))
    chunks, error = read(path, chunk_rows=16, n_jobs=n_jobs, **ROWS)
    assert error.startswith(f"{path}, line {11 if n_jobs == 3 else 151}: at ")
    assert sum(len(y) // 8 for _, y, *_ in chunks) == (10 if n_jobs == 3 else 150)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_a_reader_that_is_left_early_leaves_no_thread(path, n_jobs):
    chunks = iter(SvmlightReader(path, chunk_rows=10, n_jobs=n_jobs, **ROWS))
    next(chunks)
    assert 1 <= len(threads()) <= n_jobs
    chunks.close()
    assert not threads()
    for _ in SvmlightReader(path, chunk_rows=10, n_jobs=n_jobs, **ROWS):
        break
    with pytest.raises(KeyboardInterrupt):
        for _ in SvmlightReader(path, chunk_rows=10, n_jobs=n_jobs, **ROWS):
            raise KeyboardInterrupt


def test_readers_side_by_side(path):
    readers = [SvmlightReader(path, chunk_rows=10, n_jobs=2, **ROWS) for _ in range(3)]
    for chunks in zip(*readers, strict=True):
        assert len({X.data.tobytes() for X, _, _ in chunks}) == 1


@pytest.mark.parametrize("n_threads", [0, 1, 2, 5])
def test_at_most_n_items_are_ahead(n_threads):
    taken, alive = [], []

    def items():
        for i in range(20):
            taken.append(i)
            yield i

    for i, result in enumerate(map_ahead(lambda item: (time.sleep(0.001 * (item % 3)), item)[1], items(), n_threads)):
        assert result == i
        alive.append(len(taken) - i - 1)
    assert max(alive) == n_threads and len(taken) == 20


def test_the_first_failure_is_raised_and_ends_all():
    def fail(item):
        time.sleep(0.01 * (item == 3))
        if item >= 3:
            raise ValueError(item)
        return item

    found = []
    with pytest.raises(ValueError, match="3"):
        for item in map_ahead(fail, range(100), 4):
            found.append(item)  # noqa: PERF402
    assert found == [0, 1, 2]


def test_jobs_are_counted_as_joblib_does():
    assert [count_threads(n_jobs) for n_jobs in (None, 1, 7)] == [0, 1, 7]
    assert count_threads(-1) >= 1 and count_threads(-10_000) == 1
