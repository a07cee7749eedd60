/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of transactions.c, and the transactions of each: they read cells, then write some of
 * them. */
#include <string.h>

#include "sim/transactions.h"

const char *const transactions_addresses[TARGETS] = {"unix:target0", "unix:target1",
                                                     "unix:target2"};

/* ---- transactions -------------------------------------------------------------------------- */

/* The tag of the blind write, behind those of accesses. */
enum { MARK = HISTORY_ACCESSES - 1 };

/* Transactions of a client at once, of a hasty run: their requests find slots. */
enum { ROOM = 8 };

static struct wio_store_request request_of_mark(struct actor *actor)
{
    const struct mark *mark = &actor->mark;
    memcpy(actor->data[MARK], &mark->number, 8);
    memcpy(actor->data[MARK] + 8, &mark->number, 8);
    return (struct wio_store_request){.op = WIO_STORE_WRITE,
                                      .file = 1,
                                      .segment = mark->target,
                                      .offset = mark->offset,
                                      .data = actor->data[MARK],
                                      .data_size = MARK_BYTES};
}

static struct wio_store_request request_of(struct actor *actor, uint32_t a)
{
    if (a == MARK) {
        return request_of_mark(actor);
    }
    const struct history_access *access = &actor->accesses[a];
    struct wio_store_request request = {.op = WIO_STORE_READ,
                                        .file = 1,
                                        .segment = access->cell % TARGETS,
                                        .offset = (uint64_t)access->cell / TARGETS * CELL_BYTES,
                                        .size = CELL_BYTES};
    if (actor->is_writing) {
        memcpy(actor->data[a], &access->written, 8);
        memcpy(actor->data[a] + 8, &access->written, 8);
        request.op = WIO_STORE_WRITE;
        request.size = 0;
        request.data = actor->data[a];
        request.data_size = CELL_BYTES;
    }
    return request;
}

static void issue(struct actor *actor, struct wio_coord_txn *txn, uint32_t a)
{
    struct wio_store_request request = request_of(actor, a);
    if (wio_coord_issue(txn, (uint16_t)request.segment, &request, a) != WIO_OK) {
        sim_fail("an operation could not be issued");
    }
}

static void finish(struct actor *actor, struct wio_coord_txn *txn)
{
    struct wio_store_request request = request_of(actor, actor->last);
    uint64_t now_ns = wio_session_now_ns(actor->client->session);
    if (wio_coord_finish(txn, (uint16_t)request.segment, &request, actor->last, true, now_ns) !=
        WIO_OK) {
        sim_fail("a last operation could not be issued");
    }
}

static void draw_accesses(struct transactions *run, struct actor *actor);

/* Of a hasty run: some attempts do something else than those before, some leave a mark. */
static void draw_attempt(struct transactions *run, struct actor *actor)
{
    actor->mark.is_set = false;
    if (!run->is_hasty) {
        return;
    }
    if (wio_coord_name(actor->txn)->attempt > 1 && below(run, 4) == 0) {
        draw_accesses(run, actor);
    }
    if (below(run, 2) == 0) {
        actor->mark =
            marks_make(&run->marks, (uint16_t)below(run, TARGETS), HISTORY_CELLS + ++run->versions);
    }
}

static void on_run(void *context, struct wio_coord_txn *txn, void *user)
{
    const struct txn_client *client = context;
    struct actor *actor = user;
    actor->txn = txn;
    actor->answered = 0;
    actor->is_writing = false;
    draw_attempt(client->run, actor);
    for (uint32_t a = 0; a < actor->count; a++) {
        issue(actor, txn, a);
    }
}

static uint32_t writes_of(const struct actor *actor)
{
    uint32_t writes = 0;
    for (uint32_t a = 0; a < actor->count; a++) {
        writes += actor->accesses[a].is_write;
    }
    return writes + actor->mark.is_set;
}

static void write_all(struct actor *actor, struct wio_coord_txn *txn)
{
    struct transactions *run = actor->client->run;
    uint32_t left = writes_of(actor);
    actor->is_writing = true;
    actor->answered = 0;
    actor->finishes =
        run->is_hasty ? below(run, 2) == 0 : run->may_finish && run->versions % 2 == 0;
    for (uint32_t a = 0; a < actor->count; a++) {
        if (actor->accesses[a].is_write) {
            actor->accesses[a].written = HISTORY_CELLS + ++run->versions;
            actor->last = a;
            if (--left > 0 || !actor->finishes) {
                issue(actor, txn, a);
            }
        }
    }
    if (actor->mark.is_set) {
        actor->last = MARK;
        if (!actor->finishes) {
            issue(actor, txn, MARK);
        }
    }
    if (actor->finishes && writes_of(actor) == 1) {
        finish(actor, txn);
    }
}

static void take_read(struct actor *actor, uint32_t tag, const struct wio_store_reply *reply)
{
    uint64_t cell[2] = {0, 0};
    if (reply->data_size > 0) {
        memcpy(cell, reply->data,
               reply->data_size < sizeof(cell) ? reply->data_size : sizeof(cell));
    }
    if (cell[0] != cell[1]) {
        actor->client->run->fault = "a cell was read in the middle of a write";
    }
    actor->accesses[tag].seen = cell[0];
}

