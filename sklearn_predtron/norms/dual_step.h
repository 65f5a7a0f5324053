/* Steps of dual weights theta, whose powers u are kept beside them. */
#ifndef SKLEARN_PREDTRON_DUAL_STEP_H
#define SKLEARN_PREDTRON_DUAL_STEP_H

#include <stddef.h>

/* Powers below are of numbers v >= 0, those below 1e-300 counting as 0 where a > 0 is not whole: by repeated squaring where it
 * is (up to 64), otherwise with a relative error of about a |log2 v| 2^-52. */

/* theta += change x, u becomes sign(theta) |theta|^a, and total += owed times what u was (NULL: there is none); by how much the
 * sum of u theta grows. */
double dual_step(ptrdiff_t n, double change, const double *x, double a, double owed, double *theta, double *u, double *total);
/* The same for whole columns of `stride` entries (a multiple of 4): column at[k] of theta += x[k] g, u becomes
 * theta (|theta|^2)^a, total += owed[k] times what u was; part[at[k]] is the column's sum of u theta. */
double dual_step_columns(ptrdiff_t n, const ptrdiff_t *at, const double *x, ptrdiff_t stride, const double *g, double a,
                         const double *owed, double *theta, double *u, double *total, double *part);

/* The same for p columns at once, which lie across d lines of `stride` entries (a multiple of 16), and for one at `place`, a
 * multiple of 16 from p on: theta += g x^T, and g times `last` in that one; owed[c] is of line c. */
double dual_step_classes(ptrdiff_t p, const double *x, ptrdiff_t place, double last, ptrdiff_t d, ptrdiff_t stride, const double *g, double a,
                         const double *owed, double *theta, double *u, double *total, double *part);

#endif
