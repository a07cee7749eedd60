/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams of a trace are those of the segments that a file of edges was made for: R-HELD-2.
 */
#ifndef WIO_TRACE_EDGES_HELD_SEGMENTS_H
#define WIO_TRACE_EDGES_HELD_SEGMENTS_H

#include <whyio/trace.h>

/* A segment that was there. */
struct wio_held_segment {
    uint32_t first; /* stream, then */
    uint32_t count; /* of streams */
    uint32_t now;   /* the first of them now; UINT32_MAX: the segment is not there */
};

struct wio_held_segments {
    struct wio_held_segment *items;
    uint32_t count;
    uint32_t streams; /* of all that were there */
};
void wio_held_segments_fini(struct wio_held_segments *segments);

/*
 * `marks`: lines of R-EDGE-7. NULL, of a file of before: `lines` of R-EDGE-1, which tell less; then
 * all segments have to be there, known by their names, or by their lengths where only one has it. A
 * segment is known by length and checksum; of several that are the same, by its name.
 */
WIO_MUST_CHECK enum wio_status wio_held_segments_match(const struct wio_trace *trace,
                                                       const char *lines, const char *marks,
                                                       struct wio_held_segments *segments_out,
                                                       struct wio_error *err);
/* False: the stream is not there any more. */
bool wio_held_segments_find(const struct wio_held_segments *segments, uint32_t stream,
                            uint32_t *stream_out);

#endif
