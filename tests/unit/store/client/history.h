/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What committed transactions read and wrote, and whether one order explains it. Every write reads
 * its cell before, and writes a number that no other write has: so the versions of a cell are a
 * chain, from what is there at the end back to 0. Checked in time linear in the accesses:
 *  - each write of a committed transaction is in its cell's chain, and nothing else is;
 *  - of a transaction whose outcome the client did not hear, all writes are, or none;
 *  - what was read is in the chain;
 *  - "wrote before", "read what it wrote" and "read what it overwrote" have no cycle
 *    (serialisability: Bernstein, Hadzilacos, Goodman, 1987, section 2.3).
 */
#ifndef WIO_TESTS_STORE_CLIENT_HISTORY_H
#define WIO_TESTS_STORE_CLIENT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_ACCESSES 6
#define HISTORY_CELLS 64
#define HISTORY_TXNS 20000

struct history_access {
    uint32_t cell;
    bool is_write;
    uint64_t seen;    /* the version that was read */
    uint64_t written; /* is_write: the one that took its place */
};

struct history_txn {
    bool is_certain; /* the client was told that it has committed */
    bool is_in;      /* its writes are in the chains, or it has none */
    uint32_t count;
    struct history_access accesses[HISTORY_ACCESSES];
};

struct history {
    uint32_t count;
    struct history_txn txns[HISTORY_TXNS];
};

struct history_txn *history_add(struct history *history);
/* NULL: one order explains it all. Else what does not fit. `last`: the cells at the end. */
const char *history_check(struct history *history, const uint64_t last[HISTORY_CELLS]);

#endif
