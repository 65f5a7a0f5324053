"""Weights that compute scores from those of inner weights; every call is passed to the inner weights."""
from sklearn_predtron._core.rows cimport Rows, View
from sklearn_predtron._core.weights cimport Weights


cdef class WrappedWeights(Weights):
    """Weights whose `inner` ones multiply the rows; their calls, blocks and rounds are the inner ones'."""

    def widen(self, Py_ssize_t n_features):
        self.inner.widen(n_features)
        self.n_features = n_features

    def reserve(self, Rows rows not None):
        self.inner.reserve(rows)
        self.small_pages = self.inner.small_pages

    def keep_averages(self, int n):
        """Keep n averages of the iterates from here on; present averages continue, and new ones start."""
        self.inner.keep_averages(n)
        self.averaging = n

    def swap_average(self, int which):
        """Swap average number `which` with number 1; `keep_averages` comes next."""
        self.inner.swap_average(which)

    cdef void select_average(self, int which) noexcept nogil:
        self.leader = which
        self.inner.select_average(which)

    def room_for(self, Py_ssize_t n_features):
        return self.inner.room_for(n_features)

    @property
    def no_theorem_because(self):
        return self.inner.no_theorem_because

    def first_refused(self, Rows rows not None):
        return self.inner.first_refused(rows)

    def complaint(self):
        return self.inner.complaint()

    cdef bint unfinished(self) noexcept:
        return self.inner.unfinished()

    def complete(self):
        self.inner.complete()

    cdef open_call(self, Rows rows, bint fresh, bint undo_needed):
        self.inner.open_call(rows, fresh, undo_needed)

    cdef Py_ssize_t open_block(self, Rows rows, const Py_ssize_t[::1] order, Py_ssize_t first, Py_ssize_t last,
                               bint means_wanted) except -1:
        return self.inner.open_block(rows, order, first, last, means_wanted)

    cdef void request_lengths(self, bint wanted) noexcept:
        self.inner.request_lengths(wanted)
        self.measures = self.inner.measures

    cdef close_block(self):
        self.inner.close_block()

    def make_readable(self):
        self.inner.make_readable()

    cdef close_call(self, bint learned):
        self.inner.close_call(learned)

    def close_fit(self):
        self.inner.close_fit()

    cdef Py_ssize_t update_statistics_of_all(self, Rows rows, const Py_ssize_t[::1] order) except -2:
        return self.inner.update_statistics_of_all(rows, order)

    cdef bint begin_round(self, View* x) noexcept nogil:
        cdef bint taken = self.inner.begin_round(x)
        self.is_trainable = self.inner.is_trainable
        return taken

    cdef void abandon_round(self) noexcept nogil:
        self.inner.abandon_round()
        self.is_trainable = self.inner.is_trainable

    cdef void shrink(self, double factor) noexcept nogil:
        self.inner.shrink(factor)

    cdef void add_to_average(self, int which, double weight, double keep) noexcept nogil:
        self.inner.add_to_average(which, weight, keep)

    cdef void prefetch(self, const View* x) noexcept nogil:
        self.inner.prefetch(x)
