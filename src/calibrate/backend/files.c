/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "calibrate/backend/many_files.h"
#include "calibrate/backend/meta.h"

#define CLOCKS 1000
#define STREAMS_MOST 64
#define CLOCK_ROUNDS 10

static const char *const names[WIO_RIG_FILE_COUNT] = {
    [WIO_RIG_BASE] = "base",
    [WIO_RIG_FRESH] = "fresh",
    [WIO_RIG_APPEND] = "append",
    [WIO_RIG_BYPASS] = "bypass",
    [WIO_RIG_AHEAD] = "ahead",
    [WIO_RIG_COPIES] = "copy0",
    "copy1",
    "copy2",
    "copy3",
};

static const int way_flags[WIO_RIG_WAY_COUNT] = {
    [WIO_RIG_CACHED] = 0,
    [WIO_RIG_SYNC] = O_SYNC,
    [WIO_RIG_DIRECT] = O_SYNC | O_DIRECT,
    [WIO_RIG_DIRECT_NOSYNC] = O_DIRECT,
};

static double now_s(void *context)
{
    (void)context;
    return (double)wio_clock_mono_ns() * 1e-9;
}

static void rest(void *context, double seconds)
{
    (void)context;
    const struct timespec delay = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL); /* a signal may end it */
}

/* Without asking for the time, which is a tenth of the shortest calls. */
static double without_clock(const struct wio_files *files, uint64_t ns)
{
    return (double)(ns > files->clock_ns ? ns - files->clock_ns : 1) * 1e-9;
}

static double since(const struct wio_files *files, uint64_t begin_ns)
{
    return without_clock(files, wio_clock_mono_ns() - begin_ns);
}

/* A mean, since a clock counts in steps as large; of the round that nothing disturbed. */
static uint64_t clock_ns(void)
{
    uint64_t least = UINT64_MAX;
    for (size_t round = 0; round < CLOCK_ROUNDS; round++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < CLOCKS; i++) {
            uint64_t begin_ns = wio_clock_mono_ns();
            sum += wio_clock_mono_ns() - begin_ns;
        }
        least = sum < least ? sum : least;
    }
    return (least + CLOCKS / 2) / CLOCKS;
}

static void path_of(const struct wio_files *files, enum wio_rig_file file, char path[PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%s/%s", files->dir, names[file]);
}

/* A file system that does not know O_DIRECT says EINVAL, when the file is opened or later. */
static enum wio_status refuse(enum wio_rig_way way, const char *path, const char *what,
                              struct wio_error *err)
{
    bool is_direct = (way_flags[way] & O_DIRECT) != 0;
    if (is_direct && (errno == EINVAL || errno == EOPNOTSUPP)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, WIO_ERROR_NO_OFFSET,
                             "there is no O_DIRECT here");
    }
    return wio_error_sys(err, path, "%s", what);
}

static enum wio_status open_file(struct wio_files *files, enum wio_rig_file file,
                                 enum wio_rig_way way, int *fd_out, struct wio_error *err)
{
    int *fd = &files->fds[file][way];
    if (*fd < 0) {
        char path[PATH_MAX];
        path_of(files, file, path);
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | way_flags[way], 0600);
        if (*fd < 0) {
            return refuse(way, path, "cannot open", err);
        }
    }
    *fd_out = *fd;
    return WIO_OK;
}

static enum wio_status renew_memory(void *context, uint64_t bytes, struct wio_error *err)
{
    struct wio_files *files = context;
    return wio_buffers_renew(&files->buffers, bytes, err);
}

static enum wio_status write_io(void *context, const struct wio_rig_io *io, double *seconds_out,
                                struct wio_error *err)
{
    struct wio_files *files = context;
    const uint8_t *data = NULL;
    int fd = -1;
    WIO_TRY(open_file(files, io->file, io->way, &fd, err));
    WIO_TRY(wio_buffers_source(&files->buffers, io, &data, err));
    struct wio_error cause = WIO_ERROR_INIT;
    uint64_t begin_ns = wio_clock_mono_ns();
    enum wio_status status = wio_io_pwrite(fd, names[io->file], data, io->size, io->offset, &cause);
    *seconds_out = since(files, begin_ns);
    if (status != WIO_OK) {
        char path[PATH_MAX];
        path_of(files, io->file, path);
        errno = cause.sys_errno;
        return refuse(io->way, path, "cannot write", err);
    }
    return WIO_OK;
}

static enum wio_status read_io(void *context, const struct wio_rig_io *io, double *seconds_out,
                               struct wio_error *err)
{
    struct wio_files *files = context;
    int fd = -1;
    WIO_TRY(open_file(files, io->file, WIO_RIG_CACHED, &fd, err));
    uint64_t begin_ns = wio_clock_mono_ns();
    enum wio_status status =
        wio_io_pread(fd, names[io->file], files->buffers.data, io->size, io->offset, err);
    *seconds_out = since(files, begin_ns);
    return status;
}

static enum wio_status fsync_file(void *context, enum wio_rig_file file, double *seconds_out,
                                  struct wio_error *err)
{
    struct wio_files *files = context;
    int fd = -1;
    WIO_TRY(open_file(files, file, WIO_RIG_CACHED, &fd, err));
    uint64_t begin_ns = wio_clock_mono_ns();
    if (fsync(fd) != 0) {
        char path[PATH_MAX];
        path_of(files, file, path);
        return wio_error_sys(err, path, "cannot flush");
    }
    *seconds_out = since(files, begin_ns);
    return WIO_OK;
}

