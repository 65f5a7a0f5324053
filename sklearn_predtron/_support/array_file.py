"""Files of JSON and arrays with a verified check sum.

A file has four parts: a first line, which names the kind of file and its version; the check sum of what follows; a line of JSON;
and the bytes of the arrays that the JSON lists, one after another.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.replacing import replacing

SUM = 32  # bytes of the check sum
KINDS = re.compile(r"[|]b1|[|][iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,8}")  # no objects: these types are plain bytes
LARGEST_CHARACTER = 0x10FFFF

Arrays = dict[str, NDArray]


class OtherFileError(Exception):
    """A file begins with another first line."""


def write_file(path: str | os.PathLike[str], magic: bytes, about: Any, arrays: Arrays) -> None:
    """Write or replace a file atomically."""
    kept = {name: array.astype(array.dtype.newbyteorder("<"), order="C", copy=False) for name, array in arrays.items()}
    table = [[name, array.dtype.str, array.shape] for name, array in kept.items()]
    line = json.dumps({"about": about, "arrays": table}).encode() + b"\n"
    parts: list[bytes | memoryview] = [line, *(array.reshape(-1).view(np.uint8).data for array in kept.values())]
    with replacing(path) as file:
        file.write(magic + check_sum_of(parts))
        for part in parts:
            file.write(part)


def read_file(path: str | os.PathLike[str], magic: bytes) -> tuple[Any, Arrays]:
    """Return the verified contents of a file."""
    with open(path, "rb") as file:
        start = file.read(len(magic) + SUM)
        if not magic.startswith(start[: len(magic)]):
            raise OtherFileError
        content = file.read()
    if check_sum_of([content]) != start[len(magic) :]:
        raise ValueError("its check sum is another")
    try:
        return parsed(content)
    except Exception as error:  # a forged file with a correct check sum can hold anything
        raise ValueError(f"{type(error).__name__}: {error}") from None


def check_sum_of(parts: Iterable[bytes | memoryview]) -> bytes:
    """Return the check sum of bytes."""
    found = hashlib.blake2b(digest_size=SUM)
    for part in parts:
        found.update(part)
    return found.digest()


def parsed(content: bytes) -> tuple[Any, Arrays]:
    """Return the parsed contents of a file."""
    at = content.index(b"\n") + 1
    found, arrays = json.loads(content[:at]), Arrays()
    for name, kind, shape in found["arrays"]:
        if not KINDS.fullmatch(kind) or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"an array of type {kind!r} and shape {shape!r}")
        count = math.prod(shape)
        array = np.frombuffer(content, kind, count, at).reshape(shape)
        if "U" in kind and (np.frombuffer(content, "<u4", array.nbytes // 4, at) > LARGEST_CHARACTER).any():
            raise ValueError("an array of text with a number that is no character")
        arrays[name] = array.astype(np.dtype(kind).newbyteorder("="))
        at += array.nbytes
    if at != len(content):
        raise ValueError(f"it has {len(content)} bytes, and should have {at}")
    return found["about"], arrays
