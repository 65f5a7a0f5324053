"""The first row that cannot be trained on is found as by NumPy, whatever the type of the values and the place of the bad one."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH, csr_rows, dense_rows

N, P = 12, 7  # rows end within, at and behind the vectors of a processor


def first_outside(X):
    """The first row that is neither zeros nor of a length in the range."""
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.linalg.norm(X.astype(np.longdouble), axis=1)
        good = (X == 0).all(axis=1) | ((length >= LEAST_LENGTH) & (length <= LARGEST_LENGTH))
    return -1 if good.all() else int(good.argmin())


@pytest.mark.parametrize("kind", [dense_rows, csr_rows])
@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (np.float32, [np.nan, np.inf, -np.inf, np.finfo(np.float32).max, np.finfo(np.float32).smallest_subnormal, 0]),
        (np.float64, [np.nan, np.inf, -np.inf, 1e141, -1e139, 1e-141, 1e-139, 0]),
    ],
)
def test_first_invalid_row(kind, dtype, values):
    good = np.random.default_rng(0).standard_normal((N, P)).astype(dtype)
    for value in values:
        for row in range(N):
            for places in (slice(None), slice(row % P, row % P + 1)):
                X = good.copy()
                X[row, places] = value
                given = X if kind is dense_rows else sparse.csr_array(X)
                assert kind(given).first_outside() == first_outside(X)
