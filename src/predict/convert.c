/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/convert.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/uio.h>

#include "machine/meta.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "predict/whatif.h"

/* An event, and on what it works. */
struct operation {
    const struct wio_converter *converter;
    const struct wio_event *event;
    const struct wio_event_files *on;
};

static bool is_storage(const struct operation *it, uint32_t path)
{
    return wio_used_files_is_storage(it->converter->files, path);
}

static enum wio_model_method read_method(const struct operation *it)
{
    return (it->on->flags & O_DIRECT) != 0 ? WIO_MODEL_READ_DIRECT : WIO_MODEL_READ;
}

/* Of a write that is synchronous by itself, as if the descriptor were (requests of glibc have none:
 * theirs are 0). */
static int flags_of_call(const struct wio_event *event)
{
    bool is_pwritev2 = event->op == WIO_OP_pwritev2;
    if (!is_pwritev2 && wio_op_class(event->op) != WIO_CLASS_ASYNC_WRITE) {
        return 0;
    }
    int64_t flags = event->arg[is_pwritev2 ? 0 : 2];
    int of_data = (flags & RWF_DSYNC) != 0 ? O_DSYNC : 0;
    return (flags & RWF_SYNC) != 0 ? O_SYNC : of_data;
}

static enum wio_model_method write_method(const struct operation *it, int flags)
{
    bool is_sync = (flags & O_DSYNC) != 0;
    enum wio_model_method method = is_sync ? WIO_MODEL_SYNC : WIO_MODEL_WRITE;
    if ((flags & O_DIRECT) != 0) {
        method = is_sync ? WIO_MODEL_DIRECT : WIO_MODEL_DIRECT_NOSYNC;
    }
    return wio_whatif_method(it->converter->whatif, method);
}

static struct wio_model_op op_of(enum wio_model_method method, uint32_t file, int64_t offset,
                                 int64_t bytes)
{
    return (struct wio_model_op){
        .file = file,
        .offset = offset > 0 ? (uint64_t)offset : 0,
        .size = bytes > 0 ? (uint64_t)bytes : 0,
        .method = method,
    };
}

static struct wio_converted plain(enum wio_convert_kind kind)
{
    return (struct wio_converted){.kind = kind};
}

static struct wio_converted transfer(const struct operation *it, enum wio_convert_kind kind,
                                     enum wio_model_method method)
{
    const struct wio_event *event = it->event;
    struct wio_converted out = {
        .kind = kind,
        .has_offset = event->offset >= 0,
        .path = event->path,
        .op = op_of(method, it->on->file, event->offset, event->result),
    };
    out.op.at_end = wio_model_flow(method) == WIO_MODEL_MOVES_IN && event->result >= 0 &&
                    (uint64_t)event->result < event->size;
    return out;
}

static struct wio_converted data(const struct operation *it, enum wio_convert_kind kind,
                                 bool is_write)
{
    const struct wio_event *event = it->event;
    if (!is_storage(it, event->path)) {
        return plain(WIO_CONVERT_PASS);
    }
    if (event->result < 0 && event->result != WIO_RESULT_PENDING) {
        return plain(WIO_CONVERT_TIMED);
    }
    if (!is_write) {
        return transfer(it, kind, read_method(it));
    }
    int flags = it->on->flags | flags_of_call(event);
    struct wio_converted out = transfer(it, kind, write_method(it, flags));
    out.op.is_data = (flags & O_SYNC) == O_DSYNC;
    return out;
}

/* A stream has a buffer, a descriptor has none. */
static struct wio_converted stdio_write(const struct operation *it)
{
    const struct wio_event *event = it->event;
    if (event->result <= 0 || !is_storage(it, event->path)) {
        return plain(WIO_CONVERT_PASS);
    }
    return event->op == WIO_OP_dprintf || event->op == WIO_OP_vdprintf
               ? data(it, WIO_CONVERT_OP, true)
               : transfer(it, WIO_CONVERT_OP, WIO_MODEL_FWRITE);
}

