"""Parts of a file: together they are the file, whatever it holds and however many they are."""

import gzip
import itertools
import os

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron.datasets import BrokenLineError, SvmlightReader

HOW = {"n_features": 5, "zero_based": False}


def rows_of(path, **how):
    """Return all rows, labels and ids of a file or a part."""
    found = [(X.toarray(), y, np.zeros(len(y)) if np.isscalar(ids) else ids) for X, y, ids in SvmlightReader(path, **how)]
    empty = (np.empty((0, 5)), np.empty(0), np.empty(0, dtype=np.int64))
    return [np.concatenate(arrays) for arrays in zip(empty, *found, strict=True)]


def written(path, random, n, *, ids):
    """Write rows, comments and blank lines; return the file."""
    lines, qid = [], 0
    for i in range(n):
        qid += random.random() < 0.3
        many = "".join(f" {j}:{random.integers(100)}" for j in range(1, 6) if random.random() < 0.5)
        lines.append(f"{i}{f' qid:{qid % 4}' if ids else ''}{many}")
        if random.random() < 0.3:
            lines.append(random.choice(["", "  ", "# a comment", "#" * 50]))
    end = "" if random.random() < 0.5 else "\n"
    mark = b"\xef\xbb\xbf" if random.random() < 0.3 else b""
    path.write_bytes(mark + random.choice(["\n", "\r\n"]).join(lines).encode() + end.encode())
    return path


@pytest.mark.parametrize("name", [None, "query_id", "sequence_id"])
def test_parts_are_the_file(tmp_path, name):
    """Every row is in one part, in its order; a query (sequence) is whole."""
    random = np.random.default_rng(0)
    for n in (0, 1, 5, 40):
        for _ in range(4):
            how = {**HOW, "chunk_rows": 3, **({} if name is None else {name: True})}
            path = written(tmp_path / "rows.svm", random, n, ids=name is not None)
            whole = rows_of(path, **how)
            for of in (1, 2, 7, 100):
                parts = [rows_of(path, part=(i, of), **how) for i in range(of)]
                for column, arrays in zip(whole, zip(*parts, strict=True), strict=True):
                    np.testing.assert_array_equal(np.concatenate(arrays), column)
                ends = [part[2][[0, -1]].tolist() for part in parts if name is not None and len(part[2])]
                assert all(one[1] != other[0] for one, other in itertools.pairwise(ends))


def test_parts_are_of_one_length(tmp_path):
    """About as many bytes each, and fractions that are of the part."""
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} 1:{i}\n" for i in range(1000)))
    for i in range(4):
        reader = SvmlightReader(path, part=(i, 4), chunk_rows=50, **HOW)
        fractions = [(X.shape[0], reader.fraction_read) for X, _, _ in reader]
        assert 230 < sum(n for n, _ in fractions) < 270
        assert fractions[-1][1] == 1
        assert 0.1 < fractions[0][1] < 0.3
        assert reader.scan().n_rows == sum(n for n, _ in fractions)


def test_threads_read_the_same(tmp_path):
    path = written(tmp_path / "rows.svm", np.random.default_rng(1), 200, ids=True)
    for i in range(3):
        how = {**HOW, "part": (i, 3), "query_id": True, "chunk_rows": 4}
        for one, other in zip(rows_of(path, **how), rows_of(path, n_jobs=2, **how), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "bad", ["1 1:x\n", "1 qid:7 1:x\n", "1 qid:x 1:1\n", "\ufeff1 qid:7 1:1\n", "1 qid:8 1:1" + " " * 400 + "\n"]
)
def test_a_broken_line_has_its_number_in_the_file(tmp_path, bad):
    """Whatever part it is in, one part tells of it, and tells what a reader of the file does."""
    path, ids = tmp_path / "rows.svm", "qid" in bad
    lines = [f"{i % 2}{f' qid:{i // 3}' if ids else ''} 1:{i}\n" for i in range(60)]
    how = {**HOW, "query_id": ids, "chunk_bytes": 300, "chunk_rows": 5}
    for place in (0, 1, 30, 31, 59):
        path.write_text("".join([*lines[:place], "# comment\n", bad, *lines[place:]]), encoding="utf-8")
        with pytest.raises(BrokenLineError) as expected:
            rows_of(path, **how)
        for of in (2, 5, 50):
            errors = []
            for i in range(of):
                try:
                    rows_of(path, part=(i, of), **how)
                except BrokenLineError as error:
                    errors.append(str(error))
            assert errors == [str(expected.value)]


