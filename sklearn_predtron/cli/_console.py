"""What the main job says, whether or not somebody listens."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

NOBODY_READS = 128 + 13  # what a shell says of a program that SIGPIPE ended


class UsageError(ValueError):
    """The arguments ask for what cannot be done."""


class NobodyReadsError(Exception):
    """What reads the predictions has stopped."""


def report(text: str, *, beside: bool = False) -> int:
    """Write to standard output, or beside it to standard error, all of it at once, and return the exit code."""
    try:
        emit(text, sys.stderr if beside else sys.stdout)
    except BrokenPipeError:
        return NOBODY_READS
    except OSError as error:
        return complain(f"standard {'error' if beside else 'output'}: {error.strerror}")
    return 0


def complain(error: BaseException | str, rest: str = "") -> int:
    """Say on standard error what went wrong and what is left, and return the exit code."""
    if isinstance(error, NobodyReadsError):
        return NOBODY_READS
    stopped = isinstance(error, KeyboardInterrupt)
    message = "stopped from the keyboard" if stopped else str(error)
    with suppress(OSError):  # The exit code says it too.
        emit(f"error: {'; '.join(filter(None, [message, rest]))}\n", sys.stderr)
    return 130 if stopped else 1


def emit(text: str, stream: TextIO | None) -> None:
    """Write to a stream, if it is open; after an error it takes whatever is left, so that the end of the program is quiet."""
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        raise
