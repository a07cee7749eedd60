/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on names: make, remove, rename, links. */
#include "replay/perform/perform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ops/calls.h"
#include "ops/lookup.h"

static int parent(const struct rp_worker *worker, const char *path, char *name)
{
    return rp_root_parent(worker->run->root, path, name);
}

/* It failed in the trace and not here. A name that leads elsewhere must not stay: later names were
 * checked (collide.c) without it, and would then be foreign ones. */
static bool is_too_much(const struct wio_event *event, const struct rp_outcome *out)
{
    return event->error != 0 && out->error == 0;
}

bool rp_is_name_free(const struct rp_worker *worker, const struct wio_event *event)
{
    bool is_link = wio_op_class(event->op) == WIO_CLASS_LINK;
    const char *path = is_link ? rp_path2(worker, event) : rp_path(worker, event);
    int file WIO_CLEANUP(wio_fd_cleanup) =
        rp_root_openat(worker->run->root, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
    return file < 0 && errno == ENOENT;
}

void rp_remove_made(const struct rp_worker *worker, const struct wio_event *event, int flags)
{
    char name[NAME_MAX + 1];
    int dir WIO_CLEANUP(wio_fd_cleanup) = parent(worker, rp_path(worker, event), name);
    if (dir >= 0) {
        (void)unlinkat(dir, name, flags);
    }
}

void rp_do_mkdir(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char name[NAME_MAX + 1];
    int dir WIO_CLEANUP(wio_fd_cleanup) = parent(worker, rp_path(worker, event), name);
    mode_t mode = event->op == WIO_OP_mkdtemp ? 0700 : (mode_t)event->arg[0] & 01777;
    rp_done(out, dir < 0 ? -1 : mkdirat(dir, name, mode));
    if (is_too_much(event, out)) {
        (void)unlinkat(dir, name, AT_REMOVEDIR);
    }
}

/* Is there such a name? Of one that had to be a directory, by a slash behind it or by rmdir: such a
 * directory? */
static int look_at(const struct wio_event *event, int dir, const char *name)
{
    struct stat st;
    int result = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
    if (result == 0 && event->error == ENOTDIR && !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return -1;
    }
    return result;
}

void rp_do_unlink(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char name[NAME_MAX + 1];
    int dir WIO_CLEANUP(wio_fd_cleanup) = parent(worker, rp_path(worker, event), name);
    if (dir < 0 || rp_failed_by_name(event)) {
        rp_done(out, dir < 0 ? -1 : look_at(event, dir, name));
        return;
    }
    int flags = event->op == WIO_OP_rmdir    ? AT_REMOVEDIR
                : event->op == WIO_OP_unlink ? (int)event->arg[0] & AT_REMOVEDIR
                                             : 0;
    rp_done(out, unlinkat(dir, name, flags));
    if (event->op == WIO_OP_remove && out->error == EISDIR) {
        rp_done(out, unlinkat(dir, name, AT_REMOVEDIR));
    }
}

/* Both are looked at; but the new name need not be there. */
static int look_at_both(const struct wio_event *event, int from_dir, const char *from, int to_dir,
                        const char *to)
{
    bool may_be_free = (event->arg[0] & RENAME_EXCHANGE) == 0;
    if (look_at(event, from_dir, from) != 0) {
        return -1;
    }
    int result = look_at(event, to_dir, to);
    return result != 0 && errno == ENOENT && may_be_free ? 0 : result;
}

void rp_do_rename(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char from[NAME_MAX + 1];
    char to[NAME_MAX + 1];
    int from_dir WIO_CLEANUP(wio_fd_cleanup) = parent(worker, rp_path(worker, event), from);
    int to_dir WIO_CLEANUP(wio_fd_cleanup) =
        from_dir < 0 ? -1 : parent(worker, rp_path2(worker, event), to);
    unsigned flags = (unsigned)event->arg[0] & (RENAME_NOREPLACE | RENAME_EXCHANGE);
    if (to_dir < 0 || rp_failed_by_name(event)) {
        rp_done(out, to_dir < 0 ? -1 : look_at_both(event, from_dir, from, to_dir, to));
        return;
    }
    rp_done(out, flags == 0 ? renameat(from_dir, from, to_dir, to)
                            : renameat2(from_dir, from, to_dir, to, flags));
    if (is_too_much(event, out)) {
        (void)renameat2(to_dir, to, from_dir, from,
                        (flags & RENAME_EXCHANGE) != 0 ? flags : RENAME_NOREPLACE);
    }
}

/* With AT_SYMLINK_FOLLOW the file behind a link gets the name, looked up beneath the target. */
void rp_do_link(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char name[NAME_MAX + 1];
    char proc[64];
    int flags = O_PATH | (wio_event_follows_links(event) ? 0 : O_NOFOLLOW) |
                (event->error == ENOTDIR ? O_DIRECTORY : 0); /* a slash behind the old name */
    int file WIO_CLEANUP(wio_fd_cleanup) =
        rp_root_openat(worker->run->root, rp_path(worker, event), flags, 0);
    int dir WIO_CLEANUP(wio_fd_cleanup) =
        file < 0 ? -1 : parent(worker, rp_path2(worker, event), name);
    (void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", file);
    rp_done(out, dir < 0 ? -1 : linkat(AT_FDCWD, proc, dir, name, AT_SYMLINK_FOLLOW));
    if (is_too_much(event, out)) {
        (void)unlinkat(dir, name, 0);
    }
}

void rp_do_symlink(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char name[NAME_MAX + 1];
    int dir WIO_CLEANUP(wio_fd_cleanup) = parent(worker, rp_path(worker, event), name);
    rp_done(out, dir < 0 ? -1 : symlinkat(rp_path2(worker, event), dir, name));
    if (is_too_much(event, out)) {
        (void)unlinkat(dir, name, 0);
    }
}

/* Only regular files: fifos are skipped, devices are never made. */
void rp_do_mknod(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    char name[NAME_MAX + 1];
    mode_t type = (mode_t)event->arg[0] & S_IFMT;
    if (event->op != WIO_OP_mknod || (type != 0 && type != S_IFREG)) {
        rp_skip(out, event->op == WIO_OP_mkfifo || type == S_IFIFO ? WIO_REPLAY_SKIP_PIPE
                                                                   : WIO_REPLAY_SKIP_DEVICE);
        return;
    }
    int dir WIO_CLEANUP(wio_fd_cleanup) = parent(worker, rp_path(worker, event), name);
    rp_done(out, dir < 0 ? -1 : mknodat(dir, name, S_IFREG | ((mode_t)event->arg[0] & 0777), 0));
    if (is_too_much(event, out)) {
        (void)unlinkat(dir, name, 0);
    }
}
