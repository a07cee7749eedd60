/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of transactions at random from a seed, and segments of them. */
#ifndef WIO_TESTS_TXN_FIXTURE_H
#define WIO_TESTS_TXN_FIXTURE_H

#include "trace/txn/txn.h"

#define TXN_ORIGINS 5u

struct txn_rows {
    struct wio_txn_row *rows; /* in the order of their time */
    struct wio_txn_blocker (*blockers)[WIO_TXN_BLOCKERS];
    uint32_t count;
};

/* Every field any value; half of the rows are of the attempt before. */
struct txn_rows txn_rows_make(uint32_t count, uint64_t seed);
void txn_rows_fini(struct txn_rows *rows);
/* A segment of rows `first`, first + step .. with the origins 1 .. TXN_ORIGINS of `job`, file 77
 * and server 3. Fails the test on any error. */
void txn_rows_write(const char *name, const char *job, const struct txn_rows *rows, uint32_t first,
                    uint32_t step);

#endif
