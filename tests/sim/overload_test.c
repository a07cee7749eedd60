/* SPDX-License-Identifier: Apache-2.0 */
/* Ten times the load that a target can bear, and what clients make of it. Counts in virtual time.
 */
#include "support/unit.h"

#include <stdio.h>

#include "sim/overload_scene.h"

#define MS UINT64_C(1000000)
#define SECOND_NS (1000 * MS)

enum { MANY = 100, DEEP = 32 }; /* 3,200 under way: 320 ms of work, with 100 ms for each */

static struct overload scene;

/* Clients of one user each, and their figures for so long, after half as long. */
static void load_for(enum wio_admit_kind kind, const char *name, uint64_t ns)
{
    overload_begin(&scene, kind);
    for (unsigned i = 0; i < MANY; i++) {
        (void)overload_add(&scene, "", 1000 + i, DEEP, false);
    }
    overload_run(&scene, ns / 2);
    overload_forget(&scene);
    overload_run(&scene, ns);
    overload_print(&scene, name, ns);
}

static void load(enum wio_admit_kind kind, const char *name)
{
    load_for(kind, name, SECOND_NS);
}

static void credit_keeps_goodput_and_starves_none(void **state)
{
    (void)state;
    load(WIO_ADMIT_CREDIT, "credit");
    assert_true(overload_goodput(&scene, SECOND_NS) > 0.9);
    assert_true(overload_fairness(&scene, 0, MANY) > 0.9);
    assert_true(overload_refusals(&scene) < 2);
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(scene.clients[i].in_time >= 30); /* a fair share is 100 */
        assert_int_equal(scene.clients[i].failed, 0);
    }
    overload_end(&scene);
}

/* As it was: clients send what they have, and the target does it in the order in which it came. */
static void without_admission_all_is_too_late(void **state)
{
    (void)state;
    overload_begin(&scene, WIO_ADMIT_FIFO);
    for (unsigned i = 0; i < MANY; i++) {
        (void)overload_add(&scene, "", 1000 + i, DEEP, true);
    }
    overload_run(&scene, SECOND_NS / 2);
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS);
    overload_print(&scene, "fifo, old", SECOND_NS);
    assert_true(overload_goodput(&scene, SECOND_NS) < 0.1);
    overload_end(&scene);
}

static void others_keep_going(void **state)
{
    (void)state;
    static const enum wio_admit_kind kinds[] = {WIO_ADMIT_FIFO, WIO_ADMIT_HINT, WIO_ADMIT_HINT_HEAP,
                                                WIO_ADMIT_DRR,  WIO_ADMIT_TBF,  WIO_ADMIT_MCLOCK};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        load_for(kinds[i], wio_admit_kind_name(kinds[i]), SECOND_NS / 4);
        assert_true(kinds[i] == WIO_ADMIT_FIFO || overload_goodput(&scene, SECOND_NS / 4) > 0);
        overload_end(&scene);
    }
}

/* One client of a job of its own beside a hundred of another one. */
static void a_small_job_has_its_share_at_once(void **state)
{
    (void)state;
    overload_begin(&scene, WIO_ADMIT_CREDIT);
    struct overload_client *small = overload_add(&scene, "small", 1, 1, false);
    for (unsigned i = 0; i < MANY; i++) {
        (void)overload_add(&scene, "large", 2, DEEP, false);
    }
    overload_run(&scene, SECOND_NS / 2);
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS);
    overload_print(&scene, "two jobs", SECOND_NS);
    assert_true(overload_goodput(&scene, SECOND_NS) > 0.9);
    assert_true(small->in_time > 200);
    assert_int_equal(small->late + small->overloaded + small->failed, 0);
    assert_true(small->longest_ns <= 20 * MS);
    overload_end(&scene);
}

