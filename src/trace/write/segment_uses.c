/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/write/segment_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "ops/storage_path.h"

/* The path's bits, looked at once per path. */
static enum wio_status uses_of(struct wio_segment *segment, uint32_t path, uint8_t **uses_out)
{
    if (path >= segment->uses_capacity) {
        size_t capacity = segment->uses_capacity == 0 ? 1024 : segment->uses_capacity;
        while (capacity <= path) {
            capacity *= 2;
        }
        uint8_t *uses = realloc(segment->uses, capacity);
        if (uses == NULL) {
            return WIO_ERR_NOMEM;
        }
        memset(uses + segment->uses_capacity, 0, capacity - segment->uses_capacity);
        segment->uses = uses;
        segment->uses_capacity = capacity;
    }
    uint8_t *uses = &segment->uses[path];
    if ((*uses & WIO_USE_CHECKED) == 0) {
        const char *text = wio_strtab_get(&segment->strings, path, NULL);
        *uses |= WIO_USE_CHECKED | WIO_USE_NAMED;
        *uses |= wio_path_is_storage(text) ? WIO_USE_STORAGE : 0;
    }
    *uses_out = uses;
    return WIO_OK;
}

static uint64_t bytes_moved(const struct wio_event *event, unsigned properties)
{
    const unsigned moves = WIO_DOES_READS | WIO_DOES_WRITES;
    return event->result > 0 && (properties & moves) != 0 ? (uint64_t)event->result : 0;
}

uint64_t wio_event_bytes(const struct wio_event *event)
{
    return event->result > 0 ? bytes_moved(event, wio_op_properties(event->op)) : 0;
}

static bool opens_file(const struct wio_event *event)
{
    switch ((int)event->op) {
    case WIO_OP_opendir:
    case WIO_OP_fdopendir:
    case WIO_OP_popen:
    case WIO_OP_memfd_create:
        return false;
    case WIO_OP_open:
        return event->result >= 0 && (event->arg[0] & O_DIRECTORY) == 0;
    default:
        return event->result >= 0;
    }
}

static bool is_file_use(const struct wio_event *event, enum wio_class cls)
{
    switch ((int)cls) {
    case WIO_CLASS_OPEN:
        return opens_file(event);
    case WIO_CLASS_STAT:
        return event->result == 0 && S_ISREG((mode_t)event->arg[1]);
    case WIO_CLASS_READ:
    case WIO_CLASS_WRITE:
    case WIO_CLASS_COPY:
    case WIO_CLASS_ASYNC_READ:
    case WIO_CLASS_ASYNC_WRITE:
        return event->result >= 0;
    default:
        return false;
    }
}

static void count_bytes(struct wio_segment_stream *stream, const struct wio_event *event,
                        enum wio_class cls)
{
    const unsigned properties = wio_class_properties(cls);
    if ((properties & WIO_DOES_STREAM) != 0) {
        return; /* R-STREAM-2 */
    }
    const uint64_t bytes = bytes_moved(event, properties);
    if ((properties & WIO_DOES_WRITES) != 0) {
        stream->bytes_written += bytes;
    } else {
        stream->bytes_read += bytes;
    }
}

enum wio_status wio_segment_note_uses(struct wio_segment *segment,
                                      struct wio_segment_stream *stream,
                                      const struct wio_event *event)
{
    uint8_t *uses = NULL;
    const enum wio_class cls = wio_op_class(event->op);
    if (event->path != 0) {
        WIO_TRY(uses_of(segment, event->path, &uses));
        if ((*uses & WIO_USE_STORAGE) != 0) {
            *uses |= is_file_use(event, cls) ? WIO_USE_FILE : 0;
            count_bytes(stream, event, cls);
        }
    }
    if (cls == WIO_CLASS_COPY && event->path2 != 0) {
        WIO_TRY(uses_of(segment, event->path2, &uses));
        if ((*uses & WIO_USE_STORAGE) != 0) {
            *uses |= is_file_use(event, cls) ? WIO_USE_FILE : 0;
            stream->bytes_read += wio_event_bytes(event);
        }
    }
    if ((cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK) && event->path2 != 0) {
        WIO_TRY(uses_of(segment, event->path2, &uses));
    }
    return WIO_OK;
}
