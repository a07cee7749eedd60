/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions of all classes use: paths, descriptors, data, and the verdict. */
#include "replay/perform/perform.h"

#include <fcntl.h>
#include <stdio.h>

#include "ops/calls.h"
#include "replay/initial/kind.h"

#define SOURCE_STEP 4096u

const char *rp_path(const struct rp_worker *worker, const struct wio_event *event)
{
    return wio_trace_string(worker->run->trace, event->path, NULL);
}

const char *rp_path2(const struct rp_worker *worker, const struct wio_event *event)
{
    return wio_trace_string(worker->run->trace, event->path2, NULL);
}

uint8_t rp_kind(const struct rp_worker *worker, const struct wio_event *event, uint32_t string)
{
    return rp_observer_kind(&worker->run->plan->observer, string, event->t_ns);
}

struct rp_fd *rp_fd_find(struct rp_worker *worker, const struct wio_event *event, int64_t fd)
{
    bool is_shared;
    struct rp_fd *entry = rp_share_entry(worker, event, fd, &is_shared);
    if (is_shared) {
        return entry;
    }
    entry = rp_fds_at(&worker->thread->fds, fd);
    if (entry == NULL || rp_fd_real(entry) >= 0) {
        return entry;
    }
    entry = rp_fds_at(&worker->process->inherited, fd);
    return rp_fd_real(entry) >= 0 ? entry : NULL;
}

/* What of the flags of an open still counts when the file is there. */
#define LASTING_FLAGS (O_APPEND | O_DIRECT | O_SYNC | O_DSYNC | O_NOATIME)

/* Those of the open that the recorder has overwritten (record --keep=last). */
static int lasting_flags(const struct rp_worker *worker, int64_t number, uint32_t string)
{
    const struct wio_process_info *info =
        wio_trace_process(worker->run->trace, worker->process->image);
    for (uint32_t i = 0; info != NULL && i < info->opened_count; i++) {
        if (info->opened[i].fd == number && info->opened[i].path == string) {
            return info->opened[i].flags & LASTING_FLAGS;
        }
    }
    return 0;
}

/* No operation of the trace opened it: it was there when the recording began. */
static struct rp_fd *adopt(struct rp_worker *worker, const struct wio_event *event, int64_t number,
                           uint32_t string)
{
    struct rp_fd *entry = rp_fds_at(&worker->process->inherited, number);
    if (entry == NULL || rp_kind(worker, event, string) != RP_KIND_FILE || event->error == EBADF) {
        return NULL;
    }
    const char *path = wio_trace_string(worker->run->trace, string, NULL);
    const struct rp_root *root = worker->run->root;
    const int flags = lasting_flags(worker, number, string) | O_NONBLOCK;
    int fd = rp_root_openat(root, path, O_RDWR | flags, 0);
    if (fd < 0 && (errno == EISDIR || errno == EACCES)) {
        fd = rp_root_openat(root, path, O_RDONLY | flags, 0);
    }
    if (fd < 0) {
        return NULL;
    }
    rp_fd_set(entry, fd, false, event->t_ns);
    entry->is_adopted = true;
    return entry;
}

static int use(struct rp_worker *worker, const struct wio_event *event, int64_t number,
               uint32_t string, struct rp_outcome *out)
{
    bool was_closed = event->error == EBADF && string == WIO_NO_STRING;
    struct rp_fd *entry = was_closed ? NULL : rp_fd_find(worker, event, number);
    if (entry == NULL) {
        entry = adopt(worker, event, number, string);
    }
    if (entry != NULL) {
        return rp_fd_real(entry);
    }
    if (rp_kind(worker, event, string) == RP_KIND_FILE || event->error == EBADF) {
        errno = EBADF; /* the open failed, which was counted */
        rp_done(out, -1);
    } else {
        rp_skip(out, WIO_REPLAY_SKIP_UNKNOWN);
    }
    return -1;
}

int rp_fd_use(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    return use(worker, event, event->fd, event->path, out);
}

int rp_fd_use2(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    return use(worker, event, event->fd2, event->path2, out);
}

uint8_t *rp_source(const struct rp_worker *worker, const struct wio_event *event, uint64_t bytes)
{
    const struct rp_bulk *source = &worker->run->source;
    uint64_t spare = (source->size - bytes) / SOURCE_STEP;
    uint64_t place =
        ((uint64_t)event->offset / SOURCE_STEP + event->stream * UINT64_C(7)) % (spare + 1);
    return source->data + place * SOURCE_STEP;
}

uint8_t *rp_sink(struct rp_worker *worker)
{
    if (worker->sink.data == NULL &&
        rp_bulk_create((size_t)worker->run->plan->max_bytes, &worker->sink, NULL) != WIO_OK) {
        return NULL;
    }
    return worker->sink.data;
}

static bool has_size(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_READ:
    case WIO_CLASS_WRITE:
    case WIO_CLASS_COPY:
    case WIO_CLASS_ASYNC_READ:
    case WIO_CLASS_ASYNC_WRITE:
        return true;
    case WIO_CLASS_SEEK:
        return event->arg[0] <= SEEK_END;
    case WIO_CLASS_READLINK:
        return event->op == WIO_OP_readlink;
    case WIO_CLASS_READDIR:
        return event->op == WIO_OP_readdir;
    case WIO_CLASS_XATTR:
        return event->size != 0;
    default:
        return false;
    }
}

bool rp_is_same(const struct wio_event *event, const struct rp_outcome *out)
{
    if (event->result == WIO_RESULT_PENDING) {
        return true;
    }
    if (event->error != 0 || out->error != 0) {
        return event->error == out->error;
    }
    return !out->has_other_size && (!has_size(event) || event->result == out->result);
}

bool rp_failed_by_name(const struct wio_event *event)
{
    return event->error == ENOENT || event->error == ENOTDIR || event->error == ELOOP ||
           event->error == ENAMETOOLONG;
}
