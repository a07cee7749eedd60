/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are exact explanations right? Clients run transactions on three targets of the simulated world,
 * which write their rows as a store does; beside them the truth (truth.h) finds by itself what
 * blocks what. The explanation of the trace has to name the same pairs (transaction that was
 * aborted or waited, transaction in its way, target), with the same numbers of aborts and waits and
 * the same kinds of conflict: all of them, and no other. Each transaction has a call site of its
 * own, so that a pair is one of transactions.
 *
 * The four policies, volatile and stable transactions, and single operations come by turns of the
 * seed. Connections are late and break.
 *
 *     store_explanations_sim [--seed=N | --seeds=N | --seconds=N] [--steps=N] [--log]
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <whyio/trace.h>

#include "base/grow.h"
#include "base/io.h"
#include "explain/aborts/aborts.h"
#include "sim/runner.h"
#include "sim/sim.h"
#include "sim/truth.h"
#include "sim/txn_target.h"
#include "store/session/session.h"

#define SECOND_NS UINT64_C(1000000000)

enum { TARGETS = TRUTH_TARGETS, CLIENTS = 3, ACTORS = 2, CELLS = 9, CELL_BYTES = 16, ACCESSES = 4 };

struct access {
    uint32_t cell;
    bool is_write;
};

struct actor {
    struct run_client *client;
    bool is_busy;
    bool is_single;
    bool is_writing;
    uint32_t source;
    uint32_t answered;
    uint32_t count;
    struct access accesses[ACCESSES];
};

struct run_client {
    struct run *run;
    struct wio_session *session;
    struct actor actors[ACTORS];
};

struct run {
    struct wio_sim *sim;
    struct wio_link_config link;
    struct truth *truth;
    struct txn_target *targets[TARGETS];
    struct wio_tracer *tracers[TARGETS];
    struct run_client clients[CLIENTS];
    bool is_stable;
    bool is_ending;
    uint64_t begun; /* transactions; their sources are named by it */
    char dir[64];
};

static const char *const addresses[TARGETS] = {"unix:target0", "unix:target1", "unix:target2"};

static uint64_t below(struct run *run, uint64_t limit)
{
    return wio_sim_random(run->sim) % limit;
}

/* ---- transactions -------------------------------------------------------------------------- */

static void issue(const struct actor *actor, struct wio_coord_txn *txn, uint32_t a, bool is_write)
{
    static const uint8_t data[CELL_BYTES] = {1};
    uint32_t cell = actor->accesses[a].cell;
    struct wio_store_request request = {.op = is_write ? WIO_STORE_WRITE : WIO_STORE_READ,
                                        .file = 1,
                                        .segment = cell % TARGETS,
                                        .offset = (uint64_t)cell / TARGETS * CELL_BYTES,
                                        .size = is_write ? 0 : CELL_BYTES,
                                        .data = is_write ? data : NULL,
                                        .data_size = is_write ? CELL_BYTES : 0,
                                        .source = actor->source};
    if (wio_coord_issue(txn, (uint16_t)(cell % TARGETS), &request, a) != WIO_OK) {
        sim_fail("an operation could not be issued");
    }
}

static void on_run(void *context, struct wio_coord_txn *txn, void *user)
{
    struct actor *actor = user;
    (void)context;
    actor->answered = 0;
    actor->is_writing = false;
    for (uint32_t a = 0; a < actor->count; a++) {
        issue(actor, txn, a, actor->is_single && actor->accesses[a].is_write);
    }
}

static uint32_t write_all(struct actor *actor, struct wio_coord_txn *txn)
{
    uint32_t writes = 0;
    for (uint32_t a = 0; a < actor->count; a++) {
        writes += actor->accesses[a].is_write;
    }
    actor->is_writing = true;
    actor->answered = actor->count - writes;
    for (uint32_t a = 0; a < actor->count; a++) {
        if (actor->accesses[a].is_write) {
            issue(actor, txn, a, true);
        }
    }
    return writes;
}

