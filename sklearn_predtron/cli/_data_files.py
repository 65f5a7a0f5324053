"""The data of the job: files, pipes and standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, FileIO, RawIOBase
from tempfile import TemporaryFile
from typing import IO, Any

from sklearn_predtron.cli._labels import RewrittenText, WordLabels, add_labels, add_labels_to_groups
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets._reader import SvmlightReader
from sklearn_predtron.datasets._rows import Chunk

BLOCK = 2**20
MAX_KEPT = 2**28  # bytes of parsed rows that are not parsed again
STANDARD = "-"  # the user's name for standard input and output


class FileError(OSError):
    """A file of the job cannot be read or written."""


class RejectedChunkError(ValueError):
    """The models reject a chunk, or there is none."""


def error_at(place: str, error: Exception) -> RejectedChunkError:
    """Return an error with the reason and the place."""
    return RejectedChunkError(f"{place}: {str(error).removesuffix('.')}")


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
    """A pipe that starts with the bytes already read.

    Bytes are recorded if the pipe is to be read again.
    """

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
    """A file of rows, which can be a pipe.

    A pipe can be read only once, unless it is kept.
    """

    def __init__(self, path: str):
        self.path = path
        self.name = "standard input" if path == STANDARD else path
        self.labelled, self.first_row_read = True, False
        self.encoding = "utf-8"
        self.hint = ""  # an addition to messages about it
        self.parsed: list[Any] | None = None  # all chunks, if a pass has kept them
        self.is_pipe = not stat.S_ISREG(status(path).st_mode)
        # Standard input from a file continues where the shell left it.
        self._start = os.lseek(0, 0, os.SEEK_CUR) if path == STANDARD and not self.is_pipe else 0
        self._pipe: FileIO | None = None
        self._ahead = bytearray()
        self._copy: IO[bytes] | None = None

    def __enter__(self) -> DataFile:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._copy, self._pipe):
            if file is not None:
                with suppress(OSError):
                    file.close()

    def keep(self, bar: ProgressBar) -> None:
        """Copy a pipe to a temporary file, once."""
        if self._copy is not None or not self.is_pipe:
            return
        with self.open() as pipe, named(f"{self.name} could not be copied to a temporary file (TMPDIR names its folder)"):
            self._copy = TemporaryFile()  # noqa: SIM115
            while block := pipe.read(BLOCK):
                self._copy.write(block)
                bar(f"copying {self.name}: {self._copy.tell() // BLOCK} MiB", None)
            self._copy.flush()

    def open(self, *, first_lines_only: bool = False) -> IO[bytes]:
        """Open the file at its start.

        A pipe can be opened again if only its first lines were read.
        """
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


class DataFileReader(SvmlightReader):
    """A reader of a `DataFile`, whose labels may be words."""

    weights = ids = None  # of the rows of a chunk

    def __init__(self, file: DataFile, *, words: WordLabels | None = None, **parameters: Any):
        super().__init__(file.name, **parameters)
        self._file = file
        self._words = words if file.labelled else None

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for chunk in self._parsed() or self._chunks(self.n_features, bool(self.zero_based), self.classes):
            yield chunk.X, self._labels_of(chunk), chunk.first if chunk.qid is None else chunk.qid

    def unlabelled(self) -> Iterator[Chunk]:
        """Yield chunks of rows without labels and ids."""
        return self._chunks(self.n_features, bool(self.zero_based), None)

    def where(self, found: Any) -> str:
        """Return where a chunk begins."""
        if self.query_id or self.sequence_id:
            return f"{self.path}: in the chunk that begins with qid:{found[0]}"
        return f"{self.path}, line {found}: in the chunk that begins here"

    def _parsed(self) -> Iterator[Chunk] | None:
        """Return the rows that were already parsed, if any."""
        parsed = self._file.parsed
        return None if parsed is None else self._yield_parsed(parsed)

    def _yield_parsed(self, parsed: list[Chunk]) -> Iterator[Chunk]:
        for i, chunk in enumerate(parsed, 1):
            self.fraction_read = i / len(parsed)
            yield chunk

    def _labels_of(self, chunk: Chunk) -> Any:
        """Return the labels of rows; None if they have none."""
        if not self._file.labelled:
            return None
        if self.multilabel and self.classes is not None:
            return chunk.labels.indicators(self.classes)
        return chunk.labels.values if self._words is None else self._words.of(chunk.labels.values)

    def _open(self) -> IO[bytes]:
        return self._file.open()

    def _text(self, file: IO[bytes]) -> Any:
        if self._words is not None:
            self._words.restart()
            return RewrittenText(file, self._words.rewrite, self.chunk_bytes)
        if self._file.labelled:
            return file
        grouped = self.query_id or self.sequence_id
        return RewrittenText(file, add_labels_to_groups if grouped else add_labels, self.chunk_bytes)

    def _chunks(self, *arguments: Any, **options: Any) -> Iterator[Chunk]:
        try:
            yield from super()._chunks(*arguments, **options)
        except BrokenLineError as error:
            reason = error.reason if self._words is None else self._words.explain(error.reason)
            reason = reason.replace("(zero_based=False)", "here; --zero-based, of a new model, counts from 0")
            raise BrokenLineError(error.path, error.line_number, reason + self._file.hint) from None
        except (ValueError, OSError) as error:
            if not self.cache:
                raise
            raise FileError((getattr(error, "strerror", None) or str(error)).removesuffix(".")) from None


class MemoryBudget:
    """Bytes left for the rows that a first pass keeps."""

    def __init__(self) -> None:
        self.left = MAX_KEPT


class FirstPassReader(DataFileReader):
    """A reader for the first pass, which keeps the rows.

    It drops them if there is no memory for all.
    """

    def __init__(self, file: DataFile, budget: MemoryBudget, **parameters: Any):
        super().__init__(file, **parameters)
        self._budget = budget

    def _chunks(self, *arguments: Any, **options: Any) -> Iterator[Chunk]:
        kept: list[Chunk] = []
        taken = 0
        for chunk in super()._chunks(*arguments, **options):
            X = chunk.X
            taken += X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + chunk.labels.values.nbytes
            if taken <= self._budget.left:
                kept.append(chunk)
            else:
                kept.clear()
            yield chunk
        if taken <= self._budget.left:
            self._budget.left -= taken
            self._file.parsed = kept


def count_from(parsed: list[Chunk], base: int, width: int) -> None:
    """Subtract `base` from the indices, and set the width."""
    for chunk in parsed:
        chunk.X.indices[:] -= base
        chunk.X.resize(chunk.X.shape[0], width)
