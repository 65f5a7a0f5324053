#include "row_map.h"

#define CLIP 6.0
#define FAR 1e9 /* from there on turns have no digits left that matter */

/* Several vectors a step; no fused operations, so that all processors make the same bits. */
#define WIDE FOR_PROCESSORS("avx2", "default")

INLINE double between(double low, double high, double x)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

INLINE void find_knots(const Knots *K, ptrdiff_t room, const double *x, int64_t *found)
{
    for (ptrdiff_t j = 0; j < room; j += LANES) {
        int64_t count[LANES] = {0};
        for (ptrdiff_t k = 1; k < K->n - 1; k++) /* few knots: no branches */
            for (int l = 0; l < LANES; l++) count[l] += x[j + l] >= K->at[k * room + j + l];
        for (int l = 0; l < LANES; l++) found[j + l] = count[l];
    }
}

INLINE double fraction(const Knots *K, ptrdiff_t room, ptrdiff_t j, int64_t k, double x)
{
    ptrdiff_t at = k * room + j;
    return between(0, 1, (x - K->at[at]) * K->inverse[at]);
}

INLINE ptrdiff_t put(int32_t place, double x, ptrdiff_t n, int32_t *index, double *value)
{
    index[n] = place;
    value[n] = x;
    return n + 1;
}

INLINE ptrdiff_t put_two(int32_t place, double f, ptrdiff_t n, int32_t *index, double *value)
{
    if (f > 0 && f < 1) {
        n = put(place, 1 - f, n, index, value);
        return put(place + 1, f, n, index, value);
    }
    return put(place + (f == 1), 1, n, index, value);
}

INLINE ptrdiff_t put_numbers(const PiecewiseTables *T, const PiecewiseScratch *S, ptrdiff_t j, ptrdiff_t n, int32_t *index,
                             double *value)
{
    double x = S->x[j], f = fraction(&T->hats, T->room, j, S->knot[j], x);
    Factors *own = &S->factors[j];
    n = put_two(T->base[j] + (int32_t)S->knot[j], f, n, index, value);
    n = put(T->raw[j], between(-CLIP, CLIP, (x - T->mean[j]) * T->inverse_sd[j]), n, index, value);
    f = fraction(&T->factors, T->room, j, S->factor_knot[j], x);
    own->parts = f > 0 && f < 1 ? TWO_PARTS : ONE_PART;
    own->at = (int32_t)S->factor_knot[j] + (f == 1);
    own->low = own->parts == TWO_PARTS ? 1 - f : 1;
    own->high = f;
    return n;
}

INLINE ptrdiff_t put_column(const PiecewiseTables *T, const PiecewiseScratch *S, ptrdiff_t j, ptrdiff_t n, int32_t *index,
                            double *value)
{
    double x = S->x[j];
    Factors *own = &S->factors[j];
    own->parts = NO_PART;
    if (RARELY(x != x)) return T->missing[j] < 0 ? n : put(T->missing[j], 1, n, index, value);
    if (T->kind[j] == NUMBERS) return put_numbers(T, S, j, n, index, value);
    if (T->kind[j] == CONSTANT || !(x >= 0 && x < T->raw[j])) return n;
    own->parts = ONE_PART;
    own->at = (int32_t)x;
    own->low = 1;
    return put(T->base[j] + own->at, 1, n, index, value);
}

INLINE uint32_t mixed(uint32_t h)
{
    h = (h ^ (h >> 16)) * 0x7feb352dU;
    h = (h ^ (h >> 15)) * 0x846ca68bU;
    return h ^ (h >> 16);
}

INLINE int32_t hashed_cell(const Pair *r, int32_t i, int32_t j)
{
    uint32_t modulus = (uint32_t)r->modulus, h = mixed((uint32_t)i);
    if (r->hashed == HASHED_CELL) return r->base + (int32_t)(mixed(h + (uint32_t)j) % modulus);
    return r->base + (int32_t)(h % modulus) * r->stride + j;
}

