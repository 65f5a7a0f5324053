"""Rounds whose features depend on the prediction as well: inputs of any kind, and one row of weights."""
from sklearn_predtron._core.rows cimport View, of_doubles

cdef Py_ssize_t[2] NOWHERE = [0, 0]


cdef class JointMap(ScoreMap):
    """<w, Phi(x, sigma)>: a prediction has a score, but a round has no scores of which all predictions are made.

    The number in their place says whose weights are to be asked: 0 the last iterate's, else those of an average.  The input of a
    step is Phi(x, competitor) - Phi(x, sigma_y), which the problem fills in when both are known.
    """
    round_name = "object"

    def __init__(self):
        ScoreMap.__init__(self, 1)

    def __reduce__(self):
        return type(self), ()

    def build(self, norm, Py_ssize_t p, intercept, average, **how):
        """Return zero weights of p joint features; raise ValueError if the norm is not Euclidean."""
        from sklearn_predtron.norms._joint import JointWeights
        self.check_norm(norm)
        return JointWeights(p, average)

    def check_norm(self, norm):
        """Raise ValueError if the norm is not the Euclidean one."""
        from sklearn_predtron.norms import L2
        if not isinstance(norm.for_rows(sparse=True), L2):
            raise ValueError(f"norm={norm.alias!r} does not go with a problem of joint features; accepted is 'l2'.")

    def written_for_means(self, Py_ssize_t p):
        return p


cdef class ObjectRows(Rows):
    """Inputs that the problem's own methods read; the row of a round is empty until the problem fills it in."""

    def __init__(self, objects, Py_ssize_t p):
        self.objects = list(objects)
        self.n = self.given = len(self.objects)
        self.p = p
        self.sparse = True

    cdef void view(self, Py_ssize_t i, View* x) noexcept nogil:
        x.m = 1
        x.p = self.p
        x.k = of_doubles(True)
        x.first.n = 0
        x.first.value = x.first.index = NULL
        x.start = &NOWHERE[0]
        x.norm2 = -1

    cdef Py_ssize_t n_values(self) noexcept nogil:
        return 0

    cpdef Py_ssize_t first_outside(self):
        return -1
