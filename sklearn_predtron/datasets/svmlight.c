#include "svmlight.h"

#include "decimal.h"

#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------- lines */

INLINE int is_space(char byte)
{
    return byte == ' ' || (unsigned char)(byte - '\t') < 5;
}

INLINE const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && is_space(*p)) p++;
    return p;
}

static const char *find_space(const char *p, const char *end)
{
    while (p < end && !is_space(*p)) p++;
    return p;
}

/* Read the number at p, a whole field; return its end, or NULL if it is none or not finite. */
INLINE const char *read_value(const char *p, const char *end, const svmlight_format *format, double *value)
{
    const char *stop = read_decimal(p, value);
    if (RARELY(stop == NULL || (stop < end && !is_space(*stop)))) {
        stop = find_space(p, end);
        *value = format->odd_number(p, stop - p);
        if (!isfinite(*value)) return NULL;
    }
    return stop;
}

static int is_class(double label, const svmlight_format *format)
{
    ptrdiff_t low = 0, high = format->n_classes;
    while (low < high) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (format->classes[middle] < label) low = middle + 1; else high = middle;
    }
    return low < format->n_classes && format->classes[low] == label;
}

INLINE int is_label(double label, const svmlight_format *format)
{
    return !(format->relevance && label < 0) && (format->n_classes < 0 || is_class(label, format));
}

/* Read numbers with commas between them; a first field with a colon is no label. */
static const char *read_labels(const char *p, const char *end, const svmlight_format *format, svmlight_rows *rows)
{
    const char *stop = find_space(p, end);
    if (memchr(p, ':', stop - p) != NULL) return p;
    for (;;) {
        const char *comma = memchr(p, ',', stop - p), *part_end = comma ? comma : stop;
        double label;
        if (read_decimal(p, &label) != part_end) label = format->odd_number(p, part_end - p);
        if (!isfinite(label) || !is_label(label, format)) return NULL;
        rows->label[rows->labels++] = label;
        if (comma == NULL) return stop;
        p = comma + 1;
    }
}

/* Read INDEX: at p; return what follows the colon, or NULL. */
INLINE const char *read_index(const char *p, const char *end, const svmlight_format *format, int64_t *index)
{
    uint64_t w = 0;
    int n = read_digits(p, &w);
    if (!RARELY(n == 0 || n > 18 || p[n] != ':')) {
        *index = (int64_t)w;
        return p + n + 1;
    }
    const char *colon = memchr(p, ':', find_space(p, end) - p);
    if (colon == NULL) return NULL;
    *index = format->odd_index(p, colon - p);
    return colon + 1;
}

/* Read the entries of a row. */
INLINE int read_entries(const char *p, const char *end, const svmlight_format *format, svmlight_rows *rows)
{
    int64_t before = (int64_t)format->base - 1, index = before;
    ptrdiff_t n = rows->entries;
    while ((p = skip_spaces(p, end)) < end) {
        double value;
        if ((p = read_index(p, end, format, &index)) == NULL) return 0;
        if (index <= before || index - format->base >= format->width) return 0;
        if ((p = read_value(p, end, format, &value)) == NULL) return 0;
        before = index;
        rows->index[n] = (int32_t)(index - format->base);
        if (rows->value != NULL) {
            rows->value[n++] = value;
        } else {
            rows->value_of_float[n] = (float)value;
            if (!isfinite(rows->value_of_float[n++])) return 0;
        }
    }
    if (n > rows->entries && index - format->base >= rows->width) rows->width = index - format->base + 1;
    rows->entries = n;
    return 1;
}

/* Read a line, which ends where a comment begins; return whether it can be read. */
static int read_line(const char *p, const char *end, const svmlight_format *format, svmlight_rows *rows)
{
    ptrdiff_t labels = rows->labels;
    if ((p = skip_spaces(p, end)) == end) return 1;
    if (format->several) {
        p = read_labels(p, end, format, rows);
    } else if ((p = read_value(p, end, format, &rows->label[labels])) != NULL) {
        if (is_label(rows->label[labels], format)) rows->labels++; else p = NULL;
    }
    if (p != NULL && end - (p = skip_spaces(p, end)) >= 3 && memcmp(p, "qid", 3) == 0) {
        const char *stop = find_space(p, end);
        p = memchr(p, ':', stop - p) == NULL ? NULL : stop;
    }
    if (p == NULL || !read_entries(p, end, format, rows)) {
        rows->labels = labels;
        return 0;
    }
    rows->end[rows->rows] = rows->entries;
    if (format->several) rows->label_end[rows->rows] = rows->labels;
    rows->rows++;
    return 1;
}

const char *svmlight_read(const char *text, ptrdiff_t n, const svmlight_format *format, svmlight_rows *rows)
{
    const char *end = text + n;
    while (text < end) {
        const char *newline = memchr(text, '\n', end - text), *stop = newline ? newline : end;
        const char *comment = memchr(text, '#', stop - text);
        /* scikit-learn looks for a comment up to the first zero byte. */
        if (comment != NULL && memchr(text, 0, comment - text) == NULL) stop = comment;
        if (!read_line(text, stop, format, rows)) break;
        text = newline ? newline + 1 : end;
        rows->lines++;
    }
    return text;
}

ptrdiff_t svmlight_count(const char *text, ptrdiff_t n, char byte)
{
    ptrdiff_t count = 0, i = 0;
    while (i < n) {
        ptrdiff_t stop = n - i > 255 ? i + 255 : n;
        unsigned char some = 0;  /* of so few that it fits a byte: 16 of these are counted at once */
        for (; i < stop; i++) some = (unsigned char)(some + (text[i] == byte));
        count += some;
    }
    return count;
}
