"""Fuzz the reader of Parquet and Arrow files: of a damaged one it makes rows that compiled code may trust, or refuses it."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_predtron.datasets import ParquetReader

from .damage import bound_memory as prepare
from .damage import check_rows, damaged
from .models import draw as draw_one
from .watch import Watch, one_case

__all__ = ["TIMEOUT", "left_out", "prepare", "run"]

TIMEOUT = 20.0  # seconds of a case


def left_out() -> str | None:
    """Say why there are no cases, if so."""
    return None if importlib.util.find_spec("pyarrow") else "pyarrow is not installed, which is an extra"


def run(seed: int) -> str:
    """Draw a table and how it is read, damage its file, and read it."""
    random = np.random.default_rng(seed)
    table, how = draw(random)
    with one_case((how, table.schema), "error") as folder:
        path = str(folder / "rows")
        (write_parquet if random.random() < 0.5 else write_arrow)(random, table, path)
        Watch.note(f"the file as it is, {how}")
        assert (error := read(path, how)) is None, f"refused before it is damaged: {error}"
        Path(path).write_bytes(damaged(random, Path(path).read_bytes()))
        Watch.note(f"the damaged file, {how}")
        if (error := read(path, how)) is None:
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


def write_arrow(random: np.random.Generator, table: Any, path: str) -> None:
    """Write a table in some batches, now and then compressed."""
    import pyarrow

    options = pyarrow.ipc.IpcWriteOptions(compression=draw_one(random, [None, None, None, "lz4", "zstd"]))
    with pyarrow.OSFile(path, "wb") as sink, pyarrow.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=draw_one(random, [3, 40, 1000]))


def write_parquet(random: np.random.Generator, table: Any, path: str) -> None:
    """Write a table in some row groups and pages, with any encoding."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        table,
        path,
        row_group_size=draw_one(random, [3, 40, 1000]),
        compression=draw_one(random, ["none", "none", "none", "snappy", "gzip", "zstd"]),
        use_dictionary=bool(random.random() < 0.6),
        data_page_version=draw_one(random, ["1.0", "2.0"]),
        write_page_checksum=bool(random.random() < 0.2),
        data_page_size=draw_one(random, [50, 2**20]),
        write_statistics=bool(random.random() < 0.5),
        store_schema=bool(random.random() < 0.7),
    )
