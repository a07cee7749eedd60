/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/convert.h"

#include <fcntl.h>
#include <string.h>

#include "predict/whatif.h"
#include "trace/calls.h"

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* A path whose data lies on storage (FORMAT.md, R-STREAM-2). */
static bool is_storage(const struct wio_converter *converter, uint32_t path)
{
    const char *text = wio_trace_string(converter->trace, path, NULL);
    if (text[0] != '/' || begins(text, "/proc/") || begins(text, "/sys/")) {
        return false;
    }
    return !begins(text, "/dev/") || begins(text, "/dev/shm/");
}

static enum wio_model_method write_method(const struct wio_converter *converter,
                                          const struct wio_event *event, uint32_t image)
{
    int flags = wio_opened_flags(converter->opened, image, event->fd, event->t_ns);
    enum wio_model_method method = WIO_MODEL_WRITE;
    if ((flags & O_DIRECT) != 0) {
        method = WIO_MODEL_DIRECT;
    } else if ((flags & O_DSYNC) != 0) {
        method = WIO_MODEL_SYNC;
    }
    return wio_whatif_method(converter->whatif, method);
}

static struct wio_model_op op_of(enum wio_model_method method, uint32_t path, int64_t offset,
                                 int64_t bytes)
{
    return (struct wio_model_op){
        .file = path,
        .offset = offset > 0 ? (uint64_t)offset : 0,
        .size = bytes > 0 ? (uint64_t)bytes : 0,
        .method = method,
    };
}

static struct wio_converted plain(enum wio_convert_kind kind)
{
    return (struct wio_converted){.kind = kind};
}

static struct wio_converted transfer(enum wio_convert_kind kind, enum wio_model_method method,
                                     const struct wio_event *event)
{
    return (struct wio_converted){
        .kind = kind,
        .has_offset = event->offset >= 0,
        .op = op_of(method, event->path, event->offset, event->result),
    };
}

static struct wio_converted data(const struct wio_converter *converter,
                                 const struct wio_event *event, uint32_t image,
                                 enum wio_convert_kind kind, bool is_write)
{
    if (!is_storage(converter, event->path)) {
        return plain(WIO_CONVERT_PASS);
    }
    if (event->result < 0 && event->result != WIO_RESULT_PENDING) {
        return plain(WIO_CONVERT_FIXED);
    }
    return transfer(kind, is_write ? write_method(converter, event, image) : WIO_MODEL_READ, event);
}

static struct wio_converted copy(const struct wio_converter *converter,
                                 const struct wio_event *event, uint32_t image)
{
    bool reads = is_storage(converter, event->path2);
    struct wio_converted out = data(converter, event, image, WIO_CONVERT_COPY, true);
    struct wio_model_op read = op_of(WIO_MODEL_READ, event->path2, event->offset2, event->result);
    if (out.kind != WIO_CONVERT_COPY && reads && event->result >= 0) {
        return (struct wio_converted){.kind = WIO_CONVERT_OP, .op = read};
    }
    if (out.kind == WIO_CONVERT_COPY && !reads) {
        out.kind = WIO_CONVERT_OP;
    }
    out.read = read;
    return out;
}

static struct wio_converted flush(const struct wio_converter *converter,
                                  const struct wio_event *event, enum wio_model_method method,
                                  enum wio_convert_kind kind)
{
    if (!is_storage(converter, event->path) || event->result != 0) {
        return plain(WIO_CONVERT_FIXED);
    }
    return (struct wio_converted){.kind = kind, .op = op_of(method, event->path, 0, 0)};
}

/* The writes that a call of stdio caused are in the cost of the call. */
static bool is_in_its_cause(const struct wio_event *event, enum wio_class cls)
{
    return (event->flags & WIO_EVENT_CAUSED) != 0 && cls == WIO_CLASS_WRITE;
}

/* On descriptors of files that are not on storage nothing is known but the time. */
static struct wio_converted other(const struct wio_event *event, enum wio_class cls)
{
    bool is_inside = (event->flags & WIO_EVENT_CAUSED) != 0;
    bool is_metadata =
        cls < WIO_CLASS_ASYNC_READ && cls != WIO_CLASS_FCNTL && cls != WIO_CLASS_LOCK && !is_inside;
    return plain(is_metadata ? WIO_CONVERT_FIXED : WIO_CONVERT_PASS);
}

struct wio_converted wio_convert(const struct wio_converter *converter,
                                 const struct wio_event *event, uint32_t image)
{
    enum wio_class cls = wio_op_class(event->op);
    if (is_in_its_cause(event, cls)) {
        return plain(WIO_CONVERT_PASS);
    }
    switch ((int)cls) {
    case WIO_CLASS_READ:
        return data(converter, event, image, WIO_CONVERT_OP, false);
    case WIO_CLASS_WRITE:
        return data(converter, event, image, WIO_CONVERT_OP, true);
    case WIO_CLASS_COPY:
        return copy(converter, event, image);
    case WIO_CLASS_ASYNC_READ:
        return data(converter, event, image, WIO_CONVERT_ASYNC, false);
    case WIO_CLASS_ASYNC_WRITE:
        return data(converter, event, image, WIO_CONVERT_ASYNC, true);
    case WIO_CLASS_ASYNC_SYNC:
        return flush(converter, event, WIO_MODEL_FSYNC, WIO_CONVERT_ASYNC);
    case WIO_CLASS_SYNC:
        return flush(converter, event, WIO_MODEL_FSYNC, WIO_CONVERT_OP);
    case WIO_CLASS_STDIO_WRITE:
        return event->result > 0 && is_storage(converter, event->path)
                   ? transfer(WIO_CONVERT_OP, WIO_MODEL_FWRITE, event)
                   : plain(WIO_CONVERT_PASS);
    case WIO_CLASS_STDIO_FLUSH:
        return flush(converter, event, WIO_MODEL_FFLUSH, WIO_CONVERT_OP);
    default:
        break;
    }
    if (event->op == WIO_OP_fclose) {
        return flush(converter, event, WIO_MODEL_FFLUSH, WIO_CONVERT_OP);
    }
    return other(event, cls);
}
