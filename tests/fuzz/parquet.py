"""Fuzz the reader of Parquet files: see `columns`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import columns
from .columns import TIMEOUT, draw_one, left_out, prepare

__all__ = ["TIMEOUT", "left_out", "prepare", "run"]


def run(seed: int) -> str:
    """Damage a Parquet file, and read it."""
    return columns.run(seed, write)


def write(random: np.random.Generator, table: Any, path: str) -> None:
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
