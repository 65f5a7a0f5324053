cdef extern from "scaling.h" nogil:
    ctypedef struct Scaling:
        double* mean
        double* inverse
        double* squares
        double* count
        double* last
        Py_ssize_t step
        Py_ssize_t rest

    ctypedef struct Found:
        double length2
        double cross
        double constant

    Py_ssize_t scaling_meet_block(Py_ssize_t n, Py_ssize_t m, const void* const* rows, bint single, double t, const Scaling* S,
                                  Py_ssize_t* at) noexcept
    void scaling_meet_listed(Py_ssize_t n, const Py_ssize_t* at, const double* x, double t, const Scaling* S) noexcept
    void scaling_meet_dense(Py_ssize_t n, const double* x, double t, const Scaling* S, double* z, Found* found) noexcept
    void scaling_meet_uniform(Py_ssize_t n, const double* x, double t, const Scaling* S, double* z, Found* found) noexcept
    void scaling_write_counts(Py_ssize_t n, double t, const Scaling* S) noexcept
    void scaling_meet_sparse(Py_ssize_t n, const double* x, const Py_ssize_t* at, double t, const Scaling* S, double* z,
                             double* change, Found* found) noexcept
    void scaling_apply_dense(Py_ssize_t n, const double* x, const Scaling* S, double* z, Found* found) noexcept
    double scaling_score_dense(Py_ssize_t n, const double* x, const Scaling* S, const double* w, double* z, Found* found) noexcept
    void scaling_apply_sparse(Py_ssize_t n, const double* x, const Py_ssize_t* at, const Scaling* S, double* z,
                              Found* found) noexcept
    void scaling_fetch(const Scaling* S, Py_ssize_t j, bint all) noexcept
    void scaling_refresh(Py_ssize_t p, double t, bint dense, const Scaling* S) noexcept
