"""What `norm="auto"` makes of the format of rows, and warns of."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron._warning import warn

FORMATS = {False: "dense", True: "CSR"}
DENSE = 0.05  # of the values of rows in a file: words are fewer, and the columns of a table, flags among them, are more
FAR_APART = 1e3  # root mean squares of columns, the largest over the least, that a learner under "l2" suffers from
SEEN, ENOUGH = 1 << 15, 10  # stored values that are looked at; those of a column that make it known


def are_stored_dense(X: Any) -> bool:
    """Return whether CSR rows of a file hold so many of their values that they are rows of a table, not of words."""
    return X.nnz >= DENSE * X.shape[0] * X.shape[1]


def warn_of_scales(X: Any) -> None:
    """Warn of CSR rows under "auto" whose columns differ in scale, by the first values stored, as "l2" minds that."""
    if X is None:  # joint features, which no matrix holds
        return
    values, (columns, column) = X.data[:SEEN], np.unique(X.indices[:SEEN], return_inverse=True)
    with np.errstate(all="ignore"):  # what is not finite is refused elsewhere
        n = np.bincount(column, values != 0, len(columns))
        size = np.sqrt(np.bincount(column, np.square(values, dtype=np.float64), len(columns)) / n)
    known = np.isfinite(size) & (size > 0) & (n >= ENOUGH)
    columns, size = columns[known], size[known]
    if len(size) == 0 or size.max() <= FAR_APART * size.min():
        return
    small, large = size.argmin(), size.argmax()
    warn(
        f"the root mean squares of what X stores differ by a factor of {size[large] / size[small]:.3g}, between the columns "
        f"{columns[small]} ({size[small]:.3g}) and {columns[large]} ({size[large]:.3g}); norm='auto' is 'l2' for CSR rows, under "
        "which large columns hide small ones: give norm='scaled', which learns from columns of any scale."
    )


def warn_of_format(first: bool, norm: str, sparse: bool) -> None:
    """Warn of rows in another format than the first ones, by which "auto" was fixed."""
    warn(
        f"X is {FORMATS[sparse]}, and the first rows were {FORMATS[first]}, for which norm='auto' is {norm!r}: all rows are "
        f"learned under it; give norm={norm!r} where both formats are meant."
    )
