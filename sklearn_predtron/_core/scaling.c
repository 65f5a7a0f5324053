/* Dense rows are taken four features at a time, without branches; one feature's statistics are the same either way but for
 * rounding, and depend on its place alone. */
#include "scaling.h"

#include <math.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize") /* what is worth it is written out */
#endif

#define CONSTANT 1e-13 /* M2 / (t mean^2) that rounding may leave of a constant */
#define LEAST 1e-290   /* a variance whose inverse is safe */
#define KNOWN 10       /* non-zeros after which deviations are clipped */
#define CLIP 10        /* standard deviations */

#if defined(__GNUC__) || defined(__clang__)
#define LANES 4
#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(p) __builtin_prefetch(p)
typedef double lanes __attribute__((vector_size(32)));
typedef double doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long mask __attribute__((vector_size(32)));
#define LOAD(p) ((lanes) * (const doubles *)(p))
#define STORE(p, v) (*(doubles *)(p) = (v))
#define CHOOSE(m, a, b) ((lanes)(((m) & (mask)(a)) | (~(m) & (mask)(b))))
#define KEEP(m, a) ((lanes)((m) & (mask)(a)))
#define ANY(m) ((m)[0] | (m)[1] | (m)[2] | (m)[3])
#define SUM(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#else
#define INLINE static inline
#define PREFETCH(p) ((void)(p))
#endif

#if defined(__has_attribute) && defined(__x86_64__) && defined(__GLIBC__)
#if __has_attribute(target_clones)
#define DISPATCHED __attribute__((target_clones("fma", "default")))
#endif
#endif
#ifndef DISPATCHED
#define DISPATCHED
#endif

enum { AHEAD = 24 }; /* non-zeros between a prefetch and its use */

/* What a row number is needed for. */
typedef struct {
    double t, before, share, share_before; /* t, t - 1 and their inverses */
} Now;

INLINE Now now(double t)
{
    const Now at = {t, t - 1, 1 / t, t > 1 ? 1 / (t - 1) : 0};
    return at;
}

INLINE double clipped(double dev, double squares, double count)
{
    if (dev * dev * count > CLIP * CLIP * squares && count >= KNOWN && squares > 0) /* what is rare comes first */
        return copysign(CLIP * sqrt(squares / count), dev);
    return dev;
}

INLINE double inverse_of(double t, double mean, double squares, double count)
{
    return squares > CONSTANT * t * (mean * mean) && squares > LEAST * count ? count / squares : 0;
}

/* One feature, with a value other than zero. */
INLINE void meet(double x, const Now *at, double *mean, double *inverse, double *squares, double *count, double *last)
{
    const double zeros = at->before - *last, share = *last * at->share_before;
    if (zeros > 0) {
        *squares += *mean * *mean * (zeros * share);
        *mean *= share;
    }
    const double dev = clipped(x - *mean, *squares, *count);
    *mean += dev * at->share;
    *squares += dev * dev * (at->before * at->share);
    *count += 1;
    *last = at->t;
    *inverse = inverse_of(at->t, *mean, *squares, *count);
}

#define FEATURE(S, j)                                                                                                  \
    (S)->mean + (j) * (S)->step, (S)->inverse + (j) * (S)->step, (S)->squares + (j) * (S)->rest,                       \
        (S)->count + (j) * (S)->rest, (S)->last + (j) * (S)->rest

#ifdef LANES
/* Four features side by side; some of the values may be zero. */
INLINE void meet_lanes(const double *x, const Now *at, const Scaling *S, ptrdiff_t j)
{
    const lanes v = LOAD(x + j), last = LOAD(S->last + j), count = LOAD(S->count + j);
    const mask there = v != 0;
    const lanes zeros = at->before - last, share = last * at->share_before, m = LOAD(S->mean + j);
    const mask late = zeros > 0;
    const lanes mean = CHOOSE(late, m * share, m), squares = LOAD(S->squares + j) + KEEP(late, m * m * (zeros * share));
    const lanes dev = v - mean, dev2 = dev * dev;
    const mask far = there & (count >= KNOWN) & (squares > 0) & (dev2 * count > CLIP * CLIP * squares);
    if (ANY(far)) {
        for (int l = 0; l < LANES; l++)
            if (x[j + l] != 0) meet(x[j + l], at, FEATURE(S, j + l));
        return;
    }
    const lanes new_mean = mean + dev * at->share, new_squares = squares + dev2 * (at->before * at->share);
    const lanes new_count = count + 1;
    const mask varies = (new_squares > CONSTANT * at->t * (new_mean * new_mean)) & (new_squares > LEAST * new_count);
    const lanes inverse = KEEP(varies, new_count / new_squares), t = {at->t, at->t, at->t, at->t};
    STORE(S->mean + j, CHOOSE(there, new_mean, m));
    STORE(S->squares + j, CHOOSE(there, new_squares, LOAD(S->squares + j)));
    STORE(S->count + j, CHOOSE(there, new_count, count));
    STORE(S->last + j, CHOOSE(there, t, last));
    STORE(S->inverse + j, CHOOSE(there, inverse, LOAD(S->inverse + j)));
}
#endif

