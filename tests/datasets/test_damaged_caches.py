"""Caches of svmlight files that are damaged, or that somebody else has written: refused, and never read as other rows."""

import itertools
import struct

import numpy as np
import pytest
from fuzz.damage import check_matrix, check_rows
from fuzz.forgery import Forgery

from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.datasets._cache import ChunkPlace
from sklearn_predtron.datasets._check_sum import check_sum

ROWS = b"1 1:0.1 3:2\n0 2:1\n1 2:0.3\n0 1:0.7 4:5\n1 4:0.9\n"
SETS = b"1,3 1:0.1\n2 2:0.3\n 3:1\n1,2,3 1:1\n2 4:7\n"
IDS = b"1 qid:7 1:0.1 3:2\n0 qid:7 2:1\n1 qid:7 2:0.3\n0 qid:8 1:0.7 4:5\n1 qid:8 4:0.9\n"
WAYS = {"labels": ({}, ROWS), "sets": ({"multilabel": True}, SETS), "queries": ({"query_id": True}, IDS)}


@pytest.fixture(params=WAYS)
def cached(request, tmp_path):
    """How a file is read, and its cache."""
    form, text = WAYS[request.param]
    path = tmp_path / "rows.svm"
    path.write_bytes(text)
    how = {"path": path, "chunk_rows": 3, "cache": True, **form}
    SvmlightReader(**how).scan()
    return how, tmp_path / "rows.svm.cache"


def rows(how):
    """All rows, labels and what comes with them; X and y are well formed."""
    found = []
    for X, y, more in SvmlightReader(**how):
        if how.get("multilabel"):
            check_matrix(y)
            y = y.toarray()
        check_rows(X, y, more if how.get("query_id") else None)
        found.append((X.toarray().tolist(), y.tolist(), np.asarray(more).tolist()))
    return found


# ------------------------------------------------------------------------------------------------------------ check sums


