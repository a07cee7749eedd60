/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls by 1,000 call sites at depth 40: `PROGRAM own|library ROUNDS`, each round calls each site
 * once, in a file in the working directory. Says what a call took, in ns. Compiled once more as a
 * library with the name of an I/O library, which has the same sites.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 40
#define SITES 1000
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

#define SITE(number)                                                                               \
    case number:                                                                                   \
        (void)!pwrite(fd, "sixteen bytes...", 16, 0);                                              \
        break;
#define SITES_10(tens)                                                                             \
    SITE(tens##0)                                                                                  \
    SITE(tens##1)                                                                                  \
    SITE(tens##2)                                                                                  \
    SITE(tens##3)                                                                                  \
    SITE(tens##4)                                                                                  \
    SITE(tens##5)                                                                                  \
    SITE(tens##6)                                                                                  \
    SITE(tens##7)                                                                                  \
    SITE(tens##8)                                                                                  \
    SITE(tens##9)
#define SITES_100(hundreds)                                                                        \
    SITES_10(hundreds##0)                                                                          \
    SITES_10(hundreds##1)                                                                          \
    SITES_10(hundreds##2)                                                                          \
    SITES_10(hundreds##3)                                                                          \
    SITES_10(hundreds##4)                                                                          \
    SITES_10(hundreds##5)                                                                          \
    SITES_10(hundreds##6)                                                                          \
    SITES_10(hundreds##7)                                                                          \
    SITES_10(hundreds##8)                                                                          \
    SITES_10(hundreds##9)

#if defined(STACKS_LIBRARY)
#define DIVE stacks_library_dive
#else
#define DIVE own_dive
void stacks_library_dive(int fd, unsigned site, int depth);
#endif

void DIVE(int fd, unsigned site, int depth);

/* 1,000 to 1,999: numbers of one length. */
__attribute__((noinline)) void DIVE(int fd, unsigned site, int depth)
{
    if (depth > 0) {
        DIVE(fd, site, depth - 1);
        AFTER_CALL();
        return;
    }
    switch (site) {
        SITES_100(10)
        SITES_100(11)
        SITES_100(12)
        SITES_100(13)
        SITES_100(14)
        SITES_100(15)
        SITES_100(16)
        SITES_100(17)
        SITES_100(18)
        SITES_100(19)
    default:
        break;
    }
    AFTER_CALL();
}

#if !defined(STACKS_LIBRARY)

int main(int argc, char **argv)
{
    const int is_own = argc > 1 && strcmp(argv[1], "own") == 0;
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    const int fd = open("stacks", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct timespec begin;
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int round = 0; round < rounds; round++) {
        for (unsigned site = SITES; site < 2 * SITES; site++) {
            (is_own ? own_dive : stacks_library_dive)(fd, site, DEPTH);
        }
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    (void)printf("%.1f\n", ns / rounds / SITES);
    return fd < 0;
}

#endif
