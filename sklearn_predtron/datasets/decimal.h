/* Decimals in text as doubles, to the last bit.  Up to eight bytes after a number are read, too. */
#ifndef SKLEARN_PREDTRON_DECIMAL_H
#define SKLEARN_PREDTRON_DECIMAL_H

#include "compiler.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- digits */

/* Eight bytes as a number whose lowest byte is the first. */
INLINE uint64_t eight_bytes(const char *p)
{
    uint64_t bytes;
    memcpy(&bytes, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/* How many of eight bytes are digits before the first that is none; carries only reach bytes after that. */
INLINE int leading_digits(uint64_t bytes)
{
    uint64_t others = ((bytes + 0x4646464646464646u) | (bytes - 0x3030303030303030u)) & 0x8080808080808080u;
#if GNU_C
    return others ? __builtin_ctzll(others) >> 3 : 8;
#else
    int n = 0;
    while (n < 8 && !(others >> (8 * n) & 0x80)) n++;
    return n;
#endif
}

/* The value of the first n of eight bytes, n > 0 digits. */
INLINE uint64_t value_of_digits(uint64_t bytes, int n)
{
    bytes = (bytes - 0x3030303030303030u) << (8 * (8 - n));  /* zeros go first */
    bytes = (bytes * 10 + (bytes >> 8)) & 0x00ff00ff00ff00ffu;
    bytes = (bytes * 100 + (bytes >> 16)) & 0x0000ffff0000ffffu;
    return (bytes * 10000 + (bytes >> 32)) & 0xffffffffu;
}

static const uint64_t TEN[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Append the digits at p to w, modulo 2^64, and return their number. */
INLINE int read_digits(const char *p, uint64_t *w)
{
    int n, all = 0;
    do {
        uint64_t bytes = eight_bytes(p + all);
        n = leading_digits(bytes);
        if (n == 0) break;
        *w = *w * TEN[n] + value_of_digits(bytes, n);
        all += n;
    } while (RARELY(n == 8) && all < 24);
    return all;
}

/* --------------------------------------------------------------------------------------------------- numbers */

#define EXACT (UINT64_C(1) << 53)
#define MOST_TEN 22   /* 10^22 is a double */
#define MOST_FIVE 27  /* 5^27 is below 2^63 */

static const double POWER[MOST_TEN + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#if GNU_C && defined(__SIZEOF_INT128__)
typedef unsigned __int128 wide;

/* w 10^e for w > 0, |e| <= MOST_FIVE, rounded once: integers hold what is before it, and a bit says whether more follows. */
static double scaled_exactly(uint64_t w, int e)
{
    uint64_t five = 1;
    for (int i = e < 0 ? -e : e; i > 0; i--) five *= 5;
    if (e >= 0) return ldexp((double)((wide)w * five), e);
    int up = __builtin_clzll(w), five_up = __builtin_clzll(five);
    wide over = (wide)(w << up) << 63;
    uint64_t under = five << five_up, quotient = (uint64_t)(over / under);
    quotient |= (wide)quotient * under != over;  /* below the 53 bits: it has 63 or 64 */
    return ldexp((double)quotient, e - 63 - up + five_up);
}
#define HAS_WIDE 1
#else
#define HAS_WIDE 0
#define scaled_exactly(w, e) 0.0
#endif

/* Read a decimal of at most 19 digits and a small exponent; return where it ends, or NULL if it is another. */
INLINE const char *read_decimal(const char *p, double *value)
{
#if FLT_EVAL_METHOD != 0
    return NULL;  /* the product would be rounded twice */
#endif
    int negative = *p == '-', n, e = 0;
    uint64_t w = 0;
    p += negative || *p == '+';
    if (p[1] == '.' && (unsigned char)(*p - '0') < 10) {  /* as most have it: what follows need not wait for their number */
        w = (uint64_t)(*p - '0');
        n = 1;
    } else {
        n = read_digits(p, &w);
    }
    p += n;
    if (*p == '.') {
        e = read_digits(++p, &w);
        p += e;
        n += e;
        e = -e;
    }
    if (RARELY(n == 0 || n > 19)) return NULL;
    if (RARELY(*p == 'e' || *p == 'E')) {
        int down = *++p == '-', digits;
        uint64_t exponent = 0;
        p += down || *p == '+';
        digits = read_digits(p, &exponent);
        if (digits == 0 || digits > 4) return NULL;
        p += digits;
        e += down ? -(int)exponent : (int)exponent;
    }
    double d;
    if (w <= EXACT && -MOST_TEN <= e && e <= MOST_TEN)  /* Clinger (1990): both are exact, and one rounding follows */
        d = e < 0 ? (double)w / POWER[-e] : (double)w * POWER[e];
    else if (HAS_WIDE && w > 0 && -MOST_FIVE <= e && e <= MOST_FIVE)
        d = scaled_exactly(w, e);
    else
        return NULL;
    *value = negative ? -d : d;
    return p;
}

#endif
