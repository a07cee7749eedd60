/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that give or take descriptors. */
#include "replay/initial/classify.h"
#include "replay/perform/perform.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ops/calls.h"
#include "ops/lookup.h"

static mode_t mode_of(const struct wio_event *event)
{
    return wio_op_opens_temporary(event->op) ? 0600 : (mode_t)event->arg[1] & 0777;
}

/* A device or fifo found in the target is not a file of the trace. */
static int only_files(int fd)
{
    struct stat st;
    if (fd < 0 || (fstat(fd, &st) == 0 &&
                   (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)))) {
        return fd;
    }
    (void)close(fd);
    errno = ENXIO;
    return -1;
}

static int open_path(const struct rp_worker *worker, const struct wio_event *event, int flags)
{
    if (event->op == WIO_OP_memfd_create) {
        return memfd_create("whyio-replay", MFD_CLOEXEC);
    }
    const char *path = rp_path(worker, event);
    if (event->op == WIO_OP_tmpfile) {
        path = "/tmp";
    }
    return only_files(rp_root_openat(worker->run->root, path, flags, mode_of(event)));
}

static void keep(struct rp_worker *worker, const struct wio_event *event, int fd, int flags)
{
    struct rp_fd *entry = rp_fd_own(worker, event->result);
    if (entry != NULL) {
        rp_fd_set(entry, fd, (flags & O_CLOEXEC) != 0, event->t_ns);
    } else if (fd >= 0) {
        (void)close(fd);
    }
}

/* One that failed made and emptied nothing. */
static int flags_of_failed(const struct wio_event *event, int flags)
{
    if (event->error == EEXIST) {
        return flags;
    }
    return (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | (event->error == ENOTDIR ? O_DIRECTORY : 0);
}

/* With O_CREAT, and a slash behind the name. */
static bool is_named_as_directory(const struct wio_event *event, const struct rp_outcome *out)
{
    return event->error == EISDIR && (wio_open_flags(event) & O_CREAT) != 0 &&
           (out->error == ENOENT || out->error == 0);
}

static void open_as_failed(struct rp_worker *worker, const struct wio_event *event, int flags,
                           struct rp_outcome *out)
{
    int fd WIO_CLEANUP(wio_fd_cleanup) = open_path(worker, event, flags_of_failed(event, flags));
    rp_done(out, fd);
    if (is_named_as_directory(event, out)) {
        errno = EISDIR;
        rp_done(out, -1);
    } else if (fd >= 0 && event->error == EEXIST) {
        rp_remove_made(worker, event, 0);
    }
}

void rp_do_open(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    int flags = wio_open_flags(event);
    if (event->error != 0) {
        open_as_failed(worker, event, flags, out);
        return;
    }
    int fd = open_path(worker, event, flags);
    rp_done(out, fd);
    keep(worker, event, fd, flags);
}

void rp_open_anyway(struct rp_worker *worker, const struct wio_event *event,
                    const struct rp_outcome *out)
{
    int flags = wio_open_flags(event);
    const char *path = rp_path(worker, event);
    const struct rp_root *root = worker->run->root;
    if (out->error == ENOENT && (flags & (O_DIRECTORY | O_PATH)) == 0) {
        keep(worker, event, only_files(rp_root_openat(root, path, flags | O_CREAT, 0666)), flags);
    } else if (out->error == EEXIST) {
        keep(worker, event, only_files(rp_root_openat(root, path, flags & ~O_EXCL, 0666)), flags);
    }
}

/* All descriptors from `first` to `last`: closed, or marked to be closed by exec. */
static void close_from(struct rp_worker *worker, int64_t first, int64_t last, bool only_mark)
{
    struct rp_fds *tables[] = {&worker->thread->fds, &worker->process->inherited};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(tables); i++) {
        for (int64_t fd = first < 0 ? 0 : first; fd <= last && fd < tables[i]->count; fd++) {
            if (only_mark) {
                tables[i]->items[fd].is_cloexec = true;
            } else {
                (void)rp_fd_close(&tables[i]->items[fd]);
            }
        }
    }
}

