/* The least that an epoch or a prediction does: it reads every row once and takes its product with the weights. */
#include <stddef.h>

#include "lanes.h"

/* The sum of n values. */
DISPATCHED double sum(ptrdiff_t n, const double *x)
{
    lanes s0 = ZERO, s1 = ZERO, s2 = ZERO, s3 = ZERO;
    double rest = 0;
    for (; n >= 4 * LANES; n -= 4 * LANES, x += 4 * LANES) {
        s0 += LOAD(double, x);
        s1 += LOAD(double, x + LANES);
        s2 += LOAD(double, x + 2 * LANES);
        s3 += LOAD(double, x + 3 * LANES);
    }
    for (; n > 0; n--) rest += *x++;
    s0 = (s0 + s1) + (s2 + s3);
    return SUM(s0) + rest;
}

INLINE double dot(ptrdiff_t p, const double *x, const double *w)
{
    lanes s0 = ZERO, s1 = ZERO, s2 = ZERO, s3 = ZERO;
    double rest = 0;
    for (; p >= 4 * LANES; p -= 4 * LANES, x += 4 * LANES, w += 4 * LANES) {
        s0 += LOAD(double, x) * LOAD(double, w);
        s1 += LOAD(double, x + LANES) * LOAD(double, w + LANES);
        s2 += LOAD(double, x + 2 * LANES) * LOAD(double, w + 2 * LANES);
        s3 += LOAD(double, x + 3 * LANES) * LOAD(double, w + 3 * LANES);
    }
    for (; p >= LANES; p -= LANES, x += LANES, w += LANES) s0 += LOAD(double, x) * LOAD(double, w);
    for (; p > 0; p--) rest += *x++ * *w++;
    s0 = (s0 + s1) + (s2 + s3);
    return SUM(s0) + rest;
}

INLINE double gathered_dot(ptrdiff_t n, const int32_t *index, const double *x, const double *w)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    ptrdiff_t k = 0;
    for (; k + 4 <= n; k += 4) {
        s0 += x[k] * w[index[k]];
        s1 += x[k + 1] * w[index[k + 1]];
        s2 += x[k + 2] * w[index[k + 2]];
        s3 += x[k + 3] * w[index[k + 3]];
    }
    for (; k < n; k++) s0 += x[k] * w[index[k]];
    return (s0 + s1) + (s2 + s3);
}

/* The sum of the scores of n rows of p values. */
DISPATCHED double dense(ptrdiff_t n, ptrdiff_t p, const double *X, const double *w)
{
    double scores = 0;
    for (ptrdiff_t i = 0; i < n; i++) scores += dot(p, X + i * p, w);
    return scores;
}

/* The sum of the scores of n CSR rows. */
DISPATCHED double csr(ptrdiff_t n, const int32_t *start, const int32_t *index, const double *x, const double *w)
{
    double scores = 0;
    for (ptrdiff_t i = 0; i < n; i++) scores += gathered_dot(start[i + 1] - start[i], index + start[i], x + start[i], w);
    return scores;
}
