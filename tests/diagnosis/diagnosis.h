/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of the diagnosis suite share. Each has one planted cause of slowness at the
 * lines marked CAUSE, and a variant in which it is mended: PROGRAM slow|mended, in a directory of
 * its own. Nothing here is about whyio.
 */
#ifndef DIAGNOSIS_H
#define DIAGNOSIS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char buffer[8 << 20] __attribute__((unused));

static inline void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* The variant: is the cause there? */
static inline bool is_slow(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "slow") != 0 && strcmp(argv[1], "mended") != 0)) {
        fprintf(stderr, "usage: PROGRAM slow|mended\n");
        exit(2);
    }
    return strcmp(argv[1], "slow") == 0;
}

static inline int open_to_write(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        fail(name);
    }
    return fd;
}

/* A file of zeros that takes no time to make. */
static inline int open_zeros(const char *name, off_t bytes)
{
    int fd = open_to_write(name);
    if (ftruncate(fd, bytes) != 0) {
        fail(name);
    }
    return fd;
}

/* Processor time, not wall time. */
static inline void compute_ms(long ms)
{
    struct timespec begin;
    struct timespec now;
    volatile double x = 1;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 10000; i++) {
            x = x * 1.0000001;
        }
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

#endif
