/* The Gaussian kernel. */
#ifndef SKLEARN_PREDTRON_GAUSSIAN_H
#define SKLEARN_PREDTRON_GAUSSIAN_H

#include <stddef.h>

/* v = 2^min(0, scale v + shift + offset) for n values of v and offset; relative error about 2^-51. */
void gaussian_of_products(ptrdiff_t n, double scale, double shift, const double *offset, double *v);

#endif
