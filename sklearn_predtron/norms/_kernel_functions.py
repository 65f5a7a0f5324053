"""Kernels between rows, and the rows of a kernel expansion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sklearn_predtron._support.numbers import real_number, real_numbers
from sklearn_predtron._support.padding import pad_rows
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.norms._rkhs import gaussian

# Kernels that are positive semidefinite, as the theorems want them; additive_chi2 and sigmoid are not.
POSITIVE = {"chi2", "cosine", "laplacian", "linear", "poly", "polynomial", "rbf"}


class Kernel:
    """k(x, z) of the rows of two matrices.

    Kernels of products are computed here, in place: one row against 500 takes a tenth of the time of `pairwise_kernels`.
    """

    def __init__(self, kernel: str | Callable[[Any, Any], Any], gamma: float, degree: float, coef0: float):
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
        known = callable(self.kernel) or self.kernel in KERNELS
        if not known or None in map(real_number, (self.gamma, self.degree, self.coef0)):
            raise ValueError(f"The saved state of a {type(self).__name__} is damaged: kernel={shortened(self.kernel)}.")

    def __call__(self, A: Any, B: Any) -> NDArray:
        """Return the kernel of each row of A and each of B.

        The shape is (len(A), len(B)); kernels that overflow are not finite.
        """
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return self._of_rows(A, B)

    def _of_rows(self, A: Any, B: Any) -> NDArray:
        if callable(self.kernel):
            return self._checked(self.kernel(A, B), A, B)
        of_products = getattr(self, f"_{self.kernel}", None)
        if of_products is not None:
            return of_products(A, B)
        settings = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return np.ascontiguousarray(pairwise_kernels(A, B, metric=self.kernel, filter_params=True, **settings))

    @property
    def positive(self) -> bool:
        """Whether it is known to be positive semidefinite; callables are trusted to be."""
        if self.kernel in ("poly", "polynomial"):
            return self.coef0 >= 0 and float(self.degree).is_integer()
        return callable(self.kernel) or self.kernel in POSITIVE

    @property
    def vanishes_at_zero_alone(self) -> bool:
        """Whether k(x, x) = 0 implies that x = 0."""
        of_products = self.kernel in ("poly", "polynomial", "sigmoid") and self.coef0 == 0 and self.degree > 0
        return of_products or self.kernel in ("linear", "cosine")

    def _checked(self, found: Any, A: Any, B: Any) -> NDArray:
        """Check a callable's result for the rows of A and B."""
        values, shape = real_numbers(found), (A.shape[0], B.shape[0])
        accepted = (
            f"accepted is a callable of two matrices that returns the kernels of their rows, here an array of finite numbers of "
            f"shape {shape}"
        )
        if values is None:
            raise ValueError(f"kernel={self.kernel!r} returned {shortened(found)}, which does not hold numbers; {accepted}.")
        if values.shape != shape:
            raise ValueError(
                f"kernel={self.kernel!r} returned shape {values.shape} for {shape[0]} and {shape[1]} rows; {accepted}."
            )
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            if all_finite(A[[i]]) and all_finite(B[[j]]):  # X that is not finite is rejected elsewhere
                raise ValueError(f"kernel={self.kernel!r} returned {values[i, j]} for two rows of finite numbers; {accepted}.")
        elif A is B:
            self._check_symmetry(values)
        return values

    def _check_symmetry(self, values: NDArray) -> None:
        """Raise ValueError if no kernel has these values.

        They are those of rows among themselves; a kernel has k(x, z) = k(z, x) and k(x, x) >= 0.
        """
        allowed = 1e-6 * np.abs(values).max(initial=0)
        own = values.diagonal()
        if own.min(initial=0) < -allowed:
            raise ValueError(
                f"kernel={self.kernel!r} returned k(x, x) = {own.min():g}; accepted is a kernel with k(x, x) of at least 0."
            )
        apart = np.abs(values - values.T)
        if apart.max(initial=0) > allowed:
            i, j = np.unravel_index(apart.argmax(), apart.shape)
            raise ValueError(
                f"kernel={self.kernel!r} returned k(x, z) = {values[i, j]:g} and k(z, x) = {values[j, i]:g}; accepted is a "
                "symmetric kernel, k(x, z) = k(z, x)."
            )

    def _linear(self, A: Any, B: Any) -> NDArray:
        if sparse.issparse(B) and A.shape[0] < B.shape[0]:  # the transpose of the larger one is costly
            return np.ascontiguousarray(safe_sparse_dot(B, A.T, dense_output=True).T)
        return np.ascontiguousarray(safe_sparse_dot(A, B.T, dense_output=True))

    def _affine(self, A: Any, B: Any) -> NDArray:
        values = self._linear(A, B)
        values *= self.gamma
        values += self.coef0
        return values

    def _polynomial(self, A: Any, B: Any) -> NDArray:
        values = self._affine(A, B)
        if not float(self.degree).is_integer() and (values < 0).any():
            raise ValueError(
                f"degree={self.degree} of kernel={self.kernel!r} has no power of gamma <x, z> + coef0 = {values.min():g}, which "
                "is negative; accepted is a whole number, or rows for which it is never negative."
            )
        if self.degree not in (1, 2, 3, 4):
            return np.power(values, self.degree, out=values)
        product = values.copy()  # ten times as fast as powers
        for _ in range(int(self.degree) - 1):
            product *= values
        return product

    _poly = _polynomial

    def _sigmoid(self, A: Any, B: Any) -> NDArray:
        values = self._affine(A, B)
        return np.tanh(values, out=values)

    def _rbf(self, A: Any, B: Any) -> NDArray:
        values = self._linear(A, B)
        gaussian(values, self.gamma, row_norms(A, squared=True), row_norms(B, squared=True))
        if A is B:
            own = values.diagonal()
            np.fill_diagonal(values, np.where(np.isnan(own), own, 1.0))  # whatever the distance of a far row was rounded to
        return values


