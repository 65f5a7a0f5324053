/* Operations on rows, with SIMD instructions.  The lower part is a template: this file includes itself once for each type of
 * values and indices.
 *
 * Partial sums are added in an order that depends on the sizes alone, never on the address: the same row gives the same
 * bits wherever it lies, and float32 rows the bits of their float64 copies. */
#ifndef VALUE

#include "simd.h"

#include "lanes.h"
#include "powers.h"

/* The score of class c from its sum over the features. */
#define SET_SCORE(c, sum) (t[c] = scale * ((sum) + M->offset[c]) + (more ? t[c] : 0))

#define NAME(function) JOIN(function, SUFFIX)

enum { MOST_ROWS = 32, FEW_VALUES = 1 << 15 }; /* rows, and values of theirs, that are kept near while all classes pass */

#if LANES == 4
/* On its own: a compiler would fuse the product that is added with the sum in some blocks, and not in others. */
APART void add_scores(int classes, const double *s, double *t)
{
    for (int i = 0; i < classes; i++) t[i] += s[i];
}

/* The scores of consecutive classes, at most eight, from their sums. */
INLINE void store_scores(int classes, const lanes *sum, const double *offset, double scale, int more, double *t)
{
    double fresh[8], *s = more ? fresh : t;
    int i = 0;
#ifdef SHUFFLE
    for (; i + 4 <= classes; i += 4) {     /* SUM of four at a time */
        const lanes a = SHUFFLE(sum[i], sum[i + 1], 0, 1, 4, 5) + SHUFFLE(sum[i], sum[i + 1], 2, 3, 6, 7);
        const lanes b = SHUFFLE(sum[i + 2], sum[i + 3], 0, 1, 4, 5) + SHUFFLE(sum[i + 2], sum[i + 3], 2, 3, 6, 7);
        STORE(s + i, scale * ((SHUFFLE(a, b, 0, 2, 4, 6) + SHUFFLE(a, b, 1, 3, 5, 7)) + LOAD(double, offset + i)));
    }
#endif
    for (; i < classes; i++) s[i] = scale * (SUM(sum[i]) + offset[i]);
    if (more) add_scores(classes, fresh, t);
}
#endif

#if LANES == 4
/* w[index[0]] to w[index[3]].  Loads bind: narrow indices are loaded in pairs, and instructions that gather are no faster. */
#define GATHERED(INDEX, w, index) JOIN(GATHERED, INDEX)(w, index)
#define GATHERED_int64_t(w, index) ((lanes){(w)[(index)[0]], (w)[(index)[1]], (w)[(index)[2]], (w)[(index)[3]]})
#define GATHERED_int32_t(w, index) GATHERED_pairs(w, pair_of(index), pair_of((index) + 2))
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define GATHERED_pairs(w, a, b) ((lanes){(w)[(uint32_t)(a)], (w)[(a) >> 32], (w)[(uint32_t)(b)], (w)[(b) >> 32]})
#else
#define GATHERED_pairs(w, a, b) ((lanes){(w)[(a) >> 32], (w)[(uint32_t)(a)], (w)[(b) >> 32], (w)[(uint32_t)(b)]})
#endif

INLINE uint64_t pair_of(const int32_t *index)
{
    uint64_t both;
    memcpy(&both, index, sizeof both);
    return both;
}
#endif

enum { AHEAD = 24 }; /* non-zeros between a prefetch and its use: measured, flat from 16 to 32 */

#define VALUE float
#define SUFFIX dense_float
#include "simd.c"
#define VALUE double
#define SUFFIX dense_double
#include "simd.c"
#define VALUE float
#define INDEX int32_t
#define SUFFIX int32_float
#include "simd.c"
#define VALUE double
#define INDEX int32_t
#define SUFFIX int32_double
#include "simd.c"
#define VALUE float
#define INDEX int64_t
#define SUFFIX int64_float
#include "simd.c"
#define VALUE double
#define INDEX int64_t
#define SUFFIX int64_double
#include "simd.c"

const RowOps *row_ops_for(size_t value_size, size_t index_size)
{
    static const RowOps *const table[2][3] = {
        {&row_ops_dense_float, &row_ops_int32_float, &row_ops_int64_float},
        {&row_ops_dense_double, &row_ops_int32_double, &row_ops_int64_double},
    };
    return table[value_size == sizeof(double)][index_size == 0 ? 0 : index_size == sizeof(int32_t) ? 1 : 2];
}