/* The same where not both columns have two parts. */
INLINE ptrdiff_t put_fewer(const Pair *r, const Factors *a, const Factors *b, int32_t cell, ptrdiff_t n, int32_t *index,
                          double *value)
{
    n = put(cell, a->low * b->low, n, index, value);
    if (b->parts) n = put(cell + 1, a->low * b->high, n, index, value);
    if (a->parts) n = put(cell + r->stride, a->high * b->low, n, index, value);
    return n;
}

INLINE ptrdiff_t put_products(const Pair *r, const Factors *of, ptrdiff_t n, int32_t *restrict index, double *restrict value)
{
    const Factors *a = &of[r->first], *b = &of[r->second];
    if (RARELY((a->parts | b->parts) < 0)) return n;
    int32_t cell = RARELY(r->hashed != DIRECT) ? hashed_cell(r, a->at, b->at) : r->base + a->at * r->stride + b->at;
    if (!(a->parts & b->parts)) return put_fewer(r, a, b, cell, n, index, value);
    double f = a->low, f2 = a->high, g = b->low, g2 = b->high;
    int32_t after = cell + r->stride;
    index += n;
    value += n;
    index[0] = cell;
    index[1] = cell + 1;
    index[2] = after;
    index[3] = after + 1;
    value[0] = f * g;
    value[1] = f * g2;
    value[2] = f2 * g;
    value[3] = f2 * g2;
    return n + 4;
}

WIDE ptrdiff_t piecewise_row(const PiecewiseTables *T, const void *row, int single, const PiecewiseScratch *S, int32_t *index,
                             double *value)
{
    ptrdiff_t n = 0, n_pairs = T->n_pairs;
    const Factors *of = S->factors;
    const Pair *pair = T->pair;
    for (ptrdiff_t j = 0; j < T->p; j++) S->x[j] = single ? ((const float *)row)[j] : ((const double *)row)[j];
    for (ptrdiff_t j = T->p; j < T->room; j++) S->x[j] = 0;
    find_knots(&T->hats, T->room, S->x, S->knot);
    find_knots(&T->factors, T->room, S->x, S->factor_knot);
    for (ptrdiff_t j = 0; j < T->p; j++) n = put_column(T, S, j, n, index, value);
    for (ptrdiff_t r = 0; r < n_pairs; r++) n = put_products(&pair[r], of, n, index, value);
    return n;
}

/* cos(2 pi t) for |t| < 2^51: -sin(2 pi u) of u = |t - nearest integer| - 1/4 by its series, which ends below the last bit. */
INLINE double cosine_of_turns(double t)
{
    const double nearest = 6755399441055744.0; /* 1.5 * 2^52: sums with it are whole */
    double r = t - ((t + nearest) - nearest), u = 6.283185307179586 * ((r < 0 ? -r : r) - 0.25), s = u * u, sum;
    sum = 1.9572941063391263e-20 * s - 8.220635246624329e-18;
    sum = sum * s + 2.8114572543455206e-15;
    sum = sum * s - 7.647163731819816e-13;
    sum = sum * s + 1.6059043836821613e-10;
    sum = sum * s - 2.505210838544172e-08;
    sum = sum * s + 2.7557319223985893e-06;
    sum = sum * s - 0.0001984126984126984;
    sum = sum * s + 0.008333333333333333;
    sum = sum * s - 0.16666666666666666;
    return -(u + u * s * sum);
}

WIDE void fourier_row(ptrdiff_t p, ptrdiff_t width, const void *row, int single, const double *mean, const double *inverse_sd,
                      const double *turns, const double *phase, double amplitude, double *value)
{
    for (ptrdiff_t f = 0; f < width; f++) value[f] = phase[f];
    for (ptrdiff_t j = 0; j < p; j++) {
        double x = single ? ((const float *)row)[j] : ((const double *)row)[j];
        double z = x == x ? between(-FAR, FAR, (x - mean[j]) * inverse_sd[j]) : 0;
        const double *turn = turns + j * width;
        for (ptrdiff_t f = 0; f < width; f++) value[f] += z * turn[f];
    }
    for (ptrdiff_t f = 0; f < width; f++) value[f] = amplitude * cosine_of_turns(value[f]);
}
