/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that try many seeds. A failure prints the command that repeats it and ends with 1.
 *
 *     PROGRAM [--seed=N] [--seeds=N] [--seconds=N] [--steps=N] [--log] [--table]
 */
#ifndef WIO_TESTS_SIM_RUNNER_H
#define WIO_TESTS_SIM_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/link/link.h"

struct sim_arguments {
    uint64_t seed;    /* the first one */
    uint64_t seeds;   /* 0: as many as the time allows */
    uint64_t seconds; /* of the machine's clock; 0: no limit */
    uint64_t steps;   /* of each */
    FILE *log;        /* NULL: none */
    bool has_table;   /* of states and faults, at the end; of those that have one */
};

/* Sums over all seeds, printed at the end: a test that never met a fault shows it. */
struct sim_totals {
    const char *names[32];
    uint64_t values[32];
    unsigned count;
};
void sim_total(struct sim_totals *totals, const char *name, uint64_t value);

typedef void sim_run_seed(const struct sim_arguments *arguments, uint64_t seed,
                          struct sim_totals *totals);

/* `print_table` may be NULL. */
int sim_main(int argc, char **argv, sim_run_seed *run, void (*print_table)(void));

/* The seed that runs has failed. */
_Noreturn void sim_fail(const char *fmt, ...) WIO_PRINTF(1, 2);

/* AUTH_KEY, or AUTH_OPEN where whyio has no libsodium. */
enum wio_wire_auth sim_auth_with_key(void);

#endif
