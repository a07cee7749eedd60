/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading directories. What comes in which order is the file system's affair: only success and the
 * end are compared. Entries are fetched as libc's readdir does it, many at once; the ones not yet
 * given belong to the thread, so that a descriptor may be closed by another one at any time.
 */
#include "replay/perform/perform.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ops/calls.h"
#include "replay/prepare/manifest.h"

#define ENTRY_BYTES 32768u
#define DIRS_MAX 64u /* read at once by one thread; an older one starts anew */

struct rp_dir {
    const struct rp_fd *entry;
    uint64_t open_ns; /* tells lives of the same number apart */
    size_t at;
    size_t end;
    /* of getdents64 */
    _Alignas(struct dirent64) char data[ENTRY_BYTES];
};

void rp_dirs_fini(struct rp_worker *worker)
{
    for (uint32_t i = 0; i < worker->dir_count; i++) {
        free(worker->dirs[i]);
    }
    free(worker->dirs);
}

static struct rp_dir *new_dir(struct rp_worker *worker)
{
    if (worker->dirs == NULL) {
        worker->dirs =
            calloc(DIRS_MAX, sizeof(struct rp_dir *)); /* NOLINT(bugprone-sizeof-expression) */
    }
    struct rp_dir *dir = worker->dirs == NULL ? NULL : malloc(sizeof(*dir));
    if (dir != NULL) {
        worker->dirs[worker->dir_count++] = dir;
    }
    return dir;
}

static struct rp_dir *dir_of(struct rp_worker *worker, const struct rp_fd *entry)
{
    struct rp_dir *dir = NULL;
    for (uint32_t i = 0; i < worker->dir_count && dir == NULL; i++) {
        dir = worker->dirs[i]->entry == entry ? worker->dirs[i] : NULL;
    }
    if (dir != NULL && dir->open_ns == entry->open_ns) {
        return dir;
    }
    if (dir == NULL) {
        dir = worker->dir_count == DIRS_MAX ? worker->dirs[0] : new_dir(worker);
    }
    if (dir != NULL) {
        dir->entry = entry;
        dir->open_ns = entry->open_ns;
        dir->at = 0;
        dir->end = 0;
    }
    return dir;
}

/* 1 an entry, 0 the end, -1 failed. The replay's own list is none of the program's. */
static int next_entry(struct rp_dir *dir, int fd)
{
    for (;;) {
        if (dir->at >= dir->end) {
            long bytes = syscall(SYS_getdents64, fd, dir->data, sizeof(dir->data));
            if (bytes <= 0) {
                return bytes == 0 ? 0 : -1;
            }
            dir->at = 0;
            dir->end = (size_t)bytes;
        }
        const struct dirent64 *entry = (const void *)(dir->data + dir->at);
        dir->at += entry->d_reclen;
        if (strcmp(entry->d_name, RP_MANIFEST_NAME) != 0) {
            return 1;
        }
    }
}

static void scan(const struct rp_worker *worker, const struct wio_event *event,
                 struct rp_outcome *out)
{
    int fd WIO_CLEANUP(wio_fd_cleanup) = rp_root_openat(worker->run->root, rp_path(worker, event),
                                                        O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    struct rp_dir *dir = fd < 0 ? NULL : calloc(1, sizeof(*dir));
    rp_done(out, dir == NULL ? -1 : 0);
    while (dir != NULL && next_entry(dir, fd) > 0) {
        out->result++;
    }
    free(dir);
}

static void get_entries(struct rp_worker *worker, const struct wio_event *event, int fd,
                        struct rp_outcome *out)
{
    uint8_t *data = rp_sink(worker);
    size_t bytes = event->size < worker->sink.size ? (size_t)event->size : worker->sink.size;
    rp_done(out, data == NULL ? -1 : syscall(SYS_getdents64, fd, data, bytes));
}

void rp_do_readdir(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    if (event->op == WIO_OP_scandir) {
        scan(worker, event, out);
        return;
    }
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    if (event->op == WIO_OP_getdents) {
        get_entries(worker, event, fd, out);
        return;
    }
    const struct rp_fd *entry = rp_fd_find(worker, event, event->fd);
    struct rp_dir *dir = entry == NULL ? NULL : dir_of(worker, entry);
    if (dir == NULL) {
        errno = EBADF;
        rp_done(out, -1);
    } else if (event->op == WIO_OP_readdir) {
        rp_done(out, next_entry(dir, fd));
    } else { /* a position of seekdir has no meaning elsewhere */
        dir->at = dir->end = 0;
        rp_done(out, lseek(fd, 0, SEEK_SET) < 0 ? -1 : 0);
    }
}
