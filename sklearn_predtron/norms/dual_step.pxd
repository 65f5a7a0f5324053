cdef extern from "dual_step.h" nogil:
    double dual_step(Py_ssize_t n, double change, const double* x, double a, double pending, double* theta, double* u,
                     double* total)
    double dual_step_columns(Py_ssize_t n, const Py_ssize_t* at, const double* x, Py_ssize_t stride, const double* g,
                             double a, const double* pending, double* theta, double* u, double* total, double* part)
    double dual_step_classes(Py_ssize_t p, const double* x, Py_ssize_t place, double last, Py_ssize_t d, Py_ssize_t stride,
                             const double* g, double a, const double* pending, double* theta, double* u, double* total,
                             double* part)
