"""The residual network of a ranking held by chains."""
from libc.stdint cimport int64_t

cdef struct ResidualNetwork:                      # the residual network: a node for each position and chain, G to a position
    Py_ssize_t m, G
    double eps
    Py_ssize_t *label                   # the chain that holds each position
    double *last                        # the value there of each chain's last item before a gap
    double *next                        # and the first one after it
    double *reach                       # the best gain with which a node is reached so far
    double *origin                      # and from where
    double *height                      # prices of the positions
    double *middle
    double *heads
    int64_t *colour                     # the walk that saw a node last
    int64_t walk
    Py_ssize_t work                     # arcs that were relaxed, and nodes that were walked
    Py_ssize_t *hub                     # the lane from which a position's holder was reached
    Py_ssize_t *move                    # the lane that takes a position over
    char *from_left                     # positions whose neighbour has changed
    char *from_right


cdef void start_sweeps(ResidualNetwork* lanes) noexcept nogil
cdef bint relax_sweep(ResidualNetwork* lanes, bint rightwards) noexcept nogil
cdef bint cancel_cycles(ResidualNetwork* lanes) noexcept nogil
