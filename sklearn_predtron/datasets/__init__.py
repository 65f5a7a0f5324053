"""Readers of large data, token sequences, and simulated data.

Sparse rows are matrices, or arrays after ``sklearn.set_config(sparse_interface="sparray")``.
"""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import from_module

if TYPE_CHECKING:
    from sklearn_predtron.datasets._public import (
        BrokenLineError as BrokenLineError,
    )
    from sklearn_predtron.datasets._public import (
        ParquetReader as ParquetReader,
    )
    from sklearn_predtron.datasets._public import (
        ParquetSummary as ParquetSummary,
    )
    from sklearn_predtron.datasets._public import (
        RowChunk as RowChunk,
    )
    from sklearn_predtron.datasets._public import (
        RowSchema as RowSchema,
    )
    from sklearn_predtron.datasets._public import (
        RowStream as RowStream,
    )
    from sklearn_predtron.datasets._public import (
        SvmlightReader as SvmlightReader,
    )
    from sklearn_predtron.datasets._public import (
        SvmlightSummary as SvmlightSummary,
    )
    from sklearn_predtron.datasets._public import (
        chunk_labels as chunk_labels,
    )
    from sklearn_predtron.datasets._public import (
        make_ranking_queries as make_ranking_queries,
    )
    from sklearn_predtron.datasets._public import (
        make_separable_queries as make_separable_queries,
    )
    from sklearn_predtron.datasets._public import (
        make_sequences as make_sequences,
    )
    from sklearn_predtron.datasets._public import (
        open_rows as open_rows,
    )
    from sklearn_predtron.datasets._public import (
        read_conll as read_conll,
    )
    from sklearn_predtron.datasets._public import (
        read_svmlight as read_svmlight,
    )
    from sklearn_predtron.datasets._public import (
        stack_sequences as stack_sequences,
    )
    from sklearn_predtron.datasets._public import (
        token_features as token_features,
    )
    from sklearn_predtron.datasets._public import (
        unstack as unstack,
    )
    from sklearn_predtron.datasets._public import (
        window as window,
    )

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

__getattr__ = from_module(globals(), f"{__name__}._public")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
