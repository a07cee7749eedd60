/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blind writes beside those of the history: a transaction may leave one number, in a place that no
 * other write has, at any target, so also at one that it has not touched before. The numbers are
 * spread over blocks that are rarely written again, so that nothing mends what was lost there.
 */
#ifndef WIO_TESTS_SIM_MARKS_H
#define WIO_TESTS_SIM_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/txn_target.h"
#include "unit/store/client/history.h"

enum { MARK_BYTES = 16 };

struct mark {
    bool is_set;
    uint16_t target; /* and segment of file 1 */
    uint64_t offset;
    uint64_t number; /* twice */
};

struct marks {
    uint64_t made;
    struct mark of[HISTORY_TXNS]; /* by the transaction's place in the history */
};

/* A place of its own, behind the first block. */
struct mark marks_make(struct marks *marks, uint16_t target, uint64_t number);
/* After history_check: each is there with its transaction, or not at all. NULL: so it is. */
const char *marks_check(const struct marks *marks, const struct history *history,
                        struct txn_target *const *targets);

#endif
