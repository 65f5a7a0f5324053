"""A memory-mapped binary cache of a parsed svmlight file.

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
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from mmap import ACCESS_COPY, ALLOCATIONGRANULARITY, mmap
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.replacing import LONGEST
from sklearn_predtron.datasets._broken_lines import LineRules
from sklearn_predtron.datasets._check_sum import check_sum
from sklearn_predtron.datasets._rows import Chunk, RowLabels
from sklearn_predtron.datasets._summary import RunningSummary
from sklearn_predtron.datasets._svmlight import MOST_FEATURES

FORMAT = 3
MAGIC = b"predtron svmlight cache\n"
START = struct.Struct("<24sIIQQ12x")  # magic, format, check sum of the index, where it begins and how long it is
SUM = struct.Struct("<I")  # of the start
ALIGNMENT = START.size + SUM.size
WINDOW = 2**26  # bytes that are mapped at once: a map costs an open file, and a map of all counts as memory
MOST_CLASSES = 100_000  # that a cache remembers

Parsed = Generator[tuple[Chunk, "float | None"], None, None]


class ChunkPlace(NamedTuple):
    """The place, size and index range of a cached chunk; its arrays are `length` bytes with the sum `check`."""

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
    """The cache of a file under fixed reading options.

    Parameters
    ----------
    path : str
        The cache.
    source : str
        The file.
    settings : dict
        How the file is read; a cache of another way is written again.
    """

    def __init__(self, path: str, source: str, settings: dict[str, Any]):
        self.path = path
        self.source = source
        self.settings = settings

    def summary(self) -> RunningSummary | None:
        """Return the summary of a complete cache, or None."""
        with self._opened() as found:
            return None if found is None else found.summary

    def chunks(self, rules: LineRules, parsed: Parsed) -> Parsed:
        """Yield each chunk and the progress; chunks come from the cache, or are parsed and written to it."""
        with closing(parsed), self._opened() as found:
            if found is None:
                yield from self._write(rules, parsed)
                return
            for i, place in enumerate(found.places):
                try:
                    chunk = found.chunk(place, rules)
                except DamagedCacheError as error:
                    raise self._damaged(str(error)) from None
                if chunk is None:  # These rules reject a line, which only the text can show.
                    yield from islice(parsed, i, None)
                    return
                yield chunk, (i + 1) / len(found.places)

    def _write(self, rules: LineRules, parsed: Parsed) -> Iterator[tuple[Chunk, float | None]]:
        """Yield the parsed chunks, and install the cache after the last."""
        about = self._about()
        with CacheWriter(self.path, self.source, about) as writer:
            for chunk, fraction in parsed:
                writer.add(chunk, base=not rules.zero_based)
                yield chunk, fraction
            if self._about() == about:  # else the file was changed meanwhile
                writer.complete()

    def _about(self) -> dict[str, Any]:
        """Return the file properties and settings that must match."""
        if os.path.exists(self.source) and not os.path.isfile(self.source):
            raise ValueError(f"cache={self.path!r} is not accepted with path={self.source!r}, which can be read only once.")
        stat = os.stat(self.source)
        # Who sets the time of a change, as copies that keep it do, changes the status at another.
        times = {"mtime_ns": stat.st_mtime_ns, "ctime_ns": stat.st_ctime_ns}
        source = {"name": os.path.basename(self.source), "size": stat.st_size, **times}
        return {"source": source, "byteorder": sys.byteorder, **self.settings}

    @contextmanager
    def _opened(self) -> Iterator[MappedChunks | None]:
        """Open the cache; None if missing or stale."""
        about = self._about()
        if not os.path.exists(self.path):
            yield None
            return
        if not os.path.isfile(self.path):
            raise ValueError(f"cache={self.path!r} is no file.")
        with open(self.path, "rb") as file:
            line, _, table = self._index(file).partition(b"\n")
            try:
                found = json.loads(line)
                if found.get("about") == about:
                    rows = np.frombuffer(table, dtype=np.int64).reshape(-1, len(ChunkPlace._fields)).tolist()
                    mapped = MappedChunks(file, [ChunkPlace(*row) for row in rows], RunningSummary.of(found["summary"]), about)
                else:
                    mapped = None
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):  # somebody's own index
                raise self._damaged("its index is none") from None
            yield mapped

    def _index(self, file: IO[bytes]) -> bytes:
        """Return the index, empty if the format is another."""
        size, start = os.fstat(file.fileno()).st_size, file.read(ALIGNMENT)
        if start[: len(MAGIC)] != MAGIC[: len(start)]:
            raise ValueError(
                f"cache={self.path!r} is no cache of SvmlightReader; accepted are a file that it wrote, which it can "
                "overwrite, and a path without a file."
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
        """Return an error with advice."""
        return ValueError(f"cache={self.path!r} is damaged: {reason}.  Delete it, and it is written again.")


class CacheWriter:
    """Writes a cache, which is installed only when complete."""

    def __init__(self, path: str, source: str, about: dict[str, Any]):
        self._given, self._path, self._about = path, os.path.realpath(path), about
        self._summary, self._places = RunningSummary(MOST_CLASSES), list[ChunkPlace]()
        with self._named():
            folder, name = os.path.split(self._path)
            handle, self._part = tempfile.mkstemp(prefix=f"{name[:LONGEST]}.", suffix=".part", dir=folder)
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
        """Remove an incomplete cache."""
        with suppress(OSError):
            self._file.close()
        with suppress(FileNotFoundError):
            os.unlink(self._part)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in errors of the system."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, f"cache={self._given!r} cannot be written: {error.strerror}") from None

    def _write(self, data: bytes) -> None:
        """Write bytes."""
        with self._named():
            self._file.write(data)

    def add(self, chunk: Chunk, base: int) -> None:
        """Write a chunk, with indices counted from `base`."""
        X, labels = chunk.X, chunk.labels
        lowest, largest = int(X.indices.min(initial=1)) + base, int(X.indices.max(initial=-1 - base)) + base
        kept = int(lowest >= 1)  # then indices need no change for a text that counts from 1
        values = narrowed(X.data)
        sizes = X.shape[0], len(labels.values), X.nnz
        indices = X.indices.astype(np.int32, copy=False)
        arrays = [values, indices if kept == base else indices + np.int32(base - kept), X.indptr, labels.values]
        arrays += [labels.start.astype(np.int64, copy=False)] if labels.start is not None else []
        arrays += [chunk.qid] if chunk.qid is not None else []
        data = b"".join(pad_to_array(array.tobytes()) for array in arrays)
        where = self._file.tell(), len(data), check_sum(data)
        self._write(data)
        self._summary.add(chunk, base)
        self._places.append(ChunkPlace(*where, chunk.first, *sizes, lowest, largest, kept, values.itemsize))

    def complete(self) -> None:
        """Write index and header, and install the file."""
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


class DamagedCacheError(Exception):
    """A chunk is missing in the cache."""


class MappedChunks:
    """The chunks of an open cache."""

    def __init__(self, file: IO[bytes], places: list[ChunkPlace], summary: RunningSummary, about: dict[str, Any]):
        self.places = places
        self.summary = summary
        self._file, self._size, self._about = file, os.fstat(file.fileno()).st_size, about
        self._map: mmap | None = None
        self._begin = self._end = 0

    def chunk(self, place: ChunkPlace, rules: LineRules) -> Chunk | None:
        """Return a chunk; None if the rules reject a line."""
        values, indices, starts, labels, label_starts, ids = self._arrays(place)
        base = 1 - rules.zero_based
        width = max(1, place.largest + 1 - base)
        if place.lowest < base or width > (rules.n_features or MOST_FEATURES):
            return None
        # Only the rows are mapped: who keeps all labels would keep all maps.
        values_of_labels = labels.copy()
        if rules.classes is not None and not np.isin(values_of_labels, rules.classes).all():
            return None
        if base != place.base:
            indices = indices + np.int32(place.base - base)
        sound = are_starts(starts, place.entries) and (not rules.multilabel or are_starts(label_starts, place.labels))
        sound = sound and indices.view(np.uint32).max(initial=0) < width  # as which a negative index is huge
        if not sound or not np.isfinite(values_of_labels).all():
            # The check sum is right, so another program has written them.
            raise DamagedCacheError(f"the rows from line {place.first} on are none")
        return Chunk(
            (values.astype(rules.dtype, copy=False), indices, starts),
            (place.rows, rules.n_features or width),
            RowLabels(values_of_labels, label_starts.astype(np.intp) if rules.multilabel else None),
            ids.copy() if self._has_ids else None,
            place.first,
            None,
        )

    @property
    def _has_ids(self) -> bool:
        return self._about["query_id"] or self._about["sequence_id"]

    def _arrays(self, place: ChunkPlace) -> list[NDArray]:
        """Return the arrays of a chunk, mapped copy-on-write."""
        sizes, at, parts = (place.rows, place.labels, place.entries), place.offset, []
        numbers = place.base in (0, 1) and place.value_bytes in (4, np.dtype(self._about["dtype"]).itemsize)
        if not numbers or min(sizes) < 0 or at < ALIGNMENT or at % ALIGNMENT:
            raise DamagedCacheError(f"the rows from line {place.first} on have no place")
        for dtype, n in self._layout(place):
            parts.append((dtype, n, at))
            at += n * np.dtype(dtype).itemsize
            at += -at % ALIGNMENT
        labelled = self._about["multilabel"] or place.labels == place.rows
        if at != place.offset + place.length or at > self._size or not labelled:
            raise DamagedCacheError(f"the rows from line {place.first} on have no place")
        window = self._window(place.offset, at)
        begin = place.offset - self._begin
        if check_sum(memoryview(window)[begin : begin + place.length]) != place.check:
            raise DamagedCacheError(f"the check sum of the rows from line {place.first} on differs")
        return [np.frombuffer(window, dtype, n, at - self._begin) if n else np.empty(0, dtype) for dtype, n, at in parts]

    def _layout(self, place: ChunkPlace) -> list[tuple[Any, int]]:
        """Return the types and lengths of a chunk's arrays."""
        return [
            (np.float32 if place.value_bytes == 4 else np.float64, place.entries),
            (np.int32, place.entries),
            (np.int32 if place.entries <= MOST_FEATURES else np.int64, place.rows + 1),
            (np.float64, place.labels),
            (np.int64, (place.rows + 1) * self._about["multilabel"]),
            (np.int64, place.rows * self._has_ids),
        ]

    def _window(self, begin: int, end: int) -> mmap:
        """Map a part of the file."""
        if self._map is None or begin < self._begin or end > self._end:
            self._begin = begin // ALLOCATIONGRANULARITY * ALLOCATIONGRANULARITY
            self._end = min(self._size, max(end, self._begin + WINDOW))
            self._map = mmap(self._file.fileno(), self._end - self._begin, access=ACCESS_COPY, offset=self._begin)
        return self._map


def are_starts(starts: NDArray, end: int) -> bool:
    """Return whether parts with these starts are contiguous; the first starts at 0 and the last ends at `end`."""
    return bool(starts[0] == 0 and starts[-1] == end and (starts[1:] >= starts[:-1]).all())


def pad_to_array(data: bytes) -> bytes:
    """Return bytes padded to the next array's start."""
    return data + bytes(-len(data) % ALIGNMENT)


def narrowed(values: NDArray) -> NDArray:
    """Return values as float32 if that is exact."""
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return narrow if (narrow == values).all() else values
