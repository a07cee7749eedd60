/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded program, as simulations need it: its waits, the files of its events, its calls of
 * several operations. Read from a trace once; any number of simulations use it then, and change
 * nothing.
 */
#ifndef WIO_PREDICT_PROGRAM_H
#define WIO_PREDICT_PROGRAM_H

#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "predict/calls.h"
#include "predict/used_files.h"
#include "schedule/waits.h"

/* Zero-initialise; release with wio_program_fini. */
struct wio_program {
    const struct wio_trace *trace;
    struct wio_waits waits;
    struct wio_used_files files;
    struct wio_calls calls;
    uint32_t *streams_of; /* by process: how many it has; owned */
    uint32_t ranks;       /* that were recorded, at least 1 */
    uint32_t rank_span;   /* the highest rank + 1: more than `ranks` where some were not recorded */
};

/* The trace must outlive it. After an error it may only be released. */
WIO_MUST_CHECK enum wio_status
wio_program_init(struct wio_program *program, const struct wio_trace *trace, struct wio_error *err);
void wio_program_fini(struct wio_program *program);

#endif