#else /* the template */

#ifdef INDEX
#define POSITION(k) index[k]
#else
#define POSITION(k) (k)
#endif

/* Row r of consecutive ones, the first of which is x. */
INLINE Row NAME(row)(const Row *x, const ptrdiff_t *start, ptrdiff_t r)
{
    Row row = *x;
#ifdef INDEX
    if (r > 0) {
        row.n = start[r + 1] - start[r];
        row.index = (const INDEX *)x->index + (start[r] - start[0]);
        row.value = (const VALUE *)x->value + (start[r] - start[0]);
    }
#else
    (void)start;
    row.value = (const VALUE *)x->value + r * x->n;
#endif
    return row;
}

/* ------------------------------------------------------------------ class-major: a class's weights are consecutive */
#ifdef INDEX

INLINE double NAME(dot)(ptrdiff_t n, const VALUE *x, const INDEX *index, const double *w)
{
    ptrdiff_t k = 0;
#if LANES == 4
    lanes s = {0};
    for (; k + 4 <= n; k += 4) s += LOAD(VALUE, x + k) * GATHERED(INDEX, w, index + k);
    double s0 = s[0];
    for (; k < n; k++) s0 += x[k] * w[index[k]];
    return (s0 + s[1]) + (s[2] + s[3]);
#else
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; k + 4 <= n; k += 4) {
        s0 += x[k] * w[index[k]];
        s1 += x[k + 1] * w[index[k + 1]];
        s2 += x[k + 2] * w[index[k + 2]];
        s3 += x[k + 3] * w[index[k + 3]];
    }
    for (; k < n; k++) s0 += x[k] * w[index[k]];
    return (s0 + s1) + (s2 + s3);
#endif
}

DISPATCHED void NAME(class_scores)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, const Matrix *M, double scale, int more, double *t)
{
    for (ptrdiff_t r = 0; r < m; r++, t += M->d) {
        const Row row = NAME(row)(x, start, r);
        for (ptrdiff_t c = 0; c < M->d; c++) SET_SCORE(c, NAME(dot)(row.n, row.value, row.index, M->data + c * M->stride));
    }
}

/* No index stands twice in a row, so four entries can be read before the first of them is written. */
INLINE void NAME(axpy)(ptrdiff_t n, double a, const VALUE *x, const INDEX *index, double *w)
{
    ptrdiff_t k = 0;
#if LANES == 4
    for (; k + 4 <= n; k += 4) {
        const lanes v = GATHERED(INDEX, w, index + k) + a * LOAD(VALUE, x + k);
        for (int l = 0; l < LANES; l++) w[index[k + l]] = v[l];
    }
#endif
    for (; k < n; k++) w[index[k]] += a * x[k];
}

#else

/* The products of up to four of the n values that are left, if any are: zeros behind them change no sum. */
INLINE void NAME(add_products)(lanes *s, ptrdiff_t n, const VALUE *x, const double *w)
{
    if (n >= LANES)
        *s += LOAD(VALUE, x) * LOAD(double, w);
    else if (n > 0)
        *s += HEAD(x, n) * HEAD(w, n);
}

INLINE double NAME(dot)(ptrdiff_t n, const VALUE *x, const double *w)
{
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (; n >= 4 * LANES; n -= 4 * LANES, x += 4 * LANES, w += 4 * LANES) {
        s0 += LOAD(VALUE, x) * LOAD(double, w);
        s1 += LOAD(VALUE, x + LANES) * LOAD(double, w + LANES);
        s2 += LOAD(VALUE, x + 2 * LANES) * LOAD(double, w + 2 * LANES);
        s3 += LOAD(VALUE, x + 3 * LANES) * LOAD(double, w + 3 * LANES);
    }
    NAME(add_products)(&s0, n, x, w);
    NAME(add_products)(&s1, n - LANES, x + LANES, w + LANES);
    NAME(add_products)(&s2, n - 2 * LANES, x + 2 * LANES, w + 2 * LANES);
    NAME(add_products)(&s3, n - 3 * LANES, x + 3 * LANES, w + 3 * LANES);
    s0 = (s0 + s1) + (s2 + s3);
    return SUM(s0);
}

#if LANES == 4
#define EIGHT pair
#define ROWS 1 /* sixteen registers hold no more sums */
#include "dense_scores.h"
#ifdef HAS_WIDE
#define EIGHT wide
#define ROWS 4
#include "dense_scores.h"
#endif

