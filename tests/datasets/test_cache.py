"""The binary cache of a parsed file: the same chunks, atomic, of this file as it is, and refused if it is damaged."""

import bz2
import errno
import gzip
import multiprocessing
import os
import threading
from contextlib import suppress
from itertools import islice

import numpy as np
import pytest

from sklearn_predtron.datasets import BrokenLineError, SvmlightReader, _cache
from sklearn_predtron.datasets._reader import SvmlightReader as Reader

ROWS = b"# first\n1 qid:7 2:0.5 5:1e-3\n\n0 qid:7 1:3\r\n2 qid:-4\n1 qid:7 4:0 5:.25\n0 qid:7 3:0.1\n1 qid:2 1:-0.0 2:7\n"
SETS = b"1,3 1:1\n2:0.1\n3,3 1:1\n2,9\n # 7\n9,1 3:2\n"
WAYS = {"labels": ({}, ROWS), "queries": ({"query_id": True}, ROWS), "sequences": ({"sequence_id": True}, ROWS)}
WAYS |= {"sets": ({"multilabel": True}, SETS), "floats": ({"dtype": np.float32}, ROWS), "base 0": ({}, b"1 0:1 3:2\n0 2:1\n")}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rows.svm").write_bytes(ROWS)
    return tmp_path / "rows.svm"


@pytest.fixture
def parsed(monkeypatch):
    """The passes that parse the text."""
    passes, parse = [], Reader._parse

    def counted(self, rules, longest):
        for found in parse(self, rules, longest):
            passes.append(rules)
            yield found

    monkeypatch.setattr(Reader, "_parse", counted)
    return passes


def bits(reader):
    """All chunks as types, shapes and bytes, and what the broken line raised."""
    chunks, error = [], None
    try:
        for X, y, last in reader:
            parts = [X.data, X.indices, X.indptr, *([y.data, y.indices, y.indptr] if reader.multilabel else [y])]
            parts += [np.asarray(last)]
            chunks.append((X.shape, [(part.dtype, part.shape, part.tobytes()) for part in parts]))
    except BrokenLineError as broken:
        error = str(broken)
    return chunks, error


def files(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
@pytest.mark.parametrize("first", ["scan", "iteration", "threads"])
def test_the_chunks_are_those_of_the_text(path, parsed, way, chunk_rows, first):
    form, text = WAYS[way]
    path.write_bytes(text)
    form = {**form, "chunk_rows": chunk_rows}
    found = SvmlightReader(path, **form).scan()
    known = {"n_features": found.n_features, "zero_based": found.zero_based}
    known |= {"classes": found.classes} if way == "sets" else {}
    expected = bits(SvmlightReader(path, **form, **known))
    if first == "scan":
        SvmlightReader(path, **form, cache=True).scan()
    else:
        jobs = {"n_jobs": 2} if first == "threads" else {}
        assert bits(SvmlightReader(path, **form, **known, **jobs, cache=True)) == expected
    assert files(path.parent) == ["rows.svm", "rows.svm.cache"]
    parsed.clear()
    for options in (known, {}):
        reader = SvmlightReader(path, **form, **options, cache=True)
        assert bits(reader) == expected == bits(reader)
        assert reader.fraction_read == 1.0
        again = reader.scan()
        assert again.error is None and np.array_equal(again.classes, found.classes)
        for name in ("n_rows", "n_features", "zero_based", "n_queries", "n_sequences"):
            assert getattr(again, name) == getattr(found, name) or (options and name == "zero_based")
    assert parsed == []


@pytest.mark.parametrize("zero_based", [True, False, "auto"])
@pytest.mark.parametrize("written", [True, False, "auto"])
@pytest.mark.parametrize("n_features", [None, 4, 5, 9])
@pytest.mark.parametrize(("classes", "chunk_rows"), [(None, 2), ([0, 1], 2), ([0, 1], 100), ([0, 1, 2], 2)])
def test_one_cache_for_any_width_base_and_classes(path, written, zero_based, n_features, classes, chunk_rows):
    """If these refuse a line, it is named, after the rows before it."""
    reader = SvmlightReader(path, zero_based=written, chunk_rows=chunk_rows, cache=True)
    assert bits(reader)[1] is None
    cache = path.with_name("rows.svm.cache").read_bytes()
    form = {"zero_based": zero_based, "n_features": n_features, "classes": classes, "chunk_rows": chunk_rows}
    assert bits(SvmlightReader(path, **form, cache=True)) == bits(SvmlightReader(path, **form))
    assert path.with_name("rows.svm.cache").read_bytes() == cache


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_cache_of_more_labels_than_it_remembers(path, monkeypatch, most):
    monkeypatch.setattr(_cache, "MOST_CLASSES", most)
    reader = SvmlightReader(path, chunk_rows=2, cache=True)
    for _ in range(2):
        assert reader.scan().classes.tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="more than max_classes=1 distinct labels by the chunk from line 3 on"):
            reader.scan(max_classes=1)


