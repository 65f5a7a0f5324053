/* The Gaussian kernel of a row and others, from their products.  The lower part is a template for vectors of LANES numbers. */
#ifndef LANES

#include "gaussian.h"

#include "compiler.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if GNU_C

#define MAGIC 6755399441055744.0 /* 1.5 * 2^52: its last bits are the whole number that was added */
#define PICK(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))

#if DISPATCHES
#define LANES 8
#define NAME(name) name##_of_eight
#define TARGET __attribute__((target("avx512f")))
#include "gaussian.c"
#endif
#define TARGET DISPATCHED
#define LANES 4
#define NAME(name) name##_of_four
#include "gaussian.c"

void gaussian_of_products(ptrdiff_t n, double scale, double shift, const double *offset, double *v)
{
#if DISPATCHES
    if (__builtin_cpu_supports("avx512f")) {
        products_of_eight(n, scale, shift, offset, v);
        return;
    }
#endif
    products_of_four(n, scale, shift, offset, v);
}

#else

void gaussian_of_products(ptrdiff_t n, double scale, double shift, const double *offset, double *v)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double y = scale * v[i] + (offset[i] + shift);
        v[i] = y > 0 ? 1 : exp2(y);
    }
}

#endif

#else /* the template */

typedef double NAME(lanes) __attribute__((vector_size(8 * LANES)));
typedef double NAME(doubles) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef int64_t NAME(whole) __attribute__((vector_size(8 * LANES)));

TARGET static void NAME(products)(ptrdiff_t n, double scale, double shift, const double *offset, double *v)
{
    static const double inverse[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                     1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2, 1, 1};
    const NAME(lanes) zero = {0}, least = zero - 1022.0;
    double rest[2][LANES] = {{0}};
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        const int whole_vector = i + LANES <= n;
        if (!whole_vector) {
            memcpy(rest[0], v + i, (size_t)(n - i) * sizeof(double));
            memcpy(rest[1], offset + i, (size_t)(n - i) * sizeof(double));
        }
        NAME(doubles) *at = (NAME(doubles) *)(whole_vector ? v + i : rest[0]);
        const NAME(lanes) asked = scale * *at + (*(const NAME(doubles) *)(whole_vector ? offset + i : rest[1]) + shift);
        NAME(whole) y = PICK(asked > zero, (NAME(whole))zero, (NAME(whole))asked);
        y = PICK((NAME(lanes))y < least, (NAME(whole))least, y);
        /* 2^y: a power of the exponent, and the exponential series of what is left. */
        const NAME(lanes) shifted = (NAME(lanes))y + MAGIC, g = ((NAME(lanes))y - (shifted - MAGIC)) * 0.6931471805599453;
        NAME(lanes) p = zero + inverse[0];
        for (int k = 1; k < 14; k++) p = p * g + inverse[k];
        y = (NAME(whole))p + (((NAME(whole))shifted - 0x4338000000000000LL) << 52);
        *at = (NAME(doubles))PICK(asked == asked, y, (NAME(whole))asked); /* NaN stays what it is */
        if (!whole_vector) memcpy(v + i, rest[0], (size_t)(n - i) * sizeof(double));
    }
}

#undef LANES
#undef NAME
#undef TARGET

#endif
