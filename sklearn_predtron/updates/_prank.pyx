"""The rule of PRank."""
from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Problem, Round
from sklearn_predtron.problems._finite cimport FiniteProblem
from sklearn_predtron.problems._thermometer cimport ThermometerProblem
from sklearn_predtron._core.rule cimport Rule


cdef class PRankRule(Rule):
    """PRank's steps (Crammer and Singer 2001); every threshold on the wrong side of the score, or on it, moves by one."""

    cdef int check(self, Problem problem) except -1:
        if not isinstance(problem, ThermometerProblem):
            raise ValueError(f"PRank is for ranks on a scale, got a {type(problem).__name__}.")
        return 0

    cdef bint propose(self, Problem problem, double* t, const void* y, Py_ssize_t m, Round* r, ScoreGradient* g) noexcept nogil:
        cdef Py_ssize_t label = (<const Py_ssize_t*> y)[0], predicted = 0, j
        while predicted < problem.d and t[predicted] >= 0:
            predicted += 1
        r.loss = (<FiniteProblem> problem).loss_at(predicted, label)
        if predicted == label:
            return False
        g.n = 0
        for j in range(problem.d):
            if t[j] <= 0 if j < label else t[j] >= 0:
                g.at[g.n] = j
                g.value[g.n] = -1 if j < label else 1
                g.n += 1
        return True

    cdef double size(self, Round* r) noexcept nogil:
        return r.weight
