"""Parquet and Arrow files in batches and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.one_line import one_line
from sklearn_predtron.datasets._svmlight import MOST_FEATURES

LONGEST_REASON = 300  # signs of an error of pyarrow, which may quote the file
AT_ONCE = 2**22  # bytes of numbers
BUFFER = 2**16  # bytes that are read of a column at once; without a buffer it is the column of a whole row group


def import_arrow() -> Any:
    """Import pyarrow on first use."""
    try:
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("ParquetReader needs pyarrow: pip install pyarrow") from error
    return pyarrow


def unreadable(path: str, error: Exception | str, column: str | None = None) -> ValueError:
    """Return the ValueError for a damaged file."""
    about = "" if column is None else f"column {column!r}: "
    return ValueError(f"path={path!r} cannot be read: {about}{one_line(str(error) or repr(error), LONGEST_REASON)}")


class ArrowFile:
    """A Parquet or Arrow file, identified by its first bytes.

    Parameters
    ----------
    path : str
        The file.

    Attributes
    ----------
    names : list of str
        The columns.
    types : dict
        The type of each.
    n_rows : int
        Rows.
    """

    def __init__(self, path: str):
        self.path = path
        pyarrow = import_arrow()
        with open(path, "rb") as file:
            start = file.read(6)
        if start[:4] != b"PAR1" and start != b"ARROW1":
            raise ValueError(f"path={path!r} is neither a Parquet file nor an Arrow file.")
        try:
            if start[:4] == b"PAR1":
                how = {"buffer_size": BUFFER, "pre_buffer": False, "page_checksum_verification": True}
                self._parquet = pyarrow.parquet.ParquetFile(path, **how)
                schema, self.n_rows = self._parquet.schema_arrow, self._parquet.metadata.num_rows
            else:
                self._parquet, self._arrow = None, pyarrow.ipc.open_file(pyarrow.memory_map(path))
                schema = self._arrow.schema
                self.n_rows = sum(self._arrow.get_batch(i).num_rows for i in range(self._arrow.num_record_batches))
            self.names = schema.names
            self.types = dict(zip(self.names, schema.types, strict=True))
        except Exception as error:
            raise unreadable(path, error) from None

    def batches(self, columns: list[str], most: int) -> Iterator[Any]:
        """Yield validated batches of some columns."""
        read, batches = 0, self._batches(columns, most)
        while (batch := self._next(batches)) is not None:
            read += batch.num_rows
            if read > self.n_rows:
                break
            yield from (batch.slice(begin, most) for begin in range(0, batch.num_rows, most))
        if read != self.n_rows:
            raise unreadable(self.path, f"it should have {self.n_rows:,} rows, and its columns have more or fewer")

    def _next(self, batches: Iterator[Any]) -> Any:
        """Return the next batch, or None; pyarrow follows offsets and indices of a file without bounds checks."""
        batch = None
        try:
            batch = next(batches, None)
            if batch is not None:
                batch.validate(full=True)
        except Exception as error:
            raise unreadable(self.path, *(error, None) if batch is None else first_bad_column(batch, error)) from None
        return batch

    def _batches(self, columns: list[str], most: int) -> Iterator[Any]:
        """Yield the file's batches; those of Arrow files are whole."""
        if self._parquet is not None:
            several = import_arrow().cpu_count() > 1  # one thread of its own is slower than none
            at_once = most * self._at_once(columns, most)
            yield from self._parquet.iter_batches(batch_size=at_once, columns=columns, use_threads=several)
        else:
            for i in range(self._arrow.num_record_batches):
                yield self._arrow.get_batch(i).select(columns)

    def _at_once(self, columns: list[str], most: int) -> int:
        """Return the number of batches to decode at once; decoding a few short rows at a time takes twice as long."""
        of_numbers = all(is_number_type(self.types[name]) for name in columns)
        return max(1, AT_ONCE // (8 * len(columns) * most)) if of_numbers else 1


def first_bad_column(batch: Any, error: Exception) -> tuple[Exception, str | None]:
    """Return the error and name of the first bad column."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except Exception as own:
            return own, name
    return error, None


def is_number_type(kind: Any) -> bool:
    """Return whether the values of a type are numbers."""
    types = import_arrow().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def is_text(kind: Any) -> bool:
    """Return whether the values of a type are strings."""
    types = import_arrow().types
    return types.is_string(kind) or types.is_large_string(kind)


def is_of_table(kind: Any) -> bool:
    """Return whether a type is of numbers or categories."""
    kind = kind.value_type if import_arrow().types.is_dictionary(kind) else kind
    return is_number_type(kind) or is_text(kind)


def is_list(kind: Any, holds: Callable[[Any], bool]) -> bool:
    """Return whether a type is of lists of accepted values."""
    types = import_arrow().types
    return (types.is_list(kind) or types.is_large_list(kind)) and holds(kind.value_type)


def is_word(kind: Any) -> bool:
    """Return whether a type is of strings or their dictionaries."""
    return is_text(kind.value_type if import_arrow().types.is_dictionary(kind) else kind)


def is_label(kind: Any) -> bool:
    """Return whether the values of a type may be labels."""
    return is_word(kind) or is_number_type(kind.value_type if import_arrow().types.is_dictionary(kind) else kind)


def is_id(kind: Any) -> bool:
    """Return whether the values of a type fit int64."""
    return import_arrow().types.is_integer(kind) and str(kind) != "uint64"


def is_index(kind: Any) -> bool:
    """Return whether the values of a type may be the indices of features."""
    return import_arrow().types.is_integer(kind)


class ArrowBatch(NamedTuple):
    """A batch of a file, its first row and the progress."""

    columns: Any
    path: str
    first: int
    fraction: float

    def raise_for(self, wrong: Any, reason: str) -> None:
        """Raise an error that names the first wrong row, if any."""
        if wrong.any():
            raise ValueError(f"{self.path}, row {self.first + int(np.argmax(wrong))}: {reason}")

    def column(self, name: str) -> Any:
        """Return a column without missing values."""
        column = self.columns.column(name)
        if import_arrow().types.is_dictionary(column.type):
            try:
                column = column.dictionary_decode()  # which shows the nulls that a dictionary holds
            except Exception as error:
                raise unreadable(self.path, error, name) from None
        if column.null_count:
            self.raise_for(column.is_null().to_numpy(zero_copy_only=False), f"{name!r} is null")
        return column

    def _array(self, name: str, values: Any) -> NDArray:
        """Return values of a column as an array."""
        try:
            if import_arrow().types.is_decimal(values.type):
                values = values.cast("float64")
            return values.to_numpy(zero_copy_only=False)
        except Exception as error:
            raise unreadable(self.path, error, name) from None

    def values(self, name: str) -> NDArray:
        """Return a column of numbers, or of strings as objects."""
        return self._array(name, self.column(name))

    def labels(self, name: str) -> NDArray:
        """Return the labels."""
        labels = self.values(name)
        if labels.dtype.kind == "f":
            self.raise_for(~np.isfinite(labels), f"{name!r} is not finite")
        return labels

    def table(self, names: list[str]) -> Any:
        """Return columns as they are."""
        return import_arrow().Table.from_batches([self.columns.select(names)])

    def dense(self, names: list[str], dtype: np.dtype) -> NDArray:
        """Return columns of numbers as a matrix."""
        X = np.empty((self.columns.num_rows, len(names)), dtype=dtype)
        with np.errstate(over="ignore"):
            for j, name in enumerate(names):
                X[:, j] = self.values(name)
        if not np.isfinite(X).all():
            wrong = ~np.isfinite(X)
            name = names[int(np.argmax(wrong.ravel())) % len(names)]
            self.raise_for(wrong.any(axis=1), f"{name!r} is not a finite {dtype}")
        return X

    def lists(self, name: str) -> tuple[NDArray, NDArray]:
        """Return the flat values of a list column, and the starts; no copy is made."""
        column = self.column(name)
        starts = self._array(name, column.offsets)
        values = column.values.slice(starts[0], starts[-1] - starts[0])
        starts = starts - starts[0]
        if values.null_count:
            at = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
            self.raise_for(starts[1:] > at, f"{name!r} holds a null")
        return self._array(name, values), starts

    def indices(self, name: str, width: int) -> tuple[NDArray[np.int32], NDArray]:
        """Return lists of indices, which must be less than the width."""
        indices, starts = self.lists(name)
        if indices.min(initial=0) < 0 or indices.max(initial=0) >= width:
            wrong = (indices < 0) | (indices >= width)
            at = int(np.argmax(wrong))
            self.raise_for(starts[1:] > at, f"{name!r} holds {indices[at]}; indices lie in 0..{width - 1}")
        return indices.astype(np.int32, copy=False), starts

    def rows(self, indices: str, values: str, width: int, dtype: np.dtype) -> sparse.csr_matrix:
        """Return lists of indices and of values as rows."""
        index, starts = self.indices(indices, width)
        with np.errstate(over="ignore"):
            data, ends = self.lists(values)
            data = data.astype(dtype, copy=False)
        self.raise_for(np.diff(starts) != np.diff(ends), f"{indices!r} and {values!r} differ in length")
        if not np.isfinite(data).all():
            at = int(np.argmin(np.isfinite(data)))
            self.raise_for(starts[1:] > at, f"{values!r} holds {data[at]}, which is not a finite {dtype}")
        if starts[-1] <= MOST_FEATURES:
            starts = starts.astype(np.int32, copy=False)
        return sparse.csr_matrix((data, index, starts), shape=(len(starts) - 1, width))