@pytest.mark.parametrize("ids", ["query_id", "sequence_id"])
@pytest.mark.parametrize("text", [b"", b"# nothing\n"])
def test_a_file_without_rows(path, ids, text):
    path.write_bytes(text)
    expected = str(SvmlightReader(path, **{ids: True}).scan())
    for _ in range(2):
        reader = SvmlightReader(path, **{ids: True}, cache=True)
        assert str(reader.scan()) == expected
        assert list(reader) == []


def test_an_index_of_zero(path):
    path.write_bytes(b"1 1:1\n0 2:1\n1 0:1 4:1\n")
    for written in (True, "auto"):
        SvmlightReader(path, zero_based=written, chunk_rows=2, cache=True).scan()
        for zero_based in (True, False, "auto"):
            form = {"zero_based": zero_based, "chunk_rows": 2}
            reader, expected = SvmlightReader(path, **form, cache=True), SvmlightReader(path, **form)
            assert str(reader.scan()) == str(expected.scan())
            assert bits(reader) == bits(expected)


@pytest.mark.parametrize("number", ["0.1", "1", "1e300", "1e-300", "-0", "16777217", "0.5"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_keep_their_bits(path, number, dtype):
    if dtype == np.float32 and number == "1e300":
        pytest.skip("no float32")
    path.write_bytes(b"1 1:1 2:%s\n0 1:-0\n" % number.encode())
    form = {"n_features": 2, "zero_based": False, "dtype": dtype}
    expected = bits(SvmlightReader(path, **form))
    for _ in range(2):
        assert bits(SvmlightReader(path, **form, cache=True)) == expected


def test_values_that_are_floats_take_four_bytes(path):
    sizes = []
    for value in (b"0.5", b"0.1"):
        path.write_bytes(b"1 " + b" ".join(b"%d:%s" % (i, value) for i in range(1, 1001)))
        SvmlightReader(path, cache=True).scan()
        sizes.append(path.with_name("rows.svm.cache").stat().st_size)
    assert sizes[0] < 8 * 1000 + 1000 < 12 * 1000 < sizes[1] < 13 * 1000


@pytest.mark.parametrize("window", [1, 2**14])
def test_chunks_of_any_length_are_mapped(path, monkeypatch, window):
    """Also those that are longer than what is mapped at once."""
    path.write_bytes(ROWS * 2000)
    monkeypatch.setattr(_cache, "WINDOW", window)
    for chunk_rows in (7, 3000, 10**6):
        form = {"chunk_rows": chunk_rows, "n_features": 5, "zero_based": False}
        expected = bits(SvmlightReader(path, **form))
        for _ in range(2):
            assert bits(SvmlightReader(path, **form, cache=True)) == expected


def test_rows_may_be_changed_in_place(path):
    """As those of the text; neither the cache nor the next pass is changed."""
    reader = SvmlightReader(path, cache=True)
    expected = bits(reader)
    for _ in range(2):
        for X, y, _ in reader:
            X.data *= 2
            X.indices[:] = 0
            y += 1
        assert bits(reader) == expected


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed(tmp_path, pack, parsed):
    path = tmp_path / {gzip.compress: "rows.gz", bz2.compress: "rows.bz2"}[pack]
    path.write_bytes(pack(ROWS))
    reader = SvmlightReader(path, cache=True)
    expected = bits(reader)
    parsed.clear()
    assert bits(reader) == expected
    assert parsed == []


# ----------------------------------------------------------------------------------------------------- of another file


def rewrite(path):
    path.write_bytes(ROWS.replace(b"0.5", b"0.75"))


def rewrite_in_the_same_instant(path):
    before = path.stat().st_mtime_ns
    rewrite(path)
    os.utime(path, ns=(before, before))


def rewrite_as_a_copy_that_keeps_times_does(path):
    before = path.stat()
    path.write_bytes(ROWS.replace(b"0.5", b"0.6"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_by_a_file_of_the_same_time(path):
    other = path.with_name("other")
    other.write_bytes(ROWS.replace(b"0.5", b"0.6"))
    os.utime(other, ns=(path.stat().st_mtime_ns,) * 2)
    os.replace(other, path)


def touch(path):
    path.write_bytes(ROWS.replace(b"0.5", b"0.6"))
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))


CHANGES = [
    rewrite,
    rewrite_in_the_same_instant,
    rewrite_as_a_copy_that_keeps_times_does,
    replace_by_a_file_of_the_same_time,
    touch,
]


FORMS = [{"query_id": True}, {"sequence_id": True}, {"dtype": np.float32}, {"chunk_rows": 3}, {"chunk_bytes": 40}]


@pytest.mark.parametrize(("change", "form"), [(change, {}) for change in CHANGES] + [(None, form) for form in FORMS])
@pytest.mark.always(each="change")
def test_it_is_rewritten_if_the_file_or_the_way_of_reading_changes(path, parsed, change, form):
    SvmlightReader(path, cache=True).scan()
    if change is not None:
        change(path)
    expected = bits(SvmlightReader(path, **form))
    assert bits(SvmlightReader(path, **form, cache=True)) == expected
    parsed.clear()
    assert bits(SvmlightReader(path, **form, cache=True)) == expected
    assert parsed == []


def test_it_is_rewritten_for_another_file(path, parsed):
    other, cache = path.with_name("other.svm"), path.with_name("cache")
    other.write_bytes(ROWS.replace(b"0.5", b"0.6"))
    os.utime(other, ns=(path.stat().st_mtime_ns,) * 2)
    SvmlightReader(path, cache=cache).scan()
    assert bits(SvmlightReader(other, cache=cache)) == bits(SvmlightReader(other))


def test_it_is_rewritten_for_another_format(path, monkeypatch):
    monkeypatch.setattr(_cache, "FORMAT", 99)
    SvmlightReader(path, cache=True).scan()
    other = path.with_name("rows.svm.cache").read_bytes()
    monkeypatch.undo()
    assert bits(SvmlightReader(path, cache=True)) == bits(SvmlightReader(path))
    assert path.with_name("rows.svm.cache").read_bytes() != other


def test_a_file_that_changes_during_the_pass_is_not_cached(path):
    for _ in SvmlightReader(path, n_features=5, zero_based=False, chunk_rows=1, cache=True):
        os.utime(path, ns=(1, 1))
    assert files(path.parent) == ["rows.svm"]


# -------------------------------------------------------------------------------------------------- whole, or not at all


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_an_interrupted_pass_leaves_nothing(path, n_jobs):
    form = {"n_features": 5, "zero_based": False, "chunk_rows": 1, "n_jobs": n_jobs, "cache": True}
    for _ in SvmlightReader(path, **form):
        assert len(files(path.parent)) == 2  # a part is written
        break
    with pytest.raises(KeyboardInterrupt):
        for _ in SvmlightReader(path, **form):
            raise KeyboardInterrupt
    with pytest.raises(ValueError, match="more than max_classes=2 distinct labels"):
        SvmlightReader(path, **form).scan(max_classes=2)
    with suppress(ZeroDivisionError):
        SvmlightReader(path, **form).scan(callback=lambda: 1 / 0)
    assert files(path.parent) == ["rows.svm"]


def test_an_interrupted_pass_leaves_the_cache_before(path):
    SvmlightReader(path, cache=True).scan()
    cache = path.with_name("rows.svm.cache").read_bytes()
    next(iter(SvmlightReader(path, n_features=5, zero_based=False, chunk_rows=1, cache=True)))
    assert path.with_name("rows.svm.cache").read_bytes() == cache
    assert files(path.parent) == ["rows.svm", "rows.svm.cache"]


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_a_broken_line_is_not_cached(path, n_jobs):
    path.write_bytes(ROWS + b"1 qid:3 x\n")
    expected = bits(SvmlightReader(path, n_features=5, zero_based=False, chunk_rows=2))
    form = {"chunk_rows": 2, "n_jobs": n_jobs, "cache": True}
    for _ in range(2):
        assert SvmlightReader(path, **form).scan().error.line_number == 9
        assert bits(SvmlightReader(path, **form, n_features=5, zero_based=False)) == expected
        assert files(path.parent) == ["rows.svm"]


def test_two_readers_write_at_once(path):
    form = {"n_features": 5, "zero_based": False, "chunk_rows": 1}
    expected = bits(SvmlightReader(path, **form))[0]
    readers = [SvmlightReader(path, **form, cache=True) for _ in range(2)]
    for pairs in zip(*readers, strict=True):
        assert (pairs[0][0] != pairs[1][0]).nnz == 0
    assert files(path.parent) == ["rows.svm", "rows.svm.cache"]
    assert bits(readers[0])[0] == expected


def test_a_pass_goes_on_when_its_cache_is_replaced(path):
    form = {"n_features": 5, "zero_based": False, "chunk_rows": 2}
    expected = bits(SvmlightReader(path, **form, cache=True))[0]
    chunks = iter(SvmlightReader(path, **form, cache=True))
    first = next(chunks)
    rewrite(path)
    SvmlightReader(path, **form, cache=True).scan()
    rest = list(chunks)
    assert [y.tobytes() for _, y, _ in [first, *rest]] == [parts[3][2] for _, parts in expected]
    assert bits(SvmlightReader(path, **form, cache=True)) == bits(SvmlightReader(path, **form))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="a new process would import for seconds")
def test_two_processes_write_at_once(path):
    path.write_bytes(ROWS * 2000)
    reader = SvmlightReader(path, chunk_rows=100, cache=True)
    jobs = [multiprocessing.get_context("fork").Process(target=reader.scan) for _ in range(3)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0, 0, 0]
    assert files(path.parent) == ["rows.svm", "rows.svm.cache"]
    assert bits(reader) == bits(SvmlightReader(path, chunk_rows=100))


def test_who_may_read_the_cache(path):
    path.chmod(0o640)
    SvmlightReader(path, cache=True).scan()
    assert path.with_name("rows.svm.cache").stat().st_mode == path.stat().st_mode


def test_a_link_to_a_cache_stays(path):
    link = path.with_name("link")
    link.symlink_to(path.with_name("there"))
    SvmlightReader(path, cache=link).scan()
    assert link.is_symlink() and path.with_name("there").is_file()


# ---------------------------------------------------------------------------------------------------------- refusals


def test_a_cache_that_is_cut_short_is_refused(path):
    path.write_bytes(ROWS[:60])
    SvmlightReader(path, cache=True).scan()
    cache = path.with_name("rows.svm.cache")
    whole = cache.read_bytes()
    for n in range(len(whole)):
        cache.write_bytes(whole[:n])
        for use in (SvmlightReader.scan, list):
            with pytest.raises(ValueError, match=r"cache='.*rows\.svm\.cache' is damaged: .*Delete it"):
                use(SvmlightReader(path, cache=True))
        assert cache.read_bytes() == whole[:n]
    cache.write_bytes(whole + b"\0")
    with pytest.raises(ValueError, match=f"it has {len(whole) + 1:,} bytes, and should have {len(whole):,}"):
        SvmlightReader(path, cache=True).scan()


def test_a_bit_of_the_start_or_the_index_is_refused(path):
    path.write_bytes(ROWS[:60])
    SvmlightReader(path, cache=True).scan()
    cache = path.with_name("rows.svm.cache")
    whole = cache.read_bytes()
    index = int.from_bytes(whole[32:40], "little")
    for i in [*range(64), *range(index, len(whole))]:
        cache.write_bytes(whole[:i] + bytes([whole[i] ^ 4]) + whole[i + 1 :])
        with pytest.raises(ValueError, match=r"is damaged: the check sum|is no cache of SvmlightReader"):
            SvmlightReader(path, cache=True).scan()


@pytest.mark.parametrize("way", WAYS)
def test_a_bit_of_the_rows_is_refused(path, way, n_draws):
    form, text = WAYS[way]
    path.write_bytes(text)
    SvmlightReader(path, **form, cache=True).scan()
    cache = path.with_name("rows.svm.cache")
    whole = cache.read_bytes()
    end = int.from_bytes(whole[32:40], "little")
    for i in np.random.default_rng(0).permutation(np.arange(64, end))[: n_draws(60, end)]:
        for bit in (1, 128):
            cache.write_bytes(whole[:i] + bytes([whole[i] ^ bit]) + whole[i + 1 :])
            with pytest.raises(ValueError, match=r"is damaged: the check sum of the rows from line \d+ on differs"):
                list(SvmlightReader(path, **form, cache=True))


@pytest.mark.parametrize("content", [ROWS, b"x", bytes(100)])
def test_a_file_that_is_no_cache_is_refused_and_kept(path, content):
    other = path.with_name("precious")
    other.write_bytes(content)
    for use in (SvmlightReader.scan, list):
        with pytest.raises(ValueError, match=r"cache='.*precious' is no cache of SvmlightReader; accepted are"):
            use(SvmlightReader(path, cache=other))
    assert other.read_bytes() == content


def test_the_file_itself_is_refused(path):
    with pytest.raises(ValueError, match=r"cache='.*rows\.svm' is the file that is read"):
        SvmlightReader(path, cache=path)


def test_a_folder_that_cannot_be_written_is_refused_before_the_pass(path, parsed):
    for cache, kind in ((path.parent / "none" / "cache", FileNotFoundError), ("/proc/cache", OSError)):
        with pytest.raises(kind, match="cannot be written"):
            SvmlightReader(path, cache=cache).scan()
    with pytest.raises(ValueError, match="is no file"):
        SvmlightReader(path, cache=path.parent).scan()
    assert parsed == []


def test_a_full_disk_is_named_and_leaves_nothing(path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"cache='.*rows\.svm\.cache' cannot be written: No space left") as error:
        SvmlightReader(path, cache=True).scan()
    assert error.value.errno == errno.ENOSPC
    assert files(path.parent) == ["rows.svm"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(ROWS,), daemon=True)
    writer.start()
    form = {"n_features": 5, "zero_based": False}
    with pytest.raises(ValueError, match=r"cache='.*cache' is not accepted with path='.*pipe', which can be read only once"):
        next(iter(SvmlightReader(path, **form, cache=True)))
    assert len(list(SvmlightReader(path, **form))) == 1
    writer.join()


# ------------------------------------------------------------------------------------------------------------ resources


def test_labels_and_rows_that_are_kept_keep_few_files_open(path, monkeypatch):
    monkeypatch.setattr(_cache, "WINDOW", 2**16)
    path.write_bytes(b"1 1:0.1 2:1\n" * 3000)
    form = {"n_features": 2, "zero_based": False, "chunk_rows": 1, "cache": True}
    SvmlightReader(path, **form).scan()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    kept = list(islice(SvmlightReader(path, **form), 3000))
    if before:
        assert len(os.listdir("/proc/self/fd")) - before < 40
    assert len(kept) == 3000
    kept = [y for _, y, _ in kept]
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_name_as_long_as_names_may_be(tmp_path):
    text = tmp_path / ("x" * 245 + ".svm")  # and .cache: 255 bytes
    text.write_text("1 1:1\n0 2:1\n")
    for _ in range(2):
        assert [y.tolist() for _, y, _ in SvmlightReader(text, cache=True)] == [[1.0, 0.0]]
    assert {path.name for path in tmp_path.iterdir()} == {text.name, f"{text.name}.cache"}
