"""A binary cache of what is parsed of an svmlight file, mapped into memory when it is read.

A start of 64 bytes; of each chunk its values, indices, row starts, labels, and if there are any the starts of the label sets and
the ids, each on a multiple of 64 bytes; at the end the index: a line of JSON, and a table that says where the chunks are.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import tempfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from mmap import ACCESS_COPY, ALLOCATIONGRANULARITY, mmap
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron.datasets._broken_lines import LineRules
from sklearn_predtron.datasets._rows import Chunk, RowLabels
from sklearn_predtron.datasets._summary import RunningSummary
from sklearn_predtron.datasets._svmlight import MOST_FEATURES

FORMAT = 2
MAGIC = b"predtron svmlight cache\n"
START = struct.Struct("<24sIIQQ")  # magic, format, check sum of the index, where it begins and how long it is
SUM = struct.Struct("<I")  # of the start
ALIGNMENT = 64
WINDOW = 2**26  # bytes that are mapped at once: a map costs an open file, and a map of all counts as memory
MOST_CLASSES = 100_000  # that a cache remembers

Parsed = Generator[tuple[Chunk, "float | None"], None, None]


class Place(NamedTuple):
    """Where a chunk is, and what it holds; `lowest` and `largest` are indices of the text, which counts from `base` in it.

    Its arrays are `length` bytes, whose words of 64 bits add up to `check`.
    """

    offset: int
    length: int
    check: int
    first: int
    rows: int
    labels: int
    entries: int
    lowest: int
    largest: int
    base: int
    value_bytes: int


class ChunkCache:
    """The cache of a file that is read in one way.

    Parameters
    ----------
    path : str
        The cache.
    source : str
        The file.
    settings : dict
        How the file is read; a cache of another way is written anew.
    """

    def __init__(self, path: str, source: str, settings: dict[str, Any]):
        self.path = path
        self.source = source
        self.settings = settings

    def summary(self) -> RunningSummary | None:
        """Return what a whole pass found, if there is a cache."""
        with self._opened() as found:
            return None if found is None else found.summary

    def chunks(self, rules: LineRules, parsed: Parsed) -> Parsed:
        """Yield each chunk, and how much is read with it: from the cache, or as it is parsed, and written to the cache."""
        with closing(parsed), self._opened() as found:
            if found is None:
                yield from self._write(rules, parsed)
                return
            for i, place in enumerate(found.places):
                if not found.is_whole(place):
                    raise self._damaged(f"the check sum of the rows from line {place.first} on differs")
                chunk = found.chunk(place, rules)
                if chunk is None:  # These rules refuse a line, which only the text can show.
                    yield from islice(parsed, i, None)
                    return
                yield chunk, (i + 1) / len(found.places)

    def _write(self, rules: LineRules, parsed: Parsed) -> Iterator[tuple[Chunk, float | None]]:
        """Yield the chunks as they are parsed, and put the cache in its place after the last one."""
        about = self._about()
        with CacheWriter(self.path, self.source, about) as writer:
            for chunk, fraction in parsed:
                writer.add(chunk, base=not rules.zero_based)
                yield chunk, fraction
            if self._about() == about:  # else the file was changed meanwhile
                writer.complete()

    def _about(self) -> dict[str, Any]:
        """Return what a cache must be of."""
        if os.path.exists(self.source) and not os.path.isfile(self.source):
            raise ValueError(f"cache={self.path!r} is not accepted with path={self.source!r}, which can be read only once.")
        stat = os.stat(self.source)
        # Who sets the time of a change, as copies that keep it do, changes the status at another.
        times = {"mtime_ns": stat.st_mtime_ns, "ctime_ns": stat.st_ctime_ns}
        source = {"name": os.path.basename(self.source), "size": stat.st_size, **times}
        return {"source": source, "byteorder": sys.byteorder, **self.settings}

    @contextmanager
    def _opened(self) -> Iterator[MappedChunks | None]:
        """Open the cache; None if there is none, or one of another file or another way of reading it."""
        about = self._about()
        if not os.path.exists(self.path):
            yield None
            return
        if not os.path.isfile(self.path):
            raise ValueError(f"cache={self.path!r} is no file.")
        with open(self.path, "rb") as file:
            line, _, table = self._index(file).partition(b"\n")
            found = json.loads(line)
            if found.get("about") == about:
                rows = np.frombuffer(table, dtype=np.int64).reshape(-1, len(Place._fields)).tolist()
                yield MappedChunks(file, [Place(*row) for row in rows], RunningSummary.of(found["summary"]), about)
                return
        yield None

    def _index(self, file: IO[bytes]) -> bytes:
        """Return the index, or one that is about nothing if the cache is of another format."""
        size, start = os.fstat(file.fileno()).st_size, file.read(ALIGNMENT)
        if start[: len(MAGIC)] != MAGIC[: len(start)]:
            raise ValueError(
                f"cache={self.path!r} is no cache of SvmlightReader; accepted are a file that it wrote, which may be written "
                "anew, and one that is not there."
            )
        if len(start) < ALIGNMENT:
            raise self._damaged(f"it has {size} bytes")
        _, number, check, offset, length = START.unpack_from(start)
        if SUM.unpack_from(start, START.size)[0] != zlib.crc32(start[: START.size]):
            raise self._damaged("the check sum of its start differs")
        if number != FORMAT:
            return b"{}"
        if size != offset + length:
            raise self._damaged(f"it has {size:,} bytes, and should have {offset + length:,}")
        file.seek(offset)
        index = file.read(length)
        if zlib.crc32(index) != check:
            raise self._damaged("the check sum of its index differs")
        return index

    def _damaged(self, reason: str) -> ValueError:
        """Return an error that says what to do."""
        return ValueError(f"cache={self.path!r} is damaged: {reason}.  Delete it, and it is written anew.")


class CacheWriter:
    """Writes a cache, which takes its place when it is complete; else nothing is left of it."""

    def __init__(self, path: str, source: str, about: dict[str, Any]):
        self._given, self._path, self._about = path, os.path.realpath(path), about
        self._summary, self._places = RunningSummary(MOST_CLASSES), list[Place]()
        with self._named():
            folder, name = os.path.split(self._path)
            handle, self._part = tempfile.mkstemp(prefix=f"{name}.", suffix=".part", dir=folder)
            self._file = open(handle, "wb")  # noqa: SIM115
        try:
            shutil.copymode(source, self._part)  # who may not read the file may not read its cache
            self._write(bytes(ALIGNMENT))
        except BaseException:
            self._discard()
            raise

    def __enter__(self) -> CacheWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._discard()

    def _discard(self) -> None:
        """Remove what is not in its place."""
        with suppress(OSError):
            self._file.close()
        with suppress(FileNotFoundError):
            os.unlink(self._part)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say what the system's errors are about."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, f"cache={self._given!r} cannot be written: {error.strerror}") from None

    def _write(self, data: Any) -> None:
        """Write an array, or bytes, and fill up with zeros."""
        with self._named():
            self._file.write(data)
            self._file.write(bytes(-self._file.tell() % ALIGNMENT))

    def add(self, chunk: Chunk, base: int) -> None:
        """Write a chunk, whose indices count from `base` in the text."""
        X, labels = chunk.X, chunk.labels
        lowest, largest = int(X.indices.min(initial=1)) + base, int(X.indices.max(initial=-1 - base)) + base
        kept = int(lowest >= 1)  # then indices need no change for a text that counts from 1
        values = narrowed(X.data)
        sizes = X.shape[0], len(labels.values), X.nnz
        indices = X.indices.astype(np.int32, copy=False)
        arrays = [values, indices if kept == base else indices + np.int32(base - kept), X.indptr, labels.values]
        arrays += [labels.start] if labels.start is not None else []
        arrays += [chunk.qid] if chunk.qid is not None else []
        offset, data = self._file.tell(), [np.ascontiguousarray(array).data for array in arrays]
        for part in data:
            self._write(part)
        where = offset, self._file.tell() - offset, sum_of_words(data)
        self._summary.add(chunk, base)
        self._places.append(Place(*where, chunk.first, *sizes, lowest, largest, kept, values.itemsize))

    def complete(self) -> None:
        """Write the index and the start, and put the file in its place."""
        line = json.dumps({"about": self._about, "summary": self._summary.state()}).encode() + b"\n"
        index = line + np.array(self._places, dtype=np.int64).tobytes()
        with self._named():
            start = START.pack(MAGIC, FORMAT, zlib.crc32(index), self._file.tell(), len(index))
            self._file.write(index)
            self._file.seek(0)
            self._file.write(start + SUM.pack(zlib.crc32(start)))
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._part, self._path)


class MappedChunks:
    """The chunks of a cache that is open."""

    def __init__(self, file: IO[bytes], places: list[Place], summary: RunningSummary, about: dict[str, Any]):
        self.places = places
        self.summary = summary
        self._file, self._size, self._about = file, os.fstat(file.fileno()).st_size, about
        self._map: mmap | None = None
        self._begin = self._end = 0

    def is_whole(self, place: Place) -> bool:
        """Return whether the bytes of a chunk are those that were written."""
        window = memoryview(self._window(place.offset, place.offset + place.length))
        begin = place.offset - self._begin
        return sum_of_words([window[begin : begin + place.length]]) == place.check

    def chunk(self, place: Place, rules: LineRules) -> Chunk | None:
        """Return a chunk; None if the rules refuse one of its lines."""
        base = 1 - rules.zero_based
        width = max(1, place.largest + 1 - base)
        if place.lowest < base or width > (rules.n_features or MOST_FEATURES):
            return None
        values, indices, starts, labels, label_starts, ids = self._arrays(place)
        # Only the rows are mapped: who keeps all labels would keep all maps.
        values_of_labels = labels.copy()
        if rules.classes is not None and not np.isin(values_of_labels, rules.classes).all():
            return None
        if base != place.base:
            indices = indices + np.int32(place.base - base)
        X = sparse.csr_matrix(
            (values.astype(rules.dtype, copy=False), indices, starts), shape=(place.rows, rules.n_features or width)
        )
        return Chunk(
            X,
            RowLabels(values_of_labels, label_starts.copy() if rules.multilabel else None),
            ids.copy() if self._has_ids else None,
            place.first,
            None,
        )

    @property
    def _has_ids(self) -> bool:
        return self._about["query_id"] or self._about["sequence_id"]

    def _arrays(self, place: Place) -> list[NDArray]:
        """Return the arrays of a chunk: their pages are read when they are touched, and a write to them changes a copy."""
        rows, offset = place.rows, place.offset
        counts: Iterable[tuple[Any, int]] = (
            (np.float32 if place.value_bytes == 4 else np.float64, place.entries),
            (np.int32, place.entries),
            (np.int32 if place.entries <= MOST_FEATURES else np.intp, rows + 1),
            (np.float64, place.labels),
            (np.intp, (rows + 1) * self._about["multilabel"]),
            (np.int64, rows * self._has_ids),
        )
        parts = []
        for dtype, n in counts:
            parts.append((dtype, n, offset))
            offset += n * np.dtype(dtype).itemsize
            offset += -offset % ALIGNMENT
        window = self._window(place.offset, offset)
        return [np.frombuffer(window, dtype, n, at - self._begin) if n else np.empty(0, dtype) for dtype, n, at in parts]

    def _window(self, begin: int, end: int) -> mmap:
        """Return a map of a part of the file."""
        if self._map is None or begin < self._begin or end > self._end:
            self._begin = begin // ALLOCATIONGRANULARITY * ALLOCATIONGRANULARITY
            self._end = min(self._size, max(end, self._begin + WINDOW))
            self._map = mmap(self._file.fileno(), self._end - self._begin, access=ACCESS_COPY, offset=self._begin)
        return self._map


def sum_of_words(parts: Iterable[memoryview]) -> int:
    """Return the sum of words of 64 bits, modulo 2**64 and with a sign; each part begins with a word, and zeros follow it."""
    total = 0
    for part in parts:
        data = part.cast("B")
        n = len(data) // 8 * 8
        total += int(np.frombuffer(data[:n], np.uint64).sum()) if n else 0
        total += int.from_bytes(bytes(data[n:]).ljust(8, b"\0"), sys.byteorder)
    return (total + 2**63) % 2**64 - 2**63


def narrowed(values: NDArray) -> NDArray:
    """Return values as float32 if each is one, to the last bit."""
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return narrow if (narrow == values).all() else values
