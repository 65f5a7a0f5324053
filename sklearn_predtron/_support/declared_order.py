"""Label order declared by pandas, polars or Arrow columns; None of them is imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def declared_order(y: Any) -> NDArray | None:
    """Return the label order that y declares, or None; a frame with a single column counts as its column."""
    column = only_column(y)
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum":  # of pandas; of polars
        return np.asarray(dtype.categories)  # type: ignore[union-attr]
    if hasattr(dtype, "pyarrow_dtype"):
        column = getattr(column, "array", column).__arrow_array__()
    return order_of_dictionaries(column) if getattr(getattr(column, "type", None), "ordered", False) else None


def only_column(y: Any) -> Any:
    """Return a frame's only column; other objects unchanged."""
    names = getattr(y, "column_names", getattr(y, "columns", None))  # of an Arrow table; of pandas and polars
    return y if names is None or len(names) != 1 else y[names[0]]


def order_of_dictionaries(column: Any) -> NDArray | None:
    """Return the order of an Arrow array of ordered dictionaries; its chunks may each leave out labels of the longest one."""
    orders = [np.asarray(chunk.dictionary) for chunk in getattr(column, "chunks", [column])]
    longest = max(orders, key=len, default=None)
    for order in orders:
        found, known = order.tolist(), set(order.tolist())
        if [label for label in longest.tolist() if label in known] != found:  # type: ignore[union-attr]
            raise ValueError(
                f"y has chunks whose dictionaries contradict each other: {found} and {longest.tolist()}; "  # type: ignore[union-attr]
                "give their order as categories."
            )
    return longest
