/* SPDX-License-Identifier: Apache-2.0 */
/* Performing one operation: which function does what, by its class. */
#include "replay/perform/perform.h"

#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "replay/initial/classify.h"
#include "replay/initial/kind.h"
#include "replay/initial/meta_request.h"

static rp_do_fn *const how[WIO_CLASS_COUNT] = {
    [WIO_CLASS_OPEN] = rp_do_open,
    [WIO_CLASS_CLOSE] = rp_do_close,
    [WIO_CLASS_DUP] = rp_do_dup,
    [WIO_CLASS_FCNTL] = rp_do_fcntl,
    [WIO_CLASS_LOCK] = rp_do_lock,
    [WIO_CLASS_READ] = rp_do_read,
    [WIO_CLASS_WRITE] = rp_do_write,
    [WIO_CLASS_COPY] = rp_do_copy,
    [WIO_CLASS_SEEK] = rp_do_seek,
    [WIO_CLASS_SYNC] = rp_do_sync,
    [WIO_CLASS_SIZE] = rp_do_size,
    [WIO_CLASS_ADVISE] = rp_do_advise,
    [WIO_CLASS_STAT] = rp_do_stat,
    [WIO_CLASS_ACCESS] = rp_do_access,
    [WIO_CLASS_READLINK] = rp_do_readlink,
    [WIO_CLASS_STATFS] = rp_do_statfs,
    [WIO_CLASS_XATTR] = rp_do_xattr,
    [WIO_CLASS_READDIR] = rp_do_readdir,
    [WIO_CLASS_MKDIR] = rp_do_mkdir,
    [WIO_CLASS_UNLINK] = rp_do_unlink,
    [WIO_CLASS_RENAME] = rp_do_rename,
    [WIO_CLASS_LINK] = rp_do_link,
    [WIO_CLASS_SYMLINK] = rp_do_symlink,
    [WIO_CLASS_MKNOD] = rp_do_mknod,
    [WIO_CLASS_ATTR] = rp_do_attr,
    [WIO_CLASS_MAP] = rp_do_map,
    [WIO_CLASS_ASYNC_META] = rp_do_request,
};

/* Asked for through a ring. */
void rp_do_request(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    struct wio_event call;
    if (rp_request_call(event, &call)) {
        rp_perform(worker, &call, out);
    } else {
        rp_skip(out, WIO_REPLAY_SKIP_REQUEST);
    }
}

/* The number now means something that is not replayed. A close frees it, also one that fails. */
static void forget_fd(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_fd_effect effect;
    rp_fd_effect_of(event, &effect);
    int64_t fds[] = {effect.gives, effect.takes};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(fds); i++) {
        struct rp_fd *own = rp_fds_at(&worker->thread->fds, fds[i]);
        if (own != NULL) {
            (void)rp_fd_close(own);
            (void)rp_fd_close(rp_fds_at(&worker->process->inherited, fds[i]));
        }
    }
}

/* /dev/null, zero and random: as the kernel would do it, without asking it. */
static void from_memory(struct rp_worker *worker, const struct wio_event *event, uint8_t kind,
                        struct rp_outcome *out)
{
    if (kind != RP_KIND_NULL && wio_op_class(event->op) == WIO_CLASS_READ && event->result > 0) {
        uint8_t *data = rp_sink(worker);
        if (data != NULL) {
            uint64_t bytes = (uint64_t)event->result;
            memset(data, 0, bytes < worker->sink.size ? (size_t)bytes : worker->sink.size);
        }
    }
    out->result = event->result;
    out->error = event->error;
}

void rp_perform(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    uint8_t kind;
    enum wio_class cls = wio_op_class(event->op);
    enum rp_fate fate = rp_classify(&worker->run->plan->observer, event, &kind);
    if (kind == RP_KIND_OF_SKIP(UNKNOWN) && !rp_is_recorded_error(event) && event->fd >= 0 &&
        how[cls] != NULL && rp_fd_find(worker, event, event->fd) != NULL) {
        fate = RP_FATE_PERFORM; /* no path, but the descriptor is known */
    }
    if (fate == RP_FATE_SKIP) {
        forget_fd(worker, event);
        rp_skip(out, (enum wio_replay_skip)(kind - RP_KIND_SKIP));
    } else if (fate == RP_FATE_MEMORY) {
        forget_fd(worker, event);
        from_memory(worker, event, kind, out);
    } else if (event->error == EBADF && event->fd < 0 && event->fd2 < 0) {
        out->result = -1; /* of a directory to begin at, or a number below 0: none is that here */
        out->error = EBADF;
    } else if (how[cls] != NULL) {
        how[cls](worker, event, out);
    } else {
        out->did = RP_DID_CONTROL;
    }
}
