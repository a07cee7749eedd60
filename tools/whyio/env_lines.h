/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that set the environment by which programs are recorded without `whyio record`. */
#ifndef WHYIO_ENV_LINES_H
#define WHYIO_ENV_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <whyio/status.h>

enum env_syntax {
    ENV_SH,    /* of a shell like sh: for eval */
    ENV_CSH,   /* of csh */
    ENV_SLURM, /* what a TaskProlog prints: the value as it is, to the end of the line */
};

struct env_lines {
    const char *trace; /* the trace directory */
    enum env_syntax syntax;
    bool no_causal;    /* without synchronisation */
    uint64_t max_size; /* 0 = no bound */
    bool keep_last;
};

/* Finds the capture library (WHYIO_CAPTURE_LIB, record/library.h). WIO_ERR_USAGE where a value
 * cannot be written in the syntax. */
WIO_MUST_CHECK enum wio_status env_lines_print(const struct env_lines *lines, FILE *out,
                                               struct wio_error *err);

#endif