static void on_part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                    const struct wio_store_reply *reply)
{
    const struct run_client *client = context;
    struct actor *actor = user;
    (void)tag;
    (void)reply;
    actor->answered++;
    if (actor->is_single || actor->answered < actor->count) {
        return;
    }
    if (!actor->is_writing && write_all(actor, txn) > 0) {
        return;
    }
    if (wio_coord_commit(txn, wio_session_now_ns(client->session)) != WIO_OK) {
        sim_fail("a commit was refused");
    }
}

static void on_ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                     enum wio_store_result result)
{
    struct actor *actor = user;
    (void)context;
    (void)txn;
    (void)end;
    (void)result;
    actor->is_busy = false;
}

static const struct wio_coord_ops client_ops = {.run = on_run, .part = on_part, .ended = on_ended};

static void draw(struct run *run, struct actor *actor)
{
    uint32_t first = (uint32_t)below(run, CELLS);
    actor->is_single = below(run, 4) == 0;
    actor->count = actor->is_single ? 1 : 1 + (uint32_t)below(run, ACCESSES);
    for (uint32_t a = 0; a < actor->count; a++) {
        uint32_t step = below(run, 2) == 0 ? a : CELLS - a;
        actor->accesses[a] = (struct access){(first + step * 2) % CELLS, below(run, 2) == 0};
        for (uint32_t b = 0; b < a; b++) {
            if (actor->accesses[b].cell == actor->accesses[a].cell) {
                actor->count = a;
                return;
            }
        }
    }
}

static void begin(void *context)
{
    struct run *run = context;
    struct run_client *client = &run->clients[below(run, CLIENTS)];
    struct actor *actor = &client->actors[below(run, ACTORS)];
    struct wio_coord_txn *txn = NULL;
    char place[32];
    if (run->is_ending) {
        return;
    }
    if (!actor->is_busy) {
        actor->client = client;
        draw(run, actor);
        (void)snprintf(place, sizeof(place), "%" PRIu64, ++run->begun);
        actor->source = wio_session_source(client->session, place, strlen(place));
        actor->is_busy = true;
        uint16_t flags = (uint16_t)((run->is_stable ? WIO_STORE_FLAG_STABLE : 0) |
                                    (actor->is_single ? WIO_STORE_FLAG_SINGLE : 0));
        if (wio_session_begin(client->session, actor, flags, &txn) != WIO_OK) {
            sim_fail("a transaction could not begin");
        }
    }
    wio_sim_later(run->sim, below(run, 60000), begin, run);
}

/* ---- the explanation ----------------------------------------------------------------------- */

/* Which transaction has the call site: by a row of it. */
struct names {
    struct truth_name *of; /* by the number that is its place */
    uint64_t count;
};

static void learn_names(const struct run *run, const struct wio_trace *trace, struct names *names)
{
    struct wio_txn_cursor *cursor = NULL;
    const struct wio_txn_row *row = NULL;
    names->count = run->begun + 1;
    names->of = calloc(names->count, sizeof(*names->of));
    if (names->of == NULL || wio_txn_cursor_create(trace, &cursor, NULL) != WIO_OK) {
        sim_fail("no memory");
    }
    while (wio_txn_cursor_next(cursor, &row, NULL) == WIO_OK) {
        const struct wio_txn_origin *origin = wio_txn_cursor_origin(cursor, row->origin);
        uint64_t at = strtoul(origin->place, NULL, 10);
        if (row->kind != WIO_TXN_RELEASE && at != 0 && at < names->count) {
            names->of[at] = (struct truth_name){row->txn.client, row->txn.number};
        }
    }
    wio_txn_cursor_destroy(cursor);
}

static struct truth_name name_of(const struct wio_aborts *aborts, const struct names *names,
                                 uint32_t source)
{
    if (source == WIO_NO_SOURCE) {
        return (struct truth_name){0, 0};
    }
    uint32_t place = aborts->sources.rows[source].place;
    uint64_t at = strtoul(wio_abort_sources_place_text(&aborts->sources, place), NULL, 10);
    return at < names->count ? names->of[at] : (struct truth_name){0, 0};
}

