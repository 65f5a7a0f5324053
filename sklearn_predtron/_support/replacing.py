"""Files written atomically."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

LONGEST = 50  # characters of a name: a unique suffix is added, and names have at most 255 bytes


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a new file that replaces the old one atomically.

    It does so when the block ends; after an error nothing is left of it.

    Links stay, and their target is replaced.  The new file has the mode of the old one.  Jobs can write at the same time.
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
    """Sync a folder so that names survive power failures; not every system supports it."""
    with suppress(OSError):  # the file is in its place; folders may be unreadable, and are no files on some systems
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
