"""Damage files: cut, flip, change, exchange and splice bytes and numbers anywhere in them."""

import os
import resource
from collections.abc import Callable
from typing import Any

import numpy as np

Damage = Callable[[np.random.Generator, bytearray], None]
ODD = [0, 1, -1, 2, 7, 255, 256, 2**15, 2**16, 2**30, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]


def bound_memory(most: int = 4 * 2**30) -> None:
    """Let absurd sizes fail early, in this process, unless a sanitizer needs the addresses."""
    if not any(name in os.environ for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"]):
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def damaged(random: np.random.Generator, data: bytes) -> bytes:
    """Damage a file in one to three ways, until it is another one."""
    other = bytearray(data)
    while other == data:
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            if other:
                DAMAGES[random.integers(len(DAMAGES))](random, other)
    return bytes(other)


def place(random: np.random.Generator, data: bytearray, size: int = 1) -> int:
    """Draw where something of a size is, now and then near the start or the end, where formats say what lies where."""
    n = max(1, len(data) - size + 1)
    near = min(n, 400)
    where = random.integers(4)
    return int(random.integers(n) if where > 1 else random.integers(near) if where else n - 1 - random.integers(near))


def cut(random: np.random.Generator, data: bytearray) -> None:
    del data[place(random, data) :]


def flip(random: np.random.Generator, data: bytearray) -> None:
    for _ in range(random.choice([1, 1, 5])):
        data[place(random, data)] ^= 1 << int(random.integers(8))


def change(random: np.random.Generator, data: bytearray) -> None:
    n = int(random.choice([1, 1, 2, 8, 30]))
    at = place(random, data, n)
    n = min(n, len(data) - at)
    data[at : at + n] = random.bytes(n) if random.random() < 0.7 else bytes([random.choice([0, 255])]) * n


def number(random: np.random.Generator, data: bytearray) -> None:
    """Change an integer, mostly one on a multiple of its size, by a little or to anything odd."""
    size = int(random.choice([2, 4, 4, 8, 8]))
    at = place(random, data, size)
    at -= at % size * (random.random() < 0.8)
    old = int.from_bytes(data[at : at + size], "little", signed=True)
    near = [old + 1, old - 1, 2 * old, -old, old + 8, old - 8, old + 64]
    new = random.choice(near) if random.random() < 0.4 and abs(old) < 2**60 else ODD[random.integers(len(ODD))]
    data[at : at + size] = (int(new) % 2 ** (8 * size)).to_bytes(size, "little")[: len(data) - at]


def swap(random: np.random.Generator, data: bytearray) -> None:
    size = int(random.choice([4, 8, 8, 64]))
    if len(data) < 2 * size:
        return
    a, b = (at - at % size for at in (place(random, data, size), place(random, data, size)))
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def splice(random: np.random.Generator, data: bytearray) -> None:
    """Copy a piece over another one, or between others, or drop it."""
    n = int(random.choice([1, 8, 64, 64, 500]))
    n -= n * (random.random() < 0.1) // 3
    a, b, how = place(random, data, n), place(random, data, n), random.integers(4)
    piece = bytes(data[a : a + n])
    if how < 2:
        data[b : b + len(piece)] = piece
    elif how == 2:
        data[b:b] = piece
    else:
        del data[a : a + n]


DAMAGES: list[Damage] = [cut, flip, change, number, number, swap, splice]


def check_matrix(X: Any) -> None:
    """Check that a CSR matrix has no index, and no start of a row, out of range."""
    try:
        X.check_format(full_check=True)
    except ValueError as error:
        raise AssertionError(f"a matrix that is none: {error}") from error


def check_rows(X: Any, y: Any, ids: Any = None) -> None:
    """Check that compiled code may trust rows: their shapes, types and places in memory."""
    n = X.shape[0]
    assert n == len(y), f"{n} rows, and {len(y)} labels"
    assert ids is None or n == len(ids), f"{n} rows, and {len(ids)} ids"
    arrays = [X, y]
    if not isinstance(X, np.ndarray):
        check_matrix(X)
        arrays = [X.data, X.indices, X.indptr, y]
    for array in arrays:
        address = array.__array_interface__["data"][0]
        assert array.size == 0 or address % array.dtype.alignment == 0, f"{array.dtype} lie at {address}"
        assert len(array.tobytes()) == array.nbytes  # all of it can be read
