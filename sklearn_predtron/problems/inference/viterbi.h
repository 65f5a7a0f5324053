/* The recursion of a linear chain, over states whose numbers are padded to a multiple of four. */
#ifndef SKLEARN_PREDTRON_VITERBI_H
#define SKLEARN_PREDTRON_VITERBI_H

#include <stddef.h>

/* best[k] += max_j table[j * stride + k] + next[j] for all of `stride` states k, over the first K states j. */
void viterbi_step(ptrdiff_t K, ptrdiff_t stride, const double *table, const double *next, double *best);

/* best, T rows of `stride` scores, the last of which is complete: the others get the best of what may follow them. */
void viterbi_sweep(ptrdiff_t T, ptrdiff_t K, ptrdiff_t stride, const double *table, double *best);

#endif