static void print_pair(const char *title, const struct truth_pair *pair)
{
    printf("%s: %" PRIu64 "#%" PRIu64 " by %" PRIu64 "#%" PRIu64 " at %" PRIu64 ": %" PRIu64
           " aborts, %" PRIu64 " waits, conflicts",
           title, pair->victim.client, pair->victim.number, pair->blocker.client,
           pair->blocker.number, pair->server, pair->aborts, pair->waits);
    for (unsigned i = 0; i < WIO_CONFLICTS; i++) {
        printf(" %" PRIu64, pair->by_conflict[i]);
    }
    printf("\n");
}

static void compare(struct run *run, const struct wio_aborts *aborts, const struct names *names)
{
    uint32_t count = 0;
    const struct truth_pair *truth = truth_pairs(run->truth, &count);
    uint32_t told = aborts->exact.pair_count;
    struct truth_pair *pairs = calloc((size_t)told + 1, sizeof(*pairs));
    uint32_t wrong = 0;
    for (uint32_t i = 0; pairs != NULL && i < told; i++) {
        const struct wio_exact_pair *pair = &aborts->exact.pairs[i];
        pairs[i] =
            (struct truth_pair){.victim = name_of(aborts, names, pair->victim),
                                .blocker = name_of(aborts, names, pair->blocker),
                                .server = wio_attempts_server(&aborts->attempts, pair->server),
                                .aborts = pair->aborts,
                                .waits = pair->waits};
        memcpy(pairs[i].by_conflict, pair->by_conflict, sizeof(pairs[i].by_conflict));
    }
    if (pairs == NULL) {
        sim_fail("out of memory");
    }
    qsort(pairs, told, sizeof(*pairs), truth_compare);
    for (uint32_t i = 0, k = 0; i < count || k < told;) {
        int order = i == count ? 1 : k == told ? -1 : truth_compare(&truth[i], &pairs[k]);
        if (order == 0 && memcmp(&truth[i], &pairs[k], sizeof(truth[i])) == 0) {
            i++;
            k++;
            continue;
        }
        wrong++;
        if (order <= 0) {
            print_pair("truth      ", &truth[i++]);
        }
        if (order >= 0) {
            print_pair("explanation", &pairs[k++]);
        }
    }
    free(pairs);
    if (wrong > 0) {
        sim_fail("%u pairs of %u differ", wrong, count);
    }
}

static void explain(struct run *run, struct sim_totals *totals)
{
    struct wio_trace *trace = NULL;
    struct wio_aborts *aborts = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct names names = {0};
    if (wio_trace_open(run->dir, &trace, &err) != WIO_OK ||
        wio_aborts_of(trace, &aborts, &err) != WIO_OK || aborts == NULL) {
        sim_fail("the trace: %s", err.message);
    }
    learn_names(run, trace, &names);
    compare(run, aborts, &names);
    sim_total(totals, "aborts by locks",
              aborts->totals.aborts - aborts->totals.by_refusal[WIO_REFUSAL_BUSY]);
    sim_total(totals, "of these deadlocks", aborts->totals.deadlocks);
    sim_total(totals, "pairs of transactions", aborts->exact.pair_count);
    uint64_t waits = 0;
    for (uint32_t i = 0; i < aborts->exact.pair_count; i++) {
        waits += aborts->exact.pairs[i].waits;
    }
    sim_total(totals, "waits for a blocker", waits);
    sim_total(totals, "innocent by the classic analysis", aborts->classic.innocent);
    sim_total(totals, "wounds with several reasons", truth_ambiguous(run->truth));
    free(names.of);
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
}

/* ---- the run ------------------------------------------------------------------------------- */

static void start_target(struct run *run, uint16_t i, enum wio_lock_policy policy)
{
    struct wio_error err = WIO_ERROR_INIT;
    char name[32];
    (void)snprintf(name, sizeof(name), "target%u", i);
    const struct wio_tracer_config trace = {
        .dir = run->dir, .name = name, .server = i, .segment_ns = UINT64_MAX};
    if (wio_tracer_create(&trace, &run->tracers[i], &err) != WIO_OK) {
        sim_fail("tracer: %s", err.message);
    }
    const struct txn_target_config config = {
        .sim = run->sim,
        .link = &run->link,
        .addresses = addresses,
        .self = i,
        .targets = TARGETS,
        .policy = policy,
        .lock_timeout_ns = policy == WIO_LOCK_TIMEOUT ? 2 * SECOND_NS / 1000 : 0,
        .tracer = run->tracers[i],
        .prefilled_bytes = CELLS * CELL_BYTES};
    run->targets[i] = txn_target_create(&config);
    truth_listen(run->truth, i, txn_target_server(run->targets[i]));
}

