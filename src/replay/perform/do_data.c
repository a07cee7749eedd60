/* SPDX-License-Identifier: Apache-2.0 */
/* Data, positions, sizes, flushes: operations on an open file. */
#include "replay/perform/perform.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ops/calls.h"

#define SECTOR 4096u
#define RWF_ALLOWED (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND)

static size_t bytes_of(const struct wio_event *event, size_t limit)
{
    return event->size == WIO_NO_SIZE ? 0 : event->size < limit ? (size_t)event->size : limit;
}

size_t rp_bytes_to_write(const struct wio_event *event, size_t limit)
{
    size_t wanted = bytes_of(event, limit);
    bool is_short = event->error == 0 && event->result >= 0 && (uint64_t)event->result < wanted;
    return is_short ? (size_t)event->result : wanted;
}

/* A length that the kernel takes as a signed number: what the program gave, -1 too. */
static off_t length_of(const struct wio_event *event)
{
    return (off_t)event->size; /* WIO_NO_SIZE is -1 */
}

/* As many pieces as the program gave; aligned ones where there is enough for each. */
static int split(const struct wio_event *event, uint8_t *data, size_t bytes, struct iovec *vector)
{
    int64_t wanted = event->arg[1] < 1 ? 1 : event->arg[1];
    int pieces = wanted > IOV_MAX ? IOV_MAX : (int)wanted;
    size_t piece = bytes / (size_t)pieces;
    if (piece >= SECTOR) {
        piece -= piece % SECTOR;
    }
    for (int i = 0; i < pieces; i++) {
        vector[i].iov_base = data + (size_t)i * piece;
        vector[i].iov_len = i == pieces - 1 ? bytes - (size_t)i * piece : piece;
    }
    return pieces;
}

/* A descriptor that the replay opened itself, shared with a process outside the trace: each
 * transfer is done where the trace says. */
static bool has_own_place(struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_fd *entry = rp_fd_find(worker, event, event->fd);
    return entry != NULL && entry->is_adopted && event->offset != WIO_NO_OFFSET;
}

static void read_at(struct rp_worker *worker, const struct wio_event *event, int fd,
                    struct rp_outcome *out)
{
    struct iovec vector[IOV_MAX];
    uint8_t *data = rp_sink(worker);
    if (data == NULL) {
        errno = ENOMEM;
        rp_done(out, -1);
        return;
    }
    size_t bytes = bytes_of(event, worker->sink.size);
    switch (event->op) {
    case WIO_OP_read:
        rp_done(out, has_own_place(worker, event) ? pread(fd, data, bytes, event->offset)
                                                  : read(fd, data, bytes));
        break;
    case WIO_OP_readv:
        rp_done(out, has_own_place(worker, event)
                         ? preadv(fd, vector, split(event, data, bytes, vector), event->offset)
                         : readv(fd, vector, split(event, data, bytes, vector)));
        break;
    case WIO_OP_pread:
        rp_done(out, pread(fd, data, bytes, event->offset));
        break;
    case WIO_OP_preadv:
        rp_done(out, preadv(fd, vector, split(event, data, bytes, vector), event->offset));
        break;
    case WIO_OP_preadv2:
        rp_done(out, preadv2(fd, vector, split(event, data, bytes, vector), event->offset,
                             (int)event->arg[0] & RWF_ALLOWED));
        break;
    default:
        rp_skip(out, WIO_REPLAY_SKIP_SOCKET);
        break;
    }
}

void rp_do_read(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    int fd = rp_fd_use(worker, event, out);
    if (fd >= 0) {
        read_at(worker, event, fd, out);
    }
}

static void write_at(struct rp_worker *worker, const struct wio_event *event, int fd,
                     struct rp_outcome *out)
{
    struct iovec vector[IOV_MAX];
    size_t bytes = rp_bytes_to_write(event, worker->run->source.size);
    uint8_t *data = rp_source(worker, event, bytes);
    switch (event->op) {
    case WIO_OP_write:
    case WIO_OP_dprintf:
    case WIO_OP_vdprintf:
        rp_done(out, has_own_place(worker, event) ? pwrite(fd, data, bytes, event->offset)
                                                  : write(fd, data, bytes));
        break;
    case WIO_OP_writev:
        rp_done(out, has_own_place(worker, event)
                         ? pwritev(fd, vector, split(event, data, bytes, vector), event->offset)
                         : writev(fd, vector, split(event, data, bytes, vector)));
        break;
    case WIO_OP_pwrite:
        rp_done(out, pwrite(fd, data, bytes, event->offset));
        break;
    case WIO_OP_pwritev:
        rp_done(out, pwritev(fd, vector, split(event, data, bytes, vector), event->offset));
        break;
    case WIO_OP_pwritev2:
        rp_done(out, pwritev2(fd, vector, split(event, data, bytes, vector), event->offset,
                              (int)event->arg[0] & RWF_ALLOWED));
        break;
    default:
        rp_skip(out, WIO_REPLAY_SKIP_SOCKET);
        break;
    }
}

void rp_do_write(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    if (event->op == WIO_OP_mmap_write) {
        rp_do_store(worker, event, out);
        return;
    }
    int fd = rp_fd_use(worker, event, out);
    if (fd >= 0) {
        write_at(worker, event, fd, out);
    }
}

/* As many bytes as went; where none did, the file had come to its end. */
static size_t bytes_gone(const struct wio_event *event)
{
    return event->result > 0 ? (size_t)event->result : bytes_of(event, SECTOR);
}

