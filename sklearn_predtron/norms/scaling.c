/* Features are taken four at a time, without branches; one feature's statistics are the same either way but for rounding, and
 * depend on its place in the row alone. */
#include "scaling.h"

#include "compiler.h"

#include <math.h>

#if GNU_C && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize") /* what is worth it is written out */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* of vectors that are put together from their parts */
#endif

/* M2 / (t mean^2) that rounding may leave of a constant: of a mean in dense rows, of sums of squared means in sparse ones. */
#define CONSTANT(dense) ((dense) ? 1e-24 : 1e-13)
#define LEAST 1e-290   /* a variance whose inverse is safe */
#define KNOWN 10       /* values that counted, after which deviations are looked at */
#define GROSS 100      /* times the squares so far is that of an outlier, which doubles them: what is rare or of long tails is none */

#if GNU_C
#define LANES 4
typedef double lanes __attribute__((vector_size(32)));
typedef double doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long mask __attribute__((vector_size(32)));
#define LOAD(p) ((lanes) * (const doubles *)(p))
#define STORE(p, v) (*(doubles *)(p) = (v))
#define CHOOSE(m, a, b) ((lanes)(((m) & (mask)(a)) | (~(m) & (mask)(b))))
#define KEEP(m, a) ((lanes)((m) & (mask)(a)))
#define ANY(m) ((m)[0] | (m)[1] | (m)[2] | (m)[3])
#define SUM(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#define HEAD(p, n) ((lanes){(p)[0], (n) > 1 ? (p)[1] : 0, (n) > 2 ? (p)[2] : 0, 0}) /* one to three values, and zeros */
#endif

enum { AHEAD = 24 }; /* non-zeros between a prefetch and its use */

/* What a row number is needed for. */
typedef struct {
    double t, before, share, share_before; /* t, t - 1 and their inverses */
    double constant;                       /* t times what rounding may leave */
} Now;

INLINE Now now(double t, int dense)
{
    const Now at = {t, t - 1, 1 / t, t > 1 ? 1 / (t - 1) : 0, t * CONSTANT(dense)};
    return at;
}

/* What ends a constant, whose inverse is 0, is no outlier. */
INLINE double clipped(double dev, double inverse, double squares, double count)
{
    if (dev * dev > GROSS * squares && count >= KNOWN && inverse > 0) return copysign(sqrt(squares), dev);
    return dev;
}

INLINE double inverse_of(const Now *at, double mean, double squares, double count)
{
    return squares > at->constant * (mean * mean) && squares > LEAST * count ? count / squares : 0;
}

/* The zeros of rows that came after the last refresh. */
INLINE void merge_zeros(double rows, double share_of_one, double *mean, double *squares, double last)
{
    const double zeros = rows - last, share = last * share_of_one;
    if (zeros > 0) {
        *squares += *mean * *mean * (zeros * share);
        *mean *= share;
    }
}

/* One feature, with a value that counts. */
INLINE void meet(double x, const Now *at, double *mean, double *inverse, double *squares, double *count, double *last)
{
    merge_zeros(at->before, at->share_before, mean, squares, *last);
    const double dev = clipped(x - *mean, *inverse, *squares, *count);
    *mean += dev * at->share;
    *squares += dev * dev * (at->before * at->share);
    *count += 1;
    *last = at->t;
    *inverse = inverse_of(at, *mean, *squares, *count);
}

/* The same where every row so far was dense: `count` and `last` are the rows, and no zeros wait. */
INLINE void meet_uniform(double x, const Now *at, double *mean, double *inverse, double *squares)
{
    const double dev = clipped(x - *mean, *inverse, *squares, at->before);
    *mean += dev * at->share;
    *squares += dev * dev * (at->before * at->share);
    *inverse = inverse_of(at, *mean, *squares, at->t);
}

#define FEATURE(S, j)                                                                                                  \
    (S)->mean + (j) * (S)->step, (S)->inverse + (j) * (S)->step, (S)->squares + (j) * (S)->rest,                       \
        (S)->count + (j) * (S)->rest, (S)->last + (j) * (S)->rest