/* Windows and tickets of before are worth nothing, and do no harm. */
static void a_restart_under_overload_does_no_harm(void **state)
{
    (void)state;
    load(WIO_ADMIT_CREDIT, "before");
    overload_restart(&scene);
    overload_run(&scene, SECOND_NS); /* clients connect again */
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS);
    overload_print(&scene, "restarted", SECOND_NS);
    assert_true(overload_goodput(&scene, SECOND_NS) > 0.9);
    assert_true(overload_fairness(&scene, 0, MANY) > 0.9);
    overload_end(&scene);
}

/* R-ADMIT-1, R-ADMIT-2, both ways: without the features each side goes on as before. */
static void old_and_new_work_together(void **state)
{
    (void)state;
    overload_begin(&scene, WIO_ADMIT_CREDIT);
    for (unsigned i = 0; i < 10; i++) {
        (void)overload_add(&scene, "", 1000 + i, DEEP, i % 2 == 0);
    }
    overload_run(&scene, SECOND_NS / 2);
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS);
    overload_print(&scene, "mixed", SECOND_NS);
    assert_true(overload_goodput(&scene, SECOND_NS) > 0.8);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(scene.clients[i].in_time > 100);
    }
    overload_end(&scene);
    overload_begin_old(&scene);
    for (unsigned i = 0; i < 10; i++) {
        (void)overload_add(&scene, "", 1000 + i, 8, i % 2 == 0);
    }
    overload_run(&scene, SECOND_NS);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(scene.clients[i].in_time > 100);
        assert_int_equal(wio_session_pacing(scene.clients[i].session).waited, 0);
    }
    overload_end(&scene);
}

/* ---- clients that do as they like ---------------------------------------------------------- */

/* Sends what it has on a connection of its own: windows are not looked at. */
struct liar {
    struct wio_targets *targets;
    uint64_t number;
    uint64_t replies;
    uint64_t refused;
    bool forges;    /* tickets */
    bool asks_jobs; /* for statistics, and writes nothing */
};

static void tell(struct liar *liar)
{
    static const uint8_t bytes[8] = {2};
    uint64_t number = ++liar->number;
    struct wio_store_request request = {.op = WIO_STORE_WRITE,
                                        .flags = WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_ADMIT,
                                        .number = number,
                                        .txn = {.number = number, .birth_ns = 1, .attempt = 1},
                                        .file = 100000,
                                        .offset = number % 64 * sizeof(bytes),
                                        .data = bytes,
                                        .data_size = sizeof(bytes),
                                        .asks = {.demand = UINT16_MAX, .demand_ns = UINT64_MAX}};
    if (liar->forges) {
        request.asks.ticket =
            (struct wio_ticket){.sequence = 1 + number % 3, .mac = number, .incarnation = 1};
    }
    if (liar->asks_jobs) {
        request = (struct wio_store_request){.op = WIO_STORE_JOB_STATS,
                                             .flags = WIO_STORE_FLAG_ADMIT,
                                             .number = number,
                                             .asks = request.asks};
    }
    (void)wio_targets_send(liar->targets, 0, &request);
}

static void liar_back(void *context, uint16_t target, bool is_known)
{
    (void)target;
    (void)is_known;
    for (unsigned i = 0; i < 60; i++) {
        tell(context);
    }
}

static void liar_reply(void *context, uint16_t target, const struct wio_store_reply *reply)
{
    struct liar *liar = context;
    (void)target;
    liar->replies++;
    liar->refused += reply->result == WIO_STORE_BUSY;
    tell(liar);
}

static void liar_push(void *context, uint16_t target, const struct wio_store_push *push)
{
    (void)context;
    (void)target;
    (void)push;
}

static const struct wio_targets_events liar_events = {
    .back = liar_back, .reply = liar_reply, .push = liar_push};

static void add_liar(struct liar *liar, const char *name, uint64_t client)
{
    static const char *const addresses[] = {"unix:target"};
    struct wio_sim_node *node = wio_sim_node(scene.sim, name);
    wio_sim_set_user(node, 7, 7);
    struct wio_io *io = wio_sim_start(node);
    const struct wio_wire_hello hello = {.client = client, .job = "liars"};
    assert_int_equal(wio_targets_create(io, &scene.link, &hello, addresses, 1, &liar_events, liar,
                                        &liar->targets, NULL),
                     WIO_OK);
}

