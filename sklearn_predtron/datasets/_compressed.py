"""Compressed files, read as they are."""

from __future__ import annotations

import gzip
from bz2 import BZ2Decompressor
from io import DEFAULT_BUFFER_SIZE, BufferedReader, RawIOBase
from typing import IO, Any


def decompressed(raw: IO[bytes], path: str) -> IO[bytes]:
    """Return the file, decompressed if its name says so."""
    if path.endswith(".gz"):
        return BufferedReader(gzip.GzipFile(fileobj=raw))
    return BufferedReader(Bz2Stream(raw)) if path.endswith(".bz2") else raw


class Bz2Stream(RawIOBase):
    """The contents of a bz2 file, stream by stream; `bz2.BZ2File` drops all from the first trailing non-stream on."""

    def __init__(self, raw: IO[bytes]):
        self._raw = raw
        self._stream = BZ2Decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = b""
        while not found:
            packed = self._stream.unused_data
            if self._stream.eof or self._stream.needs_input:
                packed = packed or self._raw.read(DEFAULT_BUFFER_SIZE)
                if not packed and self._stream.eof:
                    return 0
                if not packed:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            if self._stream.eof:
                self._stream = BZ2Decompressor()
            found = self._stream.decompress(packed, len(buffer))
        buffer[: len(found)] = found
        return len(found)
