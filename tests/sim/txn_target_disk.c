/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root, log, segment files and recovery are the store's own. Disks lose unflushed sectors by a
 * crash, write back what they like, and fail: a target that is told so ends, and comes back.
 */
#include "sim/txn_target.h"

#include <stdlib.h>
#include <string.h>

#include "store/node/node_target.h"

enum { LOG_SEGMENT = 256 << 10, CHECKPOINT = 128 << 10 };

struct txn_target {
    struct txn_target_config config;
    struct wio_io *io;
    struct node_target *target;
    uint64_t crashes;
    uint64_t failures;
    uint64_t recovered;
    uint64_t checkpoints;
    bool is_restarting;
};

static struct wio_sim_node *node_of(const struct txn_target *target)
{
    const struct txn_target_config *own = &target->config;
    return wio_sim_node(own->sim, own->addresses[own->self] + strlen("unix:"));
}

static void end(struct txn_target *target)
{
    struct node_target_stat stat;
    node_target_stats(target->target, &stat);
    target->recovered += stat.stable.recovered_records;
    target->checkpoints += stat.stable.checkpoints;
    node_target_destroy(target->target);
    target->target = NULL;
}

static void start(struct txn_target *target);

/* The process ends; what it wrote stays in the page cache. */
static void restart(void *context)
{
    struct txn_target *target = context;
    if (target->is_restarting) {
        target->is_restarting = false;
        wio_sim_kill(target->io);
        end(target);
        start(target);
    }
}

static void failed(void *context, const struct wio_error *why)
{
    struct txn_target *target = context;
    (void)why;
    target->failures++;
    target->is_restarting = true;
    wio_sim_later(target->config.sim, 1, restart, target);
}

static void start(struct txn_target *target)
{
    const struct txn_target_config *own = &target->config;
    struct wio_sim_options *options = wio_sim_options(own->sim);
    const struct node_target_config config = {
        .link = own->link,
        .addresses = own->addresses,
        .self = own->self,
        .targets = own->targets,
        .policy = WIO_LOCK_WOUND_WAIT,
        .log_segment_bytes = LOG_SEGMENT,
        .checkpoint_bytes = own->checkpoint_bytes > 0 ? own->checkpoint_bytes : CHECKPOINT,
        .admission = own->admission,
        .failed = failed,
        .context = target};
    struct wio_error err = WIO_ERROR_INIT;
    unsigned flush_fails = options->flush_fails;
    options->flush_fails = 0; /* a start that fails is repeated by hand: not of interest here */
    target->io = wio_sim_start(node_of(target));
    if (node_target_create(target->io, &config, &target->target, &err) != WIO_OK ||
        node_target_listen(target->target, own->addresses[own->self], NULL, &err) != WIO_OK) {
        sim_fail("target %u: %s: %s", own->self, err.file, err.message);
    }
    options->flush_fails = flush_fails;
}

void txn_target_faults(struct wio_sim_options *options, bool is_stable)
{
    options->write_back = 100000;
    options->slow_disk = 500;
    options->flush_fails = is_stable ? 5000 : 0; /* a restart loses what is volatile */
}

struct txn_target *txn_target_create(const struct txn_target_config *config)
{
    struct txn_target *target = calloc(1, sizeof(*target));
    if (target == NULL) {
        sim_fail("out of memory");
    }
    target->config = *config;
    start(target);
    return target;
}

void txn_target_crash(struct txn_target *target)
{
    target->is_restarting = false;
    target->crashes++;
    if (wio_sim_random(target->config.sim) % 2 == 0) {
        wio_sim_crash(node_of(target));
    } else {
        wio_sim_kill(target->io);
    }
    end(target);
    start(target);
}

void txn_target_read(struct txn_target *target, uint32_t segment, uint64_t offset, void *data,
                     size_t size)
{
    struct wio_backing *backing = node_target_backing(target->target);
    size_t got = 0;
    memset(data, 0, size);
    if (backing->ops->read(backing, 1, segment, offset, data, size, &got, NULL) != WIO_OK) {
        sim_fail("target %u cannot be read", target->config.self);
    }
}

struct wio_server *txn_target_server(struct txn_target *target)
{
    (void)target;
    return NULL; /* what is below a node is its own */
}

struct wio_server_stat txn_target_stat(const struct txn_target *target)
{
    struct node_target_stat stat;
    node_target_stats(target->target, &stat);
    return stat.server;
}

uint64_t txn_target_moment(const struct txn_target *target)
{
    struct node_target_stat stat;
    node_target_stats(target->target, &stat);
    return stat.stable.checkpoints;
}

void txn_target_totals(const struct txn_target *target, struct sim_totals *totals)
{
    sim_total(totals, "ended by their disk", target->failures);
    sim_total(totals, "records recovered", target->recovered);
    sim_total(totals, "checkpoints", target->checkpoints);
}

void txn_target_destroy(struct txn_target *target)
{
    node_target_destroy(target->target);
    free(target);
}
