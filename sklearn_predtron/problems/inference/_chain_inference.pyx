"""The best sequences of labels of a linear chain.

They are found by recursions from its right end.

The decoder so reads from left to right: of equal maximisers it finds the first in lexicographic order.  Partial sums are compared
as they were computed, and no back pointers are kept: the maximum is found again for the one label that was reached.
"""
from libc.math cimport INFINITY, exp, log
from libc.string cimport memcpy

cdef double FORBIDDEN = -INFINITY
cdef double LEAST_SUM = 1e-280      # of products of exponentials that has lost nothing by underflow


cdef Py_ssize_t padded(Py_ssize_t K) noexcept nogil:
    """Return the stride of rows of K states."""
    return 4 if K <= 4 else (K + 7) // 8 * 8


cdef void find_suffixes(Trellis* c, const double* cost, const Py_ssize_t* y) noexcept nogil:
    """Fill the suffix scores; where cost is not NULL, row y_t of it is added to the scores of token t."""
    cdef Py_ssize_t t, k
    cdef double* row
    cdef const double* more
    for t in range(c.T):
        row = c.best + t * c.stride
        memcpy(row, c.u + t * c.K, c.K * sizeof(double))
        for k in range(c.K, c.stride):
            row[k] = 0
        if cost != NULL:
            more = cost + y[t] * c.K
            for k in range(c.K):
                row[k] += more[k]
    row = c.best + (c.T - 1) * c.stride
    for k in range(c.K):
        row[k] += c.final[k]
    viterbi_sweep(c.T, c.K, c.stride, c.table, c.best)


cdef inline double way(const Trellis* c, Py_ssize_t t, Py_ssize_t before, Py_ssize_t k) noexcept nogil:
    """Return the best score of a suffix; its labels begin at token t with k, after the label `before`."""
    if t == 0:
        return c.initial[k] + c.best[k]
    return c.table[k * c.stride + before] + c.best[t * c.stride + k]


cdef inline Py_ssize_t best_way(const Trellis* c, Py_ssize_t t, Py_ssize_t before, bint* tied) noexcept nogil:
    """Return the first best label at token t; it follows the label `before`; also find whether others are as good."""
    cdef Py_ssize_t k, first = 0
    cdef double best = way(c, t, before, 0), score
    cdef bint again = False
    for k in range(1, c.K):
        score = way(c, t, before, k)
        if score > best:
            best, first, again = score, k, False
        elif score == best:
            again = True
    tied[0] |= again
    return first


cdef bint follow(const Trellis* c, Py_ssize_t* sigma) noexcept nogil:
    """Find the first best sequence; return whether others tie."""
    cdef Py_ssize_t t, label = 0
    cdef bint tied = False
    for t in range(c.T):
        label = sigma[t] = best_way(c, t, label, &tied)
    return tied


cdef double path_score(const Trellis* c, const Py_ssize_t* y) noexcept nogil:
    """Return the score of a sequence; it is summed from the right as suffix scores are."""
    cdef Py_ssize_t t
    cdef double score = c.u[(c.T - 1) * c.K + y[c.T - 1]] + c.final[y[c.T - 1]]
    for t in range(c.T - 2, -1, -1):
        score = c.u[t * c.K + y[t]] + (c.table[y[t + 1] * c.stride + y[t]] + score)
    return c.initial[y[0]] + score


cdef double follow_other(const Trellis* c, const Py_ssize_t* y, Py_ssize_t* leave, Py_ssize_t* sigma) noexcept nogil:
    """Find the best sequence but y; return its score.

    Among several, it is the first; FORBIDDEN if there is none.

    It is y up to the token where it leaves, and free from there on: beside the suffix scores there is one number for each token,
    the best score that begins with y_t and leaves y later.  `leave` is scratch for T labels.
    """
    cdef Py_ssize_t t, k, label
    cdef double later = -INFINITY, best, score
    cdef bint tied
    for t in range(c.T - 1, -1, -1):
        best, leave[t] = -INFINITY, -1
        label = y[t - 1] if t > 0 else 0
        for k in range(c.K):
            if k == y[t]:
                score = (c.initial[k] if t == 0 else c.table[k * c.stride + label]) + later
            else:
                score = way(c, t, label, k)
            if score > best:
                best, leave[t] = score, k if k != y[t] else -1
        later = best if t == 0 else c.u[(t - 1) * c.K + label] + best
    t = 0
    while t < c.T and leave[t] < 0:
        sigma[t] = y[t]
        t += 1
    if t < c.T:
        label = sigma[t] = leave[t]
        for t in range(t + 1, c.T):
            label = sigma[t] = best_way(c, t, label, &tied)
    return later


