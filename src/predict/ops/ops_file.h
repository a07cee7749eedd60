/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operation list, line by line: JSON lines as ops_line.h describes them. Empty lines are
 * skipped. Memory holds one line and the names of the files.
 */
#ifndef WIO_PREDICT_OPS_OPS_FILE_H
#define WIO_PREDICT_OPS_OPS_FILE_H

#include <stdint.h>

#include <whyio/status.h>

#include "model/model.h"

struct wio_ops_file;

/* `path`: a file, or "-" for standard input. */
WIO_MUST_CHECK enum wio_status wio_ops_file_open(const char *path, struct wio_ops_file **file_out,
                                                 struct wio_error *err);
/* Accepts NULL. */
void wio_ops_file_close(struct wio_ops_file *file);

/* WIO_OK and the next operation, its file as a number from 0; WIO_END behind the last; else an
 * error that names file, offset and line. */
WIO_MUST_CHECK enum wio_status
wio_ops_file_next(struct wio_ops_file *file, struct wio_model_op *op_out, struct wio_error *err);

/* The name of an operation's file; borrowed until the next operation is read. */
const char *wio_ops_file_name(const struct wio_ops_file *file, uint64_t number);

/* Bytes read so far, and in all: 0 = not known. */
void wio_ops_file_progress(const struct wio_ops_file *file, uint64_t *done_out,
                           uint64_t *total_out);
/* Keys that were skipped and look like misspelt ones. */
#define WIO_OPS_KEY_MAX 40
struct wio_ops_misspelt {
    uint64_t lines;            /* that have one; 0: the rest says nothing */
    uint64_t line;             /* the first of them, from 1 .. */
    char key[WIO_OPS_KEY_MAX]; /* .. what stands there; what cannot be printed is '?' .. */
    const char *meant;         /* .. and what may be meant; static text */
};
const struct wio_ops_misspelt *wio_ops_file_misspelt(const struct wio_ops_file *file);

/* Its name in errors; valid as long as the path that was given. */
const char *wio_ops_file_label(const struct wio_ops_file *file);
/* The line of the operation that came last, from 1, and where it begins in the file. */
uint64_t wio_ops_file_line(const struct wio_ops_file *file, uint64_t *offset_out);

#endif
