/* SPDX-License-Identifier: Apache-2.0 */
/* The transactions whose outcome has to be remembered: prepared, committed, aborted (tombstones),
 * by client and number. The latest attempt counts. */
#ifndef WIO_STORE_STORAGE_OUTCOMES_H
#define WIO_STORE_STORAGE_OUTCOMES_H

#include "base/buf.h"
#include "base/pair_map.h"
#include "store/storage/stable.h"

struct outcome {
    struct wio_txn txn;
    enum wio_stable_outcome state; /* UNKNOWN: the place is free */
    bool is_waiting;               /* its vote is to be logged: the log has nothing of it yet */
    bool has_tombstone;            /* .. but that of an earlier attempt */
    uint32_t tombstone_attempt;
    uint16_t participant_count;
    uint16_t *participants; /* owned */
    struct wio_blob redo;   /* of a prepared one: its changes without images */
};

/* Zero-initialise, then outcomes_init. */
struct outcomes {
    struct outcome *places;
    uint32_t count; /* places in use or free */
    uint32_t capacity;
    uint32_t known;
    struct wio_pair_map index;
};

void outcomes_init(struct outcomes *outcomes);
void outcomes_fini(struct outcomes *outcomes);
/* Of any attempt; NULL: nothing is known. Valid until the next put. */
struct outcome *outcomes_get(const struct outcomes *outcomes, const struct wio_txn *txn);
/* What is known of the transaction from now on; copies, what was known before is dropped. */
WIO_MUST_CHECK enum wio_status outcomes_put(struct outcomes *outcomes, const struct wio_txn *txn,
                                            enum wio_stable_outcome state,
                                            const struct wio_log_record *record,
                                            const struct wio_blob *redo);
void outcomes_remove(struct outcomes *outcomes, const struct wio_txn *txn);
/* A vote that is to be logged: PREPARED from now on. A tombstone of an earlier attempt is kept with
 * it, as it stands until the vote is in the log. */
WIO_MUST_CHECK enum wio_status outcomes_put_waiting(struct outcomes *outcomes,
                                                    const struct wio_log_record *record,
                                                    const struct wio_blob *redo);
/* The vote is in the log, or never will be: then what was known before it is known again. Another
 * attempt, or one that is not known, is left alone. */
void outcomes_logged(struct outcomes *outcomes, const struct wio_txn *txn, bool is_logged);
/* The outcome is decided: the redo is not needed any more. */
void outcome_decide(struct outcome *outcome, bool is_committed);

#endif
