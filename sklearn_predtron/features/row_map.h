/* Features of a row of a table: hats, raw values, indicators, and products of these for pairs of columns. */
#ifndef SKLEARN_PREDTRON_ROW_MAP_H
#define SKLEARN_PREDTRON_ROW_MAP_H

#include "compiler.h"

#include <stddef.h>
#include <stdint.h>

enum { LANES = 4, TWO_PARTS = 1, ONE_PART = 0, NO_PART = -1 };
enum { CONSTANT, NUMBERS, CATEGORIES };
enum { DIRECT, HASHED_FIRST, HASHED_CELL };

/* Knot k of column j is at [k * room + j], 1 / its distance to the next at the same place; those behind a column's last one are
 * infinite.  room is p, rounded up to a multiple of LANES. */
typedef struct {
    ptrdiff_t n;
    const double *at, *inverse;
} Knots;

/* Columns whose factors are multiplied, a category first where there is one: the product of factors i and j is at
 * base + i * stride + j, where i or the whole of it is hashed to less than the modulus, as `hashed` says. */
typedef struct {
    int32_t first, second, base, stride, hashed, modulus;
} Pair;

/* What a row has of a column's factors: the value at a place and, where there are two parts, that of the next. */
typedef struct {
    double low, high;
    int32_t at, parts;
} Factors;

/* p columns, and pairs of them. */
typedef struct {
    ptrdiff_t p, room, n_pairs;
    Knots hats, factors;
    const double *mean, *inverse_sd;
    const int32_t *kind;
    const int32_t *base;    /* the first place of a column's own */
    const int32_t *raw;     /* that of its raw value, or how many categories it has */
    const int32_t *missing; /* that of its indicator of missing values; -1 if there is none */
    const Pair *pair;
} PiecewiseTables;

/* What is known of a row's columns: room for each of them. */
typedef struct {
    double *x;
    int64_t *knot, *factor_knot;
    Factors *factors;
} PiecewiseScratch;

/* The features of a row of `single` or double precision; how many there are, in rising order of their places. */
ptrdiff_t piecewise_row(const PiecewiseTables *T, const void *row, int single, const PiecewiseScratch *S, int32_t *index,
                        double *value);

/* value[f] = amplitude * cos(2 pi (phase[f] + sum of turns[j * width + f] z_j)) of z = (x - mean) * inverse_sd, 0 where missing. */
void fourier_row(ptrdiff_t p, ptrdiff_t width, const void *row, int single, const double *mean, const double *inverse_sd,
                 const double *turns, const double *phase, double amplitude, double *value);

#endif
