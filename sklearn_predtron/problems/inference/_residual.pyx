"""Cycles of positive gain in the residual network.

The network has a node for each position and chain, joined along the chains (lanes).

An item of a chain moves over a gap along its lane; at a position the chain that comes in pushes its holder out.
"""
cdef enum:
    NONE = 0
    LEFT = 1            # reached from the same lane one position before
    RIGHT = 2           # from one position after
    HUB = 3             # from another lane at the same position: the position changes hands

cdef double FAR = 1e100     # stands for infinity, so that 0 * FAR is 0


cdef void start_sweeps(ResidualNetwork* lanes) noexcept nogil:
    """Make every position reachable from its holder; it is at the height of the present prices."""
    cdef Py_ssize_t x, i
    for i in range(lanes.m * lanes.G):
        lanes.reach[i] = -FAR
        lanes.origin[i] = NONE
    for x in range(lanes.m):
        lanes.reach[x * lanes.G + lanes.label[x]] = lanes.height[x]
        lanes.from_left[x] = lanes.from_right[x] = True


cdef bint relax_sweep(ResidualNetwork* lanes, bint rightwards) noexcept nogil:
    """Relax the arcs of one direction, position by position; return whether anything changed."""
    cdef Py_ssize_t x, m = lanes.m
    cdef bint changed = False, here
    if rightwards:
        for x in range(1, m):
            if lanes.from_left[x]:
                lanes.from_left[x] = False
                here = relax(lanes, x, x - 1, lanes.last + (x - 1) * lanes.G, -1, LEFT)
                if here:
                    changed = True
                    if x + 1 < m:
                        lanes.from_left[x + 1] = True
                    lanes.from_right[x - 1] = True
    else:
        for x in range(m - 2, -1, -1):
            if lanes.from_right[x]:
                lanes.from_right[x] = False
                here = relax(lanes, x, x + 1, lanes.next + x * lanes.G, 1, RIGHT)
                if here:
                    changed = True
                    lanes.from_left[x + 1] = True
                    if x > 0:
                        lanes.from_right[x - 1] = True
    return changed


cdef inline bint relax(ResidualNetwork* lanes, Py_ssize_t x, Py_ssize_t y, const double* arc, double sign,
                       double origin) noexcept nogil:
    """Reach position x from its neighbour y in every lane; its holder is reached from the best lane."""
    cdef Py_ssize_t g, best = 0, holder = lanes.label[x], G = lanes.G
    cdef double *here = lanes.reach + x * G
    cdef double *came = lanes.origin + x * G
    cdef const double *there = lanes.reach + y * G
    cdef double value
    cdef bint better, changed = False
    lanes.work += G
    for g in range(G):
        value = there[g] + sign * arc[g]
        better = value > here[g] + lanes.eps
        here[g] = value if better else here[g]
        came[g] = origin if better else came[g]
        changed |= better
    if changed:
        for g in range(1, G):
            if here[g] > here[best]:
                best = g
        if here[best] > here[holder] + lanes.eps:
            here[holder] = here[best]
            came[holder] = HUB
            lanes.hub[x] = best
    return changed


cdef inline Py_ssize_t parent(const ResidualNetwork* lanes, Py_ssize_t node) noexcept nogil:
    """Return the parent of a node, -1 for none."""
    cdef double origin = lanes.origin[node]
    if origin == LEFT:
        return node - lanes.G
    if origin == RIGHT:
        return node + lanes.G
    if origin == HUB:
        return node // lanes.G * lanes.G + lanes.hub[node // lanes.G]
    return -1


cdef bint cancel_cycles(ResidualNetwork* lanes) noexcept nogil:
    """Reassign the positions on cycles of the parents.

    Only those that change hands are reassigned.  Return whether there was any.

    Cycles of parents share no node, and their gains add up.
    """
    cdef Py_ssize_t x, node, moves = 0, i
    lanes.work += lanes.m
    for x in range(lanes.m):
        lanes.move[x] = -1
    for x in range(lanes.m):
        lanes.walk += 1
        node = x * lanes.G + lanes.label[x]
        while node >= 0 and lanes.colour[node] <= lanes.walk - x - 1:
            lanes.colour[node] = lanes.walk
            lanes.work += 1
            node = parent(lanes, node)
        if node >= 0 and lanes.colour[node] == lanes.walk:
            moves += take_cycle(lanes, node)
    if moves == 0:
        return False
    for x in range(lanes.m):
        lanes.height[x] = lanes.reach[x * lanes.G + lanes.label[x]]
    for i in range(lanes.m):
        if lanes.move[i] >= 0:
            lanes.label[i] = lanes.move[i]
    return True


cdef Py_ssize_t take_cycle(ResidualNetwork* lanes, Py_ssize_t start) noexcept nogil:
    """Record the new holders on a cycle; return their number."""
    cdef Py_ssize_t node = start, moves = 0
    while True:
        if lanes.origin[node] == HUB:
            lanes.move[node // lanes.G] = lanes.hub[node // lanes.G]
            moves += 1
        node = parent(lanes, node)
        if node == start:
            return moves
