cdef extern from "simd.h" nogil:
    enum:
        BY_CLASS
        BY_FEATURE
        ONE_CLASS

    ctypedef struct Row:
        Py_ssize_t n
        const void* value
        const void* index

    ctypedef struct Matrix:
        double* data
        double* offset
        Py_ssize_t d
        Py_ssize_t stride
        int layout

    ctypedef struct ScoreGradient:
        Py_ssize_t n
        Py_ssize_t* at
        double* value

    ctypedef struct RowOps:
        size_t value_size
        size_t index_size
        void (*scores[3])(Py_ssize_t m, const Row* x, const Py_ssize_t* start, const Matrix* M, double scale, int more,
                          double* t) noexcept nogil
        void (*scores_at)(Py_ssize_t m, const void** x, Py_ssize_t n, const Matrix* M, double scale, int more, Py_ssize_t apart,
                          double* t) noexcept nogil
        void (*add[3])(const Row* x, Matrix* M, const ScoreGradient* g, double scale) noexcept nogil
        void (*fetch)(const Row* x, const Matrix* M) noexcept nogil
        double (*norm2)(const Row* x) noexcept nogil
        double (*measured_score)(const Row* x, const Matrix* M, double scale, double* t) noexcept nogil
        double (*sum_of_powers)(const Row* x, double a) noexcept nogil
        void (*combine)(Py_ssize_t m, const Row* x, const Py_ssize_t* start, double scale, const double* g,
                        double* z) noexcept nogil
        double (*take_norm2)(Py_ssize_t m, const Row* x, const Py_ssize_t* start, const double* g, double* z) noexcept nogil
        void (*unpack)(const Row* x, Py_ssize_t begin, Py_ssize_t n, Py_ssize_t* at, double* value) noexcept nogil
        int (*finite)(Py_ssize_t n, const void* value) noexcept nogil
        int (*ordinary)(Py_ssize_t n, const void* value, double least, double most) noexcept nogil

    const RowOps* row_ops_for(size_t value_size, size_t index_size)
    void prefetch_bytes(const void* from_, size_t size)
