/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a run for tests that write their traces themselves. */
#ifndef WIO_TESTS_RECORD_NODE_H
#define WIO_TESTS_RECORD_NODE_H

#include "support/unit.h"

#include <whyio/segment.h>

/* Adds a process of one thread with nothing known of it but its pid and rank (-1: none); gives the
 * thread's stream. */
static inline uint32_t add_node(struct wio_segment *segment, int32_t pid, int32_t rank)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_process_info process = {.pid = pid,
                                             .rank = rank,
                                             .host = "n",
                                             .job = "",
                                             .exe = "",
                                             .argv = "",
                                             .cwd = "",
                                             .parent = UINT32_MAX};
    uint32_t index = 0;
    uint32_t stream = 0;
    assert_ok(wio_segment_process(segment, &process, &index, &err), &err);
    assert_ok(wio_segment_stream(segment, index, pid, 0, &stream, &err), &err);
    return stream;
}

#endif
