/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and changing attributes of files. A path is opened (O_PATH) beneath the target first, and
 * the operation is done on that descriptor: none of these calls could be kept from following a link
 * out of the target.
 */
#include "replay/perform/perform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ops/calls.h"
#include "ops/lookup.h"

#define PROC_BYTES 64
#define VALUE_MAX 65536u /* XATTR_SIZE_MAX */

static int look_up(const struct rp_worker *worker, const struct wio_event *event)
{
    int flags = (wio_event_follows_links(event) ? 0 : O_NOFOLLOW) |
                (event->error == ENOTDIR ? O_DIRECTORY : 0);
    return rp_root_openat(worker->run->root, rp_path(worker, event), O_PATH | flags, 0);
}

/* A name of an open descriptor for calls that take only names. */
static const char *proc_name(int fd, char *text)
{
    (void)snprintf(text, PROC_BYTES, "/proc/self/fd/%d", fd);
    return text;
}

static void done_stat(const struct wio_event *event, int result, const struct stat *st,
                      struct rp_outcome *out)
{
    rp_done(out, result);
    if (result == 0 && event->error == 0 && S_ISREG(st->st_mode) &&
        S_ISREG((mode_t)event->arg[1]) && st->st_size != event->arg[2]) {
        out->has_other_size = true;
        out->size = st->st_size;
    }
}

void rp_do_stat(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    struct stat st;
    bool is_by_fd = event->op == WIO_OP_fstat || (event->arg[0] & AT_EMPTY_PATH) != 0;
    if (is_by_fd && event->fd >= 0) {
        int fd = rp_fd_use(worker, event, out);
        if (fd >= 0) {
            done_stat(event, fstat(fd, &st), &st, out);
        }
        return;
    }
    if (!wio_event_follows_links(event) && event->error != ENOTDIR) {
        char name[NAME_MAX + 1];
        int dir WIO_CLEANUP(wio_fd_cleanup) =
            rp_root_parent(worker->run->root, rp_path(worker, event), name);
        done_stat(event, dir < 0 ? -1 : fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), &st, out);
        return;
    }
    int fd WIO_CLEANUP(wio_fd_cleanup) = look_up(worker, event);
    done_stat(event, fd < 0 ? -1 : fstat(fd, &st), &st, out);
}

void rp_do_access(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char proc[PROC_BYTES];
    int fd WIO_CLEANUP(wio_fd_cleanup) = look_up(worker, event);
    rp_done(out, fd < 0 ? -1
                        : faccessat(AT_FDCWD, proc_name(fd, proc), (int)event->arg[0],
                                    event->op == WIO_OP_euidaccess ? AT_EACCESS : 0));
}

void rp_do_readlink(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char text[PATH_MAX];
    char name[NAME_MAX + 1];
    if (event->op == WIO_OP_realpath) {
        int fd WIO_CLEANUP(wio_fd_cleanup) = look_up(worker, event);
        rp_done(out, fd < 0 ? -1 : 0);
        return;
    }
    size_t bytes = event->size < sizeof(text) ? (size_t)event->size : sizeof(text);
    int dir WIO_CLEANUP(wio_fd_cleanup) =
        rp_root_parent(worker->run->root, rp_path(worker, event), name);
    rp_done(out, dir < 0 ? -1 : readlinkat(dir, name, text, bytes));
}

void rp_do_statfs(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    struct statfs st;
    if (event->op == WIO_OP_fstatfs || event->op == WIO_OP_fstatvfs) {
        int fd = rp_fd_use(worker, event, out);
        if (fd >= 0) {
            rp_done(out, fstatfs(fd, &st));
        }
        return;
    }
    int fd WIO_CLEANUP(wio_fd_cleanup) = look_up(worker, event);
    rp_done(out, fd < 0 ? -1 : fstatfs(fd, &st));
}

/* ---- extended attributes ---- */

/* One of O_PATH: the program's calls were refused, those by its name below /proc are not. */
static bool is_path_only(const struct wio_event *event, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return event->error == EBADF && flags >= 0 && (flags & O_PATH) != 0;
}

static bool is_xattr_by_fd(const struct wio_event *event)
{
    return event->op == WIO_OP_fgetxattr || event->op == WIO_OP_fsetxattr ||
           event->op == WIO_OP_flistxattr || event->op == WIO_OP_fremovexattr;
}

