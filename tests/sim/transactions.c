/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's servers, coordinator and protocol in the simulated world: clients run transactions
 * that read and write cells on three targets, volatile and stable by turns of the seed. Connections
 * break and nodes are cut off; with stable transactions targets lose power and come back from
 * their log, and clients are killed.
 *
 * What must hold (history.h): what was committed is there, all of a transaction or nothing, and one
 * order explains all that was read; at the end nothing hangs.
 *
 * Targets are on memory (store_transactions_sim) or on the store's own log and segment files over
 * simulated disks that fail (store_transactions_disk_sim).
 *
 *     store_transactions_sim [--seed=N | --seeds=N | --seconds=N] [--steps=N] [--log]
 *         [--table]     how often transactions were in which state when a fault happened
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pairs.h"
#include "sim/runner.h"
#include "sim/sim.h"
#include "sim/txn_target.h"
#include "store/session/intake.h"
#include "store/session/session.h"
#include "unit/store/client/history.h"

#define SECOND_NS UINT64_C(1000000000)

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
    uint64_t kills;
    struct history history;
};

static const char *const addresses[TARGETS] = {"unix:target0", "unix:target1", "unix:target2"};

static uint64_t below(struct transactions *run, uint64_t limit)
{
    return wio_sim_random(run->sim) % limit;
}

/* ---- targets ------------------------------------------------------------------------------- */

static void make_target(struct transactions *run, uint16_t i)
{
    const struct txn_target_config config = {
        .sim = run->sim,
        .link = &run->link,
        .addresses = addresses,
        .self = i,
        .targets = TARGETS,
        .admission = run->admission,
    };
    run->targets[i] = txn_target_create(&config);
}

/* ---- transactions -------------------------------------------------------------------------- */

static struct wio_store_request request_of(struct actor *actor, uint32_t a)
{
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

static void on_run(void *context, struct wio_coord_txn *txn, void *user)
{
    struct actor *actor = user;
    (void)context;
    actor->txn = txn;
    actor->answered = 0;
    actor->is_writing = false;
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
    return writes;
}

static void write_all(struct actor *actor, struct wio_coord_txn *txn)
{
    struct transactions *run = actor->client->run;
    uint32_t left = writes_of(actor);
    actor->is_writing = true;
    actor->answered = 0;
    actor->finishes = run->may_finish && run->versions % 2 == 0;
    for (uint32_t a = 0; a < actor->count; a++) {
        if (actor->accesses[a].is_write) {
            actor->accesses[a].written = HISTORY_CELLS + ++run->versions;
            actor->last = a;
            if (--left > 0 || !actor->finishes) {
                issue(actor, txn, a);
            }
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
    struct history_txn *txn = history_add(&run->history);
    txn->is_certain = is_certain;
    txn->count = actor->count;
    memcpy(txn->accesses, actor->accesses, sizeof(txn->accesses));
    run->uncertain += !is_certain;
}

static void begin(void *context);

static void on_ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                     enum wio_store_result result)
{
    struct txn_client *client = context;
    struct actor *actor = user;
    (void)txn;
    actor->txn = NULL;
    if (end != WIO_COORD_COMMITTED && result != WIO_STORE_NO_LEASE) {
        client->run->fault = "a transaction failed that nothing hindered";
    }
    write_down(client->run, actor, end == WIO_COORD_COMMITTED);
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

/* Some actor that rests begins; and so on. */
static void begin(void *context)
{
    struct transactions *run = context;
    struct txn_client *client = &run->clients[below(run, CLIENTS)];
    struct actor *actor = &client->actors[below(run, ACTORS)];
    struct wio_coord_txn *txn = NULL;
    if (run->is_ending) {
        return;
    }
    if (actor->txn == NULL) {
        actor->client = client;
        draw_accesses(run, actor);
        uint16_t flags = run->is_stable ? WIO_STORE_FLAG_STABLE : 0;
        if (wio_session_begin(client->session, actor, flags, &txn) != WIO_OK) {
            sim_fail("a transaction could not begin");
        }
    }
    wio_sim_later(run->sim, below(run, 100000), begin, run);
}

/* ---- clients ------------------------------------------------------------------------------- */

static const char *client_name(unsigned i)
{
    static const char *const names[CLIENTS] = {"client0", "client1", "client2", "client3"};
    return names[i];
}

static void start_client(struct transactions *run, unsigned i)
{
    struct txn_client *client = &run->clients[i];
    struct wio_error err = WIO_ERROR_INIT;
    *client = (struct txn_client){.run = run};
    client->io = wio_sim_start(wio_sim_node(run->sim, client_name(i)));
    const struct wio_session_config config = {
        .link = i == 0 ? &run->link : &run->new_link, /* one is of an older version */
        .hello = {.client = ++run->clients_made, .uid = 1000, .job = "slurm 1"},
        .addresses = addresses,
        .targets = TARGETS,
        .txns_max = 64,
        .ops = &client_ops,
        .context = client,
    };
    if (wio_session_create(client->io, &config, &client->session, &err) != WIO_OK) {
        sim_fail("client %u: %s", i, err.message);
    }
}

static void count_client(struct transactions *run, const struct txn_client *client)
{
    struct wio_coord_stat stat = wio_coord_stat(wio_session_coord(client->session));
    struct wio_pacing_counts pacing = wio_session_pacing(client->session);
    run->retries += stat.attempts;
    run->wounds += stat.wounds;
    run->paced += pacing.waited;
    run->overloads += pacing.refused;
}

/* Whether what it was about to commit has committed is found out at the end. */
static void kill_client(struct transactions *run, unsigned i)
{
    struct txn_client *client = &run->clients[i];
    wio_sim_kill(client->io);
    for (unsigned a = 0; a < ACTORS; a++) {
        if (client->actors[a].txn != NULL && client->actors[a].is_writing) {
            write_down(run, &client->actors[a], false);
        }
    }
    count_client(run, client);
    wio_session_destroy(client->session);
    start_client(run, i);
    run->kills++;
}

/* ---- faults ---- */

static struct wio_coord *coord_of(const struct transactions *run, unsigned client)
{
    return wio_session_coord(run->clients[client].session);
}

/* Of all that is under way. */
static void note_everywhere(const struct transactions *run, enum pair_fault fault)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        pairs_coord(fault, coord_of(run, i));
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        pairs_server(fault, txn_target_server(run->targets[i]));
    }
}

static void cut_off(struct transactions *run, unsigned client)
{
    pairs_coord(PAIR_CLIENT_CUT_OFF, coord_of(run, client));
    for (unsigned i = 0; i < TARGETS; i++) {
        pairs_server(PAIR_CLIENT_CUT_OFF, txn_target_server(run->targets[i]));
    }
    wio_sim_part(run->sim, wio_sim_node(run->sim, client_name(client)), NULL);
}

static void end_target(struct transactions *run, unsigned target)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        pairs_coord(PAIR_TARGET_ENDS, coord_of(run, i));
    }
    pairs_server(PAIR_TARGET_ENDS, txn_target_server(run->targets[target]));
    txn_target_crash(run->targets[target]);
    run->restarts++;
}

