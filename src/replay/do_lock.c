/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File locks. In mode causal the file system keeps them as it did for the program: whoever comes
 * first has the lock, the others wait. The other modes drop waits: a lock is asked for without
 * waiting, and since two processes of a replay may come in another order, whether it was free is
 * not compared.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "replay/perform.h"
#include "trace/calls.h"

static bool is_taken(const struct rp_outcome *out)
{
    return out->error == EAGAIN || out->error == EACCES;
}

static void forgive(const struct wio_event *event, struct rp_outcome *out)
{
    out->result = event->result;
    out->error = event->error;
}

/* One way to ask for a lock; `waits`: until it is free. */
typedef int ask_fn(const struct wio_event *event, int fd, bool waits);

/* The coordinator kills who waits here when the replay ends early. */
static void ask(struct rp_worker *worker, const struct wio_event *event, int fd, ask_fn *how,
                struct rp_outcome *out)
{
    struct rp_wait wait;
    rp_done(out, how(event, fd, false));
    if (!is_taken(out)) {
        return;
    }
    if (!rp_is_causal(worker->run) || event->error != 0) {
        forgive(event, out);
        return;
    }
    rp_wait_begin(worker->run->board, &wait);
    rp_gate_name_file(worker->run->gate, worker->stream, event->path);
    do {
        rp_done(out, how(event, fd, true));
    } while (out->error == EINTR && !rp_board_is_aborted(worker->run->board));
    rp_gate_name_file(worker->run->gate, worker->stream, WIO_NO_STRING);
    rp_wait_end(worker->run->board);
    worker->tally.waits[WIO_EDGE_MUTEX]++;
}

static int ask_range(const struct wio_event *event, int fd, bool waits)
{
    struct flock lock = {.l_type = (short)event->arg[2], .l_whence = (short)event->arg[3]};
    lock.l_start = event->offset == WIO_NO_OFFSET ? 0 : event->offset;
    lock.l_len = event->size == WIO_NO_SIZE ? 0 : (off_t)event->size;
    int command = (int)event->arg[0];
    if (command == F_SETLKW || command == F_SETLK) {
        command = waits ? F_SETLKW : F_SETLK;
    } else if (command == F_OFD_SETLKW || command == F_OFD_SETLK) {
        command = waits ? F_OFD_SETLKW : F_OFD_SETLK;
    }
    return fcntl(fd, command, &lock);
}

static int ask_flock(const struct wio_event *event, int fd, bool waits)
{
    int operation = (int)event->arg[0] & ~LOCK_NB;
    return flock(fd, waits ? operation : operation | LOCK_NB);
}

static int ask_lockf(const struct wio_event *event, int fd, bool waits)
{
    int command = (int)event->arg[0];
    if (command == F_LOCK || command == F_TLOCK) {
        command = waits ? F_LOCK : F_TLOCK;
    }
    return lockf(fd, command, event->size == WIO_NO_SIZE ? 0 : (off_t)event->size);
}

void wio_lock_range(struct rp_worker *worker, const struct wio_event *event, int fd,
                    struct rp_outcome *out)
{
    ask(worker, event, fd, ask_range, out);
}

void rp_do_lock(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    int fd = rp_fd_use(worker, event, out);
    if (fd >= 0) {
        ask(worker, event, fd, event->op == WIO_OP_flock ? ask_flock : ask_lockf, out);
    }
}
