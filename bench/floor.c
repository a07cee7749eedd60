/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorder of this design costs at least: the parts of recording one pwrite of 512 B, each
 * added to the one before, without whyio. Blocks of calls with 0, 1, 2, ... parts take turns; what
 * counts is the difference to the block of plain calls of the same round.
 *
 *     floor ROUNDS DIR     prints one line per part: nanoseconds per call so far, medians
 *
 * The difference between the last line and what bench/paired says is whyio's own code.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define FILE_BYTES (1 << 20)
#define CHUNK_BYTES 65536
#define SLOT_BYTES 64
#define RECORDS (CHUNK_BYTES / SLOT_BYTES - 1) /* the first slot is the chunk's header */

enum part { PLAIN, WRAPPED, TIMED, STORED, COPIED_OVER, COPIED, PARTS };

static const char *const names[PARTS] = {
    [PLAIN] = "plain call",
    [WRAPPED] = "one call more on the way",
    [TIMED] = "time before and after",
    [STORED] = "a record of 64 B in a ring of 64 KiB",
    [COPIED_OVER] = "full ring copied to the same place of a file",
    [COPIED] = "full ring copied to new pages of a file",
};

struct record {
    uint32_t seq;
    uint32_t kind;
    uint64_t begin;
    uint64_t ticks;
    uint64_t source;
    int64_t result;
    int64_t offset;
    uint64_t size;
    int32_t fd;
    uint32_t path;
};

_Static_assert(sizeof(struct record) == SLOT_BYTES, "a record is a slot");

struct place {
    int fd;
    int ring_fd;
    struct record *ring;
    uint32_t used; /* records in the ring */
    uint32_t seq;
    off_t end; /* of the ring's file */
    long done;
    char block[512];
};

/* Through a volatile pointer, as a wrapper calls what it has looked up. */
static ssize_t (*volatile real)(int, const void *, size_t, off_t) = pwrite;

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return (uint64_t)now_ns();
#endif
}

static void turn_over(struct place *at, enum part part)
{
    off_t offset = CHUNK_BYTES;
    if (part == COPIED) {
        at->end += CHUNK_BYTES;
        offset = at->end;
    }
    must(part < COPIED_OVER || real(at->ring_fd, at->ring, CHUNK_BYTES, offset) == CHUNK_BYTES,
         "ring");
    at->used = 0;
}

static void store(struct place *at, enum part part, struct record record)
{
    if (at->used == RECORDS) {
        turn_over(at, part);
    }
    struct record *slot = &at->ring[++at->used];
    record.seq = slot->seq;
    *slot = record;
    __atomic_store_n(&slot->seq, ++at->seq, __ATOMIC_RELEASE);
}

__attribute__((noinline)) static ssize_t call(struct place *at, enum part part, size_t size,
                                              off_t offset)
{
    uint64_t begin = part >= TIMED ? ticks() : 0;
    ssize_t result = real(at->fd, at->block, size, offset);
    uint64_t end = part >= TIMED ? ticks() : 0;
    if (part >= STORED) {
        store(at, part,
              (struct record){.kind = 1,
                              .begin = begin,
                              .ticks = end - begin,
                              .source = (uintptr_t)__builtin_return_address(0),
                              .result = result,
                              .offset = offset,
                              .size = size,
                              .fd = at->fd,
                              .path = 1});
    }
    return result;
}

static double block_ns(struct place *at, enum part part)
{
    double begin = now_ns();
    for (int i = 0; i < RECORDS; i++) {
        off_t offset = (off_t)((size_t)at->done++ * sizeof(at->block) % FILE_BYTES);
        ssize_t result = part == PLAIN ? real(at->fd, at->block, sizeof(at->block), offset)
                                       : call(at, part, sizeof(at->block), offset);
        must(result == (ssize_t)sizeof(at->block), "pwrite");
    }
    return (now_ns() - begin) / RECORDS;
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

/* A file without a name, with `bytes` in it. */
static int make_file(const char *dir, size_t bytes)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    must(fd >= 0, dir);
    static const char zeros[4096];
    for (size_t offset = 0; offset < bytes; offset += sizeof(zeros)) {
        must(pwrite(fd, zeros, sizeof(zeros), (off_t)offset) > 0, dir);
    }
    return fd;
}

static void prepare(struct place *at, const char *dir)
{
    at->fd = make_file(dir, FILE_BYTES);
    at->ring_fd = make_file(dir, 2 * CHUNK_BYTES);
    at->end = CHUNK_BYTES;
    at->ring =
        mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, at->ring_fd, 0);
    must(at->ring != MAP_FAILED, "mmap");
}

int main(int argc, char **argv)
{
    static struct place at;
    size_t rounds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    if (rounds == 0) {
        fprintf(stderr, "usage: floor ROUNDS DIR\n");
        return 2;
    }
    prepare(&at, argv[2]);
    double *times = calloc(rounds * PARTS, sizeof(*times));
    must(times != NULL, "memory");
    for (size_t round = 0; round < rounds; round++) {
        double plain = block_ns(&at, PLAIN);
        times[round] = plain;
        for (enum part part = WRAPPED; part < PARTS; part++) {
            times[part * rounds + round] = block_ns(&at, part) - plain;
        }
    }
    for (enum part part = PLAIN; part < PARTS; part++) {
        printf("%6.1f  %s\n", median(&times[part * rounds], rounds), names[part]);
    }
    free(times);
    return 0;
}