static enum wio_status remove_file(void *context, enum wio_rig_file file, struct wio_error *err)
{
    struct wio_files *files = context;
    char path[PATH_MAX];
    path_of(files, file, path);
    for (size_t way = 0; way < WIO_RIG_WAY_COUNT; way++) {
        wio_fd_cleanup(&files->fds[file][way]); /* first: as in meta.c */
    }
    if (unlink(path) != 0 && errno != ENOENT) {
        return wio_error_sys(err, path, "cannot remove");
    }
    return WIO_OK;
}

static double processor_s(void)
{
    struct timespec used;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/* Once only, and no wait is part of it: so the time of others may not count. */
static enum wio_status drop_file(void *context, enum wio_rig_file file, double *seconds_out,
                                 struct wio_error *err)
{
    struct wio_files *files = context;
    int fd = -1;
    WIO_TRY(open_file(files, file, WIO_RIG_CACHED, &fd, err));
    double begin_s = processor_s();
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* an advice */
    *seconds_out = processor_s() - begin_s;
    return WIO_OK;
}

static enum wio_status flush_begin(void *context, enum wio_rig_file file, struct wio_error *err)
{
    struct wio_files *files = context;
    int fd = -1;
    WIO_TRY(open_file(files, file, WIO_RIG_CACHED, &fd, err));
    return wio_flush_begin(&files->flush, fd, files->dir, err);
}

static bool is_flushing(void *context)
{
    const struct wio_files *files = context;
    return wio_flush_is_busy(&files->flush);
}

static enum wio_status flush_end(void *context, enum wio_rig_file file, struct wio_error *err)
{
    struct wio_files *files = context;
    (void)file;
    return wio_flush_end(&files->flush, files->dir, err);
}

static double device_bytes(void *context)
{
    const struct wio_files *files = context;
    return wio_counts_written(files->counts);
}

static double copy(void *context, uint64_t bytes)
{
    struct wio_files *files = context;
    uint8_t *data = files->buffers.data;
    uint64_t half = WIO_RIG_IO_MOST / 2;
    if (files->copied + bytes > half) {
        files->copied = 0;
    }
    uint64_t begin_ns = wio_clock_mono_ns();
    memcpy(data + files->copied, data + half + files->copied, bytes);
    files->copied += bytes;
    return since(files, begin_ns);
}

static enum wio_status fwrite_calls(void *context, unsigned calls, double *seconds_out,
                                    struct wio_error *err)
{
    const struct wio_files *files = context;
    uint64_t ns;
    WIO_TRY(wio_stream_fwrite(&files->stream, calls, &ns, err));
    *seconds_out = without_clock(files, ns);
    return WIO_OK;
}

static enum wio_status streams(void *context, size_t count, double *seconds_out,
                               struct wio_error *err)
{
    const struct wio_files *files = context;
    char path[PATH_MAX];
    uint64_t ns[STREAMS_MOST];
    WIO_PRE(count <= STREAMS_MOST);
    path_of(files, WIO_RIG_FRESH, path);
    WIO_TRY(wio_streams_first(path, count, ns, err));
    for (size_t i = 0; i < count; i++) {
        seconds_out[i] = without_clock(files, ns[i]);
    }
    return remove_file(context, WIO_RIG_FRESH, err);
}

static enum wio_status many_files(void *context, const struct wio_rig_many *many,
                                  double *seconds_out, struct wio_error *err)
{
    const struct wio_files *files = context;
    struct wio_rig_many timed = *many;
    timed.clock_ns = files->clock_ns;
    return wio_many_files(files->dir, files->buffers.data, &timed, seconds_out, err);
}

static enum wio_status meta(void *context, double seconds_out[WIO_RIG_META_COUNT],
                            struct wio_error *err)
{
    const struct wio_files *files = context;
    return wio_meta_pass(files->dir, seconds_out, err);
}

enum wio_status wio_files_init(struct wio_files *files, const char *dir,
                               const struct wio_limits *limits, struct wio_error *err)
{
    *files = (struct wio_files){
        .dir = dir, .clock_ns = clock_ns(), .flush = {.limits = limits, .fd = -1}};
    for (size_t i = 0; i < WIO_RIG_FILE_COUNT; i++) {
        for (size_t way = 0; way < WIO_RIG_WAY_COUNT; way++) {
            files->fds[i][way] = -1;
        }
    }
    wio_counts_find(dir, files->counts);
    WIO_TRY(wio_buffers_init(&files->buffers, err));
    return wio_stream_open(&files->stream, err);
}

void wio_files_fini(struct wio_files *files)
{
    wio_flush_stop(&files->flush);
    for (size_t i = 0; i < WIO_RIG_FILE_COUNT; i++) {
        for (size_t way = 0; way < WIO_RIG_WAY_COUNT; way++) {
            wio_fd_cleanup(&files->fds[i][way]);
        }
    }
    wio_stream_close(&files->stream);
    wio_buffers_fini(&files->buffers);
}

struct wio_rig wio_files_rig(struct wio_files *files)
{
    return (struct wio_rig){
        .context = files,
        .now_s = now_s,
        .rest = rest,
        .write = write_io,
        .renew_memory = renew_memory,
        .read = read_io,
        .fsync = fsync_file,
        .remove = remove_file,
        .drop = drop_file,
        .flush_begin = flush_begin,
        .is_flushing = is_flushing,
        .flush_end = flush_end,
        .device_bytes = device_bytes,
        .copy = copy,
        .fwrite = fwrite_calls,
        .streams = streams,
        .many = many_files,
        .meta = meta,
    };
}
