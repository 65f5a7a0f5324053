/* Rows of svmlight and LETOR text: LABEL[,LABEL...] [qid:ID] INDEX:VALUE ... # comment. */
#ifndef SKLEARN_PREDTRON_SVMLIGHT_H
#define SKLEARN_PREDTRON_SVMLIGHT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes after a text that are read, too; they are zero. */
#define SVMLIGHT_PADDING 8

/* How lines are read. */
typedef struct {
    int base;               /* what indices count from: 0 or 1 */
    int several;            /* whether a row has a set of labels */
    int relevance;          /* whether a label is at least 0 */
    int64_t width;          /* features, at most */
    const double *classes;  /* sorted: the labels that may occur */
    ptrdiff_t n_classes;    /* -1: any may */
    /* What is rare, as Python reads it: a number, or nan; an index, or -1. */
    double (*odd_number)(const char *text, ptrdiff_t n);
    int64_t (*odd_index)(const char *text, ptrdiff_t n);
} svmlight_format;

/* What is read: places for all that the text may hold, and how many are taken. */
typedef struct {
    ptrdiff_t lines, rows, labels, entries;
    int64_t width;          /* the largest index, counted from 1 */
    double *label;
    ptrdiff_t *label_end;   /* of each row, with several labels */
    ptrdiff_t *end;         /* of each row's entries */
    int32_t *index;
    double *value;          /* one of these two is NULL */
    float *value_of_float;
} svmlight_rows;

/* How often a byte occurs. */
ptrdiff_t svmlight_count(const char *text, ptrdiff_t n, char byte);

/* Read lines up to the first that cannot be read, and return where it begins; the end of the text if there is none. */
const char *svmlight_read(const char *text, ptrdiff_t n, const svmlight_format *format, svmlight_rows *rows);

#endif
