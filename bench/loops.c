/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of one call each, for measuring what tracing adds to it.
 *
 *     loops NAME CALLS DIR      prints the nanoseconds of one call on stdout
 *
 * The time is taken around the loop, in the process itself: starting and ending it is not in it.
 * Files are made in DIR before the clock starts.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (1 << 20) /* calls go round and round in it: all in the page cache */
#define THREADS 2
#define NULL_THREADS 8

struct loop {
    long calls;
    const char *path;
    int fd;
    FILE *stream;
    char block[4096];
};

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "loops: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static off_t place(long i, size_t bytes)
{
    return (off_t)((size_t)i * bytes % FILE_BYTES);
}

static void loop_pwrite(struct loop *loop, size_t bytes)
{
    for (long i = 0; i < loop->calls; i++) {
        must(pwrite(loop->fd, loop->block, bytes, place(i, bytes)) == (ssize_t)bytes, "pwrite");
    }
}

static void loop_pread(struct loop *loop, size_t bytes)
{
    for (long i = 0; i < loop->calls; i++) {
        must(pread(loop->fd, loop->block, bytes, place(i, bytes)) == (ssize_t)bytes, "pread");
    }
}

static void pwrite512(struct loop *loop)
{
    loop_pwrite(loop, 512);
}

static void pwrite4k(struct loop *loop)
{
    loop_pwrite(loop, 4096);
}

static void pread512(struct loop *loop)
{
    loop_pread(loop, 512);
}

static void pread4k(struct loop *loop)
{
    loop_pread(loop, 4096);
}

/* From the front again when the file ends: one lseek in 2,048 calls. */
static void read512(struct loop *loop)
{
    for (long i = 0; i < loop->calls; i++) {
        if (place(i, 512) == 0) {
            must(lseek(loop->fd, 0, SEEK_SET) == 0, "lseek");
        }
        must(read(loop->fd, loop->block, 512) == 512, "read");
    }
}

static void fread64(struct loop *loop)
{
    for (long i = 0; i < loop->calls; i++) {
        if (place(i, 64) == 0) {
            rewind(loop->stream);
        }
        must(fread(loop->block, 64, 1, loop->stream) == 1, "fread");
    }
}

static void fwrite64(struct loop *loop)
{
    for (long i = 0; i < loop->calls; i++) {
        if (place(i, 64) == 0) {
            rewind(loop->stream);
        }
        must(fwrite(loop->block, 64, 1, loop->stream) == 1, "fwrite");
    }
}

static void openclose(struct loop *loop)
{
    for (long i = 0; i < loop->calls; i++) {
        int fd = open(loop->path, O_RDONLY | O_CLOEXEC);
        must(fd >= 0 && close(fd) == 0, "open and close");
    }
}

static void stat_loop(struct loop *loop)
{
    struct stat status;
    for (long i = 0; i < loop->calls; i++) {
        must(stat(loop->path, &status) == 0, "stat");
    }
}

/* A free lock that guards no I/O makes no event. */
static void lock(struct loop *loop)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < loop->calls; i++) {
        must(pthread_mutex_lock(&mutex) == 0, "pthread_mutex_lock");
        must(pthread_mutex_unlock(&mutex) == 0, "pthread_mutex_unlock");
    }
}

static void open_files(struct loop *loop, const char *dir, int number, off_t bytes)
{
    static char paths[NULL_THREADS][PATH_MAX];
    snprintf(paths[number], sizeof(paths[number]), "%s/loops.%d", dir, number);
    loop->path = paths[number];
    memset(loop->block, 'x', sizeof(loop->block));
    loop->fd = open(loop->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    must(loop->fd >= 0, loop->path);
    for (off_t offset = 0; offset < bytes; offset += (off_t)sizeof(loop->block)) {
        must(pwrite(loop->fd, loop->block, sizeof(loop->block), offset) > 0, loop->path);
    }
    loop->stream = fopen(loop->path, "r+");
    must(loop->stream != NULL, loop->path);
}

static void *thread_pwrite(void *arg)
{
    pwrite512(arg);
    return NULL;
}

/* Two threads, each with its own file: a lock in the tracer would show. */
static void run_threads(struct loop *loops, int threads)
{
    pthread_t thread[NULL_THREADS];
    for (int i = 0; i < threads; i++) {
        must(pthread_create(&thread[i], NULL, thread_pwrite, &loops[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
}

static void threads2(struct loop *loops)
{
    run_threads(loops, THREADS);
}

/* Eight threads that write to /dev/null: what a replay of it costs is the replay itself. */
static void null8(struct loop *loops)
{
    for (int i = 0; i < NULL_THREADS; i++) {
        loops[i].fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        must(loops[i].fd >= 0, "/dev/null");
    }
    run_threads(loops, NULL_THREADS);
}

/* A write each millisecond: does a replay of it begin them on time? */
static void paced(struct loop *loop)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (long i = 0; i < loop->calls; i++) {
        must(nanosleep(&pause, NULL) == 0, "nanosleep");
        must(pwrite(loop->fd, loop->block, 4096, place(i, 4096)) == 4096, "pwrite");
    }
}

/* A mixed stream: sizes, offsets, calls and files change as in a real program. */
static void mixed(struct loop *loops)
{
    struct stat status;
    for (long i = 0; i < loops->calls; i++) {
        struct loop *loop = &loops[i % 3];
        size_t bytes = (size_t)(64 << (i % 7));
        switch (i % 10) {
        case 0:
            must(stat(loop->path, &status) == 0, "stat");
            break;
        case 1:
            must(lseek(loop->fd, place(i * 31, 512), SEEK_SET) >= 0, "lseek");
            break;
        case 2:
        case 3:
            must(pread(loop->fd, loop->block, bytes, place(i * 7919, 64)) >= 0, "pread");
            break;
        case 4:
            must(fwrite(loop->block, 64, 1, loop->stream) == 1, "fwrite");
            break;
        case 5:
            must(read(loop->fd, loop->block, bytes) >= 0, "read");
            break;
        default:
            must(pwrite(loop->fd, loop->block, bytes, place(i, bytes)) >= 0, "pwrite");
            break;
        }
    }
}

static const struct {
    const char *name;
    void (*run)(struct loop *loops);
    int files;
    int is_paced; /* the files are empty: nothing is written without a pause */
} cases[] = {
    {"pwrite512", pwrite512, 1, 0},
    {"pwrite4k", pwrite4k, 1, 0},
    {"pread512", pread512, 1, 0},
    {"pread4k", pread4k, 1, 0},
    {"read512", read512, 1, 0},
    {"fread64", fread64, 1, 0},
    {"fwrite64", fwrite64, 1, 0},
    {"openclose", openclose, 1, 0},
    {"stat", stat_loop, 1, 0},
    {"paced", paced, 1, 1},
    {"threads2", threads2, THREADS, 0},
    {"null8", null8, NULL_THREADS, 0},
    {"mixed", mixed, 3, 0},
    {"lock", lock, 1, 0},
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    static struct loop loops[NULL_THREADS];
    for (size_t i = 0; argc == 4 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(argv[1], cases[i].name) != 0) {
            continue;
        }
        for (int file = 0; file < cases[i].files; file++) {
            loops[file].calls = atol(argv[2]);
            open_files(&loops[file], argv[3], file, cases[i].is_paced ? 0 : FILE_BYTES);
        }
        double begin = now_ns();
        cases[i].run(loops);
        printf("%.2f\n", (now_ns() - begin) / (double)loops[0].calls);
        return 0;
    }
    fprintf(stderr, "usage: loops NAME CALLS DIR\n");
    return 2;
}