#ifdef LANES
/* Four features side by side. */
typedef struct {
    lanes mean, inverse, squares, count, last;
} Features;

#define GATHER(from, at, step) ((lanes){from[at[0] * step], from[at[1] * step], from[at[2] * step], from[at[3] * step]})

INLINE void gather(const Scaling *S, const ptrdiff_t *at, Features *f)
{
    f->mean = GATHER(S->mean, at, S->step);
    f->inverse = GATHER(S->inverse, at, S->step);
    f->squares = GATHER(S->squares, at, S->rest);
    f->count = GATHER(S->count, at, S->rest);
    f->last = GATHER(S->last, at, S->rest);
}

INLINE void scatter(const Features *f, const ptrdiff_t *at, const Scaling *S)
{
    for (int l = 0; l < LANES; l++) {
        S->mean[at[l] * S->step] = f->mean[l];
        S->inverse[at[l] * S->step] = f->inverse[l];
        S->squares[at[l] * S->rest] = f->squares[l];
        S->count[at[l] * S->rest] = f->count[l];
        S->last[at[l] * S->rest] = f->last[l];
    }
}

INLINE void merge_zeros_lanes(double rows, double share_of_one, Features *f)
{
    const lanes zeros = rows - f->last, share = f->last * share_of_one;
    f->squares += f->mean * f->mean * (zeros * share);
    f->mean = CHOOSE(zeros > 0, f->mean * share, f->mean);
}

INLINE void invert_lanes(const Now *at, Features *f)
{
    const mask varies = (f->squares > at->constant * (f->mean * f->mean)) & (f->squares > LEAST * f->count);
    f->inverse = KEEP(varies, f->count / f->squares);
}

/* Zeros of sparse rows, stored or not, wait for the feature's next refresh. */
INLINE void meet_lanes(const lanes *x, int dense, const Now *at, Features *f)
{
    const lanes v = *x, t = {at->t, at->t, at->t, at->t};
    const mask there = (v != 0) | -(mask){dense, dense, dense, dense};
    const Features old = *f;
    merge_zeros_lanes(at->before, at->share_before, f);
    lanes dev = v - f->mean;
    const mask far = there & (f->count >= KNOWN) & (f->inverse > 0) & (dev * dev > GROSS * f->squares);
    if (ANY(far))
        for (int l = 0; l < LANES; l++)
            if (far[l]) dev[l] = clipped(dev[l], f->inverse[l], f->squares[l], f->count[l]);
    f->mean += dev * at->share;
    f->squares += dev * dev * (at->before * at->share);
    f->count += 1;
    invert_lanes(at, f);
    f->mean = CHOOSE(there, f->mean, old.mean);
    f->inverse = CHOOSE(there, f->inverse, old.inverse);
    f->squares = CHOOSE(there, f->squares, old.squares);
    f->count = CHOOSE(there, f->count, old.count);
    f->last = CHOOSE(there, t, old.last);
}

/* The same where every row so far was dense: `count` and `last` are the rows, and no zeros wait. */
INLINE void meet_uniform_lanes(const lanes *x, const double *inverse, const Now *at, Features *f)
{
    lanes dev = *x - f->mean;
    const mask far = dev * dev > GROSS * f->squares; /* and perhaps of a constant: `clipped` looks again */
    if (at->before >= KNOWN && RARELY(ANY(far)))
        for (int l = 0; l < LANES; l++)
            if (far[l]) dev[l] = clipped(dev[l], inverse[l], f->squares[l], at->before);
    f->mean += dev * at->share;
    f->squares += dev * dev * (at->before * at->share);
    f->count = (lanes){at->t, at->t, at->t, at->t};
    invert_lanes(at, f);
}
#endif

typedef enum { APPLY, MEET, MEET_UNIFORM } Dense; /* literals where functions are inlined */

