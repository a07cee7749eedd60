/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/pairs.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/client/coord_internal.h"
#include "store/server/server_internal.h"

enum { COORD_STATES = COORD_FORGETTING + 1, SERVER_STATES = SERVER_PREPARED + 1, ENOUGH = 10 };

/* Of the coordinator, at a target, and there without a client. */
enum { ROWS = COORD_STATES + 2 * SERVER_STATES };

static uint64_t seen[ROWS][PAIR_FAULTS];

static const char *const rows[ROWS] = {
    "client: rests", "client: operations", "client: aborts",   "client: commits",
    "client: votes", "client: decided",    "client: forgets",  "target: operations",
    "target: logs",  "target: votes",      "target: prepared", "target, client gone: operations",
    "  .. logs",     "  .. votes",         "  .. in doubt",
};

static const char *const faults[PAIR_FAULTS] = {"client killed", "client cut off", "targets cut",
                                                "target ends",   "reset",          "flush fails"};

void pairs_coord(enum pair_fault fault, struct wio_coord *coord)
{
    const struct wio_coord_txn *txn;
    TAILQ_FOREACH(txn, &coord->txns, by_coord)
    {
        seen[txn->state][fault]++;
    }
}

void pairs_server(enum pair_fault fault, struct wio_server *server)
{
    const struct server_session *session;
    const struct server_txn *txn;
    if (server == NULL) {
        return;
    }
    TAILQ_FOREACH(session, &server->leases, by_lease)
    {
        TAILQ_FOREACH(txn, &session->txns, by_session)
        {
            seen[COORD_STATES + txn->state][fault]++;
        }
    }
    TAILQ_FOREACH(txn, &server->gone, by_session)
    {
        seen[COORD_STATES + SERVER_STATES + txn->state][fault]++;
    }
}

void pairs_print(void)
{
    unsigned rare = 0;
    printf("\n%-34s", "state when it happened");
    for (unsigned fault = 0; fault < PAIR_FAULTS; fault++) {
        printf("%15s", faults[fault]);
    }
    for (unsigned row = 0; row < ROWS; row++) {
        printf("\n%-34s", rows[row]);
        for (unsigned fault = 0; fault < PAIR_FAULTS; fault++) {
            printf("%15" PRIu64, seen[row][fault]);
            rare += seen[row][fault] < ENOUGH;
        }
    }
    printf("\n%u of %u pairs were seen less than %d times\n", rare, (unsigned)(ROWS * PAIR_FAULTS),
           ENOUGH);
}