/* To a socket or pipe: the pages of the file are asked for and go nowhere. */
static void read_half(struct rp_worker *worker, const struct wio_event *event,
                      struct rp_outcome *out)
{
    int from = rp_fd_use2(worker, event, out);
    if (from < 0) {
        return;
    }
    if (worker->null_fd <= 0) {
        worker->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    off_t at = event->offset2;
    size_t done = 0;
    ssize_t got = 0;
    size_t bytes = bytes_gone(event);
    while (done < bytes) {
        got = sendfile(worker->null_fd, from, event->offset2 == WIO_NO_OFFSET ? NULL : &at,
                       bytes - done);
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    rp_done(out, done > 0 ? (int64_t)done : got);
}

/* A trace tells where a copy wrote, not whether the program said where: at the position of the file
 * it did not, and the position moves. */
static bool is_at_position(const struct wio_event *event, int fd)
{
    return event->offset == WIO_NO_OFFSET || lseek(fd, 0, SEEK_CUR) == event->offset;
}

/* Out of a socket or pipe: other data. */
static void write_half(struct rp_worker *worker, const struct wio_event *event,
                       struct rp_outcome *out)
{
    int to = rp_fd_use(worker, event, out);
    if (to < 0) {
        return;
    }
    size_t room = worker->run->source.size;
    size_t bytes = event->result > 0 ? (size_t)event->result : 0;
    bool is_placed = !is_at_position(event, to);
    size_t done = 0;
    ssize_t got = 1;
    while (done < bytes && got > 0) {
        size_t part = bytes - done < room ? bytes - done : room;
        uint8_t *data = rp_source(worker, event, part);
        got =
            is_placed ? pwrite(to, data, part, event->offset + (off_t)done) : write(to, data, part);
        done += got > 0 ? (size_t)got : 0;
    }
    rp_done(out, got < 0 && done == 0 ? -1 : (int64_t)done);
}

void rp_do_copy(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    out->half = rp_half_of(&worker->run->plan->observer, event);
    if (out->half == RP_HALF_READ) {
        read_half(worker, event, out);
        return;
    }
    if (out->half == RP_HALF_WRITTEN) {
        write_half(worker, event, out);
        return;
    }
    int to = rp_fd_use(worker, event, out);
    int from = to < 0 ? -1 : rp_fd_use2(worker, event, out);
    if (from < 0) {
        return;
    }
    size_t bytes = bytes_of(event, SSIZE_MAX);
    off_t out_at = event->offset;
    off_t in_at = event->offset2;
    switch (event->op) {
    case WIO_OP_sendfile:
        rp_done(out, sendfile(to, from, event->offset2 == WIO_NO_OFFSET ? NULL : &in_at, bytes));
        break;
    case WIO_OP_copy_file_range:
        rp_done(out, copy_file_range(from, event->offset2 == WIO_NO_OFFSET ? NULL : &in_at, to,
                                     is_at_position(event, to) ? NULL : &out_at, bytes, 0));
        break;
    default: /* splice and tee need a pipe at one end */
        rp_skip(out, WIO_REPLAY_SKIP_PIPE);
        break;
    }
}

void rp_do_seek(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    struct rp_fd *entry = rp_fd_find(worker, event, event->fd);
    bool is_moved = entry != NULL && entry->is_adopted && event->error == 0 &&
                    event->arg[0] == SEEK_CUR; /* from another process's position */
    rp_done(out, is_moved ? lseek(fd, event->result, SEEK_SET)
                          : lseek(fd, event->offset, (int)event->arg[0]));
}

void rp_do_sync(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    if (event->op == WIO_OP_sync) { /* not the whole machine: what the target is part of */
        rp_done(out, syncfs(worker->run->root->fd));
        return;
    }
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    switch (event->op) {
    case WIO_OP_fsync:
        rp_done(out, fsync(fd));
        break;
    case WIO_OP_fdatasync:
        rp_done(out, fdatasync(fd));
        break;
    case WIO_OP_syncfs:
        rp_done(out, syncfs(fd));
        break;
    default:
        rp_done(out, sync_file_range(fd, event->offset, length_of(event), (unsigned)event->arg[0]));
        break;
    }
}

/* posix_fallocate returns its error. */
static void allocate(const struct wio_event *event, int fd, struct rp_outcome *out)
{
    off_t bytes = length_of(event);
    if (event->op == WIO_OP_fallocate) {
        rp_done(out, fallocate(fd, (int)event->arg[0], event->offset, bytes));
        return;
    }
    errno = posix_fallocate(fd, event->offset, bytes);
    rp_done(out, errno == 0 ? 0 : -1);
}

void rp_do_size(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    if (event->op == WIO_OP_truncate) {
        int fd WIO_CLEANUP(wio_fd_cleanup) =
            rp_root_openat(worker->run->root, rp_path(worker, event),
                           O_WRONLY | O_NONBLOCK | (event->error == ENOTDIR ? O_DIRECTORY : 0), 0);
        bool is_look = fd < 0 || rp_failed_by_name(event);
        rp_done(out, fd < 0 ? -1 : is_look ? 0 : ftruncate(fd, length_of(event)));
        return;
    }
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    if (event->op == WIO_OP_ftruncate) {
        rp_done(out, ftruncate(fd, length_of(event)));
    } else {
        allocate(event, fd, out);
    }
}

void rp_do_advise(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    if (event->op == WIO_OP_readahead) {
        rp_done(out, readahead(fd, event->offset, bytes_of(event, SSIZE_MAX)));
        return;
    }
    errno = posix_fadvise(fd, event->offset, length_of(event), (int)event->arg[0]);
    rp_done(out, errno == 0 ? 0 : -1);
}
