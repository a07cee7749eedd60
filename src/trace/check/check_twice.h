/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that were sealed twice: process images that two segments of a directory have. */
#ifndef WIO_TRACE_CHECK_CHECK_TWICE_H
#define WIO_TRACE_CHECK_CHECK_TWICE_H

#include "trace/read/trace_internal.h"

struct wio_check_twice {
    uint64_t count;                       /* of images that another segment has, too */
    const struct wio_process_info *first; /* of them; lives as long as the trace */
    uint32_t segment;                     /* number of the other one */
};

/* `trace`: segment `number` (from 1) alone. `images` begins empty and is passed on from segment to
 * segment. */
WIO_MUST_CHECK enum wio_status wio_check_twice(const struct wio_trace *trace, uint32_t number,
                                               struct wio_map *images,
                                               struct wio_check_twice *found_out);

#endif
