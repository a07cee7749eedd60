/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that occur again and again in the lines of a dump (paths, sources, what is known of a
 * stream), rendered once. Private to the room.
 */
#ifndef WIO_REPORT_RENDERED_H
#define WIO_REPORT_RENDERED_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/source.h>
#include <whyio/status.h>
#include <whyio/trace.h>

#include "explain/lines/own_frame.h"

/* A rendered text; text == NULL: not rendered yet. */
struct wio_rendered_text {
    char *text;
    size_t bytes;
};

struct wio_rendered {
    const struct wio_trace *trace;
    struct wio_sources *sources;
    struct wio_rendered_text *paths; /* by string id: a JSON string or null */
    uint32_t path_count;
    struct wio_rendered_text *streams; /* two per stream: head and tail of its lines */
    uint32_t stream_count;
    struct wio_rendered_text *source_texts; /* by source id, grows */
    uint32_t source_count;
    struct wio_own_frames *own;
    struct wio_rendered_text *own_texts; /* by the source id that says it, grows */
    uint32_t own_count;
};

WIO_MUST_CHECK enum wio_status wio_rendered_init(struct wio_rendered *rendered,
                                                 const struct wio_trace *trace,
                                                 struct wio_error *err);
void wio_rendered_fini(struct wio_rendered *rendered);

/* All return a text that lives as long as `rendered`; where memory is short one that says null. */
const struct wio_rendered_text *wio_rendered_path(struct wio_rendered *rendered, uint32_t path);
/* `"source": ..., "stack": ...` */
const struct wio_rendered_text *wio_rendered_source(struct wio_rendered *rendered, uint32_t source);
/* The text of the program's own frame of an event of `stream`, or null. */
const struct wio_rendered_text *wio_rendered_own_source(struct wio_rendered *rendered,
                                                        uint32_t stream, uint32_t source);
/* `"rank": 0, "pid": 7, "tid": 7` */
const struct wio_rendered_text *wio_rendered_stream(struct wio_rendered *rendered, uint32_t stream);
/* `"job": "12", "host": "n1"` */
const struct wio_rendered_text *wio_rendered_job(struct wio_rendered *rendered, uint32_t stream);

#endif
