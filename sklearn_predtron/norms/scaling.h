/* Running means and variances of features, and rows under them. */
#ifndef SKLEARN_PREDTRON_SCALING_H
#define SKLEARN_PREDTRON_SCALING_H

#include <stddef.h>

/* Of feature j at [j * step] and, what only a new row needs, at [j * rest].  The zeros that a sparse row leaves out enter the
 * mean and the squares at a feature's next refresh, and never count; `last` dates the last one. */
typedef struct {
    double *mean;
    double *inverse; /* 1 / variance; 0 for a feature that was constant so far */
    double *squares; /* sum of squared deviations from the mean */
    double *count;   /* values of dense rows, non-zeros of sparse ones: what the variance divides by */
    double *last;    /* rows up to the last refresh */
    ptrdiff_t step, rest;
} Scaling;

/* What the scores want to know of a row x, for which z = (x - mean) / variance when dense, x / variance when sparse. */
typedef struct {
    double length2;  /* squared length of the scaled row; when sparse, less the sum of mean^2 / variance over all features */
    double cross;    /* sum of mean z */
    double constant; /* change of the sum of mean^2 / variance */
} Found;

/* Where step is 1 there is room for a multiple of four features, and of entries of z.
 *
 * The statistics take row number t, of n values; z and the rest are under the statistics that follow. */
void scaling_meet_dense(ptrdiff_t n, const double *x, double t, const Scaling *S, double *z, Found *found);
/* The same where step is 1 and `count` and `last` of every feature are t - 1, or would be if they were written: they are not. */
void scaling_meet_uniform(ptrdiff_t n, const double *x, double t, const Scaling *S, double *z, Found *found);
/* Write them after row t, for n features. */
void scaling_write_counts(ptrdiff_t n, double t, const Scaling *S);
/* Under the same conditions the statistics take m rows together, which follow row t and are single or double precision.  Features
 * that may hold an outlier wait: there are as many as is returned, listed in `at`, and they take the rows' values one by one. */
ptrdiff_t scaling_meet_block(ptrdiff_t n, ptrdiff_t m, const void *const *rows, int single, double t, const Scaling *S, ptrdiff_t *at);
void scaling_meet_listed(ptrdiff_t n, const ptrdiff_t *at, const double *x, double t, const Scaling *S);
/* The same as for dense rows with values at the features `at`; change is that of mean / variance. */
void scaling_meet_sparse(ptrdiff_t n, const double *x, const ptrdiff_t *at, double t, const Scaling *S, double *z,
                         double *change, Found *found);
/* z and the rest under statistics that stay as they are. */
void scaling_apply_dense(ptrdiff_t n, const double *x, const Scaling *S, double *z, Found *found);
/* The first of them, and <z, w>; where step is 1, w has room for a multiple of four values. */
double scaling_score_dense(ptrdiff_t n, const double *x, const Scaling *S, const double *w, double *z, Found *found);
void scaling_apply_sparse(ptrdiff_t n, const double *x, const ptrdiff_t *at, const Scaling *S, double *z, Found *found);
/* Start to fetch what is known of a feature: all of it, or what every row needs. */
void scaling_fetch(const Scaling *S, ptrdiff_t j, int all);
/* After row t, dense or sparse: let the zeros of p features, a multiple of four, count. */
void scaling_refresh(ptrdiff_t p, double t, int dense, const Scaling *S);

#endif
