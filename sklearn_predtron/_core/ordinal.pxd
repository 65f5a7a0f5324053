from sklearn_predtron._core.table cimport Table


cdef class Thermometer(Table):
    cdef double scale
