/* Vectors of doubles, and functions that are compiled for several processors. */
#ifndef SKLEARN_PREDTRON_LANES_H
#define SKLEARN_PREDTRON_LANES_H

#include "compiler.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if GNU_C && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize") /* what is worth it is written out; short remainders are not */
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#if GNU_C
#define LANES 4 /* 8 were no faster with AVX-512 (loads bind), and much slower where the compiler must split them */
typedef double lanes __attribute__((vector_size(32)));
typedef double doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef float floats __attribute__((vector_size(16), aligned(4), may_alias));
#define LOAD_double(p) (*(const doubles *)(p))
#define LOAD_float(p) __builtin_convertvector(*(const floats *)(p), lanes)
#define LOAD(TYPE, p) JOIN(LOAD, TYPE)(p)
#define ADD_TO(p, v) (*(doubles *)(p) += (v))
#define STORE(p, v) (*(doubles *)(p) = (v))
#define LANE(v, l) ((v)[l])
#define SUM(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#define ZERO {0}
#define HEAD(p, n) ((lanes){(p)[0], (n) > 1 ? (p)[1] : 0, (n) > 2 ? (p)[2] : 0, 0}) /* one to three values, and zeros */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE __builtin_shufflevector
#endif
#endif
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif
#else
#define LANES 1
typedef double lanes;
#define LOAD(TYPE, p) ((double)*(p))
#define ADD_TO(p, v) (*(p) += (v))
#define STORE(p, v) (*(p) = (v))
#define LANE(v, l) (v)
#define SUM(v) (v)
#define ZERO 0
#define HEAD(p, n) ((double)*(p))
#endif

/* Eight doubles in two vectors, or in one of AVX-512: sums of them are the same to the last bit, where both are dispatched. */
#if LANES == 4
typedef struct {
    lanes low, high;
} pair;
#define LOAD_pair(TYPE, p) ((pair){LOAD(TYPE, p), LOAD(TYPE, (p) + LANES)})
#define ADD_PRODUCT_pair(s, v, w) ((s).low += (v).low * (w).low, (s).high += (v).high * (w).high)
#define NOTHING_pair ((pair){{0}, {0}})
#define FOLD_pair(s) ((s).low + (s).high)
#define PART_OF_pair INLINE
#define FUNCTION_pair static DISPATCHED
#endif

#if defined(SHUFFLE) && DISPATCHES
#define HAS_WIDE __builtin_cpu_supports("avx512f")
typedef double wide __attribute__((vector_size(64)));
typedef double wide_double __attribute__((vector_size(64), aligned(8), may_alias));
typedef float wide_float __attribute__((vector_size(32), aligned(4), may_alias));
#define LOAD_wide(TYPE, p) __builtin_convertvector(*(const JOIN(wide, TYPE) *)(p), wide)
#define ADD_PRODUCT_wide(s, v, w) ((s) += (v) * (w))
#define NOTHING_wide ((wide){0})
#define FOLD_wide(s) (SHUFFLE(s, s, 0, 1, 2, 3) + SHUFFLE(s, s, 4, 5, 6, 7))
#define PART_OF_wide __attribute__((target("avx512f"))) INLINE
#define FUNCTION_wide __attribute__((target("avx512f"))) static
#endif

#endif
