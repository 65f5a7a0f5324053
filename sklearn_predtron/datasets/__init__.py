"""Readers of large data, token sequences, and simulated data.

Sparse rows are matrices, or arrays after ``sklearn.set_config(sparse_interface="sparray")``.
"""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import names_from

if TYPE_CHECKING:
    from sklearn_predtron.datasets._public import *

__all__ = [
    "BrokenLineError",
    "Conll",
    "Csv",
    "JsonLines",
    "ParquetReader",
    "ParquetSummary",
    "RowChunk",
    "RowSchema",
    "RowStream",
    "Svmlight",
    "SvmlightReader",
    "SvmlightSummary",
    "VowpalWabbit",
    "chunk_labels",
    "make_ranking_queries",
    "make_sequences",
    "open_rows",
    "read_conll",
    "read_svmlight",
    "stack_sequences",
    "token_features",
    "unstack",
    "window",
]

__getattr__, __dir__ = names_from(globals(), f"{__name__}._public")
