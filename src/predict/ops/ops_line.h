/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of an operation list:
 *
 *     {"file": "a", "offset": 0, "size": 4096, "delay_s": 0.1, "method": "write", "random": false}
 *
 * file (a text or a number), offset and size are wanted; delay_s is 0, method "write" and random
 * unknown where they are missing or null. fflush and fsync need no offset and size; truncate needs
 * an offset, the file's new length. Unknown keys are skipped; one that looks like a misspelt one is
 * told. A parser of its own, because a tree of values for each line costs more than the prediction.
 */
#ifndef WIO_PREDICT_OPS_OPS_LINE_H
#define WIO_PREDICT_OPS_OPS_LINE_H

#include <stddef.h>

#include <whyio/status.h>

#include "model/model.h"

struct wio_ops_line {
    const char *file; /* borrowed from the line, not ended by NUL */
    size_t file_bytes;
    const char
        *misspelt; /* a skipped key like one that may be missing, borrowed likewise, or NULL */
    size_t misspelt_bytes;
    const char *meant;      /* and that one; static text */
    struct wio_model_op op; /* but for `file` */
};

/*
 * Parse `line` (without its end), which is changed where names hold escapes. WIO_ERR_FORMAT: the
 * message says what was expected, err->offset is the place within the line. Thread safe.
 */
WIO_MUST_CHECK enum wio_status wio_ops_line_parse(char *line, size_t bytes,
                                                  struct wio_ops_line *out, struct wio_error *err);

#endif
