/* SPDX-License-Identifier: Apache-2.0 */
#include "example.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void quit(int status)
{
    MPI_Finalize();
    exit(status);
}

static _Noreturn void usage(const struct example *ex, int status)
{
    if (ex->rank == 0) {
        fprintf(status == 0 ? stdout : stderr,
                "usage: %s [-d DIR] [-b BYTES] [-n ROUNDS] [-c MS]\n"
                "  -d DIR     directory for the files [%s]\n"
                "  -b BYTES   of one read or write, e.g. 64K [%zu]\n"
                "  -n ROUNDS  how often [%d]\n"
                "  -c MS      milliseconds of computing between two steps [%g]\n",
                ex->name, ex->dir, ex->block, ex->rounds, ex->compute_ms);
    }
    quit(status);
}

/* "64K" -> 65536; 0 where it is no size of at most 1 GiB. */
static size_t parse_size(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    unsigned long long size = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit != NULL) {
        size <<= 10 * (unit - units + 1);
        end++;
    }
    return *end == '\0' && size <= 1ULL << 30 ? (size_t)size : 0;
}

void example_init(struct example *ex, int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &ex->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ex->ranks);
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    ex->dir = ".";
    opterr = ex->rank == 0;
    int option;
    while ((option = getopt_long(*argc, *argv, "d:b:n:c:h", options, NULL)) != -1) {
        switch (option) {
        case 'd':
            ex->dir = optarg;
            break;
        case 'b':
            ex->block = parse_size(optarg);
            break;
        case 'n':
            ex->rounds = atoi(optarg);
            break;
        case 'c':
            ex->compute_ms = atof(optarg);
            break;
        default:
            usage(ex, option == 'h' ? 0 : 2);
        }
    }
    if (optind != *argc || ex->block < 8 || ex->rounds < 1) {
        usage(ex, 2);
    }
}

int example_finish(const struct example *ex, const char *fmt, ...)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (ex->rank == 0) {
        va_list args;
        va_start(args, fmt);
        printf("%s: %d ranks, ", ex->name, ex->ranks);
        vprintf(fmt, args);
        printf("\n");
        va_end(args);
    }
    MPI_Finalize();
    return 0;
}

_Noreturn void example_fail(const struct example *ex, const char *what, const char *path)
{
    fprintf(stderr, "%s: rank %d: %s '%s': %s\n", ex->name, ex->rank, what, path,
            errno != 0 ? strerror(errno) : "not what was written there");
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

int example_open(const struct example *ex, const char *suffix, int flags)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s.%s", ex->dir, ex->name, suffix);
    int fd = open(path, flags | O_CLOEXEC, 0644);
    if (fd < 0) {
        example_fail(ex, "open", path);
    }
    return fd;
}

int example_open_together(const struct example *ex, const char *suffix)
{
    int fd = -1;
    if (ex->rank == 0) {
        fd = example_open(ex, suffix, O_RDWR | O_CREAT | O_TRUNC);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return ex->rank == 0 ? fd : example_open(ex, suffix, O_RDWR);
}

void example_pwrite(const struct example *ex, int fd, const void *buf, size_t bytes, off_t offset)
{
    errno = ENOSPC; /* what a short write means */
    if (pwrite(fd, buf, bytes, offset) != (ssize_t)bytes) {
        example_fail(ex, "write", ex->name);
    }
}

void example_pread(const struct example *ex, int fd, void *buf, size_t bytes, off_t offset)
{
    errno = ENODATA; /* what a short read means */
    if (pread(fd, buf, bytes, offset) != (ssize_t)bytes) {
        example_fail(ex, "read", ex->name);
    }
}

void example_fill(void *block, size_t bytes, uint64_t key)
{
    unsigned char *byte = block;
    for (size_t i = 0; i < bytes; i += sizeof(key)) {
        uint64_t word = example_random(&key);
        memcpy(byte + i, &word, bytes - i < sizeof(word) ? bytes - i : sizeof(word));
    }
}

void example_verify(const struct example *ex, const void *block, size_t bytes, uint64_t key)
{
    void *expected = example_alloc(ex, bytes);
    example_fill(expected, bytes, key);
    if (memcmp(block, expected, bytes) != 0) {
        errno = 0;
        example_fail(ex, "verify", ex->name);
    }
    free(expected);
}

void *example_alloc(const struct example *ex, size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        example_fail(ex, "allocate memory for", ex->name);
    }
    return memory;
}

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void example_compute(double ms)
{
    volatile double field = 1.0;
    for (double end = processor_ms() + ms; ms > 0 && processor_ms() < end;) {
        for (int i = 0; i < 500; i++) {
            field = field * 0.999 + 0.001;
        }
    }
}

uint64_t example_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 by Sebastiano Vigna */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