static struct wio_converted copy(const struct operation *it)
{
    const struct wio_event *event = it->event;
    bool reads = is_storage(it, event->path2);
    struct wio_converted out = data(it, WIO_CONVERT_COPY, true);
    struct wio_model_op read = op_of(WIO_MODEL_READ, it->on->file2, event->offset2, event->result);
    if (out.kind != WIO_CONVERT_COPY && reads && event->result >= 0) {
        return (struct wio_converted){.kind = WIO_CONVERT_OP, .path = event->path2, .op = read};
    }
    if (out.kind == WIO_CONVERT_COPY && !reads) {
        out.kind = WIO_CONVERT_OP;
    }
    out.read = read;
    return out;
}

static struct wio_converted flush(const struct operation *it, enum wio_model_method method,
                                  enum wio_convert_kind kind)
{
    const struct wio_event *event = it->event;
    if (!is_storage(it, event->path) || event->result != 0) {
        return plain(WIO_CONVERT_TIMED);
    }
    return (struct wio_converted){
        .kind = kind, .path = event->path, .op = op_of(method, it->on->file, 0, 0)};
}

static enum wio_model_method range_method(int64_t flags)
{
    bool waits = (flags & SYNC_FILE_RANGE_WAIT_AFTER) != 0;
    return waits ? WIO_MODEL_FDATASYNC : WIO_MODEL_WRITE_OUT;
}

/* Of glibc, libaio and io_uring, which tell it each in their way: arg[2] has flags, arg[3] what a
 * request is of the latter two. */
static enum wio_model_method async_sync_method(const struct wio_event *event)
{
    int64_t flags = event->arg[2];
    bool is_uring = event->op == WIO_OP_uring_fsync;
    if (is_uring && event->arg[3] == IORING_OP_SYNC_FILE_RANGE) {
        return range_method(flags);
    }
    bool is_data = is_uring ? (flags & IORING_FSYNC_DATASYNC) != 0
                            : flags == O_DSYNC || event->arg[3] == IOCB_CMD_FDSYNC;
    return is_data ? WIO_MODEL_FDATASYNC : WIO_MODEL_FSYNC;
}

/* sync(2) has no file: all devices are written. */
static struct wio_converted sync_of(const struct operation *it)
{
    switch ((int)it->event->op) {
    case WIO_OP_sync:
        return (struct wio_converted){
            .kind = WIO_CONVERT_OP, .is_everywhere = true, .op = op_of(WIO_MODEL_SYNCFS, 0, 0, 0)};
    case WIO_OP_syncfs:
        return flush(it, WIO_MODEL_SYNCFS, WIO_CONVERT_OP);
    case WIO_OP_sync_file_range:
        return flush(it, range_method(it->event->arg[0]), WIO_CONVERT_OP);
    case WIO_OP_fdatasync:
        return flush(it, WIO_MODEL_FDATASYNC, WIO_CONVERT_OP);
    default:
        return flush(it, WIO_MODEL_FSYNC, WIO_CONVERT_OP);
    }
}

/* The writes that a call of stdio caused are in the cost of the call; a call of MPI costs what it
 * has caused. */
static bool is_in_its_cause(const struct wio_event *event, enum wio_class caller)
{
    return (event->flags & WIO_EVENT_CAUSED) != 0 && !wio_class_is_mpi(caller);
}

/* ---- metadata ---- */

#define RENAME_SWAPS 2 /* RENAME_EXCHANGE of Linux: both files stay */

/* Nothing is behind what models can tell apart. */
static void clamp(struct wio_model_op *op)
{
    op->offset = op->offset < WIO_MODEL_OFFSET_MAX ? op->offset : WIO_MODEL_OFFSET_MAX;
    uint64_t most = WIO_MODEL_OFFSET_MAX - op->offset;
    op->size = op->size < most ? op->size : most;
}

