/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/whatif.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/whatif_costs.h"
#include "explain/aborts/whatif_events.h"
#include "explain/aborts/whatif_plan.h"
#include "lock/lock.h"

#define ABORTS_PER_TRANSACTION 100u /* above: no result */
/* Events of a run for each request: above, it has no end that is worth waiting for. */
#define EVENTS_PER_REQUEST 128u
#define NOTHING UINT32_MAX

/* A client, which has one transaction at a time. */
struct runner {
    uint32_t txn; /* NOTHING: it has no further one */
    uint32_t attempt;
    uint32_t epoch;
    uint32_t next; /* piece to send */
    uint32_t outstanding;
    uint64_t birth_ns;
    bool is_ending;  /* it was refused or wounded, and its servers do not know yet .. */
    bool is_wounded; /* .. it was wounded */
    struct wio_whatif_plan plan;
    struct wio_lock_owner **owners; /* by server */
};

/* A request that has come to a server, and that it has not read yet. */
struct arrival {
    uint32_t client;
    uint32_t epoch;
    uint32_t piece;
};

struct server {
    struct wio_locks *locks;
    struct arrival *arrivals; /* in the order of their coming, from `first` */
    uint32_t first;
    uint32_t arrival_count;
    uint32_t arrival_capacity;
    bool is_taking; /* it works on one */
    uint64_t busy_until_ns;
    uint64_t tick_ns; /* a TIME_OUT is scheduled; UINT64_MAX: none */
    bool is_stirred;  /* events of its locks are to be read */
};

struct world {
    const struct wio_replays *replays;
    const struct wio_whatif_change *change;
    wio_whatif_file_fn *file_of;
    void *arg;
    struct runner *runners;
    struct server *servers;
    uint32_t server_count;
    struct wio_whatif_costs costs;
    struct wio_whatif_events events;
    uint64_t now_ns;
    uint64_t last_end_ns;
    struct wio_whatif_result result;
};

static enum wio_status later(struct world *world, struct runner *runner,
                             enum wio_whatif_moment moment, uint64_t after_ns, uint32_t piece)
{
    return wio_whatif_schedule(
        &world->events, (struct wio_whatif_event){.ns = world->now_ns + after_ns,
                                                  .index = (uint32_t)(runner - world->runners),
                                                  .epoch = runner->epoch,
                                                  .piece = piece,
                                                  .moment = moment});
}

static enum wio_status at_server(struct world *world, uint32_t server,
                                 enum wio_whatif_moment moment, uint64_t ns)
{
    return wio_whatif_schedule(
        &world->events, (struct wio_whatif_event){.ns = ns, .index = server, .moment = moment});
}

/* ---- a client ---- */

static void release_all(struct world *world, struct runner *runner)
{
    for (uint32_t i = 0; i < world->server_count; i++) {
        if (runner->owners[i] != NULL) {
            wio_locks_release(world->servers[i].locks, runner->owners[i]);
            runner->owners[i] = NULL;
            world->servers[i].is_stirred = true;
        }
    }
}

/* From the release of its locks until the first request of the next attempt has come. A pause
 * begins when the client hears of the refusal, at about the same time. */
