/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stack says whose line an operation is, where a library has called and the operation has no
 * stack of its own (R-SOURCE-2): the last one that its thread had at the same call site, else the
 * last one of that call site in the table of sources. Used in one pass over the events by time.
 *
 * Memory: a few words for each source, and for each pair of a thread and a call site of a library.
 * Thread safety: none.
 */
#ifndef WIO_EXPLAIN_SPEAKERS_H
#define WIO_EXPLAIN_SPEAKERS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "base/map.h"

/* Zero-initialise but for `trace`, release with wio_speakers_fini. */
struct wio_speakers {
    const struct wio_trace *trace;
    uint8_t *kinds;  /* of each source: private */
    uint32_t *sites; /* of each source: its call site */
    uint32_t count;
    struct wio_strtab names;  /* call site -> number */
    struct wio_map of_thread; /* thread and call site -> source with a stack */
    struct wio_map of_site;
    struct wio_map pairs; /* source without a stack and the one that spoke for it, as one number ->
                             how often */
};

void wio_speakers_fini(struct wio_speakers *speakers);
/* The source that says the line of an event with `source`: itself, or another one. */
WIO_MUST_CHECK enum wio_status wio_speakers_find(struct wio_speakers *speakers, uint32_t stream,
                                                 uint32_t source, uint32_t *speaker_out);

#endif
