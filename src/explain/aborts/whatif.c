/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/whatif.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/whatif_plan.h"
#include "lock/lock.h"

#define ABORT_NS UINT64_C(50000)    /* where no abort was recorded */
#define ABORTS_PER_TRANSACTION 100u /* above: no result */
/* Events of a run for each request: above, it has no end that is worth waiting for. */
#define EVENTS_PER_REQUEST 64u
#define NOTHING UINT32_MAX

enum moment { BEGIN, ISSUE, DONE, ABORT, END, TIME_OUT };

struct event {
    uint64_t ns;
    uint64_t order; /* of those at one time: as they came */
    uint32_t index; /* of the client; TIME_OUT: of the server */
    uint32_t epoch; /* of the client: what was scheduled before an abort is void */
    uint32_t piece; /* DONE */
    enum moment moment;
};

/* A client, which has one transaction at a time. */
struct runner {
    uint32_t txn; /* NOTHING: it has no further one */
    uint32_t attempt;
    uint32_t epoch;
    uint32_t next; /* piece to send */
    uint32_t outstanding;
    uint64_t birth_ns;
    bool is_ending; /* it was refused or wounded, and its client does not know yet */
    struct wio_whatif_plan plan;
    struct wio_lock_owner **owners; /* by server */
};

struct server {
    struct wio_locks *locks;
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
    struct event *heap;
    uint32_t event_count;
    uint32_t event_capacity;
    uint64_t order;
    uint64_t now_ns;
    uint64_t last_end_ns;
    struct wio_whatif_result result;
};

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static enum wio_status schedule(struct world *world, struct event event)
{
    void *array = world->heap;
    uint32_t at = world->event_count;
    WIO_TRY(wio_grow(&array, sizeof(*world->heap), &world->event_capacity, at + 1));
    world->heap = array;
    world->event_count++;
    event.order = world->order++;
    while (at > 0 && is_before(&event, &world->heap[(at - 1) / 2])) {
        world->heap[at] = world->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    world->heap[at] = event;
    return WIO_OK;
}

static struct event take_first(struct world *world)
{
    struct event first = world->heap[0];
    struct event last = world->heap[--world->event_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < world->event_count &&
            is_before(&world->heap[child + 1], &world->heap[child])) {
            child++;
        }
        if (child >= world->event_count || !is_before(&world->heap[child], &last)) {
            break;
        }
        world->heap[at] = world->heap[child];
        at = child;
    }
    world->heap[at] = last;
    return first;
}