/* Such a length cuts nothing. */
static struct wio_model_op cut_of(uint32_t file, uint64_t size)
{
    return (struct wio_model_op){
        .file = file,
        .offset = size < WIO_MODEL_OFFSET_MAX ? size : WIO_MODEL_OFFSET_MAX,
        .method = WIO_MODEL_TRUNCATE,
    };
}

static struct wio_converted open_of(const struct operation *it)
{
    const struct wio_event *event = it->event;
    int flags = wio_open_flags(event);
    bool has_flags = event->op == WIO_OP_open || event->op == WIO_OP_creat ||
                     event->op == WIO_OP_fopen || event->op == WIO_OP_freopen;
    struct wio_converted out = {.kind = WIO_CONVERT_TIMED, .path = event->path};
    if (has_flags && (flags & O_CREAT) != 0) {
        out.makes = (flags & O_EXCL) != 0 ? WIO_CONVERT_MAKES : WIO_CONVERT_MAY_MAKE;
    }
    if (wio_op_opens_temporary(event->op)) {
        out.makes = WIO_CONVERT_MAKES;
    }
    if (out.makes == WIO_CONVERT_MAKES || (has_flags && (flags & O_TRUNC) != 0)) {
        out.change = WIO_CONVERT_CUTS;
        out.op = cut_of(it->on->file, 0);
    }
    return out;
}

static struct wio_converted rename_of(const struct operation *it)
{
    const struct wio_event *event = it->event;
    bool swaps = ((uint64_t)event->arg[0] & RENAME_SWAPS) != 0;
    return (struct wio_converted){.kind = WIO_CONVERT_TIMED,
                                  .change = swaps ? WIO_CONVERT_NO_CHANGE : WIO_CONVERT_RENAMES,
                                  .path = event->path2,
                                  .op = cut_of(it->on->file2, 0)};
}

/* Of advice only this one changes what later operations cost. */
static struct wio_converted advice_of(const struct operation *it)
{
    const struct wio_event *event = it->event;
    if (event->arg[0] != POSIX_FADV_DONTNEED) {
        return plain(WIO_CONVERT_TIMED);
    }
    struct wio_converted out = transfer(it, WIO_CONVERT_TIMED, WIO_MODEL_FORGET);
    out.change = WIO_CONVERT_FORGETS;
    out.has_offset = true;
    out.op.size = event->size;
    clamp(&out.op);
    return out;
}

/* An operation that has succeeded, by what it does to its file. */
static struct wio_converted change_of(const struct operation *it, enum wio_class cls)
{
    const struct wio_event *event = it->event;
    bool is_length = event->op == WIO_OP_truncate || event->op == WIO_OP_ftruncate;
    bool is_directory = event->op == WIO_OP_rmdir || event->arg[0] != 0;
    if (event->op == WIO_OP_posix_fadvise) {
        return advice_of(it);
    }
    switch ((int)cls) {
    case WIO_CLASS_OPEN:
        return open_of(it);
    case WIO_CLASS_CLOSE:
        return (struct wio_converted){.kind = WIO_CONVERT_TIMED, .change = WIO_CONVERT_CLOSES};
    case WIO_CLASS_SIZE:
        return (struct wio_converted){.kind = WIO_CONVERT_TIMED,
                                      .change =
                                          is_length ? WIO_CONVERT_CUTS : WIO_CONVERT_NO_CHANGE,
                                      .path = event->path,
                                      .op = cut_of(it->on->file, event->size)};
    case WIO_CLASS_UNLINK:
        return (struct wio_converted){.kind = WIO_CONVERT_TIMED,
                                      .change = is_directory ? WIO_CONVERT_NO_CHANGE
                                                             : WIO_CONVERT_REMOVES,
                                      .path = event->path,
                                      .op = cut_of(it->on->file, 0)};
    case WIO_CLASS_RENAME:
        return rename_of(it);
    default:
        return plain(WIO_CONVERT_TIMED);
    }
}

