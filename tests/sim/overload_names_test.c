/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A catalogue that is asked for more opens, stats and new names than it can do: real server,
 * sessions and protocol, in virtual time. A request takes a fixed time of the catalogue's loop;
 * each client has so many under way, and asks the next one when one was answered.
 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "store/session/catalogue_server.h"
#include "store/session/session.h"

#define MS UINT64_C(1000000)
#define SECOND_NS (1000 * MS)
#define SERVICE_NS (MS / 10)
#define DEADLINE_NS (100 * MS)

/* 2,560 under way: 256 ms of work, with 100 ms for each */
enum { MANY = 80, DEEP = 32, ROUND = 4 };

static const char *const at[] = {"unix:catalogue"};
static const char *const no_targets[] = {"unix:t0"};
static const struct wio_link_key servers_key = {.bytes = {4, 5, 6}};

struct names_client;

struct names_actor {
    struct names_client *client;
    struct wio_coord_ask ask;
    char path[32];
    unsigned index;
    unsigned round;
    uint64_t began_ns;
};

struct names_client {
    struct wio_session *session;
    unsigned index;
    uint64_t in_time;
    uint64_t late;
    uint64_t overloaded; /* EBUSY */
    uint64_t busy;       /* refused without admission's features */
    uint64_t wrong;      /* anything else */
    struct names_actor actors[DEEP];
};

static struct {
    struct wio_sim *sim;
    struct wio_io *io; /* of the catalogue */
    struct wio_io_ops ops;
    struct wio_link_config old_link;
    struct wio_link_config link; /* of what knows admission */
    struct wio_admit_total *total;
    struct wio_catalogue *catalogue;
    struct wio_catalogue_server *server;
    struct names_client *clients;
    unsigned count;
    bool is_ending;
    bool is_open; /* from now on a request takes its time */
} scene;

/* ---- the catalogue ------------------------------------------------------------------------- */

static uint64_t (*true_unix_ns)(struct wio_io *io);

/* The catalogue's server takes this clock once for each request that it performs. */
static uint64_t slow_unix_ns(struct wio_io *io)
{
    if (scene.is_open) {
        wio_sim_spend(io, SERVICE_NS);
    }
    return true_unix_ns(io);
}

static void failed(void *context)
{
    (void)context;
    fail_msg("the catalogue has failed");
}

static void begin(enum wio_admit_kind kind, bool has_admission)
{
    const struct wio_sim_options options = {.seed = 1};
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    memset(&scene, 0, sizeof(scene));
    scene.clients = calloc(MANY, sizeof(*scene.clients));
    assert_non_null(scene.clients);
    scene.sim = wio_sim_create(&options);
    scene.old_link.limits = wio_link_limits_default;
    scene.link = scene.old_link;
    wio_intake_offer(&scene.link.features);
    scene.io = wio_sim_start(wio_sim_node(scene.sim, "catalogue"));
    scene.ops = *scene.io->ops;
    true_unix_ns = scene.ops.unix_ns;
    scene.ops.unix_ns = slow_unix_ns;
    scene.io->ops = &scene.ops;
    if (has_admission) {
        struct wio_admit_settings settings = wio_admit_settings_default();
        settings.kind = kind;
        settings.incarnation = 1;
        settings.key[0] = 1;
        assert_ok(wio_admit_total_create(&settings, &heap, &scene.total, &err), &err);
    }
    const struct wio_catalogue_config names = {.io = scene.io, .may_create = true, .mode = 0777};
    assert_ok(wio_catalogue_open(&names, &scene.catalogue, &err), &err);
    const struct wio_catalogue_server_config config = {.link = scene.old_link,
                                                       .catalogue = scene.catalogue,
                                                       .servers_key = &servers_key,
                                                       .targets = no_targets,
                                                       .target_count = 1,
                                                       .admission = scene.total,
                                                       .failed = failed};
    assert_ok(wio_catalogue_server_create(scene.io, &config, &scene.server, &err), &err);
    assert_ok(wio_catalogue_server_listen(scene.server, at[0], NULL, &err), &err);
    scene.is_open = true;
}

static void end(void)
{
    scene.is_ending = true;
    for (unsigned i = 0; i < scene.count; i++) {
        wio_session_destroy(scene.clients[i].session);
    }
    wio_catalogue_server_destroy(scene.server);
    wio_catalogue_close(scene.catalogue);
    wio_admit_total_destroy(scene.total);
    wio_sim_destroy(scene.sim);
    free(scene.clients);
}