static void end_client(struct transactions *run, unsigned client)
{
    pairs_coord(PAIR_CLIENT_KILLED, coord_of(run, client));
    for (unsigned i = 0; i < TARGETS; i++) {
        pairs_server(PAIR_CLIENT_KILLED, txn_target_server(run->targets[i]));
    }
    kill_client(run, client);
}

/* One step, in which the world may fail by itself. */
static void step(const struct transactions *run)
{
    const struct wio_sim_counts *counts = wio_sim_counts(run->sim);
    uint64_t resets = counts->resets;
    uint64_t failures = counts->flush_failures;
    (void)wio_sim_run(run->sim, 1);
    if (counts->resets > resets) {
        note_everywhere(run, PAIR_RESET);
    }
    if (counts->flush_failures > failures) {
        note_everywhere(run, PAIR_FLUSH_FAILS);
    }
}

/*RULE---------------------------------------------------------------------------- */

static void disturb(void *context)
{
    struct transactions *run = context;
    struct wio_sim *sim = run->sim;
    if (run->is_ending) {
        return;
    }
    switch (below(run, 6)) {
    case 0:
        cut_off(run, (unsigned)below(run, CLIENTS));
        break;
    case 1:
        note_everywhere(run, PAIR_TARGETS_CUT);
        wio_sim_part(sim, wio_sim_node(sim, "target0"), wio_sim_node(sim, "target1"));
        break;
    case 2:
        end_client(run, (unsigned)below(run, CLIENTS));
        break;
    case 3:
        end_target(run, (unsigned)below(run, TARGETS));
        break;
    default:
        wio_sim_heal(sim);
        break;
    }
    /* Mostly some milliseconds, now and then longer than a lease. */
    wio_sim_later(sim, below(run, below(run, 16) == 0 ? 5 * SECOND_NS : SECOND_NS / 50), disturb,
                  run);
}

/* ---- the run ------------------------------------------------------------------------------- */

static void read_cells(const struct transactions *run, uint64_t last[HISTORY_CELLS])
{
    memset(last, 0, HISTORY_CELLS * sizeof(last[0]));
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        txn_target_read(run->targets[cell % TARGETS], cell % TARGETS,
                        (uint64_t)cell / TARGETS * CELL_BYTES, &last[cell], sizeof(last[cell]));
    }
}

static bool is_quiet(struct transactions *run)
{
    bool is_busy = false;
    for (unsigned i = 0; i < CLIENTS * ACTORS; i++) {
        is_busy |= run->clients[i / ACTORS].actors[i % ACTORS].txn != NULL;
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_server_stat stat = txn_target_stat(run->targets[i]);
        is_busy |= stat.txns != 0 || stat.calls != 0;
    }
    return !is_busy;
}

