"""Weights of joint features."""
from sklearn_predtron.norms._l2 cimport L2Weights


cdef class JointWeights(L2Weights):
    cdef object iterate             # the last iterate but for its scale, read only
    cdef weights_of(self, int which)
