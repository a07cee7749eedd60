/* SPDX-License-Identifier: Apache-2.0 */
/* Servers of a what-if: they read requests, look for locks, and work. */
#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/whatif/whatif_world.h"

/* The last operation, which was to commit, ends the attempt at its server as well. */
static enum wio_status refuse(struct wio_whatif_world *world, struct wio_whatif_runner *runner,
                              uint32_t index)
{
    WIO_TRY(wio_whatif_end_attempt(world, runner, false));
    if (runner->plan.pieces[index].commits) {
        wio_whatif_release(world, runner);
    }
    return WIO_OK;
}

static enum wio_status serve(struct wio_whatif_world *world, struct wio_whatif_runner *runner,
                             uint32_t index)
{
    const struct wio_whatif_piece *piece = &runner->plan.pieces[index];
    struct wio_whatif_server *server = &world->servers[piece->server];
    uint64_t from = server->busy_until_ns > world->now_ns ? server->busy_until_ns : world->now_ns;
    server->busy_until_ns = from + piece->run_ns;
    return wio_whatif_later(world, runner, WIO_WHATIF_DONE,
                            from - world->now_ns + piece->run_ns + piece->storage_ns, index);
}

static enum wio_status owner_of(struct wio_whatif_world *world, struct wio_whatif_runner *runner,
                                uint32_t server, struct wio_lock_owner **owner_out)
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
static enum wio_status look_at(struct wio_whatif_world *world, struct wio_whatif_runner *runner,
                               uint32_t index)
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

enum wio_status wio_whatif_send(struct wio_whatif_world *world, struct wio_whatif_runner *runner,
                                uint32_t index)
{
    struct wio_whatif_server *server = &world->servers[runner->plan.pieces[index].server];
    void *array = server->arrivals;
    if (server->first > server->arrival_count / 2) { /* more has been taken than waits */
        server->arrival_count -= server->first;
        memmove(server->arrivals, server->arrivals + server->first,
                server->arrival_count * sizeof(*server->arrivals));
        server->first = 0;
    }
    WIO_TRY(wio_grow(&array, sizeof(*server->arrivals), &server->arrival_capacity,
                     server->arrival_count + 1));
    server->arrivals = array;
    server->arrivals[server->arrival_count++] =
        (struct wio_whatif_arrival){(uint32_t)(runner - world->runners), runner->epoch, index};
    runner->outstanding++;
    if (server->is_taking) {
        return WIO_OK;
    }
    server->is_taking = true;
    return wio_whatif_at_server(world, runner->plan.pieces[index].server, WIO_WHATIF_FREE,
                                world->now_ns);
}

static enum wio_status take_lock_event(struct wio_whatif_world *world,
                                       const struct wio_lock_event *event)
{
    struct wio_whatif_runner *runner = event->user;
    if (event->txn.attempt != runner->attempt) {
        return WIO_OK;
    }
    if (event->kind != WIO_LOCK_EVENT_GRANTED) {
        return event->kind == WIO_LOCK_EVENT_WOUND ? wio_whatif_end_attempt(world, runner, true)
                                                   : refuse(world, runner, (uint32_t)event->tag);
    }
    uint32_t index = (uint32_t)event->tag;
    world->result.wait_s += (double)(world->now_ns - runner->plan.pieces[index].since_ns) / 1e9;
    return serve(world, runner, index);
}

static enum wio_status settle_server(struct wio_whatif_world *world, uint32_t index)
{
    struct wio_whatif_server *server = &world->servers[index];
    struct wio_lock_event event;
    server->is_stirred = false;
    while (wio_locks_next(server->locks, world->now_ns, &event)) {
        WIO_TRY(take_lock_event(world, &event));
    }
    uint64_t deadline = wio_locks_deadline_ns(server->locks);
    if (deadline < server->tick_ns) {
        server->tick_ns = deadline;
        uint64_t after_ns = deadline > world->now_ns ? deadline - world->now_ns : 0;
        return wio_whatif_at_server(world, index, WIO_WHATIF_TIME_OUT,
                                    world->now_ns + wio_replay_timer_ns(after_ns));
    }
    return WIO_OK;
}

enum wio_status wio_whatif_settle(struct wio_whatif_world *world)
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
static enum wio_status take_next(struct wio_whatif_world *world, uint32_t index)
{
    struct wio_whatif_server *server = &world->servers[index];
    while (server->first < server->arrival_count) {
        const struct wio_whatif_arrival *arrival = &server->arrivals[server->first++];
        const struct wio_whatif_runner *runner = &world->runners[arrival->client];
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

enum wio_status wio_whatif_at_its_time(struct wio_whatif_world *world,
                                       const struct wio_whatif_event *event)
{
    struct wio_whatif_server *server = &world->servers[event->index];
    if (event->moment == WIO_WHATIF_TIME_OUT) {
        server->is_stirred = true;
        server->tick_ns = UINT64_MAX;
        return WIO_OK;
    }
    return server->busy_until_ns > world->now_ns
               ? wio_whatif_at_server(world, event->index, WIO_WHATIF_FREE, server->busy_until_ns)
               : take_next(world, event->index);
}

enum wio_status wio_whatif_taken(struct wio_whatif_world *world,
                                 const struct wio_whatif_event *event)
{
    struct wio_whatif_runner *runner = &world->runners[event->index];
    if (event->epoch == runner->epoch) {
        WIO_TRY(look_at(world, runner, event->piece));
    }
    uint64_t free_ns = world->servers[event->server].busy_until_ns;
    return wio_whatif_at_server(world, event->server, WIO_WHATIF_FREE,
                                free_ns > world->now_ns ? free_ns : world->now_ns);
}
