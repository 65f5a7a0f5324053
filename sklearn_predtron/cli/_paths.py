"""The files of the main job: data from pipes, a model that is replaced in one step, and predictions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from typing import IO, Any

from sklearn_predtron.cli._demo import Bar
from sklearn_predtron.datasets import SvmlightReader

BLOCK = 2**20


class FileError(OSError):
    """A file of the job cannot be read or written."""


@contextmanager
def named(what: str) -> Iterator[None]:
    """Say what the system's errors are about."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{what}: {error.strerror or error}") from None


class DataFile:
    """An svmlight file of the job; a pipe can be read only once, unless it is kept."""

    def __init__(self, path: str):
        self.path = path
        self._copy: IO[bytes] | None = None

    def __enter__(self) -> DataFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._copy is not None:
            with suppress(OSError):
                self._copy.close()

    @property
    def is_pipe(self) -> bool:
        """Return whether it is no regular file."""
        return not os.path.isfile(self.path)

    def keep(self, bar: Bar) -> None:
        """Make sure that the file can be read again: copy a pipe to a temporary file, unless that is done."""
        if self._copy is not None or not self.is_pipe:
            return
        with self.open() as pipe, named(f"{self.path} could not be copied to a temporary file (TMPDIR names its folder)"):
            self._copy = TemporaryFile()  # noqa: SIM115
            while block := pipe.read(BLOCK):
                self._copy.write(block)
                bar(f"copying {self.path}: {self._copy.tell() // BLOCK} MiB", None)
            self._copy.flush()

    def open(self) -> IO[bytes]:
        """Open the file at its start."""
        if self._copy is None:
            with named(self.path):
                return open(self.path, "rb")
        file = open(self._copy.fileno(), "rb", closefd=False)  # noqa: SIM115
        file.seek(0)
        return file


class DataFileReader(SvmlightReader):
    """A reader of a `DataFile`."""

    def __init__(self, file: DataFile, **parameters: Any):
        super().__init__(file.path, **parameters)
        self._file = file

    def _open(self) -> IO[bytes]:
        return self._file.open()


def can_be_written(path: str, *, replaced: bool) -> bool:
    """Return whether a file can be made, or written over; one that is replaced must be regular, in an open folder."""
    target = os.path.realpath(path)
    folder = os.access(os.path.dirname(target), os.W_OK)
    if not os.path.exists(path):
        return bool(os.path.basename(path)) and folder and not os.path.islink(target)
    return os.access(path, os.W_OK) and (folder and os.path.isfile(path) if replaced else not os.path.isdir(path))


def same_file(path: str, other: str) -> bool:
    """Return whether two names are of one regular file, be it one that is not there yet."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.isfile(path) and os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def same_pipe(path: str, other: str) -> bool:
    """Return whether two names are of one file that can be read once."""
    return not os.path.isfile(path) and os.path.samefile(path, other)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """Yield a new file that takes the place of an old one when it is complete; links stay, and so does the mode."""
    target = os.path.realpath(path)
    part = f"{target}.{os.getpid()}.part"
    file = open(part, "xb")  # noqa: SIM115
    try:
        with file:
            if os.path.exists(target):
                shutil.copymode(target, part)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise


@contextmanager
def lines_to(path: str | None, what: str) -> Iterator[Callable[[Iterable[str]], None]]:
    """Yield what writes lines to a file, if there is to be one, as long as somebody reads them; an error says `what` it is."""
    if path is None:
        yield lambda lines: None
        return
    with named(what):
        file = open(path, "w", encoding="ascii")  # noqa: SIM115

    def write(lines: Iterable[str]) -> None:
        with named(what), suppress(BrokenPipeError):
            file.writelines(lines)

    try:
        yield write
    finally:
        with named(what), suppress(BrokenPipeError):
            file.close()
