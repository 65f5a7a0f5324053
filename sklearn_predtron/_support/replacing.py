"""Files that are written as a whole, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

LONGEST = 50  # characters of a name, of at most 255 bytes, to which what makes a part's name unique is added


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a new file that takes the place of an old one, or of none, when the block ends; after an error nothing is left of it.

    Links stay, and what they point to is replaced; so does the mode of what is replaced.  Jobs that write at once do not meet.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    part = os.path.join(folder, f"{name[:LONGEST]}.{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb") as file:
            if os.path.exists(target):
                shutil.copymode(target, part)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):  # which would hide the error; after an interrupt the part may be in its place
            os.unlink(part)
        raise
    keep_name(folder)


def keep_name(folder: str) -> None:
    """Sync a folder to disk so that its names survive a power failure, where the system supports it."""
    with suppress(OSError):  # the file is in its place; folders may be unreadable, and are no files on some systems
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