#ifdef LANES
/* Four features from j on, with the values x, side by side. */
INLINE void take_lanes(const lanes *x, ptrdiff_t j, Dense what, const Now *at, const Scaling *S, const double *w, double *z,
                       lanes *length2, lanes *cross, lanes *score)
{
    Features f;
    f.mean = LOAD(S->mean + j);
    if (what == APPLY) f.inverse = LOAD(S->inverse + j);
    if (what != APPLY) f.squares = LOAD(S->squares + j);
    if (what == MEET_UNIFORM) meet_uniform_lanes(x, S->inverse + j, at, &f);
    if (what == MEET) {
        f.inverse = LOAD(S->inverse + j), f.count = LOAD(S->count + j), f.last = LOAD(S->last + j);
        meet_lanes(x, 1, at, &f);
        STORE(S->count + j, f.count), STORE(S->last + j, f.last);
    }
    if (what != APPLY) STORE(S->mean + j, f.mean), STORE(S->inverse + j, f.inverse), STORE(S->squares + j, f.squares);
    const lanes dev = *x - f.mean, scaled = dev * f.inverse;
    STORE(z + j, scaled);
    *length2 += dev * scaled;
    *cross += f.mean * scaled;
    if (w) *score += scaled * LOAD(w + j);
}
#endif

/* The score <z, w>; w may be NULL, a literal where functions are inlined. */
INLINE double take_dense(ptrdiff_t n, const double *x, Dense what, const Now *at, const Scaling *S, const double *w, double *z,
                         Found *found)
{
    double total = 0;
    ptrdiff_t j = 0;
    found->length2 = found->cross = 0;
#ifdef LANES
    lanes length2[4] = {{0}}, cross[4] = {{0}}, score[4] = {{0}}, v; /* sums side by side hide how long one takes */
    if (S->step == 1) {
#define TAKE(i) take_lanes(&v, j + (i)*LANES, what, at, S, w, z, length2 + (i), cross + (i), score + (i))
        for (; j + 4 * LANES <= n; j += 4 * LANES) {
            v = LOAD(x + j), TAKE(0);
            v = LOAD(x + j + LANES), TAKE(1);
            v = LOAD(x + j + 2 * LANES), TAKE(2);
            v = LOAD(x + j + 3 * LANES), TAKE(3);
        }
#define REST(i)                                                                                                        \
    if (j + (i)*LANES < n) {                                                                                           \
        if (n - j >= ((i) + 1) * LANES)                                                                                \
            v = LOAD(x + j + (i)*LANES);                                                                               \
        else                                                                                                           \
            v = HEAD(x + j + (i)*LANES, n - j - (i)*LANES); /* zeros change no sum */                                  \
        TAKE(i);                                                                                                       \
    }
        REST(0)
        REST(1)
        REST(2)
        REST(3)
#undef REST
#undef TAKE
        length2[0] = (length2[0] + length2[1]) + (length2[2] + length2[3]);
        cross[0] = (cross[0] + cross[1]) + (cross[2] + cross[3]);
        score[0] = (score[0] + score[1]) + (score[2] + score[3]);
        found->length2 = SUM(length2[0]);
        found->cross = SUM(cross[0]);
        return SUM(score[0]);
    }
#endif
    for (; j < n; j++) {
        if (what == MEET) meet(x[j], at, FEATURE(S, j));
        if (what == MEET_UNIFORM) meet_uniform(x[j], at, S->mean + j, S->inverse + j, S->squares + j);
        const double mean = S->mean[j * S->step], dev = x[j] - mean;
        z[j] = dev * S->inverse[j * S->step];
        found->length2 += dev * z[j];
        found->cross += mean * z[j];
        if (w) total += z[j] * w[j];
    }
    return total;
}

DISPATCHED void scaling_apply_dense(ptrdiff_t n, const double *x, const Scaling *S, double *z, Found *found)
{
    take_dense(n, x, APPLY, NULL, S, NULL, z, found);
}

DISPATCHED double scaling_score_dense(ptrdiff_t n, const double *x, const Scaling *S, const double *w, double *z, Found *found)
{
    return take_dense(n, x, APPLY, NULL, S, w, z, found);
}

DISPATCHED void scaling_meet_dense(ptrdiff_t n, const double *x, double t, const Scaling *S, double *z, Found *found)
{
    const Now today = now(t, 1);
    take_dense(n, x, MEET, &today, S, NULL, z, found);
}

