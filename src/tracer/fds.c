/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/fds.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/event.h>

#include "base/grow.h"
#include "tracer/proc.h"
#include "tracer/tracee.h"

#define FDS_MAX 1048576 /* beyond it names are asked for each time */

void tracer_fds_fini(struct tracer_fds *fds)
{
    free(fds->items);
    *fds = (struct tracer_fds){0};
}

/* Both have the open files in common from now on. */
void tracer_fds_copy(struct tracer_fds *out, struct tracer_fds *from)
{
    void *array = out->items;
    if (from->capacity == 0 ||
        wio_grow(&array, sizeof(*out->items), &out->capacity, from->capacity) != WIO_OK) {
        return;
    }
    out->items = array;
    for (uint32_t i = 0; i < from->capacity; i++) {
        from->items[i].flags |= from->items[i].flags != 0 ? TRACER_FD_SHARED : 0;
        out->items[i] = from->items[i];
    }
}

static struct tracer_fd *find(const struct tracer_thread *thread, int fd)
{
    const struct tracer_fds *fds = &thread->process->fds;
    return fd >= 0 && (uint32_t)fd < fds->capacity ? &fds->items[fd] : NULL;
}

static struct tracer_fd *find_known(const struct tracer_thread *thread, int fd)
{
    struct tracer_fd *entry = find(thread, fd);
    return entry != NULL && (entry->flags & TRACER_FD_KNOWN) != 0 ? entry : NULL;
}

/* NULL where there is no room. */
static struct tracer_fd *make(struct tracer_thread *thread, int fd)
{
    struct tracer_fds *fds = &thread->process->fds;
    void *array = fds->items;
    if (fd < 0 || fd >= FDS_MAX ||
        wio_grow(&array, sizeof(*fds->items), &fds->capacity, (uint32_t)fd + 1) != WIO_OK) {
        return NULL;
    }
    fds->items = array;
    return &fds->items[fd];
}

uint32_t tracer_fd_learn(struct tracer_thread *thread, int fd)
{
    char text[TRACER_PATH_MAX];
    const size_t bytes = fd >= 0 ? tracer_proc_fd_link(thread->tid, fd, text) : 0;
    if (bytes == 0) {
        return WIO_NO_STRING;
    }
    const uint32_t path = wio_ring_put_string(&thread->stream, 0, text, bytes);
    struct tracer_fd *entry = make(thread, fd);
    if (entry != NULL && path != WIO_NO_STRING) {
        *entry = (struct tracer_fd){.path = path, .flags = TRACER_FD_KNOWN | TRACER_FD_SHARED};
    }
    return path;
}

uint32_t tracer_fd_path(struct tracer_thread *thread, int fd)
{
    const struct tracer_fd *entry = find_known(thread, fd);
    return entry != NULL ? entry->path : tracer_fd_learn(thread, fd);
}

void tracer_fd_set(struct tracer_thread *thread, int fd, uint32_t path, int open_flags)
{
    struct tracer_fd *entry = make(thread, fd);
    if (entry != NULL) {
        const uint32_t append = (open_flags & O_APPEND) != 0 ? TRACER_FD_APPEND : 0;
        *entry = (struct tracer_fd){.path = path, .flags = TRACER_FD_KNOWN | append};
    }
}

void tracer_fd_clear(struct tracer_thread *thread, int fd)
{
    struct tracer_fd *entry = find(thread, fd);
    if (entry != NULL) {
        *entry = (struct tracer_fd){0};
    }
}

void tracer_fd_clear_range(struct tracer_thread *thread, uint64_t first, uint64_t last)
{
    const uint32_t capacity = thread->process->fds.capacity;
    for (uint64_t fd = first; fd <= last && fd < capacity; fd++) {
        tracer_fd_clear(thread, (int)fd);
    }
}

void tracer_fd_dup(struct tracer_thread *thread, int old_fd, int new_fd)
{
    if (old_fd == new_fd) {
        return;
    }
    struct tracer_fd *to = make(thread, new_fd);
    struct tracer_fd *from = find_known(thread, old_fd);
    if (to == NULL) {
        return;
    }
    *to = (struct tracer_fd){0};
    if (from != NULL) {
        from->flags |= TRACER_FD_SHARED;
        *to = *from;
    }
}

void tracer_fd_set_append(struct tracer_thread *thread, int fd, bool is_append)
{
    struct tracer_fd *entry = find_known(thread, fd);
    if (entry == NULL) {
        return;
    }
    if (!is_append && (entry->flags & TRACER_FD_APPEND) != 0) {
        entry->flags |= TRACER_FD_SHARED; /* the position is wherever the last write went */
    }
    entry->flags =
        is_append ? entry->flags | TRACER_FD_APPEND : entry->flags & ~(uint32_t)TRACER_FD_APPEND;
}

/* What kind of file is it? Asked once, by the first operation that needs a position. */
static void find_type(struct tracer_thread *thread, int fd, struct tracer_fd *entry)
{
    struct stat st = {0};
    if (tracer_proc_fd_stat(thread->tid, fd, &st)) {
        const bool seeks = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode);
        entry->flags |= TRACER_FD_TYPED | (seeks ? TRACER_FD_SEEKS : 0);
    }
}

int64_t tracer_fd_advance(struct tracer_thread *thread, int fd, int64_t result)
{
    struct tracer_fd *entry = find_known(thread, fd);
    const int64_t done = result > 0 ? result : 0;
    if (entry == NULL) {
        return WIO_NO_OFFSET;
    }
    if ((entry->flags & TRACER_FD_TYPED) == 0) {
        find_type(thread, fd, entry);
    }
    if ((entry->flags & TRACER_FD_SEEKS) == 0) {
        return WIO_NO_OFFSET;
    }
    if ((entry->flags & (TRACER_FD_SHARED | TRACER_FD_APPEND)) == 0) {
        const int64_t before = entry->pos;
        entry->pos += done;
        return before;
    }
    const int64_t pos = tracer_proc_position(thread->tid, fd);
    entry->pos = pos;
    return pos >= done ? pos - done : WIO_NO_OFFSET;
}

void tracer_fd_seek(struct tracer_thread *thread, int fd, int64_t pos)
{
    struct tracer_fd *entry = find_known(thread, fd);
    if (entry != NULL) {
        entry->pos = pos;
    }
}
