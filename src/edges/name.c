/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "edges/edges_internal.h"

void wio_join_name_object(const struct wio_trace *trace, const struct wio_infer_object *object,
                          char *text, size_t room)
{
    static const char *const kinds[WIO_INFER_KIND_COUNT] = {
        [WIO_INFER_FLOCK] = "flock",        [WIO_INFER_RECORD_LOCK] = "record lock",
        [WIO_INFER_LOCK] = "lock",          [WIO_INFER_CONDITION] = "condition",
        [WIO_INFER_BARRIER] = "barrier",    [WIO_INFER_SEMAPHORE] = "semaphore",
        [WIO_INFER_FUTEX] = "futex",        [WIO_INFER_COMMUNICATOR] = "communicator",
        [WIO_INFER_WINDOW_LOCK] = "window",
    };
    switch ((unsigned)object->kind) {
    case WIO_INFER_PIPE:
    case WIO_INFER_SOCKET:
    case WIO_INFER_EVENTFD:
        (void)snprintf(text, room, "%s", wio_trace_string(trace, (uint32_t)object->id, NULL));
        return;
    case WIO_INFER_FLOCK:
    case WIO_INFER_RECORD_LOCK:
        (void)snprintf(text, room, "%s %s", kinds[object->kind],
                       wio_trace_string(trace, (uint32_t)object->id, NULL));
        return;
    case WIO_INFER_COMMUNICATOR:
    case WIO_INFER_WINDOW_LOCK:
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
