"""Caches taken apart and written with right check sums, as whoever knows the format could."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_predtron.datasets._cache import ChunkPlace
from sklearn_predtron.datasets._check_sum import check_sum


class Forgery:
    """Hold what a cache consists of, to be changed: all bytes before the index, its JSON (or bytes), and the places of chunks."""

    def __init__(self, path: Path):
        self.path, data = path, path.read_bytes()
        offset = int.from_bytes(data[32:40], "little")
        line, _, table = data[offset:].partition(b"\n")
        self.data = bytearray(data[:offset])
        self.index: Any = json.loads(line)
        self.places = [ChunkPlace(*row) for row in np.frombuffer(table, np.int64).reshape(-1, len(ChunkPlace._fields)).tolist()]

    def array(self, which: int, place: ChunkPlace) -> np.ndarray:
        """Return an array of a chunk: values, indices, starts, labels, the starts of label sets."""
        n = place.rows + 1
        kinds = [(f"f{place.value_bytes}", place.entries), ("i4", place.entries), ("i4", n), ("f8", place.labels), ("i8", n)]
        at = place.offset + sum(-(-size * np.dtype(kind).itemsize // 64) * 64 for kind, size in kinds[:which])
        return np.frombuffer(self.data, *kinds[which], at)

    def write(self) -> None:
        """Write the cache, with the check sums that belong to it."""
        table = b"".join(struct.pack("=11q", *self.summed(place)) for place in self.places)
        index = (self.index if isinstance(self.index, bytes) else json.dumps(self.index).encode()) + b"\n" + table
        start = self.data[:28] + struct.pack("<IQQ12x", zlib.crc32(index), len(self.data), len(index))
        self.path.write_bytes(start + struct.pack("<I", zlib.crc32(start)) + self.data[64:] + index)

    def summed(self, place: ChunkPlace) -> ChunkPlace:
        """Return a place with the check sum of what is there, if it is a place in the file."""
        inside = 0 <= place.offset <= place.offset + place.length <= len(self.data)
        return place._replace(check=check_sum(self.data[place.offset : place.offset + place.length])) if inside else place
