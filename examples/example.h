/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the example programs share: options, files that must work, and a pattern that tells every
 * byte of every block apart. Nothing here is about whyio: the examples are ordinary MPI programs.
 *
 * Errors: an example that cannot do its work says what failed and ends all ranks (MPI_Abort).
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Set the fields that the program has defaults for, then call example_init. */
struct example {
    const char *name;  /* of the program: its files are DIR/NAME.* */
    const char *dir;   /* -d DIR: where its files live, default "." */
    size_t block;      /* -b BYTES: of one read or write, with K, M or G */
    int rounds;        /* -n ROUNDS: how often */
    double compute_ms; /* -c MS: processor time between two steps */
    int rank;          /* filled in: of this process */
    int ranks;         /* filled in: of how many */
};

/* MPI_Init, options, rank. Ends the program for --help and for wrong options. */
void example_init(struct example *ex, int *argc, char ***argv);

/* Wait for all ranks, let rank 0 print one line, MPI_Finalize. Returns 0, main's result. */
int example_finish(const struct example *ex, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "example: rank 2: write 'x': No space left on device", then MPI_Abort. */
_Noreturn void example_fail(const struct example *ex, const char *what, const char *path);

/* Open DIR/NAME.SUFFIX with open(2)'s flags; never fails. */
int example_open(const struct example *ex, const char *suffix, int flags);

/* All ranks: open one file for reading and writing. Rank 0 makes it before the others open it, so
 * that no rank writes into it before it is empty. */
int example_open_together(const struct example *ex, const char *suffix);

/* pread/pwrite of exactly `bytes` bytes; never fail, never come back short. */
void example_pwrite(const struct example *ex, int fd, const void *buf, size_t bytes, off_t offset);
void example_pread(const struct example *ex, int fd, void *buf, size_t bytes, off_t offset);

/* A block for `key`, and the check that a block is the one for `key` (ends the program if not). */
void example_fill(void *block, size_t bytes, uint64_t key);
void example_verify(const struct example *ex, const void *block, size_t bytes, uint64_t key);

/* Memory that must be there. */
void *example_alloc(const struct example *ex, size_t bytes);

/* Use `ms` milliseconds of this processor, like a time step of a simulation. */
void example_compute(double ms);

/* One step of a small generator of pseudo-random numbers: the same on every machine. */
uint64_t example_random(uint64_t *state);

#endif
