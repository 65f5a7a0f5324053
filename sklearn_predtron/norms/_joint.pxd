"""Rounds with features that depend on the prediction, their weights."""
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.score_map cimport ScoreMap
from sklearn_predtron.norms._l2 cimport L2Weights


cdef class JointMap(ScoreMap):
    pass


cdef class ObjectRows(Rows):
    cdef list objects


cdef class JointWeights(L2Weights):
    cdef object iterate             # the last iterate but for its scale, read only
    cdef weights_of(self, int which)