static void start_client(struct run *run, unsigned i)
{
    static const char *const nodes[CLIENTS] = {"client0", "client1", "client2"};
    struct run_client *client = &run->clients[i];
    struct wio_error err = WIO_ERROR_INIT;
    client->run = run;
    const struct wio_session_config config = {
        .link = &run->link,
        .hello = {.client = i + 1, .uid = 1000, .job = "job"},
        .addresses = addresses,
        .targets = TARGETS,
        .txns_max = 64,
        .ops = &client_ops,
        .context = client,
    };
    if (wio_session_create(wio_sim_start(wio_sim_node(run->sim, nodes[i])), &config,
                           &client->session, &err) != WIO_OK) {
        sim_fail("client %u: %s", i, err.message);
    }
}

static void start(struct run *run, const struct sim_arguments *arguments, uint64_t seed)
{
    const struct wio_sim_options options = {
        .seed = seed, .late = 2000, .reset = 100, .log = arguments->log};
    memset(run, 0, sizeof(*run));
    (void)snprintf(run->dir, sizeof(run->dir), "/tmp/whyio-truth-XXXXXX");
    if (mkdtemp(run->dir) == NULL) {
        sim_fail("no directory");
    }
    run->truth = truth_create();
    run->is_stable = seed / 4 % 2 == 1;
    run->sim = wio_sim_create(&options);
    run->link.limits = wio_link_limits_default;
    run->link.auth = WIO_WIRE_AUTH_OPEN;
    for (uint16_t i = 0; i < TARGETS; i++) {
        start_target(run, i, (enum wio_lock_policy)(seed % WIO_LOCK_POLICIES));
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        start_client(run, i);
    }
    begin(run);
}

static bool is_quiet(const struct run *run)
{
    bool is_busy = false;
    for (unsigned i = 0; i < CLIENTS * ACTORS; i++) {
        is_busy |= run->clients[i / ACTORS].actors[i % ACTORS].is_busy;
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_server_stat stat = txn_target_stat(run->targets[i]);
        is_busy |= stat.txns != 0 || stat.calls != 0;
    }
    return !is_busy;
}

static void settle(struct run *run)
{
    run->is_ending = true;
    wio_sim_options(run->sim)->reset = 0;
    uint64_t until_ns = wio_sim_now_ns(run->sim) + 60 * SECOND_NS;
    while (wio_sim_now_ns(run->sim) < until_ns && !is_quiet(run)) {
        (void)wio_sim_run(run->sim, 100);
    }
    if (!is_quiet(run)) {
        sim_fail("transactions have not ended in 60 s");
    }
}

static void end(struct run *run)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        wio_session_destroy(run->clients[i].session);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_error err = WIO_ERROR_INIT;
        txn_target_destroy(run->targets[i]);
        if (wio_tracer_close(run->tracers[i], NULL, &err) != WIO_OK) {
            sim_fail("tracer: %s", err.message);
        }
    }
    wio_sim_destroy(run->sim);
}

static void run_seed(const struct sim_arguments *arguments, uint64_t seed,
                     struct sim_totals *totals)
{
    static struct run run;
    start(&run, arguments, seed);
    (void)wio_sim_run(run.sim, arguments->steps);
    settle(&run);
    sim_total(totals, "steps", wio_sim_steps(run.sim));
    sim_total(totals, "transactions", run.begun);
    end(&run);
    explain(&run, totals);
    truth_destroy(run.truth);
    (void)!wio_io_remove_tree(run.dir, NULL);
}

int main(int argc, char **argv)
{
    return sim_main(argc, argv, run_seed, NULL);
}
