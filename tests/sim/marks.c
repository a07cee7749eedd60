/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/marks.h"

enum { BLOCK = 4096, BLOCKS = 61 };

struct mark marks_make(struct marks *marks, uint16_t target, uint64_t number)
{
    uint64_t place = marks->made++;
    return (struct mark){.is_set = true,
                         .target = target,
                         .offset = (1 + place % BLOCKS) * BLOCK + place / BLOCKS * MARK_BYTES,
                         .number = number};
}

static uint32_t writes_of(const struct history_txn *txn)
{
    uint32_t writes = 0;
    for (uint32_t a = 0; a < txn->count; a++) {
        writes += txn->accesses[a].is_write;
    }
    return writes;
}

const char *marks_check(const struct marks *marks, const struct history *history,
                        struct txn_target *const *targets)
{
    for (uint32_t t = 0; t < history->count; t++) {
        const struct mark *mark = &marks->of[t];
        const struct history_txn *txn = &history->txns[t];
        uint64_t found[2] = {0, 0};
        if (!mark->is_set) {
            continue;
        }
        txn_target_read(targets[mark->target], mark->target, mark->offset, found, sizeof(found));
        bool is_there = found[0] == mark->number;
        if (found[0] != found[1] || (!is_there && found[0] != 0)) {
            return "a blind write is half there";
        }
        if (txn->is_certain && !is_there) {
            return "a blind write of what was committed is lost";
        }
        if (writes_of(txn) > 0 && is_there != txn->is_in) {
            return "a blind write is there without its transaction, or that without it";
        }
    }
    return NULL;
}
