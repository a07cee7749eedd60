/* SPDX-License-Identifier: Apache-2.0 */
/* In which states of the protocol transactions were when a fault happened: sums over all seeds. */
#ifndef WIO_TESTS_SIM_PAIRS_H
#define WIO_TESTS_SIM_PAIRS_H

#include "store/client/coord.h"
#include "store/server/server.h"

enum pair_fault {
    PAIR_CLIENT_KILLED,
    PAIR_CLIENT_CUT_OFF,
    PAIR_TARGETS_CUT,
    PAIR_TARGET_ENDS, /* without power, or killed */
    PAIR_RESET,       /* of a connection */
    PAIR_FLUSH_FAILS,
    PAIR_FAULTS
};

/* Each transaction of the client, or at the target, counts once. */
void pairs_coord(enum pair_fault fault, struct wio_coord *coord);
/* NULL: nothing. */
void pairs_server(enum pair_fault fault, struct wio_server *server);
/* The table, and how many pairs were seen less than ten times. */
void pairs_print(void);

#endif
