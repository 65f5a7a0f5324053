"""What predicts: a copy of the weights of one moment, which is kept while nothing is learned."""
from sklearn_predtron._core.rows cimport View, of_doubles

from sklearn_predtron.norms._frozen import frozen, passing

cdef enum:
    FEW_WEIGHTS = 1 << 12   # that are always written down


cdef bint score(Weights weights, Rows rows, double[:, ::1] out, Py_ssize_t first, bint mean) except -1:
    """Fill in the scores of rows from the first on; return whether all are finite."""
    cdef Py_ssize_t done = first, begin, end, last = first + out.shape[0]
    cdef bint finite = True
    cdef View x
    if rows.p > weights.n_features or rows.longest != 1:
        raise ValueError(f"rows must be single, and have at most the {weights.n_features} features of the weights.")
    if not 0 <= first <= last <= rows.n or out.shape[1] != weights.d:
        raise ValueError(f"out must have shape {(rows.n - first, weights.d)}, got {(out.shape[0], out.shape[1])}.")
    while done < last:
        end = weights.open_block(rows, None, done, last, mean)
        with nogil:
            while done < end:
                begin = done
                done = rows.view_together(begin, end, &x)
                weights.scores(&x, &out[begin - first, 0])
                finite &= of_doubles(False).finite(x.m * weights.d, &out[begin - first, 0])
    return finite


cdef class Predictors:
    """Finds what predicts by some weights, for threads that are in a section of their lock."""

    def __init__(self, Weights weights not None, Lock lock not None):
        self.weights, self.lock = weights, lock

    cdef void clear(self) noexcept:
        """Keep nothing: it may be as large as the weights."""
        self.kept = None

    cdef Weights whole(self, bint mean):
        """What predicts, by several threads at a time but for a kernel expansion, whatever is learned meanwhile."""
        cdef Weights predictor = self.recall(mean)
        if predictor is None:
            predictor = frozen(self.weights, mean)
            if not self.weights.whole_in_blocks:    # what predicts by kernels holds the rows of one thread
                self.kept, self.of_mean, self.moment = predictor, mean, self.lock.moment()
        return predictor

    cdef Weights recall(self, bint mean):
        """What is kept of this moment; None if nothing is."""
        if self.kept is None or self.of_mean != mean or self.moment == 0 or self.moment != self.lock.moment():
            return None
        return self.kept

    cdef Weights in_passing(self, Rows rows, bint mean):
        """The same for few rows, to be used within the section: large weights are not written down for them, else None."""
        cdef size_t moment = self.lock.moment()
        if self.moment != moment:
            self.moment, self.passed, self.kept = moment, 0, None
        self.passed += rows.n_values()
        if rows.p * self.weights.d <= FEW_WEIGHTS or self.passed >= rows.p * (1 if rows.sparse else 2):
            return None
        return passing(self.weights, mean, rows)


cdef class Predictor:
    """What predicts, as of the moment when it was made, for several threads at a time unless it is a kernel expansion."""

    def __init__(self, Weights weights not None, bint mean):
        self.weights, self.mean = weights, mean

    def scores(self, Rows rows not None, double[:, ::1] out not None, Py_ssize_t first=0):
        """Scores W x + b for rows from the first on, into out; whether all are finite."""
        return score(self.weights, rows, out, first, self.mean)