static struct wio_admit_counts counts_of_job(const char *name)
{
    const struct wio_admit *shard = wio_intake_shard(wio_target_intake(scene.target));
    struct wio_admit_tenant_counts tenant;
    struct wio_admit_counts counts = {0};
    uint32_t i = 0;
    while (wio_admit_each_tenant(shard, &i, &tenant)) {
        if (tenant.key[0] == wio_intake_job(name)) {
            counts = *tenant.counts;
        }
    }
    return counts;
}

static void liars_gain_little(void **state)
{
    (void)state;
    static const char *const names[] = {"liar0", "liar1", "liar2", "liar3"};
    struct liar liars[4] = {{.forges = true}, {.forges = true}};
    overload_begin(&scene, WIO_ADMIT_CREDIT);
    for (unsigned i = 0; i < 20; i++) {
        (void)overload_add(&scene, "honest", 1000 + i, DEEP, false);
    }
    for (unsigned i = 0; i < 4; i++) {
        add_liar(&liars[i], names[i], 1000 + i);
    }
    overload_run(&scene, SECOND_NS / 2);
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS);
    overload_print(&scene, "liars", SECOND_NS);
    struct wio_admit_counts counts = counts_of_job("liars");
    assert_true(overload_goodput(&scene, SECOND_NS) > 0.4); /* two tenants: half each */
    assert_true(overload_fairness(&scene, 0, 20) > 0.9);
    assert_true(counts.tickets_refused > 0);
    assert_int_equal(counts.retries, 0); /* none of the forged ones held */
    assert_true(liars[2].refused > 0);
    for (unsigned i = 0; i < 4; i++) {
        wio_targets_destroy(liars[i].targets);
    }
    overload_end(&scene);
}

/* Statistics of jobs are asked for as all else is. */
static void statistics_are_admitted_like_others(void **state)
{
    (void)state;
    struct liar liar = {.asks_jobs = true};
    overload_begin(&scene, WIO_ADMIT_CREDIT);
    for (unsigned i = 0; i < 20; i++) {
        (void)overload_add(&scene, "honest", 1000 + i, DEEP, false);
    }
    add_liar(&liar, "liar", 1000);
    overload_run(&scene, SECOND_NS / 2);
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS);
    overload_print(&scene, "job stats", SECOND_NS);
    struct wio_admit_counts counts = counts_of_job("liars");
    assert_true(counts.done > 0);
    assert_true(liar.replies > liar.refused);
    assert_true(liar.refused > 0);
    assert_true(overload_goodput(&scene, SECOND_NS) >
                0.5); /* one tenant of 21, with long answers */
    wio_targets_destroy(liar.targets);
    overload_end(&scene);
}

static void hear_nothing(void *context, uint16_t target, const struct wio_store_reply *reply)
{
    (void)context;
    (void)target;
    (void)reply;
}

static void say_nothing(void *context, uint16_t target, bool is_known)
{
    unsigned *there = context;
    (void)target;
    (void)is_known;
    (*there)++;
}

/* ---- transactions -------------------------------------------------------------------------- */

enum { PAIRS = 2000, WAITERS = 30 };

/* Transactions of two operations that are sent at once: what becomes of each. */
struct pairs {
    struct wio_targets *targets;
    uint64_t number;
    uint64_t txn;
    unsigned results[2];
    unsigned answers;
    unsigned done;
    unsigned refused;
    unsigned torn; /* one was served and the other was not */
};

static void send_op(struct pairs *pairs, uint16_t op, uint16_t flags)
{
    static const uint8_t bytes[8] = {3};
    const struct wio_store_request request = {
        .op = op,
        .flags = flags,
        .number = ++pairs->number,
        .txn = {.number = pairs->txn, .birth_ns = pairs->txn, .attempt = 1},
        .file = 200000,
        .offset = pairs->number % 2 * sizeof(bytes),
        .data = op == WIO_STORE_WRITE ? bytes : NULL,
        .data_size = op == WIO_STORE_WRITE ? sizeof(bytes) : 0};
    (void)wio_targets_send(pairs->targets, 0, &request);
}