cdef void follow_worst(const Trellis* c, const double* cost, const Py_ssize_t* y, double* worst,
                       Py_ssize_t* sigma) noexcept nogil:
    """Find the most costly of the best sequences; among several, it is the first; `worst` is scratch like the suffix scores."""
    cdef Py_ssize_t t, k, label = 0
    for t in range(c.T - 1, -1, -1):
        for k in range(c.K):
            worst[t * c.stride + k] = cost[y[t] * c.K + k]
            if t < c.T - 1:
                worst[t * c.stride + k] += worst[(t + 1) * c.stride + worst_way(c, t + 1, k, worst)]
    for t in range(c.T):
        label = sigma[t] = worst_way(c, t, label, worst)


cdef inline Py_ssize_t worst_way(const Trellis* c, Py_ssize_t t, Py_ssize_t before, const double* worst) noexcept nogil:
    """Return the most costly best label; it is the first of those at token t after the label `before`."""
    cdef Py_ssize_t k, first = 0
    cdef double best = -INFINITY, score
    for k in range(c.K):
        score = way(c, t, before, k)
        if score > best or (score == best and worst[t * c.stride + k] > worst[t * c.stride + first]):
            best, first = score, k
    return first


cdef void find_marginals(Trellis* c, double* table, double* forward, double* m) noexcept nogil:
    """Write the best scores of sequences through each label.

    The best score with label k at token t goes into m[t * K + k].

    `table` holds the scores of label j before label k at j * stride + k; `forward` is scratch for two rows.
    """
    cdef Py_ssize_t t, k
    cdef double* before = forward
    cdef double* now = forward + c.stride
    find_suffixes(c, NULL, NULL)
    for k in range(c.K):
        now[k] = c.initial[k]
    for t in range(c.T):
        if t > 0:
            for k in range(c.K):
                before[k] = now[k] + c.u[(t - 1) * c.K + k]
            for k in range(c.stride):
                now[k] = 0
            viterbi_step(c.K, c.stride, table, before, now)
        for k in range(c.K):
            m[t * c.K + k] = now[k] + c.best[t * c.stride + k]


