"""Checks of the paths that the job uses."""

from __future__ import annotations

import os
import stat
import sys

from sklearn_predtron.cli._data_files import STANDARD, status


def can_be_read(path: str, *, standard: bool) -> bool:
    """Return whether a file, or standard input, can be read."""
    if standard and path == STANDARD:
        return sys.stdin is not None
    return os.access(path, os.R_OK) and not os.path.isdir(path)


def can_be_written(path: str, *, replaced: bool) -> bool:
    """Return whether a file can be created or replaced."""
    target = os.path.realpath(path)
    folder = os.access(os.path.dirname(target), os.W_OK)
    if not os.path.exists(path):
        return bool(os.path.basename(path)) and folder and not os.path.islink(target)
    return os.access(path, os.W_OK) and (folder and os.path.isfile(path) if replaced else not os.path.isdir(path))


def same_pipe(path: str, other: str) -> bool:
    """Return whether two names are one pipe, or both standard input."""
    if STANDARD in (path, other) and path == other:
        return True
    found = status(path), status(other)
    return not stat.S_ISREG(found[0].st_mode) and os.path.samestat(*found)