static void next_pair(struct pairs *pairs)
{
    if (pairs->txn == PAIRS) {
        return;
    }
    pairs->txn++;
    pairs->answers = 0;
    send_op(pairs, WIO_STORE_WRITE, WIO_STORE_FLAG_BEGIN);
    send_op(pairs, WIO_STORE_WRITE, 0);
}

static void pair_back(void *context, uint16_t target, bool is_known)
{
    (void)target;
    (void)is_known;
    next_pair(context);
}

static void pair_reply(void *context, uint16_t target, const struct wio_store_reply *reply)
{
    struct pairs *pairs = context;
    (void)target;
    if (reply->op != WIO_STORE_WRITE) {
        assert_int_equal(reply->result, WIO_STORE_OK);
        next_pair(pairs);
        return;
    }
    pairs->results[pairs->answers++] = reply->result;
    if (pairs->answers < 2) {
        return;
    }
    pairs->torn += pairs->results[0] != pairs->results[1];
    pairs->refused += pairs->results[0] == WIO_STORE_BUSY;
    pairs->done += pairs->results[0] == WIO_STORE_OK;
    send_op(pairs, pairs->results[0] == WIO_STORE_OK ? WIO_STORE_COMMIT : WIO_STORE_ABORT, 0);
}

/* R-ADMIT-3, R-ADMIT-4 */
static void transactions_are_refused_as_a_whole(void **state)
{
    (void)state;
    static const char *const addresses[] = {"unix:target"};
    static const struct wio_targets_events events = {
        .back = pair_back, .reply = pair_reply, .push = liar_push};
    static const enum wio_admit_kind kinds[] = {WIO_ADMIT_CREDIT, WIO_ADMIT_DRR, WIO_ADMIT_HINT};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct pairs pairs = {0};
        overload_begin(&scene, kinds[i]);
        for (unsigned c = 0; c < MANY; c++) {
            (void)overload_add(&scene, "large", 2, DEEP, false);
        }
        struct wio_io *io = wio_sim_start(wio_sim_node(scene.sim, "pairs"));
        const struct wio_wire_hello hello = {.client = 3000, .job = "large"};
        assert_int_equal(wio_targets_create(io, &scene.link, &hello, addresses, 1, &events, &pairs,
                                            &pairs.targets, NULL),
                         WIO_OK);
        overload_run(&scene, SECOND_NS);
        printf("# %s: %u transactions done, %u refused\n", wio_admit_kind_name(kinds[i]),
               pairs.done, pairs.refused);
        assert_int_equal(pairs.torn, 0);
        assert_true(pairs.done + pairs.refused > 5); /* one at a time, beside 3,200 requests */
        wio_targets_destroy(pairs.targets);
        overload_end(&scene);
    }
}

