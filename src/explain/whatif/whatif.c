/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/whatif/whatif.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "explain/whatif/whatif_world.h"

#define ABORTS_PER_TRANSACTION 100u /* above: no result */
/* Events of a run for each request: above, it has no end that is worth waiting for. */
#define EVENTS_PER_REQUEST 128u

/* ---- clients ---- */

/* From the release of its locks until the first request of the next attempt has come. A pause
 * begins when the client hears of the refusal, at about the same time. */
static uint64_t again_of(const struct wio_whatif_world *world,
                         const struct wio_whatif_runner *runner)
{
    const struct wio_replay_txn *txn = &world->replays->txns[runner->txn];
    const struct wio_whatif_costs *costs = world->costs;
    uint64_t receive_ns = runner->plan.pieces[0].receive_ns;
    uint64_t again_ns = costs->again_ns;
    if (!runner->is_wounded) {
        int64_t pause_ns = (int64_t)wio_replay_pause_ns(txn->client, txn->number, runner->attempt) +
                           costs->late_ns;
        again_ns = pause_ns > (int64_t)again_ns ? (uint64_t)pause_ns : again_ns;
    }
    return again_ns > receive_ns ? again_ns - receive_ns : 0;
}

/* The client has heard, and the servers have heard of it. */
static enum wio_status abort_attempt(struct wio_whatif_world *world,
                                     struct wio_whatif_runner *runner)
{
    uint64_t again_ns = again_of(world, runner);
    wio_whatif_release(world, runner);
    world->result.aborts++;
    runner->is_ending = false;
    runner->next = 0;
    runner->outstanding = 0;
    runner->attempt++;
    runner->epoch++;
    return wio_whatif_later(world, runner, WIO_WHATIF_ISSUE, again_ns, 0);
}

/* The next piece, and those that are sent with it. */
static enum wio_status issue(struct wio_whatif_world *world, struct wio_whatif_runner *runner)
{
    do {
        WIO_TRY(wio_whatif_send(world, runner, runner->next++));
    } while (runner->next < runner->plan.count && runner->plan.pieces[runner->next].is_beside);
    return WIO_OK;
}

static enum wio_status go_on(struct wio_whatif_world *world, struct wio_whatif_runner *runner)
{
    if (runner->next < runner->plan.count) {
        return wio_whatif_later(world, runner, WIO_WHATIF_ISSUE,
                                runner->plan.pieces[runner->next].after_ns, 0);
    }
    return wio_whatif_later(world, runner, WIO_WHATIF_END, runner->plan.hold_ns, 0);
}

/* The client's next transaction, `behind_ns` later than in the trace. */
static enum wio_status begin_next(struct wio_whatif_world *world, struct wio_whatif_runner *runner,
                                  uint64_t behind_ns)
{
    const struct wio_replay_txn *txn = &world->replays->txns[runner->txn];
    WIO_TRY(wio_whatif_plan(&runner->plan, world->replays, txn, world->change, world->file_of,
                            world->arg));
    world->result.requests_cut += runner->plan.cut;
    return wio_whatif_later(world, runner, WIO_WHATIF_BEGIN,
                            txn->after_ns - runner->plan.lead_ns + behind_ns, 0);
}

static enum wio_status begin(struct wio_whatif_world *world, struct wio_whatif_runner *runner)
{
    runner->attempt = 1;
    runner->birth_ns = world->now_ns;
    runner->next = 0;
    runner->outstanding = 0;
    return go_on(world, runner);
}

static enum wio_status end(struct wio_whatif_world *world, struct wio_whatif_runner *runner)
{
    wio_whatif_release(world, runner);
    runner->is_ending = false;
    runner->epoch++;
    world->result.transactions++;
    world->last_end_ns = world->now_ns;
    runner->txn = world->replays->txns[runner->txn].next_of_client;
    return runner->txn == WIO_WHATIF_NOTHING ? WIO_OK
                                             : begin_next(world, runner, runner->plan.behind_ns);
}