class Support:
    """The rows of an expansion, and their kernels with others; they are dense or sparse as the first of them."""

    def __init__(self, kernel: Kernel, p: int):
        self.kernel = kernel
        self.n = 0
        self.kept: Any = np.empty((0, p))  # with room for more where it is dense
        self._read = False  # whether others may be reading `kept`

    @property
    def rows(self) -> Any:
        """The rows, of shape (n, p)."""
        return self.kept[: self.n]

    def primal(self, W: NDArray) -> NDArray:
        """Return the weights of the features; only the linear kernel has them."""
        if self.kernel.kernel != "linear":
            raise AttributeError(f"coef_ is for kernel='linear'; kernel={self.kernel.kernel!r} has dual_coef_ and support_.")
        return safe_sparse_dot(W, self.rows, dense_output=True)

    @property
    def no_theorem_because(self) -> str | None:
        """Name the parts that the theorems do not cover, if any."""
        if self.kernel.positive:
            return None
        of = f", degree={self.kernel.degree:g} and coef0={self.kernel.coef0:g}" if self.kernel.kernel in POSITIVE else ""
        return f"kernel={self.kernel.kernel!r}{of}, not known to be positive"

    def lent(self) -> Support:
        """Return a support for reading with the present rows; it keeps them whatever happens to this support."""
        reader = object.__new__(Support)
        reader.kernel, reader.n, reader.kept, reader._read = self.kernel, self.n, self.kept, True
        self._read = True
        return reader

    def resized(self, p: int) -> Support:
        """Return a support of the same rows with p features; the added features are 0."""
        wide = self.lent()
        if sparse.issparse(self.kept):
            kept = self.kept.copy()
            kept.resize(self.n, p)
        else:
            kept = np.zeros((self.n, p))
            kept[:, : self.kept.shape[1]] = self.rows
        wide.kept, wide._read = kept, False
        return wide

    def widened(self, matrix: Any, p: int) -> Any:
        """Return rows with p features; those that they did not have are 0."""
        return pad_rows(matrix, p)

    def against(self, block: Any, begin: int, end: int) -> NDArray:
        """Return kernels of a block's rows and rows begin to end."""
        return self.kernel(block, self.kept[begin:end])

    def between(self, block: Any, others: Any, numbers: NDArray) -> NDArray:
        """Return kernels of a block's rows and numbered other rows."""
        return self.kernel(block, others)

    def vanished(self, block: Any, own: NDArray) -> NDArray[np.bool_]:
        """Return whether each row's kernel with itself underflows to 0; it would not be 0 if the row were not so small."""
        lost = own == 0
        if lost.any():
            lost &= self.kernel.vanishes_at_zero_alone
            lost &= np.asarray(abs(block).sum(axis=1)).ravel() > 0
        return lost

    def put(self, places: NDArray, block: Any, which: NDArray, numbers: NDArray) -> None:
        """Put rows of a block into the given places; those from n on are new, and follow each other."""
        rows, n = block[which], max(self.n, int(places.max()) + 1)
        if self.n == 0 and sparse.issparse(rows):
            self.kept = rows[:0]
        if sparse.issparse(self.kept):
            self.kept, self.n = self._stacked(places, sparse.csr_matrix(rows), n), n
        else:
            self._make_room(n, overwriting=places.min() < self.n)
            self.kept[places] = rows.toarray() if sparse.issparse(rows) else rows
            self.n = n

    def _stacked(self, places: NDArray, rows: Any, n: int) -> Any:
        """Return the sparse rows kept, with others in given places."""
        origin = np.arange(n)
        origin[places] = self.n + np.arange(len(places))
        stacked = sparse.vstack([self.kept, rows], format="csr")
        return stacked if n == stacked.shape[0] and (origin == np.arange(n)).all() else stacked[origin]

    def _make_room(self, n: int, *, overwriting: bool) -> None:
        full = n > len(self.kept)
        if full or (overwriting and self._read) or not self.kept.flags.writeable:  # as those of a memory map
            grown = np.empty((max(n, 2 * len(self.kept)) if full else len(self.kept), self.kept.shape[1]))
            grown[: self.n] = self.kept[: self.n]
            self.kept, self._read = grown, False

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        kept, whole = self.kept, isinstance(self.kernel, Kernel) and state.keys() == {"kernel", "n", "kept", "_read"}
        rows = sparse.issparse(kept) or (isinstance(kept, np.ndarray) and kept.ndim == 2)
        if not whole or not rows or kept.shape[0] != self.n or kept.dtype not in (np.float32, np.float64):
            raise ValueError(f"The saved state of a {type(self).__name__} is damaged: its rows are {shortened(kept)}.")

    def __getstate__(self) -> dict[str, Any]:
        rows = self.rows.copy() if sparse.issparse(self.kept) else np.array(self.rows)  # in memory, not mapped
        return {**vars(self), "kept": rows, "_read": False}


