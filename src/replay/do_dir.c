/* SPDX-License-Identifier: Apache-2.0 */
/* Reading directories. What comes in which order is the file system's affair: only success and the
 * end are compared. */
#include "replay/perform.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "replay/manifest.h"
#include "trace/calls.h"

/* The next entry; the replay's own list at the top of the target is none of the program's. */
static int next_entry(DIR *dir)
{
    const struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(dir); /* NOLINT(concurrency-mt-unsafe): one stream, one thread */
    } while (entry != NULL && strcmp(entry->d_name, RP_MANIFEST_NAME) == 0);
    return entry != NULL ? 1 : errno == 0 ? 0 : -1;
}

static DIR *stream_of(struct rp_worker *worker, const struct wio_event *event, int fd)
{
    struct rp_fd *entry = rp_fd_find(worker, event, event->fd);
    if (entry != NULL && entry->dir == NULL) {
        entry->dir = fdopendir(fd);
    }
    return entry == NULL ? NULL : entry->dir;
}

static void scan(const struct rp_worker *worker, const struct wio_event *event,
                 struct rp_outcome *out)
{
    int fd = rp_root_openat(worker->run->root, rp_path(worker, event), O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    rp_done(out, dir == NULL ? -1 : 0);
    if (dir == NULL) {
        wio_fd_cleanup(&fd);
        return;
    }
    while (next_entry(dir) > 0) {
        out->result++;
    }
    (void)closedir(dir);
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
    DIR *dir = stream_of(worker, event, fd);
    if (dir == NULL) {
        rp_done(out, -1);
    } else if (event->op == WIO_OP_readdir) {
        rp_done(out, next_entry(dir));
    } else { /* a position of seekdir has no meaning elsewhere */
        rewinddir(dir);
        rp_done(out, 0);
    }
}