/* `proc`: below /proc/self/fd. */
static void xattr_of(struct rp_worker *worker, const struct wio_event *event, const char *proc,
                     struct rp_outcome *out)
{
    char value[VALUE_MAX];
    const char *name = rp_path2(worker, event);
    size_t bytes = event->size < sizeof(value) ? (size_t)event->size : sizeof(value);
    switch (event->op) {
    case WIO_OP_getxattr:
    case WIO_OP_lgetxattr:
    case WIO_OP_fgetxattr:
        rp_done(out, getxattr(proc, name, value, bytes));
        break;
    case WIO_OP_listxattr:
    case WIO_OP_llistxattr:
    case WIO_OP_flistxattr:
        rp_done(out, listxattr(proc, value, bytes));
        break;
    case WIO_OP_setxattr:
    case WIO_OP_lsetxattr:
    case WIO_OP_fsetxattr:
        memset(value, 'w', bytes);
        rp_done(out, setxattr(proc, name, value, bytes,
                              (int)event->arg[0] & (XATTR_CREATE | XATTR_REPLACE)));
        break;
    default:
        rp_done(out, removexattr(proc, name));
        break;
    }
}

void rp_do_xattr(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char proc[PROC_BYTES];
    const char *name = rp_path2(worker, event);
    bool is_list = event->op == WIO_OP_listxattr || event->op == WIO_OP_llistxattr ||
                   event->op == WIO_OP_flistxattr;
    if (!is_list && !rp_attr_is_data(name)) {
        rp_skip(out, WIO_REPLAY_SKIP_PRIVILEGE); /* acls, labels, capabilities: not data */
        return;
    }
    if (is_xattr_by_fd(event)) {
        int fd = rp_fd_use(worker, event, out);
        if (fd >= 0 && is_path_only(event, fd)) {
            errno = EBADF;
            rp_done(out, -1);
        } else if (fd >= 0) {
            xattr_of(worker, event, proc_name(fd, proc), out);
        }
        return;
    }
    int fd WIO_CLEANUP(wio_fd_cleanup) = look_up(worker, event);
    if (fd < 0 || rp_failed_by_name(event)) {
        rp_done(out, fd < 0 ? -1 : 0);
        return;
    }
    xattr_of(worker, event, proc_name(fd, proc), out);
}

/* ---- mode, owner, times ---- */

static void set_times(const struct wio_event *event, int fd, struct rp_outcome *out)
{
    char proc[PROC_BYTES];
    struct timespec times[2] = {{event->arg[0], event->arg[1]}, {event->arg[2], event->arg[3]}};
    rp_done(out, utimensat(AT_FDCWD, proc_name(fd, proc), times, 0));
}

static void set_owner(const struct rp_worker *worker, const struct wio_event *event, int fd,
                      struct rp_outcome *out)
{
    if (!worker->run->is_root_user) {
        rp_skip(out, WIO_REPLAY_SKIP_PRIVILEGE);
        return;
    }
    rp_done(out, fchownat(fd, "", (uid_t)event->arg[0], (gid_t)event->arg[1], AT_EMPTY_PATH));
}

/* chmod of a link itself is something that the kernel cannot do and libc refuses. */
static void set_mode(const struct wio_event *event, int fd, struct rp_outcome *out)
{
    char proc[PROC_BYTES];
    struct stat st;
    if (!wio_event_follows_links(event) && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
        errno = EOPNOTSUPP;
        rp_done(out, -1);
        return;
    }
    /* no set-user-id on files that hold something else */
    rp_done(out, chmod(proc_name(fd, proc), (mode_t)event->arg[0] & 01777));
}

static void set_attr(const struct rp_worker *worker, const struct wio_event *event, int fd,
                     struct rp_outcome *out)
{
    switch (event->op) {
    case WIO_OP_chmod:
    case WIO_OP_lchmod:
    case WIO_OP_fchmod:
        set_mode(event, fd, out);
        break;
    case WIO_OP_chown:
    case WIO_OP_lchown:
    case WIO_OP_fchown:
        set_owner(worker, event, fd, out);
        break;
    default:
        set_times(event, fd, out);
        break;
    }
}

void rp_do_attr(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    if (event->op == WIO_OP_umask) {
        (void)umask((mode_t)event->arg[0] & 0777);
        out->did = RP_DID_CONTROL;
        return;
    }
    bool is_by_fd = event->op == WIO_OP_fchmod || event->op == WIO_OP_fchown ||
                    event->op == WIO_OP_futimes || event->op == WIO_OP_futimens ||
                    (event->op == WIO_OP_utimens && event->path == WIO_NO_STRING);
    if (is_by_fd && event->fd >= 0) {
        int fd = rp_fd_use(worker, event, out);
        if (fd >= 0 && is_path_only(event, fd)) {
            errno = EBADF;
            rp_done(out, -1);
        } else if (fd >= 0) {
            set_attr(worker, event, fd, out);
        }
        return;
    }
    int fd WIO_CLEANUP(wio_fd_cleanup) = look_up(worker, event);
    if (fd < 0 || rp_failed_by_name(event)) {
        rp_done(out, fd < 0 ? -1 : 0);
        return;
    }
    set_attr(worker, event, fd, out);
}