class PrecomputedSupport:
    """The columns that an expansion of given kernels keeps; Rows are kernels with all rows of the training data."""

    kernel = None
    no_theorem_because = None

    def __init__(self) -> None:
        self.columns = np.zeros(0, dtype=np.intp)

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns = state.get("columns")
        if not isinstance(columns, np.ndarray) or columns.ndim != 1 or columns.dtype != np.intp or (columns < 0).any():
            raise ValueError(f"The saved state of a {type(self).__name__} is damaged: its columns are {shortened(columns)}.")
        self.columns = columns

    @property
    def n(self) -> int:
        """Number of columns kept."""
        return len(self.columns)

    def lent(self) -> PrecomputedSupport:
        """Return a support for reading with the present columns; it keeps them whatever happens to this support."""
        reader = PrecomputedSupport()
        reader.columns = self.columns
        return reader

    @property
    def rows(self) -> Any:
        """They are not kept, nor their kernels."""
        raise ValueError("margin needs the kernels of the support, of which norm=RKHS(kernel='precomputed') keeps none.")

    def primal(self, W: NDArray) -> NDArray:
        """There are no features."""
        raise AttributeError("coef_ is for kernel='linear'; kernel='precomputed' has dual_coef_ and support_.")

    def widened(self, matrix: Any, p: int) -> Any:
        """Return the rows, whose number of columns does not change."""
        if matrix.shape[1] != p:
            raise ValueError(f"rows must have the kernels with all {p} rows, got {matrix.shape[1]}.")
        return matrix

    def against(self, block: Any, begin: int, end: int) -> NDArray:
        """Return kernels of a block's rows and kept rows begin to end."""
        return kernel_array(block[:, self.columns[begin:end]])

    def between(self, block: Any, others: Any, numbers: NDArray) -> NDArray:
        """Return kernels of a block's rows and numbered other rows."""
        return kernel_array(block[:, numbers])

    def vanished(self, block: Any, own: NDArray) -> NDArray[np.bool_]:
        """Return whether each row's kernel with itself is too small; zeros are taken as given."""
        return np.zeros(len(own), dtype=bool)

    def put(self, places: NDArray, block: Any, which: NDArray, numbers: NDArray) -> None:
        """Put the numbered rows into the given places; those from n on are new, and follow each other."""
        columns = np.zeros(max(len(self.columns), int(places.max()) + 1), dtype=np.intp)
        columns[: len(self.columns)] = self.columns
        columns[places] = numbers
        self.columns = columns


def all_finite(rows: Any) -> bool:
    """Return whether dense or sparse rows are all finite."""
    return bool(np.isfinite(rows.data if sparse.issparse(rows) else rows).all())


def kernel_array(values: Any) -> NDArray:
    """Return a dense or sparse matrix as an array."""
    return values.toarray() if sparse.issparse(values) else np.ascontiguousarray(values)


KERNELS = sorted({*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"})
