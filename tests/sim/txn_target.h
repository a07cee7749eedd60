/* SPDX-License-Identifier: Apache-2.0 */
/* A target of transactions.c: on memory (txn_target_memory.c) or on the real storage over a
 * simulated disk (txn_target_disk.c). */
#ifndef WIO_TESTS_SIM_TXN_TARGET_H
#define WIO_TESTS_SIM_TXN_TARGET_H

#include "sim/runner.h"
#include "sim/sim.h"
#include "store/link/link.h"
#include "store/server/server.h"
#include "store/trace/tracer.h"

struct txn_target;

struct txn_target_config {
    struct wio_sim *sim;
    const struct wio_link_config *link; /* lives as long */
    const char *const *addresses;       /* "unix:" and the node's name */
    uint16_t self;
    uint16_t targets;
    /* of txn_target_memory.c alone: */
    enum wio_lock_policy policy;
    uint64_t lock_timeout_ns;
    struct wio_tracer *tracer;         /* NULL: none */
    uint64_t prefilled_bytes;          /* of each segment of file 1, zeros */
    struct wio_admit_total *admission; /* NULL: none */
    uint64_t checkpoint_bytes;         /* of txn_target_disk.c alone; 0: its default */
};

/* Set the simulation's faults of disks, before targets are made. */
void txn_target_faults(struct wio_sim_options *options, bool is_stable);
struct txn_target *txn_target_create(const struct txn_target_config *config);
/* Its node loses power, and comes back. */
void txn_target_crash(struct txn_target *target);
/* What is committed there. */
void txn_target_read(struct txn_target *target, uint32_t segment, uint64_t offset, void *data,
                     size_t size);
/* Of the process that runs now, to be observed; NULL where it cannot be reached. */
struct wio_server *txn_target_server(struct txn_target *target);
struct wio_server_stat txn_target_stat(const struct txn_target *target);
/* Changes at moments in which a crash is worth more than at others: a checkpoint has ended. */
uint64_t txn_target_moment(const struct txn_target *target);
void txn_target_totals(const struct txn_target *target, struct sim_totals *totals);
void txn_target_destroy(struct txn_target *target);

#endif
