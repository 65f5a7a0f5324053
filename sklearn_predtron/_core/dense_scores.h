/* Scores of dense rows by class, for blocks of up to ROWS rows and EIGHT doubles of one kind (see lanes.h): a template.
 *
 * A sum over the features is made of eight, of each eighth feature: what a block of rows and classes shares is loads.  The
 * values that are left over come from a copy with zeros behind; the weights of a class have room for as many. */
#define PART(function) JOIN(NAME(function), EIGHT)
#define LOAD_EIGHT(TYPE, p) JOIN(LOAD, EIGHT)(TYPE, p)

JOIN(PART_OF, EIGHT) void PART(add_products)(int rows, int classes, const EIGHT *v, const double *w, ptrdiff_t stride, EIGHT (*s)[8])
{
    UNROLLED for (int c = 0; c < classes; c++)
    {
        const EIGHT u = LOAD_EIGHT(double, w + c * stride);
        UNROLLED for (int r = 0; r < rows; r++) JOIN(ADD_PRODUCT, EIGHT)(s[r][c], v[r], u);
    }
}

/* `rows` rows and the classes from c on, `classes` of them; both are literals where this is inlined. */
JOIN(PART_OF, EIGHT) void PART(block_scores)(int rows, int classes, const void *const *x, ptrdiff_t n, const double (*rest)[8],
                               const Matrix *M, ptrdiff_t c, double scale, int more, ptrdiff_t apart, double *t)
{
    const double *w = M->data + c * M->stride;
    EIGHT s[ROWS][8], v[ROWS];
    ptrdiff_t j = 0;
    UNROLLED for (int r = 0; r < rows; r++)
        UNROLLED for (int i = 0; i < classes; i++) s[r][i] = JOIN(NOTHING, EIGHT);
    for (; j + 8 <= n; j += 8) {
        UNROLLED for (int r = 0; r < rows; r++) v[r] = LOAD_EIGHT(VALUE, (const VALUE *)x[r] + j);
        PART(add_products)(rows, classes, v, w + j, M->stride, s);
    }
    if (j < n) {
        UNROLLED for (int r = 0; r < rows; r++) v[r] = LOAD_EIGHT(double, rest[r]);
        PART(add_products)(rows, classes, v, w + j, M->stride, s);
    }
    UNROLLED for (int r = 0; r < rows; r++)
    {
        lanes sum[8];
        UNROLLED for (int i = 0; i < classes; i++) sum[i] = JOIN(FOLD, EIGHT)(s[r][i]);
        store_scores(classes, sum, M->offset + c, scale, more, t + r * apart + c);
    }
}

#define ROWS_OF(rows, classes)                                                                                         \
    for (; r + (rows) <= m; r += (rows))                                                                               \
        PART(block_scores)(rows, classes, x + r, n, rest + r, M, c, scale, more, apart, t + r * apart);
#define BLOCKS_OF(classes)                                                                                             \
    for (; c + (classes) <= M->d; c += (classes)) {                                                                    \
        ptrdiff_t r = 0;                                                                                               \
        ROWS_OF(ROWS, classes)                                                                                         \
        ROWS_OF(1, classes)                                                                                            \
    }

/* At most MOST_ROWS rows: few enough to stay in the cache while all classes pass by. */
JOIN(FUNCTION, EIGHT) void PART(dense_scores)(ptrdiff_t m, const void *const *x, ptrdiff_t n, const Matrix *M, double scale, int more,
                               ptrdiff_t apart, double *t)
{
    const ptrdiff_t left = n % 8;
    double rest[MOST_ROWS][8];
    ptrdiff_t c = 0;
    for (ptrdiff_t r = 0; left > 0 && r < m; r++) {
        const VALUE *last = (const VALUE *)x[r] + (n - left);
        memset(rest[r], 0, sizeof rest[r]);
        for (ptrdiff_t j = 0; j < left; j++) rest[r][j] = last[j];
    }
    if (m == 1 && ROWS > 1)     /* one row alone keeps more classes in flight */
        for (; c + 8 <= M->d; c += 8) PART(block_scores)(1, 8, x, n, rest, M, c, scale, more, apart, t);
    BLOCKS_OF(4)
    BLOCKS_OF(3)
    BLOCKS_OF(2)
    BLOCKS_OF(1)
}

#undef ROWS_OF
#undef BLOCKS_OF
#undef LOAD_EIGHT
#undef PART
#undef ROWS
#undef EIGHT