cdef inline double log_of_sum(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    """Return log sum_j exp(a_j + b_j)."""
    cdef Py_ssize_t j
    cdef double most = -INFINITY, total = 0
    for j in range(n):
        most = max(most, a[j] + b[j])
    if most == -INFINITY:
        return most
    for j in range(n):
        total += exp(a[j] + b[j] - most)
    return most + log(total)


cdef inline void exponentials(const double* a, Py_ssize_t n, Py_ssize_t stride, double* e, double* most) noexcept nogil:
    """Write e_j = exp(a_j - the largest), and the largest; `most` is the largest; e_j is 0 where there is none, and beyond n."""
    cdef Py_ssize_t j
    most[0] = -INFINITY
    for j in range(n):
        most[0] = max(most[0], a[j])
    for j in range(stride):
        e[j] = exp(a[j] - most[0]) if j < n and most[0] > -INFINITY else 0


cdef void log_sums(const Ways* w, Py_ssize_t K, Py_ssize_t stride, const double* a, double* e, double* out) noexcept nogil:
    """Write out_k = log sum_j exp(table_kj + a_j).

    It is computed by sums of products of exponentials; where these underflow, one by one.
    """
    cdef Py_ssize_t j, k
    cdef double top, s0, s1, s2, s3
    cdef const double* row
    exponentials(a, K, stride, e, &top)
    for k in range(K):
        row = w.exponential + k * stride
        s0 = s1 = s2 = s3 = 0
        for j in range(0, stride, 4):
            s0 += row[j] * e[j]
            s1 += row[j + 1] * e[j + 1]
            s2 += row[j + 2] * e[j + 2]
            s3 += row[j + 3] * e[j + 3]
        s0 = (s0 + s1) + (s2 + s3)
        out[k] = w.most[k] + top + log(s0) if s0 > LEAST_SUM else log_of_sum(w.table + k * stride, a, K)


cdef void find_ways(Ways* w, Py_ssize_t K, Py_ssize_t stride) noexcept nogil:
    """Fill in the exponentials of a table's rows."""
    cdef Py_ssize_t k
    for k in range(K):
        exponentials(w.table + k * stride, K, stride, w.exponential + k * stride, &w.most[k])


cdef double find_probabilities(Trellis* c, const Ways* into, const Ways* out_of, double* scratch, double* m) noexcept nogil:
    """Write the shares of sequences with each label.

    The share of exp(score) with label k at token t goes into m[t * K + k].  Return the log of the sum of all.

    `into` holds the scores of the part before a label, `out_of` those of the part after it; `scratch` has three rows.
    """
    cdef Py_ssize_t t, k
    cdef double whole
    cdef double* e = scratch
    cdef double* ahead = scratch + c.stride
    cdef double* now = scratch + 2 * c.stride
    memcpy(c.best + (c.T - 1) * c.stride, c.final, c.K * sizeof(double))
    for t in range(c.T - 2, -1, -1):
        for k in range(c.K):
            ahead[k] = c.u[(t + 1) * c.K + k] + c.best[(t + 1) * c.stride + k]
        log_sums(out_of, c.K, c.stride, ahead, e, c.best + t * c.stride)
    for k in range(c.K):
        ahead[k] = c.initial[k] + c.u[k]
    whole = log_of_sum(ahead, c.best, c.K)
    for t in range(c.T):
        if t > 0:
            log_sums(into, c.K, c.stride, ahead, e, now)
            for k in range(c.K):
                ahead[k] = now[k] + c.u[t * c.K + k]
        for k in range(c.K):
            m[t * c.K + k] = exp(ahead[k] + c.best[t * c.stride + k] - whole) if whole > -INFINITY else 0
    return whole


cdef inline void insert(double score, Py_ssize_t label, Py_ssize_t rank, Py_ssize_t n, Suffix* best) noexcept nogil:
    """Insert a suffix into the n best; it goes behind those with an equal score."""
    cdef Py_ssize_t i = n - 1
    while i > 0 and best[i - 1].score < score:
        best[i] = best[i - 1]
        i -= 1
    best[i].score, best[i].label, best[i].rank = score, label, rank


cdef inline void clear_suffixes(Suffix* best, Py_ssize_t n) noexcept nogil:
    """Clear n places."""
    cdef Py_ssize_t i
    for i in range(n):
        best[i].score, best[i].label, best[i].rank = FORBIDDEN, -1, 0


cdef void follow_best(const Trellis* c, Py_ssize_t n, Suffix* suffixes, double* score, Py_ssize_t* sigma,
                      Py_ssize_t apart) noexcept nogil:
    """Find the n best sequences and their scores.

    The first `apart` labels lie before the next; the scores are FORBIDDEN beyond the number of sequences.

    For each token and label the n best ways to go on are kept, with the label and the rank that they lead to (list Viterbi;
    Seshadri and Sundberg 1994); `suffixes` has room for T K + 1 times n.
    """
    cdef Py_ssize_t t, j, k, r, rank
    cdef double way
    cdef Suffix* best
    cdef const Suffix* after
    for t in range(c.T - 1, -1, -1):
        for k in range(c.K):
            best = suffixes + (t * c.K + k) * n
            clear_suffixes(best, n)
            if t == c.T - 1:
                best[0].score = c.u[t * c.K + k] + c.final[k]
                continue
            for j in range(c.K):
                after = suffixes + ((t + 1) * c.K + j) * n
                for r in range(n):
                    way = c.u[t * c.K + k] + (c.table[j * c.stride + k] + after[r].score)
                    if not way > best[n - 1].score:
                        break
                    insert(way, j, r, n, best)
    best = suffixes + c.T * c.K * n
    clear_suffixes(best, n)
    for k in range(c.K):
        after = suffixes + k * n
        for r in range(n):
            way = c.initial[k] + after[r].score
            if not way > best[n - 1].score:
                break
            insert(way, k, r, n, best)
    for r in range(n):
        score[r] = best[r].score
        k, rank = best[r].label, best[r].rank
        for t in range(c.T):
            sigma[r * apart + t] = k
            if k >= 0 and t + 1 < c.T:
                after = suffixes + (t * c.K + k) * n + rank
                k, rank = after.label, after.rank
