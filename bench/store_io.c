/* SPDX-License-Identifier: Apache-2.0 */
#include "store_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

struct wio_io_file {
    struct bench_io *io;
    int fd;
};

struct wio_io_timer {
    struct bench_io *io;
    void (*fire)(void *context);
    void *context;
    bool is_set;
};

/* One log, so one flush and one timer at a time. */
struct bench_io {
    struct wio_io io;
    int dir;
    unsigned long flushes;
    struct wio_io_file *flushing;
    wio_io_done *done;
    void *done_context;
    struct wio_io_timer *timer;
};

static struct bench_io *of(struct wio_io *io)
{
    return (struct bench_io *)io;
}

static enum wio_status failed(const char *name, struct wio_error *err)
{
    return wio_error_sys(err, name, "failed");
}

static int flush_file(struct wio_io_file *file)
{
    file->io->flushes++;
    return fdatasync(file->fd) == 0 ? 0 : errno;
}

static enum wio_status file_open(struct wio_io *io, const char *name, unsigned flags,
                                 struct wio_io_file **file_out, struct wio_error *err)
{
    int how = O_CLOEXEC | O_NOFOLLOW | ((flags & WIO_IO_READ_ONLY) != 0 ? O_RDONLY : O_RDWR);
    how |= (flags & WIO_IO_CREATE) != 0 ? O_CREAT : 0;
    how |= (flags & WIO_IO_EXCLUSIVE) != 0 ? O_EXCL : 0;
    int fd = openat(of(io)->dir, name, how, 0600);
    if (fd < 0) {
        return failed(name, err);
    }
    *file_out = calloc(1, sizeof(**file_out));
    if (*file_out == NULL) {
        abort();
    }
    **file_out = (struct wio_io_file){of(io), fd};
    return WIO_OK;
}

static void file_close(struct wio_io_file *file)
{
    if (file != NULL) {
        (void)close(file->fd);
        free(file);
    }
}

static enum wio_status file_size(struct wio_io_file *file, uint64_t *bytes_out,
                                 struct wio_error *err)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0) {
        return failed("size", err);
    }
    *bytes_out = (uint64_t)st.st_size;
    return WIO_OK;
}

static enum wio_status file_read(struct wio_io_file *file, uint64_t offset, void *data, size_t size,
                                 size_t *got_out, struct wio_error *err)
{
    *got_out = 0;
    while (*got_out < size) {
        ssize_t got =
            pread(file->fd, (char *)data + *got_out, size - *got_out, (off_t)(offset + *got_out));
        if (got < 0) {
            return failed("read", err);
        }
        if (got == 0) {
            break;
        }
        *got_out += (size_t)got;
    }
    return WIO_OK;
}

static enum wio_status file_write(struct wio_io_file *file, uint64_t offset,
                                  const struct wio_io_bytes *parts, size_t count,
                                  struct wio_error *err)
{
    struct iovec iov[WIO_IO_BYTES_MAX];
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        iov[i] = (struct iovec){(void *)(uintptr_t)parts[i].data, parts[i].size};
        size += parts[i].size;
    }
    ssize_t put = pwritev(file->fd, iov, (int)count, (off_t)offset);
    errno = put >= 0 ? ENOSPC : errno;
    return put >= 0 && (size_t)put == size ? WIO_OK : failed("write", err);
}

static enum wio_status file_truncate(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err)
{
    return ftruncate(file->fd, (off_t)bytes) == 0 ? WIO_OK : failed("truncate", err);
}

static enum wio_status file_allocate(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err)
{
    errno = posix_fallocate(file->fd, 0, (off_t)bytes);
    return errno == 0 ? WIO_OK : failed("allocate", err);
}

static enum wio_status file_flush(struct wio_io_file *file, wio_io_done *done, void *context)
{
    file->io->flushing = file;
    file->io->done = done;
    file->io->done_context = context;
    return WIO_OK;
}

static enum wio_status file_sync(struct wio_io_file *file, struct wio_error *err)
{
    errno = flush_file(file);
    return errno == 0 ? WIO_OK : failed("flush", err);
}

static enum wio_status make_dir(struct wio_io *io, const char *name, struct wio_error *err)
{
    return mkdirat(of(io)->dir, name, 0700) == 0 ? WIO_OK : failed(name, err);
}

static enum wio_status remove_name(struct wio_io *io, const char *name, struct wio_error *err)
{
    return unlinkat(of(io)->dir, name, 0) == 0 ? WIO_OK : failed(name, err);
}