static enum wio_status later(struct world *world, struct runner *runner, enum moment moment,
                             uint64_t after_ns, uint32_t piece)
{
    return schedule(world, (struct event){.ns = world->now_ns + after_ns,
                                          .index = (uint32_t)(runner - world->runners),
                                          .epoch = runner->epoch,
                                          .piece = piece,
                                          .moment = moment});
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

/* The mean pause with the client's jitter, and as late as attempts began in the trace. */
static uint64_t pause_of(const struct world *world, const struct runner *runner)
{
    const struct wio_replays *replays = world->replays;
    const struct wio_replay_txn *txn = &replays->txns[runner->txn];
    uint64_t most = wio_replay_pause_ns(runner->attempt) / 3 * 4;
    uint64_t mixed = (txn->client + txn->number * 31 + runner->attempt * UINT64_C(131)) *
                     UINT64_C(0x9e3779b97f4a7c15);
    uint64_t late_ns = replays->late_count > 0 ? replays->late_ns / replays->late_count : 0;
    return most / 2 + (mixed >> 33) % (most / 2 + 1) + late_ns;
}

/* The client has heard, and the servers have heard of it. */
static enum wio_status abort_attempt(struct world *world, struct runner *runner)
{
    uint64_t pause_ns = pause_of(world, runner);
    release_all(world, runner);
    world->result.aborts++;
    runner->is_ending = false;
    runner->next = 0;
    runner->outstanding = 0;
    runner->attempt++;
    runner->epoch++;
    return later(world, runner, ISSUE, pause_ns, 0);
}

/* A refusal or wound is on its way: the attempt keeps its locks until the answer to it has come,
 * and commits if that is faster. */
static enum wio_status end_attempt(struct world *world, struct runner *runner)
{
    const struct wio_replays *replays = world->replays;
    uint64_t abort_ns =
        replays->abort_count > 0 ? replays->abort_ns / replays->abort_count : ABORT_NS;
    if (runner->is_ending) {
        return WIO_OK;
    }
    runner->is_ending = true;
    return later(world, runner, ABORT, abort_ns, 0);
}

static enum wio_status serve(struct world *world, struct runner *runner, uint32_t index)
{
    const struct wio_whatif_piece *piece = &runner->plan.pieces[index];
    struct server *server = &world->servers[piece->server];
    uint64_t from = server->busy_until_ns > world->now_ns ? server->busy_until_ns : world->now_ns;
    server->busy_until_ns = from + piece->run_ns;
    return later(world, runner, DONE, from - world->now_ns + piece->run_ns + piece->storage_ns,
                 index);
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

/* *is_over_out: the attempt is aborted. */
static enum wio_status send(struct world *world, struct runner *runner, uint32_t index,
                            bool *is_over_out)
{
    struct wio_whatif_piece *piece = &runner->plan.pieces[index];
    const struct wio_lock_request request = {
        .range = {piece->range.file, piece->range.segment, piece->range.from, piece->range.to},
        .mode = piece->mode < WIO_LOCK_MODES ? (enum wio_lock_mode)piece->mode : WIO_LOCK_EXCLUSIVE,
        .tag = index};
    struct wio_lock_owner *owner = NULL;
    struct wio_lock_answer answer;
    *is_over_out = false;
    if (piece->range.to <= piece->range.from) { /* nothing is left to be locked */
        runner->outstanding++;
        return serve(world, runner, index);
    }
    WIO_TRY(owner_of(world, runner, piece->server, &owner));
    WIO_TRY(wio_locks_acquire(world->servers[piece->server].locks, owner, &request, world->now_ns,
                              &answer));
    world->servers[piece->server].is_stirred = true;
    *is_over_out = answer.outcome == WIO_LOCK_REFUSED;
    if (answer.outcome == WIO_LOCK_REFUSED) {
        return end_attempt(world, runner);
    }
    runner->outstanding++;
    if (answer.outcome == WIO_LOCK_GRANTED) {
        return serve(world, runner, index);
    }
    piece->since_ns = world->now_ns;
    world->result.waits++;
    return WIO_OK;
}

/* The next piece, and those that are sent with it. */
static enum wio_status issue(struct world *world, struct runner *runner)
{
    bool is_over = false;
    do {
        WIO_TRY(send(world, runner, runner->next++, &is_over));
    } while (!is_over && runner->next < runner->plan.count &&
             runner->plan.pieces[runner->next].is_beside);
    return WIO_OK;
}

static enum wio_status go_on(struct world *world, struct runner *runner)
{
    if (runner->next < runner->plan.count) {
        return later(world, runner, ISSUE, runner->plan.pieces[runner->next].after_ns, 0);
    }
    return later(world, runner, END, runner->plan.hold_ns, 0);
}

static enum wio_status begin(struct world *world, struct runner *runner)
{
    const struct wio_replay_txn *txn = &world->replays->txns[runner->txn];
    WIO_TRY(wio_whatif_plan(&runner->plan, world->replays, txn, world->change, world->file_of,
                            world->arg));
    world->result.requests_cut += runner->plan.cut;
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
    return runner->txn == NOTHING
               ? WIO_OK
               : later(world, runner, BEGIN,
                       world->replays->txns[runner->txn].after_ns + runner->plan.behind_ns, 0);
}

/* ---- servers ---- */

static enum wio_status take_lock_event(struct world *world, const struct wio_lock_event *event)
{
    struct runner *runner = event->user;
    if (event->txn.attempt != runner->attempt) {
        return WIO_OK;
    }
    if (event->kind != WIO_LOCK_EVENT_GRANTED) {
        return end_attempt(world, runner);
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
        return schedule(world, (struct event){.ns = deadline, .index = index, .moment = TIME_OUT});
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

static enum wio_status happen(struct world *world, const struct event *event)
{
    if (event->moment == TIME_OUT) {
        world->servers[event->index].is_stirred = true;
        world->servers[event->index].tick_ns = UINT64_MAX;
        return WIO_OK;
    }
    struct runner *runner = &world->runners[event->index];
    if (event->epoch != runner->epoch) {
        return WIO_OK;
    }
    switch (event->moment) {
    case BEGIN:
        return begin(world, runner);
    case ISSUE:
        return issue(world, runner);
    case DONE:
        runner->outstanding--;
        return runner->outstanding == 0 ? go_on(world, runner) : WIO_OK;
    case ABORT:
        return abort_attempt(world, runner);
    case END:
        return end(world, runner);
    case TIME_OUT:
        break;
    }
    return WIO_OK;
}

static bool is_too_much(const struct world *world)
{
    return world->result.aborts >
               1000 + (uint64_t)ABORTS_PER_TRANSACTION * world->replays->txn_count ||
           world->order > 100000 + (uint64_t)EVENTS_PER_REQUEST * world->replays->request_count;
}

static enum wio_status run(struct world *world)
{
    while (world->event_count > 0) {
        struct event event = take_first(world);
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
        WIO_TRY(later(world, runner, BEGIN, replays->txns[runner->txn].after_ns, 0));
    }
    return WIO_OK;
}

static void fini(struct world *world)
{
    for (uint32_t i = 0; world->servers != NULL && i < world->server_count; i++) {
        wio_locks_destroy(world->servers[i].locks);
    }
    for (uint32_t i = 0; world->runners != NULL && i < world->replays->client_count; i++) {
        free(world->runners[i].plan.pieces);
        free(world->runners[i].owners);
    }
    free(world->servers);
    free(world->runners);
    free(world->heap);
}

enum wio_status wio_whatif(const struct wio_replays *replays,
                           const struct wio_whatif_change *change, wio_whatif_file_fn *file_of,
                           void *arg, struct wio_whatif_result *result_out)
{
    struct world world = {.replays = replays, .change = change, .file_of = file_of, .arg = arg};
    enum wio_status status = make_servers(&world);
    status = status == WIO_OK ? make_runners(&world) : status;
    uint64_t begin_ns = world.event_count > 0 ? world.heap[0].ns : 0;
    status = status == WIO_OK ? run(&world) : status;
    *result_out = world.result;
    uint64_t end_ns = world.last_end_ns > begin_ns ? world.last_end_ns : begin_ns;
    result_out->duration_s = (double)(end_ns - begin_ns) / 1e9;
    fini(&world);
    return status;
}