DISPATCHED void scaling_meet_uniform(ptrdiff_t n, const double *x, double t, const Scaling *S, double *z, Found *found)
{
    const Now today = now(t, 1);
    take_dense(n, x, MEET_UNIFORM, &today, S, NULL, z, found);
}

/* What the statistics of a feature become by m rows after row t, of which the deviations from the mean before have this sum and
 * this sum of squares (Chan, Golub and LeVeque 1983); whether one of them may be an outlier, for which the feature waits. */
INLINE int merge(double sum, double squares, double m, const Now *at, double *mean, double *inverse, double *before)
{
    const double t = at->t - m, step = sum / m, own = squares - sum * step;
    if (squares > GROSS * *before && t >= KNOWN && *inverse > 0) return 1;
    *mean += step * (m * at->share);
    *before += (own > 0 ? own : 0) + step * step * (t * m * at->share);
    *inverse = inverse_of(at, *mean, *before, at->t);
    return 0;
}

#ifdef LANES
#define VALUES(row, j, n, type) ((n) - (j) >= LANES ? WIDE_##type((const type *)(row) + (j)) : HEAD((const type *)(row) + (j), (n) - (j)))
#define WIDE_double(p) LOAD(p)
#define WIDE_float(p) ((lanes){(p)[0], (p)[1], (p)[2], (p)[3]})
#define VALUE(row, j, n, single) ((single) ? VALUES(row, j, n, float) : VALUES(row, j, n, double))

/* Four features from j on of a block of rows; four sums side by side hide how long one takes. */
INLINE ptrdiff_t merge_lanes(ptrdiff_t n, ptrdiff_t j, ptrdiff_t m, const void *const *rows, int single, const Now *at,
                             const Scaling *S, ptrdiff_t *listed)
{
    const lanes mean = LOAD(S->mean + j);
    lanes sum[4] = {{0}}, squares[4] = {{0}}, dev;
    ptrdiff_t r = 0, waiting = 0;
#define ADD(i) dev = VALUE(rows[r + i], j, n, single) - mean, sum[i] += dev, squares[i] += dev * dev
    for (; r + 4 <= m; r += 4) {
        ADD(0);
        ADD(1);
        ADD(2);
        ADD(3);
    }
    for (; r < m; r++) ADD(0);
#undef ADD
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    squares[0] = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    for (int l = 0; l < LANES && j + l < n; l++)
        if (merge(sum[0][l], squares[0][l], (double)m, at, S->mean + j + l, S->inverse + j + l, S->squares + j + l))
            listed[waiting++] = j + l;
    return waiting;
}
#endif

DISPATCHED ptrdiff_t scaling_meet_block(ptrdiff_t n, ptrdiff_t m, const void *const *rows, int single, double t, const Scaling *S,
                                        ptrdiff_t *listed)
{
    const Now last = now(t + (double)m, 1);
    ptrdiff_t waiting = 0;
#ifdef LANES
    for (ptrdiff_t j = 0; j < n; j += LANES) waiting += merge_lanes(n, j, m, rows, single, &last, S, listed + waiting);
#else
    for (ptrdiff_t j = 0; j < n; j++) {
        double sum = 0, squares = 0;
        for (ptrdiff_t r = 0; r < m; r++) {
            const double dev = (single ? (double)((const float *)rows[r])[j] : ((const double *)rows[r])[j]) - S->mean[j];
            sum += dev, squares += dev * dev;
        }
        if (merge(sum, squares, (double)m, &last, S->mean + j, S->inverse + j, S->squares + j)) listed[waiting++] = j;
    }
#endif
    return waiting;
}

void scaling_meet_listed(ptrdiff_t n, const ptrdiff_t *at, const double *x, double t, const Scaling *S)
{
    const Now today = now(t, 1);
    for (ptrdiff_t i = 0; i < n; i++)
        meet_uniform(x[at[i]], &today, S->mean + at[i], S->inverse + at[i], S->squares + at[i]);
}

