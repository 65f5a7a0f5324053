from sklearn_predtron._core.problem cimport Problem, Round


cdef class FiniteProblem(Problem):
    cdef readonly Py_ssize_t k
    cdef const double[:, ::1] rep, cost
    cdef const double* loss_of            # NULL for the 0-1 loss
    cdef const Py_ssize_t[::1] sigma_y
    cdef double[::1] scratch
    cdef set_loss(self, Py_ssize_t k, Py_ssize_t d, cost)
    cdef double* decoded(self, double* t, double* room) noexcept nogil
    cdef inline const double* loss_row(self, Py_ssize_t label) noexcept nogil
    cdef inline double loss_at(self, Py_ssize_t sigma, Py_ssize_t label) noexcept nogil:
        """Return L(sigma, y)."""
        return sigma != label if self.loss_of == NULL else self.loss_of[label * self.k + sigma]
    cdef inline void no_competitor(self, Py_ssize_t label, Round* r) noexcept nogil
    cdef void find_best(self, double* s, Py_ssize_t label, Round* r) noexcept nogil
    cdef void find_loss_augmented(self, double* s, Py_ssize_t label, Round* r) noexcept nogil