def plain_sum(data):
    """The check sum, in Python's own integers."""
    bits, lanes, whole = 2**64 - 1, list(range(1, 9)), len(data)
    data = data.ljust(-(-len(data) // 64) * 64, b"\0")
    for at in range(0, len(data), 64):
        for k, word in enumerate(struct.unpack_from("=8Q", data, at)):
            lane = lanes[k] + word & bits
            lanes[k] = ((lane << 27 | lane >> 37) & bits) * 0x9E3779B185EBCA87 & bits
    for lane in lanes:
        whole = whole + lane & bits
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            whole = (whole ^ whole >> 33) * factor & bits
        whole ^= whole >> 33
    return whole - 2**64 * (whole >= 2**63)


@pytest.mark.parametrize("length", [0, 1, 8, 63, 64, 127, 128, 129, 1000, 4096])
def test_the_sum_is_that_of_plain_integers(length):
    data = np.random.default_rng(0).bytes(length)
    assert check_sum(data) == plain_sum(data) == check_sum(memoryview(bytearray(data)))
    assert check_sum(data + b"\0") != check_sum(data)


def test_no_two_words_may_change_places():
    """Nor may four, nor blocks: of numbers that differ in few bits, and of any."""
    random, number = np.random.default_rng(0), np.arange(96)
    for words in (2.0 ** (number % 48), number % 5 - 2.0, number.astype(float), random.standard_normal(96)):
        found = {words.tobytes()}
        for i, j in itertools.combinations(range(len(words)), 2):
            other = words.copy()
            other[[i, j]] = other[[j, i]]
            found.add(other.tobytes())
            other[[i - 1, j - 9]] = other[[j - 9, i - 1]]
            found.add(other.tobytes())
        found.update(words.reshape(6, 16)[random.permutation(6)].tobytes() for _ in range(500))
        found.update(words.reshape(12, 8)[random.permutation(12)].tobytes() for _ in range(1000))
        found.update(words.reshape(12, 8)[:, random.permutation(8)].tobytes() for _ in range(1000))
        assert len({check_sum(data) for data in found}) == len(found) > 3000


# ---------------------------------------------------------------------------------------------------------------- damage


def test_words_that_change_places_are_refused(cached):
    how, cache = cached
    whole, expected = cache.read_bytes(), rows(how)
    words, refused = np.frombuffer(whole, np.uint64, len(whole) // 8), 0
    for i, j in np.random.default_rng(0).integers(len(words), size=(600, 2)):
        if words[i] == words[j]:
            continue
        other = words.copy()
        other[[i, j]] = other[[j, i]]
        cache.write_bytes(other.tobytes() + whole[len(words) * 8 :])
        with pytest.raises(ValueError, match=r"rows\.svm\.cache' is (damaged|no cache)"):
            rows(how)
        refused += 1
    assert refused > 300
    cache.write_bytes(whole)
    assert rows(how) == expected


# --------------------------------------------------------------------------------------------------------------- forgery


def test_a_forgery_without_a_change_is_read(cached):
    how, cache = cached
    expected, whole = rows(how), cache.read_bytes()
    Forgery(cache).write()
    assert rows(how) == expected and cache.read_bytes() == whole


def refused(how, what="are none"):
    with pytest.raises(ValueError, match=rf"rows\.svm\.cache' is damaged: the rows from line \d+ on {what}"):
        rows(how)


@pytest.mark.parametrize("value", [-1, 1, 2**31 - 1, -(2**31)])
def test_numbers_of_rows_that_lead_elsewhere_are_refused(cached, value):
    """Indices, and where rows and their labels begin."""
    how, cache = cached
    for which in [1, 2, 4] if how.get("multilabel") else [1, 2]:
        whole = Forgery(cache)
        for k, place in enumerate(whole.places):
            for i in range(len(whole.array(which, place))):
                forgery = Forgery(cache)
                array = forgery.array(which, forgery.places[k])
                if value == 1:
                    array[i] += 9  # an index beyond the width, a row that begins beyond the next
                else:
                    array[i] = value
                before = cache.read_bytes()
                forgery.write()
                refused(how)
                cache.write_bytes(before)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_labels_that_are_none_are_refused(cached, value):
    how, cache = cached
    forgery = Forgery(cache)
    forgery.array(3, forgery.places[1])[0] = value
    forgery.write()
    if how.get("multilabel"):  # it is none of the classes that the index has, so that the text has the say
        assert rows(how) == rows({**how, "cache": None})
    else:
        refused(how)


def test_places_that_are_none_are_refused(cached):
    """Whatever the numbers of a place are, what is read is well formed, or refused."""
    how, cache = cached
    whole, n_refused = cache.read_bytes(), 0
    changes = [(1, more) for more in (-1, 1, 7, 8, 64, -64, 4096, 2**31, 2**32, 2**62, -(2**62))] + [(0, 0), (0, -1)]
    for k, name, (times, more), is_long in itertools.product(range(2), ChunkPlace._fields, changes, [False, True]):
        forgery = Forgery(cache)
        place = forgery.places[k]
        place = place._replace(**{name: times * getattr(place, name) + more})
        forgery.places[k] = place._replace(length=length(place, how)) if is_long else place
        forgery.write()
        try:
            rows(how)
        except ValueError as error:
            assert "rows.svm" in str(error)
            n_refused += "is damaged" in str(error)
        cache.write_bytes(whole)
    assert n_refused > 200


def length(place, how):
    """How long the arrays of a chunk are that has such numbers."""
    n = place.rows + 1
    sizes = [place.value_bytes * place.entries, 4 * place.entries, 4 * n, 8 * place.labels]
    sizes += [8 * n * how.get("multilabel", False), 8 * place.rows * how.get("query_id", False)]
    at = place.offset
    for size in sizes:
        at = -(-(at + size) // 64) * 64
    return max(-(2**63), min(at - place.offset, 2**63 - 1))


def test_values_longer_than_what_is_read_are_refused(tmp_path):
    """Which numbers of 4 bytes could not hold."""
    path, cache = tmp_path / "rows.svm", tmp_path / "rows.svm.cache"
    path.write_bytes(ROWS)
    how = {"path": path, "chunk_rows": 3, "cache": True, "dtype": np.float32}
    SvmlightReader(**how).scan()
    forgery = Forgery(cache)
    place = forgery.places[0]._replace(value_bytes=8)
    forgery.places[0] = place._replace(length=length(place, how))
    forgery.write()
    refused(how, "have no place")


def test_rows_beyond_the_end_are_refused(cached):
    """Whose check sum is that of what is there."""
    how, cache = cached
    forgery = Forgery(cache)
    for offset in (len(cache.read_bytes()) // 64 * 64, 2**40):
        place = forgery.places[1]._replace(offset=offset)
        there = cache.read_bytes()[offset:]
        forgery.places[1] = place._replace(check=check_sum(there))
        forgery.write()
        refused(how, "have no place")


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"[]",
        b"3",
        b"null",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        {"summary": None},
        {"summary": {}},
        {"summary": {"classes": [1.0, 0.0]}},
        {"summary": {"classes": [0.0, None]}},
        {"summary": {"classes": [[0.0]]}},
        {"summary": {"classes": "ab"}},
        {"summary": {"classes": [0.0, float("inf")]}},
        {"summary": {"largest": 2.5}},
        {"summary": {"n_rows": "many"}},
    ],
    ids=lambda index: str(index)[:50],
)
def test_an_index_that_is_none_is_refused(cached, index):
    how, cache = cached
    forgery = Forgery(cache)
    if isinstance(index, bytes):
        forgery.index = index
    elif index["summary"]:
        forgery.index["summary"].update(index["summary"])
    else:
        forgery.index.update(index)
    forgery.write()
    for use in (rows, lambda how: SvmlightReader(**how).scan()):
        with pytest.raises(ValueError, match=r"rows\.svm\.cache' is damaged: its index is none"):
            use(how)
