"""Blocks of rows of Dask collections as shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened


class ShardBatch(NamedTuple):
    """A batch of rows, as `BasePredtron._read` accepts them."""

    X: Any
    y: Any
    given: dict[str, Any]  # ids and weights

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)


def batches_of_function(function: Callable[[], Any]) -> Iterator[ShardBatch]:
    """Yield the batches that a function returns; it returns X, y and optionally a dictionary."""
    found = function()
    if not isinstance(found, tuple) or len(found) not in (2, 3) or not isinstance(found[-1] if len(found) == 3 else {}, dict):
        raise ValueError(f"it returns {shortened(found)}; accepted are (X, y) and (X, y, dictionary of ids and weights).")
    yield ShardBatch(found[0], found[1], found[2] if len(found) == 3 else {})


class DaskBlock:
    """A block of rows computed by Dask on request.

    Parameters
    ----------
    parts : tuple of Delayed
        X, y and the like, or one that is all of them.
    names : tuple of str or None
        The names of the arguments after X and y; None if one part is all of them.
    """

    def __init__(self, parts: tuple[Any, ...], names: tuple[str, ...] | None):
        self.parts, self.names = parts, names

    def __call__(self) -> Iterator[ShardBatch]:
        """Yield the rows, computed here."""
        import dask

        yield from batches_of_parts(self.names, *dask.compute(*self.parts))


def batches_of_parts(names: tuple[str, ...] | None, *found: Any) -> Iterator[ShardBatch]:
    """Yield the rows of a computed block."""
    if names is None:
        yield from batches_of_function(lambda: found[0])
    else:
        yield ShardBatch(found[0], found[1], dict(zip(names, found[2:], strict=True)))


def is_delayed(x: Any) -> bool:
    """Return whether x is a lazy Dask result."""
    return hasattr(x, "__dask_graph__") and not hasattr(type(x), "to_delayed")


def is_collection(x: Any) -> bool:
    """Return whether x is a Dask array or a Dask data frame."""
    return hasattr(x, "__dask_graph__") and hasattr(type(x), "to_delayed")


def row_chunks(collection: Any) -> tuple[float, ...]:
    """Return the number of rows of each block, or nan."""
    return collection.chunks[0] if hasattr(collection, "chunks") else (np.nan,) * collection.npartitions


def row_blocks(collection: Any) -> list[Any]:
    """Return the blocks of rows with all columns."""
    whole = collection.rechunk({1: -1}) if getattr(collection, "ndim", 1) > 1 and hasattr(collection, "rechunk") else collection
    return np.ravel(np.asarray(whole.to_delayed(), dtype=object)).tolist()


def blocks_of(X: Any, y: Any, given: dict[str, Any]) -> list[DaskBlock]:
    """Return the blocks of Dask collections with equal chunks."""
    given = {name: value for name, value in given.items() if value is not None}
    expected = row_chunks(X)
    for name, value in {"y": y, **given}.items():
        if not is_collection(value):
            raise ValueError(
                f"{name}={shortened(value)} is not accepted beside a Dask X; accepted are Dask collections with its row chunks."
            )
        found = row_chunks(value)
        if len(found) != len(expected) or any(
            one != other for one, other in zip(found, expected, strict=True) if one == one and other == other
        ):
            raise ValueError(
                f"{name} has the row chunks {shortened(found)}, and X has {shortened(expected)}; accepted are the same."
            )
    rows = zip(*(row_blocks(value) for value in (X, y, *given.values())), strict=True)
    return [DaskBlock(tuple(parts), tuple(given)) for parts in rows]


def labels_in(name: str, y: Any) -> NDArray:
    """Return a block's distinct labels, or its column numbers."""
    found = np.asarray(y.compute() if is_delayed(y) else y)
    return np.unique(found) if found.ndim == 1 else np.arange(found.shape[1])
