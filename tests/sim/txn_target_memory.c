/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/txn_target.h"

#include <stdlib.h>
#include <string.h>

#include "store/session/target.h"
#include "support/store/memory_backing.h"

#define FLUSH_NS UINT64_C(200000)
#define WORK_NS UINT64_C(200000)
#define LONG_NS UINT64_C(3000000)

struct txn_target {
    struct txn_target_config config;
    struct memory_backing memory;
    struct wio_io *io;
    struct wio_target *target;
};

static void start(struct txn_target *target)
{
    const struct txn_target_config *own = &target->config;
    struct wio_target_config config = {.link = *own->link,
                                       .addresses = own->addresses,
                                       .tracer = own->tracer,
                                       .admission = own->admission};
    struct wio_error err = WIO_ERROR_INIT;
    const char *address = own->addresses[own->self];
    config.server = (struct wio_server_config){.self = own->self,
                                               .targets = own->targets,
                                               .policy = own->policy,
                                               .lock_timeout_ns = own->lock_timeout_ns,
                                               .clients_max = 64,
                                               .txns_max = 256,
                                               .calls_max = 256,
                                               .locks_max = 4096,
                                               .outcomes_max = 4096,
                                               .txn_bytes_max = 65536,
                                               .update_bytes_max = 1 << 20,
                                               .backing = &target->memory.base};
    struct wio_io *io = wio_sim_start(wio_sim_node(own->sim, address + strlen("unix:")));
    target->io = io;
    if (wio_target_create(io, &config, &target->target, &err) != WIO_OK ||
        memory_backing_replay(&target->memory, wio_target_server(target->target),
                              io->ops->now_ns(io)) != WIO_OK ||
        wio_target_listen(target->target, address, NULL, &err) != WIO_OK) {
        sim_fail("target %u: %s", own->self, err.message);
    }
}

/* With admission there is a load: now and then a long one. */
static void work(void *context)
{
    struct txn_target *target = context;
    struct wio_sim *sim = target->config.sim;
    wio_sim_spend(target->io,
                  wio_sim_random(sim) % (wio_sim_chance(sim, 50000) ? LONG_NS : WORK_NS));
}

/* The log of the memory: a flush ends now and then. */
static void flush(void *context)
{
    struct txn_target *target = context;
    struct wio_sim *sim = target->config.sim;
    if (target->memory.wants_flush) {
        wio_target_durable(target->target, memory_backing_flush(&target->memory), true);
    }
    wio_sim_later(sim, FLUSH_NS + wio_sim_random(sim) % FLUSH_NS, flush, target);
}

void txn_target_faults(struct wio_sim_options *options, bool is_stable)
{
    (void)options;
    (void)is_stable;
}

static void prefill(struct txn_target *target)
{
    static const uint8_t zeros[4096];
    struct wio_backing *backing = &target->memory.base;
    for (uint32_t segment = 0; segment < target->config.targets; segment++) {
        const struct wio_update update = {.kind = WIO_UPDATE_WRITE,
                                          .segment = segment,
                                          .file = 1,
                                          .size = target->config.prefilled_bytes,
                                          .data = zeros};
        if (update.size > sizeof(zeros) ||
            backing->ops->apply(backing, &update, 1, false, NULL) != WIO_OK) {
            sim_fail("a segment could not be filled");
        }
    }
}

struct txn_target *txn_target_create(const struct txn_target_config *config)
{
    struct txn_target *target = calloc(1, sizeof(*target));
    if (target == NULL) {
        sim_fail("out of memory");
    }
    target->config = *config;
    memory_backing_init(&target->memory);
    if (config->prefilled_bytes > 0) {
        prefill(target);
    }
    target->memory.work = config->admission != NULL ? work : NULL;
    target->memory.work_context = target;
    start(target);
    wio_sim_later(config->sim, FLUSH_NS, flush, target);
    return target;
}

void txn_target_crash(struct txn_target *target)
{
    const struct txn_target_config *own = &target->config;
    wio_sim_crash(wio_sim_node(own->sim, own->addresses[own->self] + strlen("unix:")));
    wio_target_destroy(target->target);
    memory_backing_crash(&target->memory);
    start(target);
}

void txn_target_read(struct txn_target *target, uint32_t segment, uint64_t offset, void *data,
                     size_t size)
{
    uint64_t there = 0;
    const uint8_t *bytes = memory_backing_bytes(&target->memory, 1, segment, &there);
    memset(data, 0, size);
    if (there >= offset + size) {
        memcpy(data, bytes + offset, size);
    }
}

struct wio_server *txn_target_server(struct txn_target *target)
{
    return wio_target_server(target->target);
}

struct wio_server_stat txn_target_stat(const struct txn_target *target)
{
    return wio_server_stat(wio_target_server(target->target));
}

uint64_t txn_target_moment(const struct txn_target *target)
{
    (void)target;
    return 0;
}

void txn_target_totals(const struct txn_target *target, struct sim_totals *totals)
{
    (void)target;
    (void)totals;
}

void txn_target_destroy(struct txn_target *target)
{
    wio_target_destroy(target->target);
    memory_backing_fini(&target->memory);
    free(target);
}
