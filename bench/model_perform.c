/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performs an operation list for real, one operation after the other, and says what each cost:
 * what `whyio predict --ops --per-op` says of the same list, measured.
 *
 *     model_perform OPS.jsonl DIRECTORY
 *
 * Prints a line per operation: its number, when it began (seconds since the first one's delay),
 * what it cost (seconds, without asking for the time), bytes dirty and under write-back after it in
 * the whole system (looked at once in a millisecond). The files are made in DIRECTORY and left
 * there. Delays are slept. Exit status 0, 2 usage, 3 otherwise.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "predict/ops/ops_file.h"

#define FILES_MAX 64
#define ALIGNMENT 4096
#define VMSTAT_BYTES 16384
/* How often to look at what is dirty, seconds: looking takes tens of microseconds. */
#define LOOK_S 1e-3
#define CLOCK_TIMES 1000
#define CLOCK_ROUNDS 20

/* A file is opened once for each way of writing. */
enum way { WAY_CACHED, WAY_SYNC, WAY_DIRECT, WAY_DIRECT_NOSYNC, WAY_COUNT };

static const int way_flags[WAY_COUNT] = {
    [WAY_CACHED] = O_RDWR | O_CREAT,
    [WAY_SYNC] = O_RDWR | O_CREAT | O_SYNC,
    [WAY_DIRECT] = O_RDWR | O_CREAT | O_SYNC | O_DIRECT,
    [WAY_DIRECT_NOSYNC] = O_RDWR | O_CREAT | O_DIRECT,
};

struct place {
    int fds[WAY_COUNT]; /* -1: not open */
    FILE *stream;
    uint64_t position; /* of the stream: asking stdio for it costs more than a small fwrite */
};

struct done {
    double start_s;
    double cost_s;
    double dirty_bytes;
};

struct list {
    struct wio_model_op *ops;
    size_t count;
    size_t room;
    uint64_t size_max;
};

static _Noreturn void fail(const char *what)
{
    (void)fprintf(stderr, "model_perform: %s: %s\n", what, strerror(errno));
    exit(3);
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What asking for the time adds to every cost: a mean, since thousands of small costs are summed
 * and the clock counts in steps as large; of the round that nothing disturbed. */
static double clock_cost_s(void)
{
    double least_s = HUGE_VAL;
    for (size_t round = 0; round < CLOCK_ROUNDS; round++) {
        double sum_s = 0;
        for (size_t i = 0; i < CLOCK_TIMES; i++) {
            double start_s = now_s();
            sum_s += now_s() - start_s;
        }
        least_s = fmin(least_s, sum_s / CLOCK_TIMES);
    }
    return least_s;
}

static void sleep_for(double seconds)
{
    const struct timespec delay = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (seconds > 0) {
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
    }
}

static void add(struct list *list, const struct wio_model_op *op)
{
    if (list->count == list->room) {
        list->room = list->room > 0 ? list->room * 2 : 1024;
        list->ops = realloc(list->ops, list->room * sizeof(*list->ops));
        if (list->ops == NULL) {
            fail("memory");
        }
    }
    list->ops[list->count++] = *op;
    list->size_max = op->size > list->size_max ? op->size : list->size_max;
}

static struct list read_list(const char *path)
{
    struct list list = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_ops_file *file;
    struct wio_model_op op;
    enum wio_status status = wio_ops_file_open(path, &file, &err);
    if (status == WIO_OK) {
        while ((status = wio_ops_file_next(file, &op, &err)) == WIO_OK) {
            add(&list, &op);
        }
        wio_ops_file_close(file);
    }
    if (status != WIO_END) {
        (void)fprintf(stderr, "model_perform: %s: %s\n", path, err.message);
        exit(3);
    }
    return list;
}

static double vmstat_bytes(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line != NULL ? strtod(line + strlen(name), NULL) * (double)sysconf(_SC_PAGESIZE) : 0;
}

static double dirty_bytes(int vmstat)
{
    char text[VMSTAT_BYTES];
    ssize_t got = pread(vmstat, text, sizeof(text) - 1, 0);
    if (got < 0) {
        fail("/proc/vmstat");
    }
    text[got] = '\0';
    return vmstat_bytes(text, "\nnr_dirty ") + vmstat_bytes(text, "\nnr_writeback ");
}

static struct place *place_of(struct place *places, const struct wio_model_op *op)
{
    if (op->file >= FILES_MAX) {
        errno = EMFILE;
        fail("files in the list");
    }
    return &places[op->file];
}

static enum way way_of(enum wio_model_method method)
{
    if (method == WIO_MODEL_DIRECT || method == WIO_MODEL_READ_DIRECT) {
        return WAY_DIRECT;
    }
    if (method == WIO_MODEL_DIRECT_NOSYNC) {
        return WAY_DIRECT_NOSYNC;
    }
    return method == WIO_MODEL_SYNC ? WAY_SYNC : WAY_CACHED;
}

/* Opening is not part of what an operation costs: all is open before the first. */
static void open_place(int directory, struct place *place, const struct wio_model_op *op)
{
    char name[32];
    int *fd = &place->fds[way_of(op->method)];
    (void)snprintf(name, sizeof(name), "file-%llu", (unsigned long long)op->file);
    if (*fd < 0) {
        *fd = openat(directory, name, way_flags[way_of(op->method)] | O_CLOEXEC, 0600);
    }
    if (*fd < 0) {
        fail(name);
    }
    if (op->method == WIO_MODEL_FWRITE && place->stream == NULL) {
        place->stream = fdopen(dup(*fd), "we");
        if (place->stream == NULL) {
            fail(name);
        }
    }
}

static bool write_stream(struct place *place, const char *data, const struct wio_model_op *op)
{
    if (place->position != op->offset && fseeko(place->stream, (off_t)op->offset, SEEK_SET) != 0) {
        return false;
    }
    place->position = op->offset + op->size;
    return fwrite(data, 1, op->size, place->stream) == op->size;
}

/* All of it: Linux moves no more than 2 GiB less a page at once. What moves nothing has failed
 * without saying why. */
static bool move_all(int fd, char *data, const struct wio_model_op *op, bool is_write)
{
    uint64_t done = 0;
    while (done < op->size) {
        off_t offset = (off_t)(op->offset + done);
        ssize_t moved = is_write ? pwrite(fd, data + done, op->size - done, offset)
                                 : pread(fd, data + done, op->size - done, offset);
        if (moved == 0) {
            errno = is_write ? EIO : ENODATA;
        }
        if (moved <= 0) {
            return false;
        }
        done += (uint64_t)moved;
    }
    return true;
}

static bool perform(struct place *place, char *data, const struct wio_model_op *op)
{
    int fd = place->fds[way_of(op->method)];
    switch (op->method) {
    case WIO_MODEL_WRITE:
    case WIO_MODEL_SYNC:
    case WIO_MODEL_DIRECT:
    case WIO_MODEL_DIRECT_NOSYNC:
        return move_all(fd, data, op, true);
    case WIO_MODEL_READ:
    case WIO_MODEL_READ_DIRECT:
        return move_all(fd, data, op, false);
    case WIO_MODEL_FWRITE:
        return write_stream(place, data, op);
    case WIO_MODEL_FFLUSH:
        return place->stream == NULL || fflush(place->stream) == 0;
    case WIO_MODEL_FSYNC:
        return fsync(fd) == 0;
    case WIO_MODEL_FDATASYNC:
        return fdatasync(fd) == 0;
    case WIO_MODEL_TRUNCATE:
        return ftruncate(fd, (off_t)op->offset) == 0;
    case WIO_MODEL_SYNCFS:
        return syncfs(fd) == 0;
    case WIO_MODEL_WRITE_OUT:
        return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0;
    case WIO_MODEL_FORGET:
        errno = posix_fadvise(fd, (off_t)op->offset, (off_t)op->size, POSIX_FADV_DONTNEED);
        return errno == 0;
    case WIO_MODEL_METHOD_COUNT:
        break;
    }
    errno = EINVAL;
    return false;
}

static void perform_all(const struct list *list, struct place *places, struct done *done,
                        char *data)
{
    int vmstat = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
    if (vmstat < 0) {
        fail("/proc/vmstat");
    }
    double clock_s = clock_cost_s();
    double begin_s = now_s();
    double looked_s = 0;
    double dirty = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct wio_model_op *op = &list->ops[i];
        sleep_for(op->delay_s);
        double start_s = now_s();
        if (!perform(&places[op->file], data, op)) {
            (void)fprintf(stderr, "model_perform: operation %zu: ", i);
            fail("cannot be performed");
        }
        double end_s = now_s();
        if (end_s - looked_s > LOOK_S) {
            dirty = dirty_bytes(vmstat);
            looked_s = now_s();
        }
        done[i] = (struct done){.start_s = start_s - begin_s,
                                .cost_s = end_s - start_s - clock_s,
                                .dirty_bytes = dirty};
    }
    (void)close(vmstat);
}

int main(int argc, char **argv)
{
    static struct place places[FILES_MAX];
    if (argc != 3) {
        (void)fprintf(stderr, "usage: model_perform OPS.jsonl DIRECTORY\n");
        return 2;
    }
    struct list list = read_list(argv[1]);
    struct done *done = calloc(list.count + 1, sizeof(*done));
    size_t room = (list.size_max / ALIGNMENT + 1) * ALIGNMENT;
    char *data = aligned_alloc(ALIGNMENT, room);
    int directory = open(argv[2], O_DIRECTORY | O_PATH | O_CLOEXEC);
    if (done == NULL || data == NULL || directory < 0) {
        fail(argv[2]);
    }
    memset(data, 'w', room);
    memset(places, -1, sizeof(places));
    for (size_t i = 0; i < FILES_MAX; i++) {
        places[i].stream = NULL;
        places[i].position = 0;
    }
    for (size_t i = 0; i < list.count; i++) {
        open_place(directory, place_of(places, &list.ops[i]), &list.ops[i]);
    }
    perform_all(&list, places, done, data);
    for (size_t i = 0; i < list.count; i++) {
        printf("%zu %.9f %.9f %.0f\n", i, done[i].start_s, done[i].cost_s, done[i].dirty_bytes);
    }
    return fflush(stdout) == 0 ? 0 : 3;
}
