from libc.stdint cimport int32_t, int64_t

cdef extern from "row_map.h" nogil:
    enum:
        LANES
        CONSTANT
        NUMBERS
        CATEGORIES
        DIRECT
        HASHED_FIRST
        HASHED_CELL

    ctypedef struct Knots:
        Py_ssize_t n
        const double* at
        const double* inverse

    ctypedef struct Pair:
        pass

    ctypedef struct Factors:
        pass

    ctypedef struct PiecewiseTables:
        Py_ssize_t p
        Py_ssize_t room
        Py_ssize_t n_pairs
        Knots hats
        Knots factors
        const double* mean
        const double* inverse_sd
        const int32_t* kind
        const int32_t* base
        const int32_t* raw
        const int32_t* missing
        const Pair* pair

    ctypedef struct PiecewiseScratch:
        double* x
        int64_t* knot
        int64_t* factor_knot
        Factors* factors

    Py_ssize_t piecewise_row(const PiecewiseTables* T, const void* row, bint single, const PiecewiseScratch* S, int32_t* index,
                             double* value) noexcept
    void fourier_row(Py_ssize_t p, Py_ssize_t width, const void* row, bint single, const double* mean, const double* inverse_sd,
                     const double* turns, const double* phase, double amplitude, double* value) noexcept
