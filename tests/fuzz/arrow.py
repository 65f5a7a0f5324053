"""Fuzz the reader of Arrow files: see `columns`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import columns
from .columns import TIMEOUT, draw_one, left_out, prepare

__all__ = ["TIMEOUT", "left_out", "prepare", "run"]


def run(seed: int) -> str:
    """Damage an Arrow file, and read it."""
    return columns.run(seed, write)


def write(random: np.random.Generator, table: Any, path: str) -> None:
    """Write a table in some batches, now and then compressed."""
    import pyarrow

    options = pyarrow.ipc.IpcWriteOptions(compression=draw_one(random, [None, None, None, "lz4", "zstd"]))
    with pyarrow.OSFile(path, "wb") as sink, pyarrow.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=draw_one(random, [3, 40, 1000]))