void scaling_write_counts(ptrdiff_t n, double t, const Scaling *S)
{
#ifdef LANES
    n = (n + LANES - 1) / LANES * LANES; /* as they are taken */
#endif
    for (ptrdiff_t j = 0; j < n; j++) S->count[j] = S->last[j] = t;
}

INLINE void fetch(const Scaling *S, ptrdiff_t j, int all)
{
    PREFETCH(S->mean + j * S->step);
    if (all) PREFETCH(S->squares + j * S->rest);
    (void)S, (void)j;
}

void scaling_fetch(const Scaling *S, ptrdiff_t j, int all)
{
    fetch(S, j, all);
}

/* `met` and `change` are NULL where the statistics stay as they are. */
INLINE void take_sparse(ptrdiff_t n, const double *x, const ptrdiff_t *at, const Now *met, const Scaling *S, double *z,
                        double *change, Found *found)
{
    double square = 0, cross = 0, constant = 0;
    ptrdiff_t k = 0;
#ifdef LANES
    lanes squares = {0}, crosses = {0}, constants = {0};
    for (; k + LANES <= n; k += LANES) {
        const lanes v = LOAD(x + k);
        Features f;
        gather(S, at + k, &f);
        for (int l = 0; l < LANES && k + AHEAD + LANES <= n; l++) fetch(S, at[k + AHEAD + l], met != NULL);
        if (met) {
            const lanes mean = f.mean, shift = mean * f.inverse;
            meet_lanes(&v, 0, met, &f);
            scatter(&f, at + k, S);
            const lanes now = f.mean * f.inverse;
            STORE(change + k, now - shift);
            constants += f.mean * now - mean * shift;
        }
        const lanes scaled = v * f.inverse;
        STORE(z + k, scaled);
        squares += v * scaled;
        crosses += f.mean * scaled;
    }
    square = SUM(squares), cross = SUM(crosses), constant = SUM(constants);
#endif
    for (; k < n; k++) {
        const ptrdiff_t i = at[k] * S->step;
        if (met) {
            const double mean = S->mean[i], shift = mean * S->inverse[i];
            if (x[k] != 0) meet(x[k], met, FEATURE(S, at[k]));
            change[k] = S->mean[i] * S->inverse[i] - shift;
            constant += S->mean[i] * (S->mean[i] * S->inverse[i]) - mean * shift;
        }
        z[k] = x[k] * S->inverse[i];
        square += x[k] * z[k];
        cross += S->mean[i] * z[k];
    }
    found->length2 = square - 2 * cross;
    found->cross = cross;
    found->constant = constant;
}

DISPATCHED void scaling_meet_sparse(ptrdiff_t n, const double *x, const ptrdiff_t *at, double t, const Scaling *S, double *z,
                                    double *change, Found *found)
{
    const Now today = now(t, 0);
    take_sparse(n, x, at, &today, S, z, change, found);
}

DISPATCHED void scaling_apply_sparse(ptrdiff_t n, const double *x, const ptrdiff_t *at, const Scaling *S, double *z,
                                     Found *found)
{
    take_sparse(n, x, at, NULL, S, z, NULL, found);
}

DISPATCHED void scaling_refresh(ptrdiff_t p, double t, int dense, const Scaling *S)
{
    const Now today = now(t, dense);
    ptrdiff_t j = 0;
#ifdef LANES
    for (; j + LANES <= p; j += LANES) {
        const ptrdiff_t at[LANES] = {j, j + 1, j + 2, j + 3};
        Features f;
        gather(S, at, &f);
        if (!ANY(f.count > 0)) continue;
        merge_zeros_lanes(t, today.share, &f);
        invert_lanes(&today, &f);
        f.last = (lanes){t, t, t, t};
        scatter(&f, at, S);
    }
#endif
    for (; j < p; j++) {
        if (S->count[j * S->rest] == 0) continue; /* its pages may never have been touched */
        double *mean = S->mean + j * S->step, *last = S->last + j * S->rest, *squares = S->squares + j * S->rest;
        merge_zeros(t, today.share, mean, squares, *last);
        S->inverse[j * S->step] = inverse_of(&today, *mean, *squares, S->count[j * S->rest]);
        *last = t;
    }
}
