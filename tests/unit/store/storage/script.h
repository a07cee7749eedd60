/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeded workloads for a stable store, with what it has to hold after each step. Step i is the i-th
 * thing that is logged; the store notes i on the disk when it is acknowledged. Prepared
 * transactions change the even slots of file 3, others the odd ones: both lie in the same blocks,
 * as locks allow.
 */
#ifndef WIO_TESTS_STORE_SCRIPT_H
#define WIO_TESTS_STORE_SCRIPT_H

#include "store/storage/stable.h"

enum {
    SCRIPT_STEPS = 48,
    SCRIPT_FILES = 3, /* 1 .. 3, of two segments */
    SCRIPT_SEGMENTS = 2,
    SCRIPT_CHANGES = 3
};

enum step_kind { STEP_COMMIT, STEP_PREPARE, STEP_DECIDE, STEP_TOMBSTONE, STEP_APPLY, STEP_FORGET };

struct step {
    enum step_kind kind;
    struct wio_txn txn;
    struct wio_redo_change changes[SCRIPT_CHANGES]; /* data is owned by the script */
    size_t count;
    unsigned other;     /* DECIDE, FORGET: the step that prepared; PREPARE: the one that decides */
    bool is_committed;  /* PREPARE, DECIDE */
    bool has_turn;      /* the loop turns behind it */
    bool is_refused;    /* by script_refuse */
    bool is_checkpoint; /* one is asked for before it */
};

struct script {
    struct step steps[SCRIPT_STEPS + 1]; /* from 1 */
    uint32_t expected[SCRIPT_STEPS + 1]; /* what the segments hold when so many are durable */
};

/* free with script_fini. */
void script_make(struct script *script, uint64_t seed);
void script_fini(struct script *script);
/* The store refused the step: nothing of it is to be there. */
void script_refuse(struct script *script, unsigned step);
/* What a storage holds, to be compared with `expected`. */
uint32_t script_contents(struct wio_storage *storage);

#endif