static void NAME(scores_at)(ptrdiff_t m, const void *const *x, ptrdiff_t n, const Matrix *M, double scale, int more, ptrdiff_t apart,
                            double *t)
{
    const ptrdiff_t most = n > FEW_VALUES / 4 ? 4 : n > FEW_VALUES / MOST_ROWS ? FEW_VALUES / n : MOST_ROWS;
    for (ptrdiff_t rows; m > 0; m -= rows, x += rows, t += rows * apart) {
        rows = m < most ? m : most;
#ifdef HAS_WIDE
        if (HAS_WIDE) {
            JOIN(NAME(dense_scores), wide)(rows, x, n, M, scale, more, apart, t);
            continue;
        }
#endif
        JOIN(NAME(dense_scores), pair)(rows, x, n, M, scale, more, apart, t);
    }
}
#else
static void NAME(scores_at)(ptrdiff_t m, const void *const *x, ptrdiff_t n, const Matrix *M, double scale, int more, ptrdiff_t apart,
                            double *t)
{
    for (; m > 0; m--, x++, t += apart)
        for (ptrdiff_t c = 0; c < M->d; c++) SET_SCORE(c, NAME(dot)(n, *x, M->data + c * M->stride));
}
#endif

static void NAME(class_scores)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, const Matrix *M, double scale, int more, double *t)
{
    const VALUE *first = x->value;
    (void)start;
    if (m == 1) {
        NAME(scores_at)(1, &x->value, x->n, M, scale, more, M->d, t);
        return;
    }
    for (const void *row[MOST_ROWS]; m > 0; m -= MOST_ROWS, t += MOST_ROWS * M->d) {
        const ptrdiff_t rows = m < MOST_ROWS ? m : MOST_ROWS;
        for (ptrdiff_t r = 0; r < rows; r++, first += x->n) row[r] = first;
        NAME(scores_at)(rows, row, x->n, M, scale, more, M->d, t);
    }
}

INLINE void NAME(axpy)(ptrdiff_t n, double a, const VALUE *x, const void *none, double *w)
{
    ptrdiff_t j = 0;
    (void)none;
    for (; j + LANES <= n; j += LANES) ADD_TO(w + j, a * LOAD(VALUE, x + j));
    for (; j < n; j++) w[j] += a * x[j];
}

#endif

DISPATCHED void NAME(one_score)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, const Matrix *M, double scale, int more, double *t)
{
    for (ptrdiff_t r = 0; r < m; r++, t++) {
        const Row row = NAME(row)(x, start, r);
#ifdef INDEX
        SET_SCORE(0, NAME(dot)(row.n, row.value, row.index, M->data));
#else
        SET_SCORE(0, NAME(dot)(row.n, row.value, M->data));
#endif
    }
}

DISPATCHED void NAME(class_add)(const Row *x, Matrix *M, const ScoreGradient *g, double scale)
{
    for (ptrdiff_t i = 0; i < g->n; i++) {
        const ptrdiff_t c = g->at ? g->at[i] : i;
        if (g->value[i] != 0) NAME(axpy)(x->n, scale * g->value[i], x->value, x->index, M->data + c * M->stride);
    }
}

/* ------------------------------------------------------- feature-major: a feature's weights for all classes together */

/* width x LANES classes stay in registers while all values of the row pass by, two at a time.  The last block may reach
 * beyond class d: the rows of M are padded to the stride. */
#define BLOCK_OF_SCORES(width)                                                                                         \
    while (M->d - c > ((width)-1) * LANES) {                                                                           \
        const double *base = M->data + c;                                                                              \
        lanes s[width] = {ZERO}, u[width] = {ZERO};                                                                    \
        ptrdiff_t k = 0;                                                                                               \
        for (; k + 2 <= n; k += 2) {                                                                                   \
            const double *w = base + POSITION(k) * M->stride, *z = base + POSITION(k + 1) * M->stride;                 \
            if (k + AHEAD + 1 < near)                                                                                  \
                for (int b = 0; b < (width); b += 64 / (LANES * (int)sizeof(double))) {                                \
                    PREFETCH(base + POSITION(k + AHEAD) * M->stride + b * LANES);                                      \
                    PREFETCH(base + POSITION(k + AHEAD + 1) * M->stride + b * LANES);                                  \
                }                                                                                                      \
            for (int b = 0; b < (width); b++) s[b] += (double)x[k] * LOAD(double, w + b * LANES);                      \
            for (int b = 0; b < (width); b++) u[b] += (double)x[k + 1] * LOAD(double, z + b * LANES);                  \
        }                                                                                                              \
        if (k < n)                                                                                                     \
            for (int b = 0; b < (width); b++) s[b] += (double)x[k] * LOAD(double, base + POSITION(k) * M->stride + b * LANES); \
        for (int b = 0; b < (width); b++) s[b] += u[b];                                                                \
        for (int b = 0; b < (width); b++)                                                                              \
            for (int l = 0; l < LANES && c + b * LANES + l < M->d; l++) SET_SCORE(c + b * LANES + l, LANE(s[b], l));   \
        c += (width)*LANES;                                                                                            \
    }