/* ---- clients ------------------------------------------------------------------------------- */

/* A new name, an open of it, and two looks at it; then the next one. */
static struct wio_store_request request_of(struct names_actor *actor)
{
    const unsigned step = actor->round % ROUND;
    (void)snprintf(actor->path, sizeof(actor->path), "/c%u.%u.%u", actor->client->index,
                   actor->index, actor->round / ROUND);
    struct wio_store_request request = {.op = step < 2 ? WIO_STORE_OPEN : WIO_STORE_STAT,
                                        .path = actor->path,
                                        .path_size = (uint32_t)strlen(actor->path),
                                        .file_mode = 0600,
                                        .deadline_ns = actor->began_ns + DEADLINE_NS};
    if (step < 2) {
        request.open_flags =
            step == 0 ? WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL : WIO_STORE_OPEN_READ;
    }
    return request;
}

static void ask_next(void *context);

static void answered(struct wio_coord_ask *ask, const struct wio_store_reply *reply)
{
    struct names_actor *actor = ask->owner;
    struct names_client *client = actor->client;
    const uint64_t took_ns = wio_session_now_ns(client->session) - actor->began_ns;
    if (reply->result == WIO_STORE_OK) {
        client->in_time += took_ns <= DEADLINE_NS;
        client->late += took_ns > DEADLINE_NS;
        actor->round++;
    } else {
        client->overloaded += reply->result == WIO_STORE_OVERLOADED;
        client->busy += reply->result == WIO_STORE_BUSY;
        client->wrong += reply->result != WIO_STORE_OVERLOADED && reply->result != WIO_STORE_BUSY;
    }
    wio_sim_later(scene.sim, reply->result == WIO_STORE_OK ? 1000 : MS, ask_next, actor);
}

static void ask_next(void *context)
{
    struct names_actor *actor = context;
    if (scene.is_ending) {
        return;
    }
    actor->began_ns = wio_session_now_ns(actor->client->session);
    actor->ask =
        (struct wio_coord_ask){.request = request_of(actor), .answered = answered, .owner = actor};
    assert_int_equal(wio_coord_ask(wio_session_coord(actor->client->session), 0, &actor->ask),
                     WIO_OK);
}

static void run_txn(void *context, struct wio_coord_txn *txn, void *user)
{
    (void)context;
    (void)txn;
    (void)user;
}

static const struct wio_coord_ops no_transactions = {.run = run_txn};

static struct names_client *add(uint32_t uid, const char *job, unsigned actors, bool is_old)
{
    char name[32];
    struct wio_error err = WIO_ERROR_INIT;
    struct names_client *client = &scene.clients[scene.count];
    client->index = scene.count++;
    (void)snprintf(name, sizeof(name), "client%u", client->index);
    struct wio_sim_node *node = wio_sim_node(scene.sim, name);
    wio_sim_set_user(node, uid, uid);
    struct wio_session_config config = {.link = is_old ? &scene.old_link : &scene.link,
                                        .hello = {.client = client->index + 1, .uid = uid},
                                        .addresses = at,
                                        .targets = 1,
                                        .txns_max = 1,
                                        .ops = &no_transactions,
                                        .context = client};
    (void)snprintf(config.hello.job, sizeof(config.hello.job), "%s", job);
    assert_ok(wio_session_create(wio_sim_start(node), &config, &client->session, &err), &err);
    for (unsigned i = 0; i < actors; i++) {
        client->actors[i] = (struct names_actor){.client = client, .index = i};
        wio_sim_later(scene.sim, 50 * MS + wio_sim_random(scene.sim) % (5 * MS), ask_next,
                      &client->actors[i]);
    }
    return client;
}

static void run(uint64_t ns)
{
    uint64_t until_ns = wio_sim_now_ns(scene.sim) + ns;
    while (wio_sim_now_ns(scene.sim) < until_ns) {
        assert_true(wio_sim_run(scene.sim, 1));
    }
}

static void forget(void)
{
    for (unsigned i = 0; i < scene.count; i++) {
        struct names_client *client = &scene.clients[i];
        client->in_time = client->late = client->overloaded = client->busy = 0;
    }
}

/* ---- figures ------------------------------------------------------------------------------- */

struct figures {
    double goodput; /* of what the catalogue can do in so long */
    double fairness;
    double refusals; /* for each request that was done */
    uint64_t late;
    uint64_t busy;
    uint64_t wrong;
    uint64_t least;
};

