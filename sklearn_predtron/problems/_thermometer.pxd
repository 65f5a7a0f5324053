from sklearn_predtron.problems._finite cimport FiniteProblem


cdef class ThermometerProblem(FiniteProblem):
    cdef double scale