DISPATCHED void NAME(feature_scores)(ptrdiff_t m, const Row *first, const ptrdiff_t *start, const Matrix *M, double scale, int more,
                                     double *t)
{
    for (ptrdiff_t r = 0; r < m; r++, t += M->d) {
        const Row row = NAME(row)(first, start, r);
        const ptrdiff_t n = row.n;
        const VALUE *x = row.value;
#ifdef INDEX
        const INDEX *index = row.index;
        const ptrdiff_t near = m > 1 ? start[m] - start[r] : n; /* the values of the rows to come lie behind */
#else
        const ptrdiff_t near = n;
#endif
        ptrdiff_t c = 0;
        BLOCK_OF_SCORES(6)
        BLOCK_OF_SCORES(3)
        BLOCK_OF_SCORES(2)
        BLOCK_OF_SCORES(1)
    }
}
#undef BLOCK_OF_SCORES

DISPATCHED void NAME(feature_add)(const Row *row, Matrix *M, const ScoreGradient *g, double scale)
{
    const ptrdiff_t n = row->n;
    const VALUE *x = row->value;
#ifdef INDEX
    const INDEX *index = row->index;
#endif
    for (ptrdiff_t k = 0; k < n; k++) {
        double *w = M->data + POSITION(k) * M->stride;
        const double a = scale * x[k];
        if (k + AHEAD < n)
            for (ptrdiff_t i = 0; i < g->n; i += g->at ? 1 : 8)
                PREFETCH(M->data + POSITION(k + AHEAD) * M->stride + (g->at ? g->at[i] : i));
        ptrdiff_t i = 0;
        if (g->at)
            for (; i < g->n; i++) w[g->at[i]] += a * g->value[i];
        else {
            for (; i + LANES <= g->n; i += LANES) ADD_TO(w + i, a * LOAD(double, g->value + i));
            for (; i < g->n; i++) w[i] += a * g->value[i];
        }
    }
}

static void NAME(fetch)(const Row *x, const Matrix *M)
{
#ifdef INDEX
    const INDEX *index = x->index;
    const int wide = M->layout == BY_FEATURE;
    const ptrdiff_t step = wide ? M->stride : 1, used = wide ? M->d : 1;
    for (ptrdiff_t k = 0; k < x->n && k < AHEAD; k++)
        for (ptrdiff_t c = 0; c < used && c < 24; c += 8) PREFETCH(M->data + POSITION(k) * step + c);
#else
    (void)x;
    (void)M;
#endif
}

/* The same of their squares. */
INLINE void NAME(add_squares)(lanes *s, ptrdiff_t n, const VALUE *x)
{
    lanes v;
    if (n <= 0) return;
    if (n >= LANES)
        v = LOAD(VALUE, x);
    else
        v = HEAD(x, n);
    *s += v * v;
}

DISPATCHED double NAME(norm2)(const Row *x)
{
    const VALUE *value = x->value;
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    ptrdiff_t j = 0, n;
    for (; j + 4 * LANES <= x->n; j += 4 * LANES) {
        const lanes v0 = LOAD(VALUE, value + j), v1 = LOAD(VALUE, value + j + LANES);
        const lanes v2 = LOAD(VALUE, value + j + 2 * LANES), v3 = LOAD(VALUE, value + j + 3 * LANES);
        s0 += v0 * v0;
        s1 += v1 * v1;
        s2 += v2 * v2;
        s3 += v3 * v3;
    }
    value += j;
    n = x->n - j;
    NAME(add_squares)(&s0, n, value);
    NAME(add_squares)(&s1, n - LANES, value + LANES);
    NAME(add_squares)(&s2, n - 2 * LANES, value + 2 * LANES);
    NAME(add_squares)(&s3, n - 3 * LANES, value + 3 * LANES);
    s0 = (s0 + s1) + (s2 + s3);
    return SUM(s0);
}