/* Without faults: all that is under way ends, also what a killed client has left. */
static void settle(struct transactions *run)
{
    run->is_ending = true;
    wio_sim_options(run->sim)->reset = 0;
    wio_sim_options(run->sim)->flush_fails = 0;
    wio_sim_heal(run->sim);
    uint64_t until_ns = wio_sim_now_ns(run->sim) + 60 * SECOND_NS;
    while (wio_sim_now_ns(run->sim) < until_ns && !is_quiet(run)) {
        (void)wio_sim_run(run->sim, 100);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        for (unsigned a = 0; a < ACTORS; a++) {
            if (run->clients[i].actors[a].txn != NULL) {
                sim_fail("a transaction of client %u has not ended in 60 s", i);
            }
        }
        count_client(run, &run->clients[i]);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_server_stat stat = txn_target_stat(run->targets[i]);
        if (stat.txns != 0 || stat.calls != 0) {
            sim_fail("target %u keeps %u transactions and %u calls", i, stat.txns, stat.calls);
        }
    }
}

static void add_totals(const struct transactions *run, struct sim_totals *totals)
{
    sim_total(totals, "steps", wio_sim_steps(run->sim));
    sim_total(totals, run->is_stable ? "transactions, stable" : "transactions, volatile",
              run->history.count);
    sim_total(totals, "of these uncertain", run->uncertain);
    sim_total(totals, "attempts beyond the first", run->retries);
    sim_total(totals, "ended by a wound", run->wounds);
    sim_total(totals, "targets restarted", run->restarts);
    sim_total(totals, "clients killed", run->kills);
    for (unsigned i = 0; i < TARGETS; i++) {
        txn_target_totals(run->targets[i], totals);
    }
    sim_total(totals, "waited for admission", run->paced);
    sim_total(totals, "refused for load", run->overloads);
    sim_total(totals, "resets", wio_sim_counts(run->sim)->resets);
    sim_total(totals, "pieces held back", wio_sim_counts(run->sim)->parted);
}

static void end(struct transactions *run)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        wio_session_destroy(run->clients[i].session);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        txn_target_destroy(run->targets[i]);
    }
    wio_admit_total_destroy(run->admission);
    wio_sim_destroy(run->sim);
}

/* Of each 32 seeds the second 16 have it, with a policy after the other. */
static void make_admission(struct transactions *run, uint64_t seed)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.shards = TARGETS;
    settings.kind = (enum wio_admit_kind)(seed % WIO_ADMIT_KIND_COUNT);
    settings.queue_total = 16; /* and so full soon */
    settings.memory_bytes = 8u << 20;
    settings.clients_max = 64;
    settings.tenants_max = 8;
    settings.incarnation = 1;
    if ((seed & 16) == 0) {
        return;
    }
    if (wio_admit_total_create(&settings, &heap, &run->admission, &err) != WIO_OK) {
        sim_fail("%s", err.message);
    }
    wio_intake_offer(&run->new_link.features);
}

static void start(struct transactions *run, const struct sim_arguments *arguments, uint64_t seed)
{
    struct wio_sim_options options = {
        .seed = seed, .late = 2000, .reset = 500, .log = arguments->log};
    memset(run, 0, sizeof(*run));
    run->is_stable = seed % 2 == 1;
    run->may_finish = seed % 5 == 0 || seed % 5 == 2; /* others are as they were */
    txn_target_faults(&options, run->is_stable);
    run->sim = wio_sim_create(&options);
    run->link.limits = wio_link_limits_default;
    run->link.auth = seed % 4 < 2 ? WIO_WIRE_AUTH_OPEN : sim_auth_with_key();
    run->new_link = run->link;
    make_admission(run, seed);
    for (uint16_t i = 0; i < TARGETS; i++) {
        make_target(run, i);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        start_client(run, i);
    }
    begin(run);
    if (run->is_stable) {
        wio_sim_later(run->sim, SECOND_NS / 100, disturb, run);
    }
}

static void run_seed(const struct sim_arguments *arguments, uint64_t seed,
                     struct sim_totals *totals)
{
    static struct transactions run;
    uint64_t last[HISTORY_CELLS];
    start(&run, arguments, seed);
    for (uint64_t i = 0; i < arguments->steps && run.fault == NULL; i++) {
        step(&run);
    }
    if (run.fault == NULL) {
        settle(&run);
        read_cells(&run, last);
        run.fault = run.fault != NULL ? run.fault : history_check(&run.history, last);
    }
    if (run.fault != NULL) {
        sim_fail("%s", run.fault);
    }
    add_totals(&run, totals);
    end(&run);
}

int main(int argc, char **argv)
{
    return sim_main(argc, argv, run_seed, pairs_print);
}
