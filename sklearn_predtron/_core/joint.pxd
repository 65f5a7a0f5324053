"""Rounds whose features depend on the prediction as well."""
from sklearn_predtron._core.rows cimport Rows
from sklearn_predtron._core.score_map cimport ScoreMap


cdef class JointMap(ScoreMap):
    pass


cdef class ObjectRows(Rows):
    cdef list objects