/* What failed, and what is not on storage, is not what was measured. */
static struct wio_converted metadata(const struct operation *it, enum wio_class cls)
{
    if (it->event->result < 0 || !is_storage(it, it->event->path)) {
        return plain(WIO_CONVERT_TIMED);
    }
    struct wio_converted out = change_of(it, cls);
    out.is_metadata = true;
    return out;
}

/* On descriptors of files that are not on storage nothing is known but the time. */
static struct wio_converted other(const struct operation *it, enum wio_class cls,
                                  enum wio_class caller)
{
    bool is_metadata = cls < WIO_CLASS_ASYNC_READ && cls != WIO_CLASS_FCNTL &&
                       cls != WIO_CLASS_LOCK && !is_in_its_cause(it->event, caller);
    return is_metadata ? metadata(it, cls) : plain(WIO_CONVERT_PASS);
}

/* fclose: what the stream still has, then the close. */
static struct wio_converted close_stream(const struct operation *it)
{
    struct wio_converted out = flush(it, WIO_MODEL_FFLUSH, WIO_CONVERT_OP);
    out.is_metadata = out.kind == WIO_CONVERT_OP;
    out.change = out.is_metadata ? WIO_CONVERT_CLOSES : WIO_CONVERT_NO_CHANGE;
    return out;
}

static struct wio_converted convert(const struct operation *it, enum wio_class caller)
{
    const struct wio_event *event = it->event;
    enum wio_class cls = wio_op_class(event->op);
    if (cls == WIO_CLASS_WRITE && is_in_its_cause(event, caller)) {
        return plain(WIO_CONVERT_PASS);
    }
    switch ((int)cls) {
    case WIO_CLASS_READ:
        return data(it, WIO_CONVERT_OP, false);
    case WIO_CLASS_WRITE:
        return data(it, WIO_CONVERT_OP, true);
    case WIO_CLASS_COPY:
        return copy(it);
    case WIO_CLASS_ASYNC_READ:
        return data(it, WIO_CONVERT_ASYNC, false);
    case WIO_CLASS_ASYNC_WRITE:
        return data(it, WIO_CONVERT_ASYNC, true);
    case WIO_CLASS_ASYNC_SYNC:
        return flush(it, async_sync_method(event), WIO_CONVERT_ASYNC);
    case WIO_CLASS_SYNC:
        return sync_of(it);
    case WIO_CLASS_STDIO_WRITE:
        return stdio_write(it);
    case WIO_CLASS_STDIO_FLUSH:
        return flush(it, WIO_MODEL_FFLUSH, WIO_CONVERT_OP);
    default:
        break;
    }
    return event->op == WIO_OP_fclose ? close_stream(it) : other(it, cls, caller);
}

/* Of bytes that are moved: a range that no model has. */
static bool is_beyond(const struct wio_model_op *op)
{
    bool moves = wio_model_flow(op->method) != WIO_MODEL_MOVES_NOTHING;
    return moves && (op->size > WIO_MODEL_SIZE_MAX || op->offset > WIO_MODEL_OFFSET_MAX - op->size);
}

/* As it is, but for a range that no model has. */
static enum wio_convert_kind kind_of(const struct wio_converted *out)
{
    switch (out->kind) {
    case WIO_CONVERT_COPY:
        return is_beyond(&out->read) || is_beyond(&out->op) ? WIO_CONVERT_TIMED : out->kind;
    case WIO_CONVERT_OP:
        return is_beyond(&out->op) ? WIO_CONVERT_TIMED : out->kind;
    case WIO_CONVERT_ASYNC:
        return is_beyond(&out->op) ? WIO_CONVERT_PASS : out->kind;
    case WIO_CONVERT_PASS:
    case WIO_CONVERT_TIMED:
    default:
        return out->kind;
    }
}

void wio_convert(const struct wio_converter *converter, const struct wio_event *event,
                 const struct wio_event_files *on, enum wio_class caller, struct wio_converted *out)
{
    const struct operation it = {converter, event, on};
    *out = convert(&it, caller);
    const enum wio_convert_kind kind = kind_of(out);
    if (kind != out->kind) {
        *out = plain(kind);
    }
}