/* The score of a single row, as one_score has it, and its norm2, in one pass over its values. */
DISPATCHED double NAME(measured_score)(const Row *x, const Matrix *M, double scale, double *t)
{
#if LANES == 4
    const int more = 0;
    const VALUE *value = x->value;
    const double *w = M->data;
    lanes square[4] = {ZERO, ZERO, ZERO, ZERO};
    ptrdiff_t n = x->n;
#ifdef INDEX
    const INDEX *index = x->index;
    lanes sum = ZERO;
    for (; n >= 4 * LANES; n -= 4 * LANES, value += 4 * LANES, index += 4 * LANES)
        UNROLLED for (int b = 0; b < 4; b++) {
            const lanes v = LOAD(VALUE, value + b * LANES);
            sum += v * GATHERED(INDEX, w, index + b * LANES);
            square[b] += v * v;
        }
    UNROLLED for (int b = 0; b < 4; b++) {
        if (n >= (b + 1) * LANES) sum += LOAD(VALUE, value + b * LANES) * GATHERED(INDEX, w, index + b * LANES);
        NAME(add_squares)(&square[b], n - b * LANES, value + b * LANES);
    }
    double first = sum[0];
    for (ptrdiff_t k = n / LANES * LANES; k < n; k++) first += value[k] * w[index[k]];
    SET_SCORE(0, (first + sum[1]) + (sum[2] + sum[3]));
#else
    lanes sum[4] = {ZERO, ZERO, ZERO, ZERO};
    for (; n >= 4 * LANES; n -= 4 * LANES, value += 4 * LANES, w += 4 * LANES)
        UNROLLED for (int b = 0; b < 4; b++) {
            const lanes v = LOAD(VALUE, value + b * LANES);
            sum[b] += v * LOAD(double, w + b * LANES);
            square[b] += v * v;
        }
    UNROLLED for (int b = 0; b < 4; b++) {
        NAME(add_products)(&sum[b], n - b * LANES, value + b * LANES, w + b * LANES);
        NAME(add_squares)(&square[b], n - b * LANES, value + b * LANES);
    }
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    SET_SCORE(0, SUM(sum[0]));
#endif
    square[0] = (square[0] + square[1]) + (square[2] + square[3]);
    return SUM(square[0]);
#else
    NAME(one_score)(1, x, NULL, M, scale, 0, t);
    return NAME(norm2)(x);
#endif
}

DISPATCHED double NAME(sum_of_powers)(const Row *x, double a)
{
    const VALUE *value = x->value;
    lanes v[WIDE], sum[WIDE] = {ZERO};
    ptrdiff_t j = 0;
    for (; j + CHUNK <= x->n; j += CHUNK) {
        for (int i = 0; i < WIDE; i++) v[i] = ABS(LOAD(VALUE, value + j + i * LANES));
        raise(v, a);
        for (int i = 0; i < WIDE; i++) sum[i] += v[i];
    }
    if (j < x->n) {
        VALUE rest[CHUNK] = {0};
        memcpy(rest, value + j, (size_t)(x->n - j) * sizeof(VALUE));
        for (int i = 0; i < WIDE; i++) v[i] = ABS(LOAD(VALUE, rest + i * LANES));
        raise(v, a);
        for (int i = 0; i < WIDE; i++) sum[i] += v[i];
    }
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    return SUM(sum[0]);
}

#ifdef INDEX

DISPATCHED void NAME(combine)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, double scale, const double *g, double *z)
{
    const VALUE *value = x->value;
    const INDEX *index = x->index;
    for (ptrdiff_t r = 0; r < m; r++) {
        const ptrdiff_t skipped = start[r] - start[0];
        if (g[r] != 0) NAME(axpy)(start[r + 1] - start[r], scale * g[r], value + skipped, index + skipped, z);
    }
}

DISPATCHED double NAME(take_norm2)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, const double *g, double *z)
{
    const INDEX *index = x->index;
    double norm2 = 0;
    for (ptrdiff_t r = 0; r < m; r++)
        for (ptrdiff_t k = start[r] - start[0]; g[r] != 0 && k < start[r + 1] - start[0]; k++) {
            norm2 += z[index[k]] * z[index[k]];
            z[index[k]] = 0;
        }
    return norm2;
}

#else