static struct figures figures_of(const char *name, uint64_t ns)
{
    struct figures figures = {.least = UINT64_MAX};
    double sum = 0;
    double squares = 0;
    uint64_t refused = 0;
    for (unsigned i = 0; i < scene.count; i++) {
        const struct names_client *client = &scene.clients[i];
        const double got = (double)client->in_time;
        sum += got;
        squares += got * got;
        figures.late += client->late;
        figures.busy += client->busy;
        figures.wrong += client->wrong;
        figures.least = client->in_time < figures.least ? client->in_time : figures.least;
        refused += wio_session_pacing(client->session).refused;
    }
    figures.goodput = sum * SERVICE_NS / (double)ns;
    figures.fairness = squares > 0 ? sum * sum / (squares * scene.count) : 0;
    figures.refusals = sum > 0 ? (double)refused / sum : 0;
    printf("# %-9s goodput %5.1f %%, fairness %.3f, least %llu, late %llu, busy %llu, refusals/op "
           "%.2f\n",
           name, 100 * figures.goodput, figures.fairness, (unsigned long long)figures.least,
           (unsigned long long)figures.late, (unsigned long long)figures.busy, figures.refusals);
    return figures;
}

static struct figures load(enum wio_admit_kind kind, bool has_admission, const char *name,
                           uint64_t ns)
{
    begin(kind, has_admission);
    for (unsigned i = 0; i < MANY; i++) {
        (void)add(1000 + i, "", DEEP, false);
    }
    run(ns / 2);
    forget();
    run(ns);
    return figures_of(name, ns);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* Nothing is wrong: no name that a refused request made already, none that is not there. */
static void credit_keeps_goodput_and_starves_none(void **state)
{
    (void)state;
    const struct figures is = load(WIO_ADMIT_CREDIT, true, "credit", SECOND_NS);
    assert_true(is.goodput > 0.9);
    assert_true(is.fairness > 0.9);
    assert_true(is.refusals < 2);
    assert_true(is.least >= 30); /* a fair share is 125 */
    assert_int_equal(is.wrong, 0);
    assert_int_equal(is.busy, 0);
    const struct wio_admit *shard = wio_intake_shard(wio_catalogue_server_intake(scene.server));
    struct wio_admit_gauges gauges;
    wio_admit_gauges(shard, &gauges);
    assert_true(gauges.memory_bytes <= gauges.memory_limit);
    assert_true(wio_admit_counts(shard)->done > 5000);
    end();
}

static void without_admission_all_is_too_late(void **state)
{
    (void)state;
    const struct figures is = load(WIO_ADMIT_CREDIT, false, "none", SECOND_NS);
    assert_true(is.goodput < 0.1);
    assert_int_equal(is.wrong, 0);
    end();
}

static void each_policy_keeps_requests_whole(void **state)
{
    (void)state;
    static const enum wio_admit_kind kinds[] = {WIO_ADMIT_FIFO, WIO_ADMIT_HINT, WIO_ADMIT_HINT_HEAP,
                                                WIO_ADMIT_DRR,  WIO_ADMIT_TBF,  WIO_ADMIT_MCLOCK};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct figures is =
            load(kinds[i], true, wio_admit_kind_name(kinds[i]), SECOND_NS / 4);
        assert_int_equal(is.wrong, 0);
        assert_int_equal(is.busy, 0);
        end();
    }
}

static void a_small_job_has_its_share_at_once(void **state)
{
    (void)state;
    begin(WIO_ADMIT_CREDIT, true);
    struct names_client *small = add(1, "small", 1, false);
    for (unsigned i = 1; i < MANY; i++) {
        (void)add(2, "large", DEEP, false);
    }
    run(SECOND_NS / 2);
    forget();
    run(SECOND_NS);
    assert_true(figures_of("two jobs", SECOND_NS).goodput > 0.9);
    assert_true(small->in_time > 200);
    assert_int_equal(small->late + small->overloaded, 0);
    end();
}

/* R-ADMIT-1, R-ADMIT-2: they hear BUSY as their answer, and go on. */
static void old_and_new_work_together(void **state)
{
    (void)state;
    begin(WIO_ADMIT_CREDIT, true);
    for (unsigned i = 0; i < 10; i++) {
        (void)add(1000 + i, "", DEEP, i % 2 == 0);
    }
    run(SECOND_NS / 2);
    forget();
    run(SECOND_NS);
    const struct figures is = figures_of("mixed", SECOND_NS);
    assert_true(is.goodput > 0.8);
    assert_true(is.least > 100);
    assert_int_equal(is.wrong, 0);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(i % 2 == 0 || scene.clients[i].busy == 0);
    }
    end();
}