static void on_part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                    const struct wio_store_reply *reply)
{
    const struct txn_client *client = context;
    struct actor *actor = user;
    actor->answered++;
    if (!actor->is_writing) {
        take_read(actor, tag, reply);
        if (actor->answered < actor->count) {
            return;
        }
        if (writes_of(actor) > 0) {
            write_all(actor, txn);
            return;
        }
    } else if (actor->finishes && actor->answered == writes_of(actor) - 1) {
        finish(actor, txn);
        return;
    } else if (actor->finishes || actor->answered < writes_of(actor)) {
        return;
    }
    if (wio_coord_commit(txn, wio_session_now_ns(client->session)) != WIO_OK) {
        sim_fail("a commit was refused");
    }
}

static void write_down(struct transactions *run, const struct actor *actor, bool is_certain)
{
    if (run->history.count == HISTORY_TXNS) {
        run->fault = "more transactions than the history holds: fewer --steps";
        return;
    }
    run->marks.of[run->history.count] = actor->mark;
    struct history_txn *txn = history_add(&run->history);
    txn->is_certain = is_certain;
    txn->count = actor->count;
    memcpy(txn->accesses, actor->accesses, sizeof(txn->accesses));
    run->uncertain += !is_certain;
}

static void on_ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                     enum wio_store_result result)
{
    struct txn_client *client = context;
    struct actor *actor = user;
    (void)txn;
    actor->txn = NULL;
    bool is_given_up = client->run->admission != NULL && result == WIO_STORE_OVERLOADED;
    client->run->given_up += is_given_up;
    if (end != WIO_COORD_COMMITTED && result != WIO_STORE_NO_LEASE && !is_given_up) {
        client->run->fault = "a transaction failed that nothing hindered";
    }
    if (!is_given_up || actor->is_writing) {
        write_down(client->run, actor, end == WIO_COORD_COMMITTED);
    }
}

static const struct wio_coord_ops client_ops = {.run = on_run, .part = on_part, .ended = on_ended};

static void draw_accesses(struct transactions *run, struct actor *actor)
{
    uint32_t first = (uint32_t)below(run, CELLS);
    actor->count = 1 + (uint32_t)below(run, ACCESSES);
    for (uint32_t a = 0; a < actor->count; a++) {
        uint32_t step = below(run, 2) == 0 ? a : CELLS - a; /* in one order and in the other */
        actor->accesses[a].cell = (first + step * 5) % CELLS;
        actor->accesses[a].is_write = below(run, 2) == 0;
        for (uint32_t b = 0; b < a; b++) {
            if (actor->accesses[b].cell == actor->accesses[a].cell) {
                actor->count = a;
                return;
            }
        }
    }
}

/* What is decided, and is still to be told to a target that is cut off, takes places there. */
static bool has_room(const struct transactions *run, const struct txn_client *client)
{
    return !run->is_hasty || wio_coord_stat(wio_session_coord(client->session)).active < ROOM;
}

/* Some actor that rests begins; and so on. */
void actors_begin(void *context)
{
    struct transactions *run = context;
    struct txn_client *client = &run->clients[below(run, CLIENTS)];
    struct actor *actor = &client->actors[below(run, ACTORS)];
    struct wio_coord_txn *txn = NULL;
    if (run->is_ending) {
        return;
    }
    if (actor->txn == NULL && has_room(run, client)) {
        actor->client = client;
        draw_accesses(run, actor);
        uint16_t flags = run->is_stable ? WIO_STORE_FLAG_STABLE : 0;
        if (wio_session_begin(client->session, actor, flags, &txn) != WIO_OK) {
            sim_fail("a transaction could not begin");
        }
    }
    wio_sim_later(run->sim, below(run, 100000), actors_begin, run);
}
/* ---- clients ------------------------------------------------------------------------------- */

const char *actors_client_name(unsigned i)
{
    static const char *const names[CLIENTS] = {"client0", "client1", "client2", "client3"};
    return names[i];
}

void actors_start_client(struct transactions *run, unsigned i)
{
    struct txn_client *client = &run->clients[i];
    struct wio_error err = WIO_ERROR_INIT;
    *client = (struct txn_client){.run = run};
    client->io = wio_sim_start(wio_sim_node(run->sim, actors_client_name(i)));
    const struct wio_session_config config = {
        .link = i == 0 ? &run->link : &run->new_link, /* one is of an older version */
        .hello = {.client = ++run->clients_made, .uid = 1000, .job = "slurm 1"},
        .addresses = transactions_addresses,
        .targets = TARGETS,
        .txns_max = 64,
        .vote_ns = run->is_hasty ? 2 * HASTY_LEASE_NS : 0,
        .ops = &client_ops,
        .context = client,
    };
    if (wio_session_create(client->io, &config, &client->session, &err) != WIO_OK) {
        sim_fail("client %u: %s", i, err.message);
    }
}

void actors_count_client(struct transactions *run, const struct txn_client *client)
{
    struct wio_coord_stat stat = wio_coord_stat(wio_session_coord(client->session));
    struct wio_pacing_counts pacing = wio_session_pacing(client->session);
    run->retries += stat.attempts;
    run->wounds += stat.wounds;
    run->paced += pacing.waited;
    run->overloads += pacing.refused;
}

/* Whether what it was about to commit has committed is found out at the end. */
void actors_kill_client(struct transactions *run, unsigned i)
{
    struct txn_client *client = &run->clients[i];
    wio_sim_kill(client->io);
    for (unsigned a = 0; a < ACTORS; a++) {
        if (client->actors[a].txn != NULL && client->actors[a].is_writing) {
            write_down(run, &client->actors[a], false);
        }
    }
    actors_count_client(run, client);
    wio_session_destroy(client->session);
    actors_start_client(run, i);
    run->kills++;
}
