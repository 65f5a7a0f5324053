"""Fuzz the reader of Parquet and Arrow files: of a damaged one it makes rows that compiled code may trust, or refuses it."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_predtron.datasets import ParquetReader

from .damage import bound_memory, check_rows, damaged
from .notes import add_note
from .watch import Watch

TIMEOUT = 20.0  # seconds of a case
Write = Callable[[np.random.Generator, Any, str], None]


def left_out() -> str | None:
    """Say why there are no cases, if so."""
    return None if importlib.util.find_spec("pyarrow") else "pyarrow is not installed, which is an extra"


def prepare() -> None:
    """Bound the memory of this process, unless a sanitizer needs the addresses."""
    if not any(name in os.environ for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"]):
        bound_memory()


def run(seed: int, write: Write) -> str:
    """Draw a table and how it is read, damage its file, and read it."""
    random = np.random.default_rng(seed)
    table, how = draw(random)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = os.path.join(folder, "rows")
        write(random, table, path)
        with open(path, "rb") as file:
            data = file.read()
        Watch.note(f"the file as it is, {how}")
        assert (error := read(path, how)) is None, f"refused before it is damaged: {error}"
        with open(path, "wb") as file:
            file.write(damaged(random, data))
        Watch.note(f"the damaged file, {how}")
        try:
            error = read(path, how)
        except BaseException as wrong:
            add_note(wrong, f"in {how} of a damaged {table.schema}")
            raise
        if error is None:
            return "read"
        assert path in str(error), f"the file is not named: {error}"
        assert len(str(error)) < 2000, f"a message of {len(str(error))} characters"
        return "refused"


def read(path: str, how: dict[str, Any]) -> ValueError | None:
    """Look at all rows, and return why they are refused, if they are; any other exception is let through."""
    try:
        reader = ParquetReader(path, **how)
        n = reader.scan().n_rows
        for X, y, more in reader:
            check_rows(X, y, more if "qid" in how else None)
            assert y.dtype.kind in "biuf" or all(isinstance(label, str) for label in y)
            n -= len(y)
        assert n == 0, f"the scan has {n} rows more"
    except ValueError as error:
        return error
    return None


# --------------------------------------------------------------------------------------------------------------- tables


def draw(random: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """Draw a table, and the arguments of its reader."""
    import pyarrow

    n = int(random.choice([1, 5, 50, 300]))
    columns = {"y": draw_labels(random, n)}
    how: dict[str, Any] = {"label": "y", "chunk_rows": int(random.choice([1, 7, 100, 1000]))}
    if random.random() < 0.5:
        lengths = random.integers(0, 6, n)
        index, value, kind = (
            draw_one(random, kinds)
            for kinds in (
                [pyarrow.int32(), pyarrow.int64(), pyarrow.uint16(), pyarrow.uint64()],
                [pyarrow.float64(), pyarrow.float32(), pyarrow.int8()],
                [pyarrow.list_, pyarrow.large_list],
            )
        )
        columns["i"] = pyarrow.array([sorted(random.permutation(40)[:k]) for k in lengths], kind(index))
        numbers = pyarrow.array([random.integers(2, size=k) for k in lengths], pyarrow.list_(pyarrow.int64()))
        columns["v"] = numbers.cast(kind(value))
        how |= {"indices": "i", "values": "v", "n_features": draw_one(random, [None, 40, 1000])}
    else:
        for j in range(random.integers(1, 4)):
            kind = draw_one(random, [np.float64, np.float64, np.float32, np.float16, np.int64, np.uint8, np.bool_])
            columns[f"x{j}"] = pyarrow.array(random.integers(9, size=n).astype(kind))
    if random.random() < 0.3:
        columns["q"] = pyarrow.array(np.sort(random.integers(0, 9, n)), draw_one(random, [pyarrow.int64(), pyarrow.int8()]))
        how["qid"] = "q"
    how["dtype"] = draw_one(random, [np.float64, np.float32])
    return pyarrow.table(columns), how


def draw_labels(random: np.random.Generator, n: int) -> Any:
    """Draw labels: numbers or words, now and then in a dictionary."""
    import pyarrow

    if random.random() < 0.4:
        kind = draw_one(random, [pyarrow.int64(), pyarrow.int8(), pyarrow.float64(), pyarrow.float32(), pyarrow.uint64()])
        labels = pyarrow.array(random.integers(0, 3, n)).cast(kind)
    else:
        words = ["a", "spam" * 5, "äöü"]
        labels = pyarrow.array([words[i] for i in random.integers(0, 3, n)])
        labels = labels.cast(draw_one(random, [pyarrow.string(), pyarrow.large_string()]))
    return labels.dictionary_encode() if random.random() < 0.4 else labels


def draw_one(random: np.random.Generator, items: list[Any]) -> Any:
    """Draw one of some things."""
    return items[random.integers(len(items))]