/* Four rows at a time share the loads and stores of z. */
DISPATCHED void NAME(combine)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, double scale, const double *g, double *z)
{
    const ptrdiff_t n = x->n;
    const VALUE *row[4];
    double a[4];
    int taken = 0;
    (void)start;
    for (ptrdiff_t r = 0; r < m; r++) {
        if (g[r] == 0) continue;
        row[taken] = (const VALUE *)x->value + r * n;
        a[taken++] = scale * g[r];
        if (taken < 4) continue;
        ptrdiff_t j = 0;
        for (; j + LANES <= n; j += LANES)
            ADD_TO(z + j, (a[0] * LOAD(VALUE, row[0] + j) + a[1] * LOAD(VALUE, row[1] + j)) +
                              (a[2] * LOAD(VALUE, row[2] + j) + a[3] * LOAD(VALUE, row[3] + j)));
        for (; j < n; j++) z[j] += (a[0] * row[0][j] + a[1] * row[1][j]) + (a[2] * row[2][j] + a[3] * row[3][j]);
        taken = 0;
    }
    for (int i = 0; i < taken; i++) NAME(axpy)(n, a[i], row[i], NULL, z);
}

DISPATCHED double NAME(take_norm2)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, const double *g, double *z)
{
    double norm2 = 0;
    (void)m, (void)start, (void)g;
    for (ptrdiff_t j = 0; j < x->n; j++) norm2 += z[j] * z[j];
    return norm2;
}

#endif

static void NAME(unpack)(const Row *x, ptrdiff_t begin, ptrdiff_t n, ptrdiff_t *at, double *value)
{
    const VALUE *v = (const VALUE *)x->value + begin;
#ifdef INDEX
    const INDEX *index = (const INDEX *)x->index + begin;
#endif
    for (ptrdiff_t k = 0; k < n; k++) {
#ifdef INDEX
        at[k] = index[k];
#else
        at[k] = begin + k;
#endif
        value[k] = v[k];
    }
}

/* 0 * v is 0 for a finite v and NaN for any other. */
DISPATCHED int NAME(finite)(ptrdiff_t n, const void *values)
{
    const VALUE *value = values;
    const lanes zero = {0};
    lanes s0 = {0}, s1 = {0};
    double rest = 0;
    ptrdiff_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        s0 += zero * LOAD(VALUE, value + j);
        s1 += zero * LOAD(VALUE, value + j + LANES);
    }
    for (; j < n; j++) rest += 0.0 * value[j];
    s0 += s1;
    return SUM(s0) + rest == 0;
}

DISPATCHED int NAME(ordinary)(ptrdiff_t n, const void *values, double least, double most)
{
    if (sizeof(VALUE) == sizeof(float) && least < 1e-90 && most > 1e80) return NAME(finite)(n, values); /* all squares are between */
    const VALUE *value = values;
    ptrdiff_t j = 0;
    int good = 1;
#if LANES == 4
    whole all = {-1, -1, -1, -1};
    for (; j + LANES <= n; j += LANES) {
        const lanes v = LOAD(VALUE, value + j), square = v * v;
        all &= ((square >= least) & (square <= most)) | (v == 0);
    }
    good = (all[0] & all[1] & all[2] & all[3]) != 0;
#endif
    for (; j < n; j++) {
        const double square = (double)value[j] * value[j];
        good &= (square >= least && square <= most) || value[j] == 0;
    }
    return good;
}

static const RowOps NAME(row_ops) = {
    .value_size = sizeof(VALUE),
#ifdef INDEX
    .index_size = sizeof(INDEX),
#endif
    .scores = {[BY_CLASS] = NAME(class_scores), [BY_FEATURE] = NAME(feature_scores), [ONE_CLASS] = NAME(one_score)},
#ifndef INDEX
    .scores_at = NAME(scores_at),
#endif
    .add = {[BY_CLASS] = NAME(class_add), [BY_FEATURE] = NAME(feature_add), [ONE_CLASS] = NAME(class_add)},
    .fetch = NAME(fetch),
    .norm2 = NAME(norm2),
    .measured_score = NAME(measured_score),
    .sum_of_powers = NAME(sum_of_powers),
    .combine = NAME(combine),
    .take_norm2 = NAME(take_norm2),
    .unpack = NAME(unpack),
    .finite = NAME(finite),
    .ordinary = NAME(ordinary),
};

#undef POSITION
#undef VALUE
#undef INDEX
#undef SUFFIX
#endif