void rp_do_close(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    if (event->op == WIO_OP_close_range || event->op == WIO_OP_closefrom) {
        int64_t last = event->op == WIO_OP_closefrom ? INT32_MAX : event->arg[1];
        last = last < 0 || last > INT32_MAX ? INT32_MAX : last;
        bool only_mark =
            event->op == WIO_OP_close_range && (event->arg[2] & CLOSE_RANGE_CLOEXEC) != 0;
        close_from(worker, event->arg[0], last, only_mark);
        out->did = RP_DID_CONTROL;
        return;
    }
    struct rp_fd *entry = rp_fd_find(worker, event, event->fd);
    if (entry != NULL) {
        rp_done(out, rp_fd_close(entry));
    } else if (event->error == EBADF) {
        errno = EBADF;
        rp_done(out, -1);
    } else {
        out->did = RP_DID_CONTROL; /* inherited and never used: nothing was opened for it */
    }
}

static void duplicate(struct rp_worker *worker, const struct wio_event *event, bool is_cloexec,
                      struct rp_outcome *out)
{
    struct rp_fd *entry = rp_fd_own(worker, event->result);
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    if (event->error == 0 && event->result == event->fd) {
        rp_done(out, 0); /* dup2 of a descriptor to itself */
        return;
    }
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    rp_done(out, copy);
    if (event->error == 0 && entry != NULL && copy >= 0) {
        struct rp_fd *inherited = rp_fds_at(&worker->process->inherited, event->result);
        (void)rp_fd_close(inherited);
        const struct rp_fd *source = rp_fd_find(worker, event, event->fd);
        rp_fd_set(entry, copy, is_cloexec, event->t_ns);
        entry->is_adopted = source != NULL && source->is_adopted; /* one place for both */
    } else if (copy >= 0) {
        (void)close(copy);
    }
}

void rp_do_dup(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    duplicate(worker, event, event->op == WIO_OP_dup3 && (event->arg[1] & O_CLOEXEC) != 0, out);
}

static bool is_lock(int command)
{
    return command == F_SETLK || command == F_SETLKW || command == F_GETLK ||
           command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
}

static void clone_range(struct rp_worker *worker, const struct wio_event *event, int fd,
                        struct rp_outcome *out)
{
    if ((unsigned long)event->arg[0] != FICLONE) {
        rp_skip(out, WIO_REPLAY_SKIP_IOCTL);
        return;
    }
    int source = rp_fd_use2(worker, event, out);
    if (source >= 0) {
        rp_done(out, ioctl(fd, FICLONE, source));
    }
}

void rp_do_fcntl(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    int command = (int)event->arg[0];
    if (event->op == WIO_OP_fcntl && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) {
        duplicate(worker, event, command == F_DUPFD_CLOEXEC, out);
        return;
    }
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    if (event->op == WIO_OP_ioctl) {
        clone_range(worker, event, fd, out);
    } else if (is_lock(command)) {
        wio_lock_range(worker, event, fd, out);
    } else if (command == F_SETFD) {
        struct rp_fd *entry = rp_fd_find(worker, event, event->fd);
        if (entry != NULL) {
            entry->is_cloexec = (event->arg[1] & FD_CLOEXEC) != 0;
        }
        rp_done(out, fcntl(fd, F_SETFD, FD_CLOEXEC)); /* the replay itself never lets one go */
    } else if (command == F_GETFD || command == F_GETFL) {
        rp_done(out, fcntl(fd, command));
    } else if (command == F_SETFL) {
        rp_done(out, fcntl(fd, F_SETFL, (int)event->arg[1]));
    } else {
        rp_skip(out, WIO_REPLAY_SKIP_IOCTL);
    }
}
