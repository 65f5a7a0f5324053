/* The arithmetic of a round: one row of X against a d x p matrix of weights. */
#ifndef SKLEARN_PREDTRON_SIMD_H
#define SKLEARN_PREDTRON_SIMD_H

#include "compiler.h"

#include <stddef.h>

/* One row of X.  index is NULL where the row is dense. */
typedef struct {
    ptrdiff_t n; /* values stored */
    const void *value;
    const void *index;
} Row;

enum { BY_CLASS, BY_FEATURE, ONE_CLASS, LAYOUTS };

/* d x p weights, by class (entry (c, j) at data[c * stride + j]) or by feature (at data[j * stride + c]), and d offsets. */
typedef struct {
    double *data, *offset;
    ptrdiff_t d, stride;
    int layout;
} Matrix;

/* A gradient in score space: n entries value[i] at the classes at[i]; at is NULL where all of them are stored. */
typedef struct {
    ptrdiff_t n;
    ptrdiff_t *at;
    double *value;
} ScoreGradient;

/* What can be done with a row, for one type of values and indices. */
typedef struct {
    size_t value_size, index_size;
    /* t = scale * (M x + offset) + (more ? t : 0) for each layout of M and m consecutive rows, the first of which is x, with d
     * scores each; start as in CSR, NULL where dense */
    void (*scores[LAYOUTS])(ptrdiff_t m, const Row *x, const ptrdiff_t *start, const Matrix *M, double scale, int more, double *t);
    /* The same by class for m dense rows of n values, wherever they lie; the scores of a row are `apart` from the next one's */
    void (*scores_at)(ptrdiff_t m, const void *const *x, ptrdiff_t n, const Matrix *M, double scale, int more, ptrdiff_t apart,
                      double *t);
    /* M += scale * g x^T */
    void (*add[LAYOUTS])(const Row *x, Matrix *M, const ScoreGradient *g, double scale);
    /* Fetch the weights that the first values of a row will need: nothing hides that wait when its turn comes. */
    void (*fetch)(const Row *x, const Matrix *M);
    double (*norm2)(const Row *x);
    /* The same, and t[0] = scale * (M x + offset) where there is one score */
    double (*measured_score)(const Row *x, const Matrix *M, double scale, double *t);
    /* sum of |x|^a over the values */
    double (*sum_of_powers)(const Row *x, double a);
    /* z += scale * sum of g[r] x_r over m consecutive rows, the first of which is x; start as in CSR, NULL where dense */
    void (*combine)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, double scale, const double *g, double *z);
    /* |z|^2 for a z made by `combine` with the same g from zeros, which it is again afterwards where the rows are sparse */
    double (*take_norm2)(ptrdiff_t m, const Row *x, const ptrdiff_t *start, const double *g, double *z);
    /* features and values of the stored entries from `begin` on, n of them */
    void (*unpack)(const Row *x, ptrdiff_t begin, ptrdiff_t n, ptrdiff_t *at, double *value);
    /* whether all of n values are finite */
    int (*finite)(ptrdiff_t n, const void *value);
    /* whether each of n values is 0 or has a square in the range */
    int (*ordinary)(ptrdiff_t n, const void *value, double least, double most);
} RowOps;

/* value_size 4 or 8 (float, double), index_size 4 or 8 (signed), or 0 for dense rows. */
const RowOps *row_ops_for(size_t value_size, size_t index_size);

/* Fetch the first bytes of what the next round reads. */
static inline void prefetch_bytes(const void *from, size_t size)
{
    for (size_t b = 0; b < size; b += 64) PREFETCH((const char *)from + b);
}

#endif
