/* Powers of vectors of doubles. */
#ifndef SKLEARN_PREDTRON_POWERS_H
#define SKLEARN_PREDTRON_POWERS_H

#include "lanes.h"

#if LANES == 4

typedef int64_t whole __attribute__((vector_size(32)));
#define ALL(v) ((lanes){(v), (v), (v), (v)})
#define PICK(mask, a, b) ((lanes)(((mask) & (whole)(a)) | (~(mask) & (whole)(b))))
#define MAGIC 6755399441055744.0 /* 1.5 * 2^52: its last bits are the whole number that was added */

/* *x becomes log2 of positive normal numbers: the exponent, and 2 atanh((m - 1) / (m + 1)) / ln 2 of a mantissa m around 1. */
INLINE void take_log2(lanes *x)
{
    const whole bits = (whole)*x, e = (bits - 0x3fe6a09e667f3bcdLL) >> 52;
    const lanes m = (lanes)(bits - (e << 52)), s = (m - 1.0) / (m + 1.0), z = s * s;
    lanes p = ALL(1.0 / 23);
    for (int k = 21; k >= 3; k -= 2) p = p * z + 1.0 / k;
    *x = ((lanes)(e + 0x4338000000000000LL) - MAGIC) + (2.8853900817779268 * s + 2.8853900817779268 * s * z * p);
}

/* *y becomes 2^y: a power of the exponent, and the exponential series of what is left. */
INLINE void take_exp2(lanes *y)
{
    static const double inverse[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                     1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2, 1, 1};
    const lanes bounded = PICK(*y < -1022.0, ALL(-1022.0), *y), shifted = bounded + MAGIC;
    const lanes g = (bounded - (shifted - MAGIC)) * 0.6931471805599453;
    lanes p = ALL(inverse[0]);
    for (int k = 1; k < 14; k++) p = p * g + inverse[k];
    *y = PICK(*y >= 1023.5, ALL(INFINITY), (whole)p + (((whole)shifted - 0x4338000000000000LL) << 52));
}

/* The same for numbers v >= 0, those below 1e-300 being 0. */
INLINE void take_power(lanes *v, double a)
{
    const whole none = *v < 1e-300;
    lanes x = PICK(none, ALL(1.0), *v);
    take_log2(&x);
    x *= a;
    take_exp2(&x);
    *v = PICK(none, ALL(0.0), x);
}

#define ABS(v) ((lanes)((whole)(v) & INT64_MAX))
#define SIGNED(v, sign) ((lanes)((whole)(v) | ((whole)(sign) & INT64_MIN)))

#else

#define ALL(v) (v)

INLINE void take_power(lanes *v, double a)
{
    *v = *v < 1e-300 ? 0 : pow(*v, a);
}

#define ABS(v) fabs(v)
#define SIGNED(v, sign) copysign(v, sign)

#endif

enum { WIDE = 4, CHUNK = WIDE * LANES }; /* so many powers at a time: a multiplication waits for the one before */

/* v becomes v^a: by repeated squaring where a is whole. */
INLINE void raise(lanes *v, double a)
{
    int left = a <= 64 ? (int)a : 0;
    if (left != a) {
        for (int i = 0; i < WIDE; i++) take_power(v + i, a);
        return;
    }
    lanes power[WIDE];
    for (int i = 0; i < WIDE; i++) power[i] = ALL(1.0);
    for (;;) {
        if (left & 1)
            for (int i = 0; i < WIDE; i++) power[i] *= v[i];
        left >>= 1;
        if (left == 0) break;
        for (int i = 0; i < WIDE; i++) v[i] *= v[i];
    }
    for (int i = 0; i < WIDE; i++) v[i] = power[i];
}

#endif
