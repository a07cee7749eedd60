/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a trace have to do and to wait for, read from the trace. */
#ifndef WIO_TESTS_READ_WAITS_H
#define WIO_TESTS_READ_WAITS_H

#include "support/unit.h"

#include <whyio/trace.h>

#include "schedule/waits.h"

/* To be released by wio_waits_fini, whatever comes of it. */
static inline enum wio_status read_waits(struct wio_waits *waits, const struct wio_trace *trace,
                                         bool is_wanted, struct wio_error *err)
{
    const struct wio_event *event;
    struct wio_cursor *cursor;
    assert_ok(wio_waits_init(waits, trace, is_wanted, err), err);
    assert_ok(wio_cursor_create(trace, NULL, &cursor, err), err);
    while (wio_cursor_next(cursor, &event, err) == WIO_OK) {
        uint32_t image = wio_trace_stream(trace, event->stream)->process;
        assert_ok(wio_waits_see(waits, event, image), err);
    }
    wio_cursor_destroy(cursor);
    assert_ok(wio_waits_finish(waits), err);
    return wio_waits_check(waits, err);
}

#endif
