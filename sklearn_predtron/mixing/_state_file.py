"""Files of JSON and arrays with a verified check sum."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.replacing import replacing

MAGIC = b"predtron checkpoint 2\n"
SUM = 32  # bytes, of all that follows it: a line of JSON, and the arrays that it lists
KINDS = {"<f8", "<i8", "|b1"}

Arrays = dict[str, NDArray]


class InvalidStateFileError(Exception):
    """A file was not written here, or by another version."""


def write_state(path: str, about: Any, arrays: Arrays) -> None:
    """Write or replace a file atomically."""
    kept = {name: array.astype(array.dtype.newbyteorder("<"), order="C", copy=False) for name, array in arrays.items()}
    table = [[name, array.dtype.str, array.shape] for name, array in kept.items()]
    line = json.dumps({"about": about, "arrays": table}).encode() + b"\n"
    parts: list[bytes | memoryview] = [line, *(array.reshape(-1).view(np.uint8).data for array in kept.values())]
    with replacing(path) as file:
        file.write(MAGIC + sum_of(parts))
        for part in parts:
            file.write(part)


def read_state(path: str) -> tuple[Any, Arrays] | None:
    """Return the verified contents of a file; None without one."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        start = file.read(len(MAGIC) + SUM)
        if not MAGIC.startswith(start[: len(MAGIC)]):
            raise InvalidStateFileError
        content = file.read()
    if sum_of([content]) != start[len(MAGIC) :]:
        raise ValueError("its check sum is another")
    try:
        return parsed(content)
    except Exception as error:  # a forged file with a correct check sum can hold anything
        raise ValueError(f"{type(error).__name__}: {error}") from None


def sum_of(parts: Iterable[bytes | memoryview]) -> bytes:
    """Return the check sum of bytes."""
    found = hashlib.blake2b(digest_size=SUM)
    for part in parts:
        found.update(part)
    return found.digest()


def parsed(content: bytes) -> tuple[Any, Arrays]:
    """Return the parsed contents of a state file."""
    at = content.index(b"\n") + 1
    found, arrays = json.loads(content[:at]), Arrays()
    for name, kind, shape in found["arrays"]:
        if kind not in KINDS or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"an array of type {kind!r} and shape {shape!r}")
        count = math.prod(shape)
        arrays[name] = np.frombuffer(content, kind, count, at).reshape(shape).astype(np.dtype(kind).newbyteorder("="))
        at += arrays[name].nbytes
    if at != len(content):
        raise ValueError(f"it has {len(content)} bytes, and should have {at}")
    return found["about"], arrays
