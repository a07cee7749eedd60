/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocked what, by rules of its own: beside each simulated target a plain list of all locks
 * and waiting requests, kept by what the target is asked and answers, never by what it says of
 * blockers. Out of it come the pairs (victim, blocker, server) that an exact explanation has to
 * name, with their aborts, waits and kinds of conflict.
 *
 * Files have their size beforehand: sizes are not locked. Transactions are named by (client,
 * number).
 */
#ifndef WIO_TESTS_SIM_TRUTH_H
#define WIO_TESTS_SIM_TRUTH_H

#include "explain/aborts/exact.h"
#include "store/server/server.h"

enum { TRUTH_TARGETS = 3 };

struct truth_name {
    uint64_t client;
    uint64_t number;
};

struct truth_pair {
    struct truth_name victim;
    struct truth_name blocker;
    uint64_t server; /* compared as bytes: no member is less wide */
    uint64_t aborts;
    uint64_t waits;
    uint64_t by_conflict[WIO_CONFLICTS];
};

struct truth;

/* Fails the program where memory runs out, and so do all. */
struct truth *truth_create(void);
void truth_destroy(struct truth *truth);
/* Listens to a target, and hands on to `next`. It lives as long as the server. */
void truth_listen(struct truth *truth, uint16_t target, struct wio_server *server);
/* After the run: sorted by victim, blocker, server. Valid until it is destroyed. */
const struct truth_pair *truth_pairs(struct truth *truth, uint32_t *count_out);
int truth_compare(const void *a, const void *b);
/* Wounds of which more than one request could have been the reason. */
uint64_t truth_ambiguous(const struct truth *truth);

#endif
