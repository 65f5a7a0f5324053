"""Fuzz the cache of the svmlight reader: a damaged one is read as the same rows, or refused; a forged one crashes nothing."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_predtron.datasets import SvmlightReader

from .damage import ODD, check_matrix, check_rows, damaged
from .damage import bound_memory as prepare
from .files import check_same_rows, draw_how, draw_text, has_ids, read
from .forgery import Forgery
from .watch import Watch, one_case

__all__ = ["TIMEOUT", "prepare", "run"]

TIMEOUT = 20.0  # seconds of a case


def run(seed: int) -> str:
    """Draw a file and how it is read, and damage its cache, or forge one."""
    random = np.random.default_rng(seed)
    how = {**draw_how(random), "n_features": None}
    text = draw_text(random, how)
    chunks = {"chunk_rows": int(random.integers(1, 9)), "cache": True}
    with one_case((how, chunks, text), "error") as folder:
        path = str(folder / "file.svm")
        Path(path).write_bytes(text)
        expected, broken = read(path, how, **chunks)
        if broken is not None:  # there is a cache of the rows before it alone
            Path(path).write_bytes(b"".join(text.splitlines(keepends=True)[: broken.line_number - 1]))
            expected, broken = read(path, how, **chunks)
            assert broken is None, broken
        cache, forged = Path(f"{path}.cache"), random.random() < 0.4
        Watch.note(f"a {'forged' if forged else 'damaged'} cache, {how}, {chunks} of {text!r}")
        if forged:
            return read_forged(random, cache, path, {**how, **chunks})
        cache.write_bytes(damaged(random, cache.read_bytes()))
        return read_damaged(cache, path, how, chunks, expected)


def read_damaged(cache: Path, path: str, how: dict[str, Any], chunks: dict[str, Any], expected: Any) -> str:
    """Check that the rows are the same, or that the cache is refused and stays."""
    data = cache.read_bytes()
    try:
        rows, broken = read(path, how, **chunks)
    except ValueError as error:
        assert f"cache={str(cache)!r} is " in str(error), error
        assert cache.read_bytes() == data, "a cache that is refused was written over"
        return "refused"
    assert broken is None, broken
    check_same_rows(rows, expected, "before the damage")
    return "read"


def read_forged(random: np.random.Generator, cache: Path, path: str, how: dict[str, Any]) -> str:
    """Change numbers of a cache and write it with right check sums; whatever is read is well formed."""
    forgery = Forgery(cache)
    for _ in range(random.choice([1, 1, 2, 4])):
        forge(random, forgery)
    forgery.write()
    try:
        reader = SvmlightReader(path, **how)
        reader.scan()
        for X, y, more in reader:
            if how["multilabel"]:
                check_matrix(y)
                y = y.sum(axis=1)
            check_rows(X, np.asarray(y).ravel(), more if has_ids(how) else None)
    except ValueError:
        return "refused"
    return "read"


def forge(random: np.random.Generator, forgery: Forgery) -> None:
    """Change a number of the rows, of a place or of the index, or any byte of the rows or the index."""
    where = random.integers(5)
    if where == 0 and forgery.places:
        k = random.integers(len(forgery.places))
        place, name = forgery.places[k], random.choice(forgery.places[k]._fields)
        forgery.places[k] = place._replace(**{name: odd(random, getattr(place, name))})
    elif where == 1 and isinstance(forgery.index, dict):
        summary = forgery.index["summary"]
        name = random.choice(list(summary))
        others = [None, [], {}, "1", 0.5, [1, 0], [float("nan")], [[0]], odd(random, 1)]
        summary[name] = others[random.integers(len(others))]
    elif where == 2:
        line = forgery.index if isinstance(forgery.index, bytes) else json.dumps(forgery.index).encode()
        forgery.index = damaged(random, line) if line else line
    elif len(forgery.data) > 64:
        rows = damaged(random, bytes(forgery.data[64:]))
        forgery.data[64:] = rows[: len(forgery.data) - 64] if random.random() < 0.9 else rows
    else:
        return
    if random.random() < 0.5 and forgery.places:
        change(random, forgery)


def change(random: np.random.Generator, forgery: Forgery) -> None:
    """Change a number of a chunk, where it is one."""
    place = forgery.places[random.integers(len(forgery.places))]
    try:
        array = forgery.array(int(random.integers(5)), place)
        new = odd(random, 1) % 2**31 if array.dtype.kind == "i" else random.choice([np.nan, np.inf, -1, 1e30])
        array[random.integers(len(array))] = new
    except (ValueError, OverflowError, MemoryError, TypeError):
        return  # there is no such number


def odd(random: np.random.Generator, old: int) -> int:
    """Draw another number, mostly near the old one."""
    new = old + int(random.choice([1, -1, 7, 8, -8, 64, -64])) if random.random() < 0.5 else ODD[random.integers(len(ODD))]
    return min(max(new, -(2**63)), 2**63 - 1)