def test_what_is_no_part(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n")
    with pytest.raises(ValueError, match="cache=True, which is of a whole file"):
        SvmlightReader(path, part=(0, 2), cache=True)
    with gzip.open(tmp_path / "rows.svm.gz", "wb") as file:
        file.write(b"1 1:1\n")
    os.mkfifo(tmp_path / "pipe")
    for name in ("rows.svm.gz", "pipe"):
        with pytest.raises(ValueError, match=f"path='.*{name}': only a plain file can be read from its middle"):
            SvmlightReader(tmp_path / name, part=(0, 2))
    with pytest.raises(FileNotFoundError, match="missing"):
        next(iter(SvmlightReader(tmp_path / "missing", part=(0, 2), **HOW)))


def test_sets_of_labels(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1,3 1:1\n 2:1\n3 1:2\n" * 20)
    whole = sparse.vstack([y for _, y, _ in SvmlightReader(path, multilabel=True, **HOW)])
    how = {**HOW, "multilabel": True, "classes": [1, 3]}
    parts = sparse.vstack([y for i in range(7) for _, y, _ in SvmlightReader(path, part=(i, 7), **how)])
    np.testing.assert_array_equal(parts.toarray(), whole.toarray())


# ------------------------------------------------------------------------------------------------------ brute force

ODD_LINES = ["# a comment\n", "\n", "1 1:3\n", "1 qid:x 1:3\n", "1 qid:2 1:x\n", "1\n", "1 qid:9223372036854775808\n"]
ODD_LINES += ["\ufeff1 qid:2 1:1\n", f"1 qid:2 1:1{' ' * 60}\n", f"1 qid:3 1:1{' ' * 130}\n", f"# {'-' * 70}\n"]


def read_until_broken(path, **how):
    """Return the rows before the first broken line as (label, id), and what is said of it."""
    found = []
    try:
        for _, y, ids in SvmlightReader(path, **how):
            found += zip(y.tolist(), ids.tolist(), strict=True)
    except BrokenLineError as error:
        return found, str(error)
    return found, None


@pytest.mark.parametrize("name", ["query_id", "sequence_id"])
def test_parts_up_to_a_broken_line_are_the_file_up_to_it(tmp_path, name, n_draws):
    """Wherever they are cut: n parts of n bytes are cut at each of them."""
    path, random, broken = tmp_path / "rows.svm", np.random.default_rng(0), 0
    how = {**HOW, name: True, "chunk_bytes": 60, "chunk_rows": 2}  # some of the lines are longer, and some of the queries
    n_files = n_draws(20, 60)
    for _ in range(n_files):
        lines, ids = [], np.cumsum(random.random(12) < 0.4) % 3
        for i, qid in enumerate(ids):
            lines.append(f"{i} qid:{qid} 1:1\n")
            if random.random() < 0.15:
                lines.append(ODD_LINES[random.integers(len(ODD_LINES))])
        path.write_bytes("".join(lines).encode()[: -1 if random.random() < 0.5 else None])
        expected, n = read_until_broken(path, **how), path.stat().st_size
        broken += expected[1] is not None
        parts = [read_until_broken(path, part=(i, n), **how) for i in range(n)]
        check_first(expected, parts)
        check_first(expected, [read_until_broken(path, part=(i, 3), **how) for i in range(3)])
    assert n_files / 3 < broken < n_files


def check_first(expected, parts):
    """Check that the parts up to the first with a broken line have what the file has up to it."""
    first = next((i for i, part in enumerate(parts) if part[1] is not None), len(parts) - 1)
    assert ([row for rows, _ in parts[: first + 1] for row in rows], parts[first][1]) == expected
