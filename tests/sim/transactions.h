/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of transactions.c share: the run, its clients and their transactions, faults. */
#ifndef WIO_TESTS_SIM_TRANSACTIONS_H
#define WIO_TESTS_SIM_TRANSACTIONS_H

#include "sim/marks.h"
#include "sim/runner.h"
#include "sim/sim.h"
#include "sim/txn_target.h"
#include "store/session/session.h"
#include "unit/store/client/history.h"

#define SECOND_NS UINT64_C(1000000000)
#define HASTY_LEASE_NS (SECOND_NS / 25)

enum { TARGETS = 3, CLIENTS = 4, ACTORS = 3, CELLS = 12, CELL_BYTES = 16, ACCESSES = 4 };

struct actor {
    struct txn_client *client;
    struct wio_coord_txn *txn; /* NULL: it rests */
    uint32_t answered;
    bool is_writing;
    bool finishes; /* the last write goes with the commit */
    uint32_t last; /* .. that one */
    uint32_t count;
    struct history_access accesses[HISTORY_ACCESSES];
    struct mark mark; /* of a hasty run: the last write, where it is set */
    uint8_t data[HISTORY_ACCESSES][CELL_BYTES];
};

struct txn_client {
    struct transactions *run;
    struct wio_io *io;
    struct wio_session *session;
    struct actor actors[ACTORS];
};

struct transactions {
    struct wio_sim *sim;
    bool is_stable;
    bool may_finish; /* some transactions do */
    bool is_hasty;   /* leases and votes are short beside the steps, and faults have more kinds */
    bool may_kill;   /* clients, of a hasty run */
    bool is_ending;
    const char *fault;
    struct wio_link_config link;
    struct wio_link_config new_link;   /* of clients that know admission */
    struct wio_admit_total *admission; /* NULL: targets know none */
    struct txn_target *targets[TARGETS];
    struct txn_client clients[CLIENTS];
    uint64_t clients_made;
    uint64_t versions;
    uint64_t uncertain;
    uint64_t retries;
    uint64_t wounds;
    uint64_t restarts;
    uint64_t paced;
    uint64_t overloads;
    uint64_t given_up;
    uint64_t kills;
    uint64_t moments[TARGETS]; /* txn_target_moment, of a hasty run */
    uint64_t at_moments;       /* targets that were ended then */
    struct history history;
    struct marks marks;
};

/* By the simulation's chance. */
uint64_t below(struct transactions *run, uint64_t limit);

/* ---- actors.c ---- */

extern const char *const transactions_addresses[TARGETS];
/* Some actor that rests begins; and so on, until the run is ending. */
void actors_begin(void *context);
const char *actors_client_name(unsigned i);
void actors_start_client(struct transactions *run, unsigned i);
void actors_kill_client(struct transactions *run, unsigned i);
/* Its statistics, before its end. */
void actors_count_client(struct transactions *run, const struct txn_client *client);

/* ---- disturb.c ---- */

/* One step, in which the world may fail by itself. */
void disturb_step(struct transactions *run);
/* A fault, or the end of all; and so on, until the run is ending. */
void disturb(void *context);

#endif