static enum wio_status happen(struct wio_whatif_world *world, const struct wio_whatif_event *event)
{
    if (event->moment == WIO_WHATIF_TIME_OUT || event->moment == WIO_WHATIF_FREE) {
        return wio_whatif_at_its_time(world, event);
    }
    if (event->moment == WIO_WHATIF_TAKEN) {
        return wio_whatif_taken(world, event);
    }
    struct wio_whatif_runner *runner = &world->runners[event->index];
    if (event->epoch != runner->epoch) {
        return WIO_OK;
    }
    switch (event->moment) {
    case WIO_WHATIF_BEGIN:
        return begin(world, runner);
    case WIO_WHATIF_ISSUE:
        return issue(world, runner);
    case WIO_WHATIF_DONE:
        runner->outstanding--;
        return runner->outstanding == 0 ? go_on(world, runner) : WIO_OK;
    case WIO_WHATIF_ABORT:
        return abort_attempt(world, runner);
    case WIO_WHATIF_END:
        return end(world, runner);
    case WIO_WHATIF_TAKEN:
    case WIO_WHATIF_FREE:
    case WIO_WHATIF_TIME_OUT:
        break;
    }
    return WIO_OK;
}

static bool is_too_much(const struct wio_whatif_world *world)
{
    return world->result.aborts >
               1000 + (uint64_t)ABORTS_PER_TRANSACTION * world->replays->txn_count ||
           world->events.order >
               100000 + (uint64_t)EVENTS_PER_REQUEST * world->replays->request_count;
}

static enum wio_status run(struct wio_whatif_world *world)
{
    while (world->events.count > 0) {
        struct wio_whatif_event event = wio_whatif_take_first(&world->events);
        world->now_ns = event.ns;
        WIO_TRY(happen(world, &event));
        WIO_TRY(wio_whatif_settle(world));
        if (is_too_much(world)) {
            world->result.is_cut = true;
            return WIO_OK;
        }
    }
    return WIO_OK;
}

/* ---- the whole ---- */

static enum wio_status make_servers(struct wio_whatif_world *world)
{
    const struct wio_alloc alloc = WIO_ALLOC_HEAP;
    const struct wio_whatif_change *change = world->change;
    const struct wio_locks_config config = {.policy = change->policy,
                                            .timeout_ns = change->timeout_ns,
                                            .owners_max = world->replays->client_count + 1,
                                            .locks_max = UINT32_MAX / 2};
    world->server_count = world->replays->servers;
    world->servers = calloc((size_t)world->server_count + 1, sizeof(*world->servers));
    if (world->servers == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < world->server_count; i++) {
        world->servers[i].tick_ns = UINT64_MAX;
        WIO_TRY(wio_locks_create(&alloc, &config, &world->servers[i].locks));
    }
    return WIO_OK;
}

static enum wio_status make_runners(struct wio_whatif_world *world)
{
    const struct wio_replays *replays = world->replays;
    world->runners = calloc((size_t)replays->client_count + 1, sizeof(*world->runners));
    if (world->runners == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < replays->client_count; i++) {
        struct wio_whatif_runner *runner = &world->runners[i];
        runner->txn = replays->first_of_clients[i];
        runner->owners = calloc((size_t)world->server_count + 1, sizeof(struct wio_lock_owner *));
        if (runner->owners == NULL) {
            return WIO_ERR_NOMEM;
        }
        runner->plan.costs = world->costs;
        WIO_TRY(begin_next(world, runner, 0));
    }
    return WIO_OK;
}

static void fini(struct wio_whatif_world *world)
{
    for (uint32_t i = 0; world->servers != NULL && i < world->server_count; i++) {
        wio_locks_destroy(world->servers[i].locks);
        free(world->servers[i].arrivals);
    }
    for (uint32_t i = 0; world->runners != NULL && i < world->replays->client_count; i++) {
        free(world->runners[i].plan.pieces);
        free(world->runners[i].owners);
    }
    free(world->servers);
    free(world->runners);
    wio_whatif_events_fini(&world->events);
}

enum wio_status wio_whatif(const struct wio_replays *replays, const struct wio_whatif_costs *costs,
                           const struct wio_whatif_change *change, wio_whatif_file_fn *file_of,
                           void *arg, struct wio_whatif_result *result_out)
{
    struct wio_whatif_world world = {
        .replays = replays, .costs = costs, .change = change, .file_of = file_of, .arg = arg};
    enum wio_status status = make_servers(&world);
    status = status == WIO_OK ? make_runners(&world) : status;
    uint64_t begin_ns = world.events.count > 0 ? world.events.heap[0].ns : 0;
    status = status == WIO_OK ? run(&world) : status;
    *result_out = world.result;
    uint64_t end_ns = world.last_end_ns > begin_ns ? world.last_end_ns : begin_ns;
    result_out->duration_s = (double)(end_ns - begin_ns) / 1e9;
    fini(&world);
    return status;
}
