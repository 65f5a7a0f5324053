"""Answers of a compiled problem, for the checks."""
import numpy as np

from sklearn_predtron._core.simd cimport ScoreGradient
from sklearn_predtron._core.problem cimport Labels, Problem, Round


def competitor_of(Problem problem not None, Labels labels not None, Py_ssize_t i, t, bint augmented):
    """Return the competitor of label i at the scores t.

    It is the predicted one, or the loss-augmented one.

    Returns the loss suffered, the least loss of any prediction, the competitor's loss above that, the gap of the scores and
    rep(competitor) - rep(sigma_y), flat.  Where the predicted competitor has no loss, the gap and the difference are 0.
    """
    cdef double[::1] scores = np.array(t, dtype=np.float64).ravel()
    cdef Py_ssize_t n = scores.shape[0], m = (n - problem.score_map.extra) // problem.d, c
    if n != m * problem.d + problem.score_map.extra:
        raise ValueError(f"{n} scores are not those of a round of {problem.d} scores a row.")
    if m == 0 or not 0 <= i < labels.n:
        raise ValueError(f"there are {m} rows of scores, and {labels.n} labels, of which {i} is asked for.")
    change = np.zeros(n)
    cdef double[::1] value = np.zeros(n)
    cdef double[::1] dense = change
    cdef Py_ssize_t[::1] at = np.zeros(n, dtype=np.intp)
    cdef const void* y
    cdef ScoreGradient g
    cdef Round r
    r.t, r.weight = 1, 1
    r.loss = r.unavoidable_loss = r.competitor_loss = r.hinge = r.score_gap = r.update_norm2 = r.radius2 = 0
    r.bounded = False
    r.competitor = r.sigma_y = 0
    g.n, g.at, g.value = 0, &at[0], &value[0]
    problem.prepare(labels)
    y = labels.at(i)
    if augmented:
        problem.loss_augmented_competitor(&scores[0], y, m, &r)
    else:
        problem.decode_competitor(&scores[0], y, m, &r)
    if problem.failed:
        problem.reraise()
    if not np.array_equal(scores, np.ravel(t)):
        raise ValueError(f"{type(problem).__name__} changed the scores.")
    if augmented or r.loss > 0:
        problem.gradient(y, m, &r, &g)
        for c in range(g.n):
            dense[c if g.at == NULL else g.at[c]] += g.value[c]
    else:
        r.competitor_loss = r.score_gap = 0
    return r.loss, r.unavoidable_loss, r.competitor_loss, r.score_gap, change