#ifdef LANES
INLINE void apply_lanes(const double *x, const Scaling *S, double *z, ptrdiff_t j, lanes *length2, lanes *cross)
{
    const lanes mean = LOAD(S->mean + j), dev = LOAD(x + j) - mean, scaled = dev * LOAD(S->inverse + j);
    STORE(z + j, scaled);
    *length2 += dev * scaled;
    *cross += mean * scaled;
}
#endif

/* `met` is NULL where the statistics stay as they are. */
INLINE void take_dense(ptrdiff_t n, const double *x, const Now *met, const Scaling *S, double *z, Found *found)
{
    ptrdiff_t j = 0;
    found->length2 = found->cross = 0;
#ifdef LANES
    lanes length2 = {0}, cross = {0};
    if (S->step == 1) {
        for (; j + LANES <= n; j += LANES) {
            if (met) meet_lanes(x, met, S, j);
            apply_lanes(x, S, z, j, &length2, &cross);
        }
        found->length2 = SUM(length2);
        found->cross = SUM(cross);
    }
#endif
    for (; j < n; j++) {
        if (met && x[j] != 0) meet(x[j], met, FEATURE(S, j));
        const double mean = S->mean[j * S->step], dev = x[j] - mean;
        z[j] = dev * S->inverse[j * S->step];
        found->length2 += dev * z[j];
        found->cross += mean * z[j];
    }
}

DISPATCHED void scaling_apply_dense(ptrdiff_t n, const double *x, const Scaling *S, double *z, Found *found)
{
    take_dense(n, x, NULL, S, z, found);
}

DISPATCHED void scaling_meet_dense(ptrdiff_t n, const double *x, double t, const Scaling *S, double *z, Found *found)
{
    const Now today = now(t);
    take_dense(n, x, &today, S, z, found);
}

INLINE void fetch(const Scaling *S, ptrdiff_t j)
{
    PREFETCH(S->mean + j * S->step);
    PREFETCH(S->squares + j * S->rest);
    (void)S, (void)j;
}

void scaling_fetch(const Scaling *S, ptrdiff_t j)
{
    fetch(S, j);
}

DISPATCHED void scaling_meet_sparse(ptrdiff_t n, const double *x, const ptrdiff_t *at, double t, const Scaling *S, double *z,
                                    double *change, Found *found)
{
    const Now today = now(t);
    const Found none = {0, 0, 0};
    *found = none;
    for (ptrdiff_t k = 0; k < n; k++) {
        const ptrdiff_t i = at[k] * S->step;
        const double mean = S->mean[i], shift = mean * S->inverse[i];
        if (k + AHEAD < n) fetch(S, at[k + AHEAD]);
        if (x[k] != 0) meet(x[k], &today, FEATURE(S, at[k]));
        z[k] = x[k] * S->inverse[i];
        change[k] = S->mean[i] * S->inverse[i] - shift;
        found->constant += S->mean[i] * (S->mean[i] * S->inverse[i]) - mean * shift;
        found->length2 += z[k] * (x[k] - 2 * S->mean[i]);
        found->cross += S->mean[i] * z[k];
    }
}

DISPATCHED void scaling_apply_sparse(ptrdiff_t n, const double *x, const ptrdiff_t *at, const Scaling *S, double *z,
                                     Found *found)
{
    const Found none = {0, 0, 0};
    *found = none;
    for (ptrdiff_t k = 0; k < n; k++) {
        const ptrdiff_t i = at[k] * S->step;
        if (k + AHEAD < n) PREFETCH(S->mean + at[k + AHEAD] * S->step);
        z[k] = x[k] * S->inverse[i];
        found->length2 += z[k] * (x[k] - 2 * S->mean[i]);
        found->cross += S->mean[i] * z[k];
    }
}

DISPATCHED void scaling_refresh(ptrdiff_t p, double t, const Scaling *S)
{
    const double inverse = 1 / t;
    for (ptrdiff_t j = 0; j < p; j++) {
        double *mean = S->mean + j * S->step, *last = S->last + j * S->rest, *squares = S->squares + j * S->rest;
        const double count = S->count[j * S->rest], zeros = t - *last, share = *last * inverse;
        if (count == 0 || zeros == 0) continue;
        *squares += *mean * *mean * (zeros * share);
        *mean *= share;
        *last = t;
        S->inverse[j * S->step] = inverse_of(t, *mean, *squares, count);
    }
}

double scaling_recount(ptrdiff_t p, const Scaling *S, double *shift)
{
    double sum = 0;
    for (ptrdiff_t j = 0; j < p; j++) {
        shift[j] = S->mean[j * S->step] * S->inverse[j * S->step];
        sum += S->mean[j * S->step] * shift[j];
    }
    return sum;
}
