/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which line of the program an event belongs to: the one seam between the analyses and what is
 * known of stacks.
 *
 * A place is the first frame of the program's own code (lines/own_frame.h), outside libc, MPI,
 * known I/O libraries and headers of the system; the innermost frame where the trace has no stack,
 * or none of the program's own before that of an interpreter. Source ids with the same frame (of
 * several recorders) are one place. Places are dense numbers, 0 = unknown.
 *
 * Memory: one row per source id and per distinct frame. Thread safety: none.
 */
#ifndef WIO_EXPLAIN_PLACES_H
#define WIO_EXPLAIN_PLACES_H

#include <stdint.h>

#include <whyio/source.h>
#include <whyio/status.h>
#include <whyio/trace.h>

#include "base/map.h"

/* Zero-initialise, set `trace`, release with wio_places_fini. */
struct wio_places {
    const struct wio_trace *trace;
    struct wio_sources *texts; /* made when the first source is looked up */
    uint32_t *of_source;       /* source id -> place + 1, 0 = not looked up */
    uint32_t source_capacity;
    struct wio_strtab frames; /* "build-id module address" -> place */
    uint32_t *sources;        /* place -> a source id that has it */
    uint32_t *frame_numbers;  /* .. and which of its frames it is */
    uint32_t sources_capacity;
    uint32_t frames_capacity;
};

void wio_places_fini(struct wio_places *places);
WIO_MUST_CHECK enum wio_status wio_places_find(struct wio_places *places, uint32_t source,
                                               uint32_t *place_out);

#endif