static enum wio_status rename_name(struct wio_io *io, const char *from, const char *to,
                                   struct wio_error *err)
{
    return renameat(of(io)->dir, from, of(io)->dir, to) == 0 ? WIO_OK : failed(from, err);
}

static enum wio_status list(struct wio_io *io, const char *dir, wio_io_each *each, void *context,
                            struct wio_error *err)
{
    int fd = openat(of(io)->dir, dir[0] != '\0' ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *open = fd >= 0 ? fdopendir(fd) : NULL;
    if (open == NULL) {
        return failed(dir, err);
    }
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        if (entry->d_name[0] != '.' && !each(context, entry->d_name)) {
            break;
        }
    }
    (void)closedir(open);
    return WIO_OK;
}

static enum wio_status dir_sync(struct wio_io *io, const char *dir, struct wio_error *err)
{
    int fd = openat(of(io)->dir, dir[0] != '\0' ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    of(io)->flushes++;
    bool is_done = fd >= 0 && fsync(fd) == 0;
    (void)close(fd);
    return is_done ? WIO_OK : failed(dir, err);
}

static enum wio_status space(struct wio_io *io, struct wio_io_space *space_out,
                             struct wio_error *err)
{
    struct statvfs st;
    if (fstatvfs(of(io)->dir, &st) != 0) {
        return failed("space", err);
    }
    *space_out = (struct wio_io_space){.total_bytes = (uint64_t)st.f_blocks * st.f_frsize,
                                       .free_bytes = (uint64_t)st.f_bavail * st.f_frsize};
    return WIO_OK;
}

static uint64_t now_ns(struct wio_io *io)
{
    (void)io;
    return wio_clock_mono_ns();
}

static void fill_random(struct wio_io *io, void *bytes, size_t size)
{
    (void)io;
    memset(bytes, 7, size);
}

static struct wio_io_timer *make_timer(struct wio_io *io, void (*fire)(void *context),
                                       void *context)
{
    struct wio_io_timer *timer = calloc(1, sizeof(*timer));
    if (timer == NULL) {
        abort();
    }
    *timer = (struct wio_io_timer){of(io), fire, context, false};
    of(io)->timer = timer;
    return timer;
}

static void set_timer(struct wio_io_timer *timer, uint64_t after_ns)
{
    (void)after_ns;
    timer->is_set = true;
}

static void stop_timer(struct wio_io_timer *timer)
{
    timer->is_set = false;
}

static void end_timer(struct wio_io_timer *timer)
{
    if (timer != NULL) {
        timer->io->timer = NULL;
        free(timer);
    }
}

struct wio_io *store_io_open(const char *dir)
{
    static const struct wio_io_ops ops = {
        .now_ns = now_ns,
        .unix_ns = now_ns,
        .random = fill_random,
        .timer_create = make_timer,
        .timer_set = set_timer,
        .timer_stop = stop_timer,
        .timer_destroy = end_timer,
        .file_open = file_open,
        .file_close = file_close,
        .file_size = file_size,
        .file_read = file_read,
        .file_write = file_write,
        .file_truncate = file_truncate,
        .file_allocate = file_allocate,
        .file_flush = file_flush,
        .file_sync = file_sync,
        .make_dir = make_dir,
        .remove = remove_name,
        .rename = rename_name,
        .list = list,
        .dir_sync = dir_sync,
        .space = space,
    };
    struct bench_io *io = calloc(1, sizeof(*io));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (io == NULL || fd < 0) {
        perror(dir);
        exit(3);
    }
    *io = (struct bench_io){.io = {&ops}, .dir = fd};
    return &io->io;
}

void store_io_turn(struct wio_io *base)
{
    struct bench_io *io = of(base);
    while (io->flushing != NULL) {
        struct wio_io_file *file = io->flushing;
        io->flushing = NULL;
        int sys_errno = flush_file(file);
        io->done(io->done_context, sys_errno == 0 ? WIO_OK : WIO_ERR_IO, sys_errno);
    }
    if (io->timer != NULL && io->timer->is_set) {
        io->timer->is_set = false;
        io->timer->fire(io->timer->context);
    }
}

unsigned long store_io_flushes(struct wio_io *io)
{
    return of(io)->flushes;
}

void store_io_close(struct wio_io *io)
{
    (void)close(of(io)->dir);
    free(of(io));
}