static uint64_t again_of(const struct world *world, const struct runner *runner)
{
    const struct wio_replay_txn *txn = &world->replays->txns[runner->txn];
    const struct wio_whatif_costs *costs = &world->costs;
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
static enum wio_status abort_attempt(struct world *world, struct runner *runner)
{
    uint64_t again_ns = again_of(world, runner);
    release_all(world, runner);
    world->result.aborts++;
    runner->is_ending = false;
    runner->next = 0;
    runner->outstanding = 0;
    runner->attempt++;
    runner->epoch++;
    return later(world, runner, WIO_WHATIF_ISSUE, again_ns, 0);
}

/* A refusal or wound is on its way: the attempt keeps its locks until the answer to it has come,
 * and commits if that is faster. */
static enum wio_status end_attempt(struct world *world, struct runner *runner, bool is_wounded)
{
    if (runner->is_ending) {
        return WIO_OK;
    }
    runner->is_ending = true;
    runner->is_wounded = is_wounded;
    return later(world, runner, WIO_WHATIF_ABORT, world->costs.abort_ns, 0);
}

/* The last operation, which was to commit, ends the attempt at its server as well. */
static enum wio_status refuse(struct world *world, struct runner *runner, uint32_t index)
{
    WIO_TRY(end_attempt(world, runner, false));
    if (runner->plan.pieces[index].commits) {
        release_all(world, runner);
    }
    return WIO_OK;
}

static enum wio_status serve(struct world *world, struct runner *runner, uint32_t index)
{
    const struct wio_whatif_piece *piece = &runner->plan.pieces[index];
    struct server *server = &world->servers[piece->server];
    uint64_t from = server->busy_until_ns > world->now_ns ? server->busy_until_ns : world->now_ns;
    server->busy_until_ns = from + piece->run_ns;
    return later(world, runner, WIO_WHATIF_DONE,
                 from - world->now_ns + piece->run_ns + piece->storage_ns, index);
}

static enum wio_status owner_of(struct world *world, struct runner *runner, uint32_t server,
                                struct wio_lock_owner **owner_out)
{
    const struct wio_replay_txn *txn = &world->replays->txns[runner->txn];
    const struct wio_txn name = {txn->client, txn->number, runner->birth_ns, runner->attempt};
    if (runner->owners[server] == NULL) {
        WIO_TRY(wio_locks_begin(world->servers[server].locks, &name, 0, runner,
                                &runner->owners[server]));
    }
    *owner_out = runner->owners[server];
    return WIO_OK;
}

/* The server has read the request. */
static enum wio_status look_at(struct world *world, struct runner *runner, uint32_t index)
{
    struct wio_whatif_piece *piece = &runner->plan.pieces[index];
    const struct wio_lock_request request = {
        .range = {piece->range.file, piece->range.segment, piece->range.from, piece->range.to},
        .mode = piece->mode < WIO_LOCK_MODES ? (enum wio_lock_mode)piece->mode : WIO_LOCK_EXCLUSIVE,
        .tag = index};
    struct wio_lock_owner *owner = NULL;
    struct wio_lock_answer answer;
    if (piece->range.to <= piece->range.from) { /* nothing is left to be locked */
        return serve(world, runner, index);
    }
    WIO_TRY(owner_of(world, runner, piece->server, &owner));
    WIO_TRY(wio_locks_acquire(world->servers[piece->server].locks, owner, &request, world->now_ns,
                              &answer));
    world->servers[piece->server].is_stirred = true;
    if (answer.outcome == WIO_LOCK_REFUSED) {
        return refuse(world, runner, index);
    }
    if (answer.outcome == WIO_LOCK_GRANTED) {
        return serve(world, runner, index);
    }
    piece->since_ns = world->now_ns;
    world->result.waits++;
    return WIO_OK;
}

/* Its server reads requests one after the other. */
static enum wio_status send(struct world *world, struct runner *runner, uint32_t index)
{
    struct server *server = &world->servers[runner->plan.pieces[index].server];
    void *array = server->arrivals;
    WIO_TRY(wio_grow(&array, sizeof(*server->arrivals), &server->arrival_capacity,
                     server->arrival_count + 1));
    server->arrivals = array;
    server->arrivals[server->arrival_count++] =
        (struct arrival){(uint32_t)(runner - world->runners), runner->epoch, index};
    runner->outstanding++;
    if (server->is_taking) {
        return WIO_OK;
    }
    server->is_taking = true;
    return at_server(world, runner->plan.pieces[index].server, WIO_WHATIF_FREE, world->now_ns);
}

/* The next piece, and those that are sent with it. */
static enum wio_status issue(struct world *world, struct runner *runner)
{
    do {
        WIO_TRY(send(world, runner, runner->next++));
    } while (runner->next < runner->plan.count && runner->plan.pieces[runner->next].is_beside);
    return WIO_OK;
}

static enum wio_status go_on(struct world *world, struct runner *runner)
{
    if (runner->next < runner->plan.count) {
        return later(world, runner, WIO_WHATIF_ISSUE, runner->plan.pieces[runner->next].after_ns,
                     0);
    }
    return later(world, runner, WIO_WHATIF_END, runner->plan.hold_ns, 0);
}

/* The client's next transaction, `behind_ns` later than in the trace. */
static enum wio_status begin_next(struct world *world, struct runner *runner, uint64_t behind_ns)
{
    const struct wio_replay_txn *txn = &world->replays->txns[runner->txn];
    WIO_TRY(wio_whatif_plan(&runner->plan, world->replays, txn, world->change, world->file_of,
                            world->arg));
    world->result.requests_cut += runner->plan.cut;
    return later(world, runner, WIO_WHATIF_BEGIN, txn->after_ns - runner->plan.lead_ns + behind_ns,
                 0);
}

static enum wio_status begin(struct world *world, struct runner *runner)
{
    runner->attempt = 1;
    runner->birth_ns = world->now_ns;
    runner->next = 0;
    runner->outstanding = 0;
    return go_on(world, runner);
}

static enum wio_status end(struct world *world, struct runner *runner)
{
    release_all(world, runner);
    runner->is_ending = false;
    runner->epoch++;
    world->result.transactions++;
    world->last_end_ns = world->now_ns;
    runner->txn = world->replays->txns[runner->txn].next_of_client;
    return runner->txn == NOTHING ? WIO_OK : begin_next(world, runner, runner->plan.behind_ns);
}

/* ---- servers ---- */

static enum wio_status take_lock_event(struct world *world, const struct wio_lock_event *event)
{
    struct runner *runner = event->user;
    if (event->txn.attempt != runner->attempt) {
        return WIO_OK;
    }
    if (event->kind != WIO_LOCK_EVENT_GRANTED) {
        return event->kind == WIO_LOCK_EVENT_WOUND ? end_attempt(world, runner, true)
                                                   : refuse(world, runner, (uint32_t)event->tag);
    }
    uint32_t index = (uint32_t)event->tag;
    world->result.wait_s += (double)(world->now_ns - runner->plan.pieces[index].since_ns) / 1e9;
    return serve(world, runner, index);
}

static enum wio_status settle_server(struct world *world, uint32_t index)
{
    struct server *server = &world->servers[index];
    struct wio_lock_event event;
    server->is_stirred = false;
    while (wio_locks_next(server->locks, world->now_ns, &event)) {
        WIO_TRY(take_lock_event(world, &event));
    }
    uint64_t deadline = wio_locks_deadline_ns(server->locks);
    if (deadline < server->tick_ns) {
        server->tick_ns = deadline;
        uint64_t after_ns = deadline > world->now_ns ? deadline - world->now_ns : 0;
        return at_server(world, index, WIO_WHATIF_TIME_OUT,
                         world->now_ns + wio_replay_timer_ns(after_ns));
    }
    return WIO_OK;
}

/* An abort at one server frees locks at others. */
static enum wio_status settle(struct world *world)
{
    bool is_stirred = true;
    while (is_stirred) {
        is_stirred = false;
        for (uint32_t i = 0; i < world->server_count; i++) {
            if (world->servers[i].is_stirred) {
                is_stirred = true;
                WIO_TRY(settle_server(world, i));
            }
        }
    }
    return WIO_OK;
}

/* It reads the next request of an attempt that is not over. */
static enum wio_status take_next(struct world *world, uint32_t index)
{
    struct server *server = &world->servers[index];
    while (server->first < server->arrival_count) {
        const struct arrival *arrival = &server->arrivals[server->first++];
        const struct runner *runner = &world->runners[arrival->client];
        if (arrival->epoch == runner->epoch) {
            uint64_t receive_ns = runner->plan.pieces[arrival->piece].receive_ns;
            server->busy_until_ns = world->now_ns + receive_ns;
            return wio_whatif_schedule(&world->events,
                                       (struct wio_whatif_event){.ns = server->busy_until_ns,
                                                                 .index = arrival->client,
                                                                 .epoch = arrival->epoch,
                                                                 .piece = arrival->piece,
                                                                 .server = index,
                                                                 .moment = WIO_WHATIF_TAKEN});
        }
    }
    server->is_taking = false;
    server->first = 0;
    server->arrival_count = 0;
    return WIO_OK;
}

static enum wio_status happen_to_server(struct world *world, const struct wio_whatif_event *event)
{
    struct server *server = &world->servers[event->index];
    if (event->moment == WIO_WHATIF_TIME_OUT) {
        server->is_stirred = true;
        server->tick_ns = UINT64_MAX;
        return WIO_OK;
    }
    return server->busy_until_ns > world->now_ns
               ? at_server(world, event->index, WIO_WHATIF_FREE, server->busy_until_ns)
               : take_next(world, event->index);
}

/* The request was read; its attempt may be over by now. */
static enum wio_status take(struct world *world, struct runner *runner,
                            const struct wio_whatif_event *event)
{
    if (event->epoch == runner->epoch) {
        WIO_TRY(look_at(world, runner, event->piece));
    }
    uint64_t free_ns = world->servers[event->server].busy_until_ns;
    return at_server(world, event->server, WIO_WHATIF_FREE,
                     free_ns > world->now_ns ? free_ns : world->now_ns);
}

static enum wio_status happen(struct world *world, const struct wio_whatif_event *event)
{
    if (event->moment == WIO_WHATIF_TIME_OUT || event->moment == WIO_WHATIF_FREE) {
        return happen_to_server(world, event);
    }
    struct runner *runner = &world->runners[event->index];
    if (event->moment == WIO_WHATIF_TAKEN) {
        return take(world, runner, event);
    }
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

static bool is_too_much(const struct world *world)
{
    return world->result.aborts >
               1000 + (uint64_t)ABORTS_PER_TRANSACTION * world->replays->txn_count ||
           world->events.order >
               100000 + (uint64_t)EVENTS_PER_REQUEST * world->replays->request_count;
}

static enum wio_status run(struct world *world)
{
    while (world->events.count > 0) {
        struct wio_whatif_event event = wio_whatif_take_first(&world->events);
        world->now_ns = event.ns;
        WIO_TRY(happen(world, &event));
        WIO_TRY(settle(world));
        if (is_too_much(world)) {
            world->result.is_cut = true;
            return WIO_OK;
        }
    }
    return WIO_OK;
}

/* ---- the whole ---- */

static enum wio_status make_servers(struct world *world)
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

static enum wio_status make_runners(struct world *world)
{
    const struct wio_replays *replays = world->replays;
    world->runners = calloc((size_t)replays->client_count + 1, sizeof(*world->runners));
    if (world->runners == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < replays->client_count; i++) {
        struct runner *runner = &world->runners[i];
        runner->txn = replays->first_of_clients[i];
        runner->owners = calloc((size_t)world->server_count + 1, sizeof(struct wio_lock_owner *));
        if (runner->owners == NULL) {
            return WIO_ERR_NOMEM;
        }
        runner->plan.costs = &world->costs;
        WIO_TRY(begin_next(world, runner, 0));
    }
    return WIO_OK;
}

static void fini(struct world *world)
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
    wio_whatif_costs_fini(&world->costs);
}

enum wio_status wio_whatif(const struct wio_replays *replays,
                           const struct wio_whatif_change *change, wio_whatif_file_fn *file_of,
                           void *arg, struct wio_whatif_result *result_out)
{
    struct world world = {.replays = replays, .change = change, .file_of = file_of, .arg = arg};
    enum wio_status status = wio_whatif_costs(replays, &world.costs);
    status = status == WIO_OK ? make_servers(&world) : status;
    status = status == WIO_OK ? make_runners(&world) : status;
    uint64_t begin_ns = world.events.count > 0 ? world.events.heap[0].ns : 0;
    status = status == WIO_OK ? run(&world) : status;
    *result_out = world.result;
    uint64_t end_ns = world.last_end_ns > begin_ns ? world.last_end_ns : begin_ns;
    result_out->duration_s = (double)(end_ns - begin_ns) / 1e9;
    fini(&world);
    return status;
}
