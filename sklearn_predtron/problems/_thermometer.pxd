from sklearn_predtron.problems._finite cimport Table


cdef class Thermometer(Table):
    cdef double scale
