/* SPDX-License-Identifier: Apache-2.0 */
/* The transactions that clients have committed last, by name alone: a client whose answer was lost
 * asks again, also when a checkpoint and a crash have come between (docs/STORE-FORMAT.md
 * section 2). Of each client as many as it may have under way; of so many clients, those that have
 * committed last. */
#ifndef WIO_STORE_STORAGE_RECENTS_H
#define WIO_STORE_STORAGE_RECENTS_H

#include "base/pair_map.h"
#include "lock/types.h"

enum { RECENTS_OF_CLIENT = 64, RECENTS_CLIENTS = 1024 };

struct recent_client {
    struct wio_txn txns[RECENTS_OF_CLIENT]; /* a ring */
    uint64_t count;                         /* that were added so far */
    uint64_t stamp;                         /* of the last one, over all clients */
};

struct recents {
    struct recent_client *clients; /* RECENTS_CLIENTS of them, once there is one */
    uint32_t count;
    uint64_t stamp;
    struct wio_pair_map index; /* client -> place */
};

void recents_init(struct recents *recents);
void recents_fini(struct recents *recents);
/* What is there already is not added again. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status recents_add(struct recents *recents, const struct wio_txn *txn);
/* One a call, each client's in the order of their commits; begin with *place = 0. False: no more.
 */
bool recents_next(const struct recents *recents, uint32_t *place, struct wio_txn *txn_out);

#endif
