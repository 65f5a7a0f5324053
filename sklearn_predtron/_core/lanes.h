/* Vectors of doubles, and functions that are compiled for several processors. */
#ifndef SKLEARN_PREDTRON_LANES_H
#define SKLEARN_PREDTRON_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize") /* what is worth it is written out; short remainders are not */
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#if defined(__GNUC__) || defined(__clang__)
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
#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define LANES 1
typedef double lanes;
#define LOAD(TYPE, p) ((double)*(p))
#define ADD_TO(p, v) (*(p) += (v))
#define STORE(p, v) (*(p) = (v))
#define LANE(v, l) (v)
#define SUM(v) (v)
#define ZERO 0
#define INLINE static inline
#define PREFETCH(p) ((void)(p))
#endif

/* Run-time dispatch where the compiler and the loader know how. */
#if defined(__has_attribute) && defined(__x86_64__) && defined(__GLIBC__)
#if __has_attribute(target_clones)
#define DISPATCHED __attribute__((target_clones("fma", "default")))
#endif
#endif
#ifndef DISPATCHED
#define DISPATCHED
#endif

#endif
