/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "edges/edges_internal.h"

void wio_join_name_object(const struct wio_trace *trace, const struct wio_feed_object *object,
                          char *text, size_t room)
{
    static const char *const kinds[WIO_FEED_KIND_COUNT] = {
        [WIO_FEED_FLOCK] = "flock",        [WIO_FEED_RECORD_LOCK] = "record lock",
        [WIO_FEED_LOCK] = "lock",          [WIO_FEED_CONDITION] = "condition",
        [WIO_FEED_BARRIER] = "barrier",    [WIO_FEED_SEMAPHORE] = "semaphore",
        [WIO_FEED_FUTEX] = "futex",        [WIO_FEED_COMMUNICATOR] = "communicator",
        [WIO_FEED_WINDOW_LOCK] = "window",
    };
    switch ((unsigned)object->kind) {
    case WIO_FEED_PIPE:
    case WIO_FEED_SOCKET:
    case WIO_FEED_EVENTFD:
        (void)snprintf(text, room, "%s", wio_trace_string(trace, (uint32_t)object->id, NULL));
        return;
    case WIO_FEED_FLOCK:
    case WIO_FEED_RECORD_LOCK:
        (void)snprintf(text, room, "%s %s", kinds[object->kind],
                       wio_trace_string(trace, (uint32_t)object->id, NULL));
        return;
    case WIO_FEED_COMMUNICATOR:
    case WIO_FEED_WINDOW_LOCK:
        (void)snprintf(text, room, "%s %016" PRIx64, kinds[object->kind], object->id);
        return;
    default:
        break;
    }
    if ((int64_t)object->id < 0) {
        (void)snprintf(text, room, "%s %016" PRIx64 " (shared)", kinds[object->kind], object->id);
        return;
    }
    (void)snprintf(text, room, "%s 0x%" PRIx64 " of process %d", kinds[object->kind], object->id,
                   wio_trace_process(trace, object->place)->pid);
}
