#include "viterbi.h"

#include "compiler.h"

/* Additions and maxima alone: every processor finds the same bits. */
#define WIDEST FOR_PROCESSORS("avx512f", "avx2", "default")

/* The maxima of neighbouring states stay in registers: a wide block takes no longer than a narrow one, which waits for each. */
#define BLOCK(N)                                                                                                                  \
    INLINE void block_##N(ptrdiff_t K, ptrdiff_t stride, const double *restrict table, const double *restrict next,              \
                          double *restrict best)                                                                                  \
    {                                                                                                                             \
        double most[N];                                                                                                           \
        for (int i = 0; i < N; i++) most[i] = table[i] + next[0];                                                                 \
        for (ptrdiff_t j = 1; j < K; j++) {                                                                                       \
            const double *way = table + j * stride;                                                                               \
            const double then = next[j];                                                                                          \
            for (int i = 0; i < N; i++) {                                                                                         \
                const double sum = way[i] + then;                                                                                 \
                most[i] = sum > most[i] ? sum : most[i];                                                                          \
            }                                                                                                                     \
        }                                                                                                                         \
        for (int i = 0; i < N; i++) best[i] += most[i];                                                                           \
    }
BLOCK(32)
BLOCK(24)
BLOCK(16)
BLOCK(8)
BLOCK(4)

INLINE void step(ptrdiff_t K, ptrdiff_t stride, const double *table, const double *next, double *best)
{
    ptrdiff_t k = 0;
    for (; k + 32 <= stride; k += 32) block_32(K, stride, table + k, next, best + k);
    for (; k + 24 <= stride; k += 24) block_24(K, stride, table + k, next, best + k);
    for (; k + 16 <= stride; k += 16) block_16(K, stride, table + k, next, best + k);
    for (; k + 8 <= stride; k += 8) block_8(K, stride, table + k, next, best + k);
    for (; k < stride; k += 4) block_4(K, stride, table + k, next, best + k);
}

WIDEST void viterbi_step(ptrdiff_t K, ptrdiff_t stride, const double *table, const double *next, double *best)
{
    step(K, stride, table, next, best);
}

WIDEST void viterbi_sweep(ptrdiff_t T, ptrdiff_t K, ptrdiff_t stride, const double *table, double *best)
{
    for (ptrdiff_t t = T - 2; t >= 0; t--) step(K, stride, table, best + (t + 1) * stride, best + t * stride);
}
