/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a wrapper costs, on a machine that is not quiet: inside one process, short blocks of calls
 * by name (wrapped, when run under whyio) and of calls of libc's own function take turns. Whatever
 * else goes on hits both alike.
 *
 *     paired NAME CALLS DIR     prints "nanoseconds by name, nanoseconds of libc's, ratio": medians
 *
 * Without a tracer both are the same function and the ratio is 1. In stream calls libc's own are
 * not quite untouched: the system call of a full or empty buffer is recorded in both.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (1 << 20)
#define BLOCK_CALLS 1024 /* so that each block has its share of full chunks, 1,023 records */

/* The calls, once by name and once from libc. */
struct calls {
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    ssize_t (*pread)(int, void *, size_t, off_t);
    ssize_t (*read)(int, void *, size_t);
    size_t (*fread)(void *, size_t, size_t, FILE *);
    size_t (*fwrite)(const void *, size_t, size_t, FILE *);
    int (*open)(const char *, int, ...);
    int (*close)(int);
    int (*stat)(const char *, struct stat *);
};

struct place {
    char path[PATH_MAX];
    int fd;
    FILE *stream;
    char block[4096];
    long done;
};

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "paired: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static off_t next(struct place *at, size_t bytes)
{
    return (off_t)((size_t)at->done++ * bytes % FILE_BYTES);
}

static void pwrite512(const struct calls *libc, struct place *at)
{
    must(libc->pwrite(at->fd, at->block, 512, next(at, 512)) == 512, "pwrite");
}

static void pwrite4k(const struct calls *libc, struct place *at)
{
    must(libc->pwrite(at->fd, at->block, 4096, next(at, 4096)) == 4096, "pwrite");
}

static void pread512(const struct calls *libc, struct place *at)
{
    must(libc->pread(at->fd, at->block, 512, next(at, 512)) == 512, "pread");
}

static void pread4k(const struct calls *libc, struct place *at)
{
    must(libc->pread(at->fd, at->block, 4096, next(at, 4096)) == 4096, "pread");
}

/* At the end of the file it gives 0, once in 2,048 calls: lseek would disturb the pairs. */
static void read512(const struct calls *libc, struct place *at)
{
    ssize_t result = libc->read(at->fd, at->block, 512);
    must(result >= 0, "read");
    if (result == 0) {
        must(lseek(at->fd, 0, SEEK_SET) == 0, "lseek");
    }
}

static void fread64(const struct calls *libc, struct place *at)
{
    if (libc->fread(at->block, 64, 1, at->stream) != 1) {
        rewind(at->stream);
    }
}

static void fwrite64(const struct calls *libc, struct place *at)
{
    if (next(at, 64) == 0) {
        rewind(at->stream);
    }
    must(libc->fwrite(at->block, 64, 1, at->stream) == 1, "fwrite");
}

static void openclose(const struct calls *libc, struct place *at)
{
    int fd = libc->open(at->path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && libc->close(fd) == 0, "open and close");
}

static void stat_once(const struct calls *libc, struct place *at)
{
    struct stat status;
    must(libc->stat(at->path, &status) == 0, "stat");
}

static const struct {
    const char *name;
    void (*run)(const struct calls *libc, struct place *at);
} cases[] = {
    {"pwrite512", pwrite512}, {"pwrite4k", pwrite4k},   {"pread512", pread512},
    {"pread4k", pread4k},     {"read512", read512},     {"fread64", fread64},
    {"fwrite64", fwrite64},   {"openclose", openclose}, {"stat", stat_once},
};

static void *find(void *handle, const char *name)
{
    void *function = dlsym(handle, name);
    must(function != NULL, name);
    return function;
}

static void find_calls(struct calls *calls, void *handle)
{
    *(void **)&calls->pwrite = find(handle, "pwrite");
    *(void **)&calls->pread = find(handle, "pread");
    *(void **)&calls->read = find(handle, "read");
    *(void **)&calls->fread = find(handle, "fread");
    *(void **)&calls->fwrite = find(handle, "fwrite");
    *(void **)&calls->open = find(handle, "open");
    *(void **)&calls->close = find(handle, "close");
    *(void **)&calls->stat = find(handle, "stat");
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void prepare(struct place *at, const char *dir)
{
    snprintf(at->path, sizeof(at->path), "%s/paired.data", dir);
    memset(at->block, 'x', sizeof(at->block));
    at->fd = open(at->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    must(at->fd >= 0, at->path);
    for (off_t offset = 0; offset < FILE_BYTES; offset += (off_t)sizeof(at->block)) {
        must(pwrite(at->fd, at->block, sizeof(at->block), offset) > 0, at->path);
    }
    at->stream = fopen(at->path, "r+");
    must(at->stream != NULL, at->path);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

static double block_ns(size_t number, const struct calls *calls, struct place *at)
{
    double begin = now_ns();
    for (int i = 0; i < BLOCK_CALLS; i++) {
        cases[number].run(calls, at);
    }
    return (now_ns() - begin) / BLOCK_CALLS;
}

static int measure(size_t number, size_t blocks, struct place *at)
{
    static struct calls named, direct;
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    must(libc != NULL, "libc.so.6");
    find_calls(&named, RTLD_DEFAULT);
    find_calls(&direct, libc);
    double *times[3];
    for (int i = 0; i < 3; i++) {
        times[i] = calloc(blocks, sizeof(double));
        must(times[i] != NULL, "memory");
    }
    for (size_t i = 0; i < blocks; i++) {
        times[0][i] = block_ns(number, &named, at);
        times[1][i] = block_ns(number, &direct, at);
        times[2][i] = times[0][i] / times[1][i];
    }
    double ratio = median(times[2], blocks);
    printf("%.2f %.2f %.4f\n", median(times[0], blocks), median(times[1], blocks), ratio);
    return 0;
}

int main(int argc, char **argv)
{
    static struct place at;
    for (size_t i = 0; argc == 4 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            prepare(&at, argv[3]);
            return measure(i, (size_t)atol(argv[2]) / (2 * BLOCK_CALLS) + 1, &at);
        }
    }
    fprintf(stderr, "usage: paired NAME CALLS DIR\n");
    return 2;
}
