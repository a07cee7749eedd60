/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File locks. In mode causal the file system grants them as it did for the program: first come,
 * first served, the others wait. The other modes drop waits: a lock is asked for without waiting,
 * and since two processes of a replay may come in another order, whether it was free is not
 * compared. A lock that the program did not get is not asked for (rp_is_recorded_error).
 */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "ops/calls.h"
#include "replay/perform/perform.h"

static bool is_refusal(int error)
{
    return error == EAGAIN || error == EACCES;
}

static void forgive(const struct wio_event *event, struct rp_outcome *out)
{
    out->result = event->result;
    out->error = event->error;
}

/* One way to ask for a lock. */
enum asking { TRY, WAIT };
typedef int ask_fn(const struct wio_event *event, int fd, enum asking asking);

/* A process that waits here is killed by the coordinator when the replay ends early. */
static void wait_for(struct rp_worker *worker, const struct wio_event *event, int fd, ask_fn *how,
                     struct rp_outcome *out)
{
    struct rp_wait wait;
    rp_wait_begin(worker->run->board, &wait);
    rp_gate_name_file(worker->run->gate, worker->stream, event->path);
    do {
        rp_done(out, how(event, fd, WAIT));
    } while (out->error == EINTR && !rp_board_is_aborted(worker->run->board));
    rp_gate_name_file(worker->run->gate, worker->stream, WIO_NO_STRING);
    rp_wait_end(worker->run->board);
    worker->tally.waits[WIO_EDGE_MUTEX]++;
}

static void ask(struct rp_worker *worker, const struct wio_event *event, int fd, ask_fn *how,
                struct rp_outcome *out)
{
    worker->causal.may_lock = rp_is_causal(worker->run);
    rp_done(out, how(event, fd, TRY));
    if (!is_refusal(out->error)) {
        return;
    }
    if (!rp_is_causal(worker->run) || event->error != 0) {
        forgive(event, out);
        return;
    }
    wait_for(worker, event, fd, how, out);
}

/* What is asked for is not in a trace of F_GETLK, only the answer. */
static int ask_range(const struct wio_event *event, int fd, enum asking asking)
{
    struct flock lock = {.l_type = (short)event->arg[2], .l_whence = (short)event->arg[3]};
    lock.l_start = event->offset == WIO_NO_OFFSET ? 0 : event->offset;
    lock.l_len = event->size == WIO_NO_SIZE ? 0 : (off_t)event->size;
    int command = (int)event->arg[0];
    if (command == F_SETLKW || command == F_SETLK) {
        static const int commands[] = {[TRY] = F_SETLK, [WAIT] = F_SETLKW};
        command = commands[asking];
    } else if (command == F_OFD_SETLKW || command == F_OFD_SETLK) {
        static const int commands[] = {[TRY] = F_OFD_SETLK, [WAIT] = F_OFD_SETLKW};
        command = commands[asking];
    } else {
        lock.l_type = F_WRLCK;
    }
    return fcntl(fd, command, &lock);
}

static int ask_flock(const struct wio_event *event, int fd, enum asking asking)
{
    int operation = (int)event->arg[0] & ~LOCK_NB;
    return flock(fd, asking == WAIT ? operation : operation | LOCK_NB);
}

static int ask_lockf(const struct wio_event *event, int fd, enum asking asking)
{
    static const int commands[] = {[TRY] = F_TLOCK, [WAIT] = F_LOCK};
    int command = (int)event->arg[0];
    if (command == F_LOCK || command == F_TLOCK) {
        command = commands[asking];
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