/* ---- what must not be refused -------------------------------------------------------------- */

/* Asks for what begins a client, one after the other, beside a client that floods. */
struct beginner {
    struct wio_targets *link;
    uint64_t number;
    uint64_t answers;
    uint64_t refused;
    uint64_t asked_ns;
    uint64_t longest_ns;
};

static void begin_again(struct beginner *beginner)
{
    static const uint16_t ops[] = {WIO_STORE_TARGETS, WIO_STORE_PING, WIO_STORE_DEFINE_CALLER};
    const uint64_t number = ++beginner->number;
    struct wio_store_request request = {.op = ops[number % 3], .number = number};
    if (request.op == WIO_STORE_DEFINE_CALLER) {
        request.source = (uint32_t)number;
        request.path2 = "job";
        request.path2_size = 3;
    }
    beginner->asked_ns = wio_sim_now_ns(scene.sim);
    (void)wio_targets_send(beginner->link, 0, &request);
}

static void beginner_back(void *context, uint16_t target, bool is_known)
{
    (void)target;
    (void)is_known;
    begin_again(context);
}

static void beginner_reply(void *context, uint16_t target, const struct wio_store_reply *reply)
{
    struct beginner *beginner = context;
    const uint64_t took_ns = wio_sim_now_ns(scene.sim) - beginner->asked_ns;
    (void)target;
    beginner->answers++;
    beginner->refused += reply->result != WIO_STORE_OK;
    beginner->longest_ns = took_ns > beginner->longest_ns ? took_ns : beginner->longest_ns;
    begin_again(beginner);
}

static void hear_push(void *context, uint16_t target, const struct wio_store_push *push)
{
    (void)context;
    (void)target;
    (void)push;
}

static const struct wio_targets_events beginner_events = {
    .back = beginner_back, .reply = beginner_reply, .push = hear_push};

static void what_must_not_be_refused_is_not(void **state)
{
    (void)state;
    static const enum wio_admit_kind kinds[] = {WIO_ADMIT_CREDIT, WIO_ADMIT_DRR, WIO_ADMIT_HINT};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct beginner beginner = {0};
        struct wio_error err = WIO_ERROR_INIT;
        begin(kinds[i], true);
        for (unsigned c = 0; c < MANY; c++) {
            (void)add(2, "large", DEEP, false);
        }
        run(SECOND_NS / 4);
        struct wio_io *io = wio_sim_start(wio_sim_node(scene.sim, "beginner"));
        const struct wio_wire_hello hello = {.client = 5000, .job = "beginner"};
        assert_ok(wio_targets_create(io, &scene.link, &hello, at, 1, &beginner_events, &beginner,
                                     &beginner.link, &err),
                  &err);
        run(SECOND_NS / 2);
        printf("# %s: %llu answers, the longest after %.1f ms\n", wio_admit_kind_name(kinds[i]),
               (unsigned long long)beginner.answers, (double)beginner.longest_ns / 1e6);
        assert_true(beginner.answers > 30);
        assert_int_equal(beginner.refused, 0);
        assert_true(beginner.longest_ns < DEADLINE_NS);
        wio_targets_destroy(beginner.link);
        end();
    }
}

/* ---- connections that end ------------------------------------------------------------------ */

/* What waits of a connection that is lost is not done for it; the session asks again, and each
 * name is made once. */
static void lost_connections_do_no_harm(void **state)
{
    (void)state;
    begin(WIO_ADMIT_CREDIT, true);
    for (unsigned i = 0; i < 20; i++) {
        (void)add(1000 + i, "", DEEP, false);
    }
    run(SECOND_NS / 4);
    wio_sim_options(scene.sim)->reset = 2000;
    run(SECOND_NS / 2);
    wio_sim_options(scene.sim)->reset = 0;
    run(SECOND_NS);
    forget();
    run(SECOND_NS / 2);
    const struct figures is = figures_of("resets", SECOND_NS / 2);
    assert_true(is.goodput > 0.8);
    assert_int_equal(is.wrong, 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credit_keeps_goodput_and_starves_none),
        cmocka_unit_test(without_admission_all_is_too_late),
        cmocka_unit_test(each_policy_keeps_requests_whole),
        cmocka_unit_test(a_small_job_has_its_share_at_once),
        cmocka_unit_test(old_and_new_work_together),
        cmocka_unit_test(what_must_not_be_refused_is_not),
        cmocka_unit_test(lost_connections_do_no_harm),
    };
    return WIO_RUN(tests);
}
