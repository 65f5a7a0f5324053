"""The public names of the package."""

from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets._chunk_labels import chunk_labels
from sklearn_predtron.datasets._conll import read_conll
from sklearn_predtron.datasets._markov_sequences import make_sequences
from sklearn_predtron.datasets._parquet import ParquetReader, ParquetSummary
from sklearn_predtron.datasets._ranking_queries import make_ranking_queries, make_separable_queries
from sklearn_predtron.datasets._read import read_svmlight
from sklearn_predtron.datasets._reader import SvmlightReader
from sklearn_predtron.datasets._sequences import stack_sequences, unstack, window
from sklearn_predtron.datasets._summary import SvmlightSummary
from sklearn_predtron.datasets._token_features import token_features
from sklearn_predtron.datasets.formats.base import RowChunk, RowSchema
from sklearn_predtron.datasets.formats.opening import RowStream, open_rows

__all__ = [
    "BrokenLineError",
    "ParquetReader",
    "ParquetSummary",
    "RowChunk",
    "RowSchema",
    "RowStream",
    "SvmlightReader",
    "SvmlightSummary",
    "chunk_labels",
    "make_ranking_queries",
    "make_separable_queries",
    "make_sequences",
    "open_rows",
    "read_conll",
    "read_svmlight",
    "stack_sequences",
    "token_features",
    "unstack",
    "window",
]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__.rpartition(".")[0]
del name