/* One holds a lock, many wait for it: others go on, and its COMMIT is served at once. */
static void what_waits_for_a_lock_holds_no_place(void **state)
{
    (void)state;
    static const char *const addresses[] = {"unix:target"};
    static const struct wio_targets_events events = {
        .back = say_nothing, .reply = hear_nothing, .push = liar_push};
    unsigned there = 0;
    struct pairs holder = {.txn = 1};
    overload_begin(&scene, WIO_ADMIT_CREDIT);
    struct wio_io *io = wio_sim_start(wio_sim_node(scene.sim, "holder"));
    const struct wio_wire_hello hello = {.client = 3000, .job = "holder"};
    assert_int_equal(wio_targets_create(io, &scene.link, &hello, addresses, 1, &events, &there,
                                        &holder.targets, NULL),
                     WIO_OK);
    overload_run(&scene, 10 * MS);
    assert_int_equal(there, 1);
    send_op(&holder, WIO_STORE_WRITE, WIO_STORE_FLAG_BEGIN);
    for (unsigned i = 0; i < WAITERS; i++) {
        struct wio_store_request request = {
            .op = WIO_STORE_READ,
            .flags = WIO_STORE_FLAG_SINGLE,
            .number = ++holder.number,
            .txn = {.number = 10 + i, .birth_ns = 10 + i, .attempt = 1},
            .file = 200000,
            .offset = 8,
            .size = 8};
        assert_true(wio_targets_send(holder.targets, 0, &request));
    }
    for (unsigned c = 0; c < MANY; c++) {
        (void)overload_add(&scene, "", 1000 + c, DEEP, false);
    }
    overload_run(&scene, SECOND_NS / 2);
    struct wio_server_stat stat = wio_server_stat(wio_target_server(scene.target));
    struct wio_admit_gauges gauges;
    wio_admit_gauges(wio_intake_shard(wio_target_intake(scene.target)), &gauges);
    assert_true(stat.calls >= WAITERS); /* they wait there .. */
    assert_true(gauges.in_flight <= 1); /* .. and not here */
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS / 2);
    assert_true(overload_goodput(&scene, SECOND_NS / 2) > 0.9);
    uint64_t commits = wio_server_stat(wio_target_server(scene.target)).commits;
    send_op(&holder, WIO_STORE_COMMIT, 0);
    overload_run(&scene, 20 * MS);
    assert_true(wio_server_stat(wio_target_server(scene.target)).commits > commits);
    assert_true(wio_server_stat(wio_target_server(scene.target)).calls < WAITERS);
    wio_targets_destroy(holder.targets);
    overload_end(&scene);
}

/* ---- connections that send nothing --------------------------------------------------------- */

enum { SILENT = 3000 };

static void silent_connections_cost_little(void **state)
{
    (void)state;
    static const char *const addresses[] = {"unix:target"};
    static const struct wio_targets_events events = {
        .back = say_nothing, .reply = hear_nothing, .push = liar_push};
    static struct wio_targets *silent[SILENT];
    unsigned there = 0;
    overload_begin(&scene, WIO_ADMIT_CREDIT);
    struct wio_io *io = wio_sim_start(wio_sim_node(scene.sim, "silent"));
    for (unsigned i = 0; i < SILENT; i++) {
        const struct wio_wire_hello hello = {.client = 5000 + i};
        assert_int_equal(wio_targets_create(io, &scene.link, &hello, addresses, 1, &events, &there,
                                            &silent[i], NULL),
                         WIO_OK);
        overload_run(&scene, MS / 5);
    }
    for (unsigned i = 0; i < 10; i++) {
        (void)overload_add(&scene, "", 1000 + i, DEEP, false);
    }
    overload_run(&scene, SECOND_NS / 2);
    overload_forget(&scene);
    overload_run(&scene, SECOND_NS / 2);
    overload_print(&scene, "silent", SECOND_NS / 2);
    struct wio_admit_gauges gauges;
    wio_admit_gauges(wio_intake_shard(wio_target_intake(scene.target)), &gauges);
    assert_int_equal(there, SILENT);
    assert_int_equal(gauges.clients, SILENT + 10);
    assert_true(gauges.memory_bytes <= gauges.memory_limit);
    assert_true(overload_goodput(&scene, SECOND_NS / 2) > 0.9);
    for (unsigned i = 0; i < SILENT; i++) {
        wio_targets_destroy(silent[i]);
    }
    overload_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credit_keeps_goodput_and_starves_none),
        cmocka_unit_test(without_admission_all_is_too_late),
        cmocka_unit_test(others_keep_going),
        cmocka_unit_test(a_small_job_has_its_share_at_once),
        cmocka_unit_test(a_restart_under_overload_does_no_harm),
        cmocka_unit_test(old_and_new_work_together),
        cmocka_unit_test(liars_gain_little),
        cmocka_unit_test(statistics_are_admitted_like_others),
        cmocka_unit_test(silent_connections_cost_little),
        cmocka_unit_test(transactions_are_refused_as_a_whole),
        cmocka_unit_test(what_waits_for_a_lock_holds_no_place),
    };
    return WIO_RUN(tests);
}
