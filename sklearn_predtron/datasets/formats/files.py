"""Files of rows, which may be pipes or standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, FileIO, RawIOBase
from tempfile import TemporaryFile
from typing import IO, Any

BLOCK = 2**20
STANDARD = "-"  # the name of standard input

Progress = Callable[[str, float | None], Any]


class FileError(OSError):
    """A file cannot be read or written."""


@contextmanager
def named(what: str) -> Iterator[None]:
    """Name the file in errors of the system."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{what}: {error.strerror or error}") from None


def status(path: str) -> os.stat_result:
    """Return the status of a file, or of standard input."""
    return os.fstat(0) if path == STANDARD else os.stat(path)


class PipeStream(RawIOBase):
    """A pipe that starts with the bytes already read; bytes are recorded if the pipe is to be read again."""

    def __init__(self, pipe: FileIO, ahead: bytearray, *, noted: bool):
        self._pipe = pipe
        self._ahead = ahead
        self._noted = noted
        self._place = 0

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._pipe.fileno()

    def readinto(self, buffer: Any) -> int:
        if self._place < len(self._ahead):
            n = min(len(buffer), len(self._ahead) - self._place)
            buffer[:n] = self._ahead[self._place : self._place + n]
            self._place += n
            return n
        n = self._pipe.readinto(buffer) or 0
        if self._noted:
            self._ahead += buffer[:n]
            self._place += n
        return n


class DataFile:
    """A file of rows, which can be a pipe; a pipe can be read only once, unless it is kept."""

    def __init__(self, path: str):
        self.path = path
        self.name = "standard input" if path == STANDARD else path
        self.labelled = True
        self.head: Any = None  # the first row, once it has been read
        self.hint = ""  # an addition to messages about it
        self.broken: Any = None  # the error of a first pass, which ended it
        self.parsed: list[Any] | None = None  # all chunks, if a pass has kept them
        with named(self.name):
            self.is_pipe = not stat.S_ISREG(status(path).st_mode)
        # Standard input from a file continues where the shell left it.
        self._start = os.lseek(0, 0, os.SEEK_CUR) if path == STANDARD and not self.is_pipe else 0
        self._pipe: FileIO | None = None
        self._ahead = bytearray()
        self._copy: IO[bytes] | None = None

    def close(self) -> None:
        """Close the pipe and its copy."""
        for file in (self._copy, self._pipe):
            if file is not None:
                with suppress(OSError):
                    file.close()

    def keep(self, progress: Progress) -> None:
        """Copy a pipe to a temporary file, once."""
        if self._copy is not None or not self.is_pipe:
            return
        with self.open() as pipe, named(f"{self.name} could not be copied to a temporary file (TMPDIR names its folder)"):
            self._copy = TemporaryFile()  # noqa: SIM115
            while block := pipe.read(BLOCK):
                self._copy.write(block)
                progress(f"copying {self.name}: {self._copy.tell() // BLOCK} MiB", None)
            self._copy.flush()

    def open(self, *, first_lines_only: bool = False) -> IO[bytes]:
        """Open the file at its start; a pipe can be opened again if only its first lines were read."""
        if self._copy is not None:
            return reopened(self._copy.fileno(), 0)
        if not self.is_pipe:
            if self.path == STANDARD:
                return reopened(0, self._start)
            with named(self.name):
                return open(self.path, "rb")
        if self._pipe is None:
            with named(self.name):
                self._pipe = FileIO(0, closefd=False) if self.path == STANDARD else FileIO(self.path)
        stream = PipeStream(self._pipe, self._ahead, noted=first_lines_only)
        self._ahead = self._ahead if first_lines_only else bytearray()
        return BufferedReader(stream)


def reopened(number: int, start: int) -> IO[bytes]:
    """Open a file that is open, from `start` on."""
    file = open(number, "rb", closefd=False)  # noqa: SIM115
    file.seek(start)
    return file
