/* Steps of dual weights theta, whose powers u are kept beside them. */
#include "dual_step.h"

#include "lanes.h"
#include "powers.h"

INLINE void move_chunk(double change, const double *x, double a, double owed, double *theta, double *u, double *total,
                       lanes *gain)
{
    lanes now[WIDE], power[WIDE];
    for (int i = 0; i < WIDE; i++) {
        const lanes before = LOAD(double, theta + i * LANES), old = LOAD(double, u + i * LANES);
        now[i] = before + change * LOAD(double, x + i * LANES);
        power[i] = ABS(now[i]);
        if (total) ADD_TO(total + i * LANES, owed * old);
        *gain -= before * old;
        STORE(theta + i * LANES, now[i]);
    }
    raise(power, a);
    for (int i = 0; i < WIDE; i++) {
        const lanes new = SIGNED(power[i], now[i]);
        *gain += now[i] * new;
        STORE(u + i * LANES, new);
    }
}

/* Whether a chunk is zeros, which stay as they are where nothing is added: their pages may never have been touched. */
INLINE int is_blank(const double *theta)
{
    lanes any = ZERO;
    for (int i = 0; i < WIDE; i++) any += ABS(LOAD(double, theta + i * LANES));
    return SUM(any) == 0;
}

DISPATCHED double dual_step(ptrdiff_t n, double change, const double *x, double a, double owed, double *theta, double *u,
                            double *total)
{
    lanes gain = ZERO;
    ptrdiff_t j = 0;
    for (; j + CHUNK <= n; j += CHUNK)
        if (change != 0 || !is_blank(theta + j))
            move_chunk(change, x + j, a, owed, theta + j, u + j, total ? total + j : NULL, &gain);
    if (j < n) {
        const size_t rest = (size_t)(n - j) * sizeof(double);
        double copy[4][CHUNK] = {{0}};
        memcpy(copy[0], x + j, rest);
        memcpy(copy[1], theta + j, rest);
        memcpy(copy[2], u + j, rest);
        if (total) memcpy(copy[3], total + j, rest);
        move_chunk(change, copy[0], a, owed, copy[1], copy[2], total ? copy[3] : NULL, &gain);
        memcpy(theta + j, copy[1], rest);
        memcpy(u + j, copy[2], rest);
        if (total) memcpy(total + j, copy[3], rest);
    }
    return SUM(gain);
}

DISPATCHED double dual_step_columns(ptrdiff_t n, const ptrdiff_t *at, const double *x, ptrdiff_t stride, const double *g,
                                    double a, const double *owed, double *theta, double *u, double *total, double *part)
{
    double gain = 0;
    for (ptrdiff_t begin = 0; begin < n; begin += CHUNK, at += CHUNK, x += CHUNK, owed += CHUNK) {
        const int m = n - begin < CHUNK ? (int)(n - begin) : CHUNK;
        double square[CHUNK] = {0}, factor[CHUNK];
        lanes power[WIDE];
        for (int k = 0; k < m; k++) {
            double *column = theta + at[k] * stride;
            lanes sum = ZERO;
            for (ptrdiff_t c = 0; c < stride; c += LANES) {
                const lanes now = LOAD(double, column + c) + x[k] * LOAD(double, g + c);
                STORE(column + c, now);
                sum += now * now;
            }
            square[k] = SUM(sum);
        }
        for (int i = 0; i < WIDE; i++) power[i] = LOAD(double, square + i * LANES);
        raise(power, a);
        for (int i = 0; i < WIDE; i++) STORE(factor + i * LANES, power[i]);
        for (int k = 0; k < m; k++) {
            const ptrdiff_t place = at[k] * stride;
            for (ptrdiff_t c = 0; c < stride; c += LANES) {
                if (total) ADD_TO(total + place + c, owed[k] * LOAD(double, u + place + c));
                STORE(u + place + c, factor[k] * LOAD(double, theta + place + c));
            }
            gain += square[k] * factor[k] - part[at[k]];
            part[at[k]] = square[k] * factor[k];
        }
    }
    return gain;
}

/* What a step of weights that lie class by class is made of. */
typedef struct {
    ptrdiff_t d, stride;
    const double *g, *owed;
    double a, *theta, *u, *total, *part;
} classes;

/* n vectors of columns, each from at[i] on. */
INLINE void move_vectors(int n, const ptrdiff_t *at, const double *input, const classes *s, lanes *gain)
{
    lanes square[WIDE] = {ZERO}, factor[WIDE] = {ZERO};
    for (ptrdiff_t c = 0; c < s->d; c++) {
        double *line = s->theta + c * s->stride;
        if (s->g[c] != 0)
            for (int i = 0; i < n; i++) ADD_TO(line + at[i], s->g[c] * LOAD(double, input + i * LANES));
        for (int i = 0; i < n; i++) square[i] += LOAD(double, line + at[i]) * LOAD(double, line + at[i]);
    }
    for (int i = 0; i < n; i++) factor[i] = square[i];
    raise(factor, s->a);
    for (int i = 0; i < n; i++) {
        const lanes power = square[i] * factor[i];
        *gain += power - LOAD(double, s->part + at[i]);
        STORE(s->part + at[i], power);
    }
    for (ptrdiff_t c = 0; c < s->d; c++) {
        const ptrdiff_t line = c * s->stride;
        if (s->total)
            for (int i = 0; i < n; i++) ADD_TO(s->total + line + at[i], s->owed[c] * LOAD(double, s->u + line + at[i]));
        for (int i = 0; i < n; i++) STORE(s->u + line + at[i], factor[i] * LOAD(double, s->theta + line + at[i]));
    }
}

DISPATCHED double dual_step_classes(ptrdiff_t p, const double *x, ptrdiff_t place, double last, ptrdiff_t d, ptrdiff_t stride,
                                    const double *g, double a, const double *owed, double *theta, double *u, double *total,
                                    double *part)
{
    const classes step = {d, stride, g, owed, a, theta, u, total, part};
    lanes gain = ZERO;
    ptrdiff_t j = 0, at[WIDE + 1];
    double rest[CHUNK + LANES] = {0};
    int n = 0;
    for (; j + CHUNK <= p; j += CHUNK) {
        for (int i = 0; i < WIDE; i++) at[i] = j + i * LANES;
        move_vectors(WIDE, at, x + j, &step, &gain);
    }
    memcpy(rest, x + j, (size_t)(p - j) * sizeof(double));
    for (; j < p; j += LANES) at[n++] = j;
    rest[n * LANES] = last; /* whose power is taken with those of the rest of the columns */
    at[n++] = place;
    switch (n) { /* each with loops that are unrolled */
    case 1: move_vectors(1, at, rest, &step, &gain); break;
    case 2: move_vectors(2, at, rest, &step, &gain); break;
    case 3: move_vectors(3, at, rest, &step, &gain); break;
    default: move_vectors(WIDE, at, rest, &step, &gain);
    }
    if (n > WIDE) move_vectors(1, at + WIDE, rest + CHUNK, &step, &gain);
    return SUM(gain);
}
