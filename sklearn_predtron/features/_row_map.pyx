"""Compiled, immutable maps of a row to features."""
from libc.stdint cimport int32_t, int64_t

import numpy as np

from sklearn_predtron.features.row_map cimport LANES, Factors, Pair, fourier_row, piecewise_row

from sklearn_predtron._core.state import between, length_of, reals, restored
from sklearn_predtron.features._layout import MOST_PLACES, Description, FeatureLayout


cdef class RowMap:
    """A map of p numbers to features; the same row has the same bits, wherever and whenever it is made."""

    cdef Py_ssize_t make(self, const void* row, bint single, char* scratch, int32_t* index, double* value) noexcept nogil:
        """Make the features of a row; return their number."""
        return 0


cdef class PiecewiseMap(RowMap):
    """The compiled map of a piecewise-linear `Description`, which is checked if it comes as the tuple of its arrays."""

    def __init__(self, *state):
        is_described = len(state) == 1 and isinstance(state[0], Description)
        self.description = described = state[0] if is_described else Description.checked(self, state)
        layout = FeatureLayout(described)
        if layout.width > MOST_PLACES:
            raise ValueError(
                f"The map would have {layout.width} features; accepted are at most {MOST_PLACES}: lower n_knots, n_pairs and "
                "pair_knots."
            )
        p, r = len(described.n_hats), len(described.pairs)
        self.p, self.width, self.sparse = p, layout.width, True
        self.most = 3 * p + 4 * r
        self.orders = layout.orders()
        room = (p + LANES - 1) // LANES * LANES
        self.hats, self.inverse_hats = knot_tables(described.hats, described.n_hats, room)
        self.factors, self.inverse_factors = knot_tables(described.factors, described.n_factors, room)
        self.mean, self.inverse_sd = described.mean, 1 / described.sd
        raw = np.where(layout.raw < 0, described.n_categories, layout.raw)
        self.columns = packed(layout.kind, layout.base, raw, layout.missing)
        fields = layout.first, layout.second, layout.pair_base, layout.stride, layout.hashed, layout.modulus
        self.pairs = np.ascontiguousarray(packed(*fields).T)    # as a Pair has them
        self.scratch_size = room * (3 * sizeof(double) + sizeof(Factors))
        self.point(p, room, r)

    cdef void point(self, Py_ssize_t p, Py_ssize_t room, Py_ssize_t r) noexcept:
        """Point the tables at the arrays."""
        cdef PiecewiseTables* T = &self.tables
        T.p, T.room, T.n_pairs = p, room, r
        T.hats.n, T.factors.n = self.hats.shape[0], self.factors.shape[0]
        T.hats.at, T.hats.inverse = &self.hats[0, 0], &self.inverse_hats[0, 0]
        T.factors.at, T.factors.inverse = &self.factors[0, 0], &self.inverse_factors[0, 0]
        T.mean, T.inverse_sd = &self.mean[0], &self.inverse_sd[0]
        T.kind, T.base, T.raw, T.missing = &self.columns[0, 0], &self.columns[1, 0], &self.columns[2, 0], &self.columns[3, 0]
        if r > 0:
            T.pair = <const Pair*> &self.pairs[0, 0]

    def __reduce__(self):
        return PiecewiseMap, tuple(self.description)

    cdef Py_ssize_t make(self, const void* row, bint single, char* scratch, int32_t* index, double* value) noexcept nogil:
        cdef PiecewiseScratch S
        cdef Py_ssize_t room = self.tables.room
        S.x = <double*> scratch
        S.knot = <int64_t*> (S.x + room)
        S.factor_knot = S.knot + room
        S.factors = <Factors*> (S.factor_knot + room)
        return piecewise_row(&self.tables, row, single, &S, index, value)


def knot_tables(knots, counts, room):
    """Return the padded knots and the inverse distances."""
    p, most = knots.shape
    there = np.arange(most) < counts[:, None]
    inner = there[:, 1:]
    inverse = np.zeros((most, room))
    inverse[:-1, :p] = np.divide(1, np.diff(knots, axis=1), out=np.zeros((p, most - 1)), where=inner).T
    at = np.full((most, room), np.inf)
    at[:, :p] = np.where(there, knots, np.inf).T
    last = counts > 1                                   # nothing is to be found from the last knot on
    at[counts[last] - 1, np.flatnonzero(last)] = np.inf
    return at, inverse


def packed(*columns):
    """Return arrays as the rows of one."""
    return np.ascontiguousarray(np.stack(columns), dtype=np.int32)


cdef class FourierMap(RowMap):
    """Cosines of random directions, in dense rows."""

    def __init__(self, *state):
        p, width = length_of(state, 2), length_of(state, 1)
        pattern = reals(p, width), reals(width), reals(p), reals(p, least=1e-150), between(0, 1e150)
        self.state = restored(self, state, pattern)
        if p < 1 or width < 1:
            raise ValueError("The saved state of a FourierMap is damaged: it has no columns or no features.")
        self.turns, self.phase, self.mean, sd, self.amplitude = self.state
        self.inverse_sd = 1 / sd
        self.p, self.width, self.most, self.sparse = p, width, width, False

    def __reduce__(self):
        return FourierMap, self.state

    cdef Py_ssize_t make(self, const void* row, bint single, char* scratch, int32_t* index, double* value) noexcept nogil:
        fourier_row(self.p, self.width, row, single, &self.mean[0], &self.inverse_sd[0], &self.turns[0, 0], &self.phase[0],
                    self.amplitude, value)
        return self.width
