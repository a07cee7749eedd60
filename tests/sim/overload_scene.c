/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/overload_scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "sim/runner.h"

#define SECOND_NS UINT64_C(1000000000)
#define REST_NS UINT64_C(1000000) /* of a program that was told EBUSY */

static const char *const addresses[] = {"unix:target"};

/* ---- the target ---------------------------------------------------------------------------- */

static void work(void *context)
{
    struct overload *scene = context;
    wio_sim_spend(scene->io, OVERLOAD_SERVICE_NS);
}

static void start_target(struct overload *scene)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    const struct wio_target_config config = {
        .link = scene->old_link,
        .addresses = addresses,
        .admission = scene->total,
        .server = {.targets = 1,
                   .policy = WIO_LOCK_WOUND_WAIT,
                   .clients_max = 16384,
                   .txns_max = 65536,
                   .calls_max = 65536,
                   .locks_max = 65536,
                   .outcomes_max = 4096,
                   .txn_bytes_max = 65536,
                   .update_bytes_max = 1 << 28,
                   .backing = &scene->memory.base},
    };
    (void)heap;
    scene->io = wio_sim_start(wio_sim_node(scene->sim, "target"));
    if (wio_target_create(scene->io, &config, &scene->target, &err) != WIO_OK ||
        wio_target_listen(scene->target, addresses[0], NULL, &err) != WIO_OK) {
        sim_fail("%s", err.message);
    }
}

static void make_total(struct overload *scene)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    scene->settings.incarnation++;
    scene->settings.key[0]++;
    if (wio_admit_total_create(&scene->settings, &heap, &scene->total, &err) != WIO_OK) {
        sim_fail("%s", err.message);
    }
}

static void prepare(struct overload *scene)
{
    memset(scene, 0, sizeof(*scene));
    scene->sim = wio_sim_create(&(struct wio_sim_options){.seed = 1});
    scene->old_link.limits = wio_link_limits_default;
    scene->link = scene->old_link;
    wio_intake_offer(&scene->link.features);
    scene->deadline_ns = SECOND_NS / 10;
    memory_backing_init(&scene->memory);
    scene->memory.work = work;
    scene->memory.work_context = scene;
}

void overload_begin(struct overload *scene, enum wio_admit_kind kind)
{
    prepare(scene);
    scene->settings = wio_admit_settings_default();
    scene->settings.kind = kind;
    make_total(scene);
    start_target(scene);
}

void overload_begin_old(struct overload *scene)
{
    prepare(scene);
    start_target(scene);
}

void overload_restart(struct overload *scene)
{
    wio_sim_kill(scene->io);
    wio_target_destroy(scene->target);
    wio_admit_total_destroy(scene->total);
    memory_backing_crash(&scene->memory);
    make_total(scene);
    start_target(scene);
}

/* ---- clients ------------------------------------------------------------------------------- */

static void begin_one(void *context)
{
    struct overload_actor *actor = context;
    struct overload_client *client = actor->client;
    struct wio_coord_txn *txn = NULL;
    if (client->scene->is_ending || actor->is_under_way) {
        return;
    }
    actor->is_under_way = true;
    actor->began_ns = wio_session_now_ns(client->session);
    if (wio_session_begin(client->session, actor, WIO_STORE_FLAG_SINGLE, &txn) != WIO_OK) {
        sim_fail("a transaction could not begin");
    }
}

static void run(void *context, struct wio_coord_txn *txn, void *user)
{
    static const uint8_t bytes[8] = {1};
    const struct overload_actor *actor = user;
    const struct overload_client *client = context;
    const struct wio_store_request request = {
        .op = WIO_STORE_WRITE,
        .file = client->file,
        .segment = 0,
        .offset = (uint64_t)actor->index * sizeof(bytes),
        .data = bytes,
        .data_size = sizeof(bytes),
        .deadline_ns = actor->began_ns + client->scene->deadline_ns,
    };
    if (wio_coord_issue(txn, 0, &request, 0) == WIO_ERR_BUSY) {
        sim_fail("more under way than a coordinator takes");
    }
}

static void part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                 const struct wio_store_reply *reply)
{
    (void)context;
    (void)txn;
    (void)user;
    (void)tag;
    (void)reply;
}

static void ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                  enum wio_store_result result)
{
    struct overload_client *client = context;
    struct overload_actor *actor = user;
    uint64_t took_ns = wio_session_now_ns(client->session) - actor->began_ns;
    (void)txn;
    if (end == WIO_COORD_COMMITTED) {
        client->in_time += took_ns <= client->scene->deadline_ns;
        client->late += took_ns > client->scene->deadline_ns;
        client->longest_ns = took_ns > client->longest_ns ? took_ns : client->longest_ns;
    } else {
        client->overloaded += result == WIO_STORE_OVERLOADED;
        client->failed += result != WIO_STORE_OVERLOADED;
    }
    actor->is_under_way = false;
    wio_sim_later(client->scene->sim, end == WIO_COORD_COMMITTED ? 1000 : REST_NS, begin_one,
                  actor);
}

static const struct wio_coord_ops client_ops = {.run = run, .part = part, .ended = ended};

struct overload_client *overload_add(struct overload *scene, const char *job, uint32_t uid,
                                     unsigned actors, bool is_old)
{
    char name[32];
    struct wio_error err = WIO_ERROR_INIT;
    unsigned i = scene->clients_count++;
    struct overload_client *client = &scene->clients[i];
    (void)snprintf(name, sizeof(name), "client%u", i);
    struct wio_sim_node *node = wio_sim_node(scene->sim, name);
    wio_sim_set_user(node, uid, uid);
    *client = (struct overload_client){.scene = scene,
                                       .io = wio_sim_start(node),
                                       .index = i,
                                       .file = i + 1,
                                       .actors_count = actors};
    struct wio_session_config config = {.link = is_old ? &scene->old_link : &scene->link,
                                        .hello = {.client = i + 1, .uid = uid},
                                        .addresses = addresses,
                                        .targets = 1,
                                        .txns_max = OVERLOAD_ACTORS,
                                        .ops = &client_ops,
                                        .context = client};
    (void)snprintf(config.hello.job, sizeof(config.hello.job), "%s", job);
    if (wio_session_create(client->io, &config, &client->session, &err) != WIO_OK) {
        sim_fail("client %u: %s", i, err.message);
    }
    for (unsigned a = 0; a < actors; a++) {
        client->actors[a] = (struct overload_actor){.client = client, .index = a};
        wio_sim_later(scene->sim, 1000000 + wio_sim_random(scene->sim) % 5000000, begin_one,
                      &client->actors[a]);
    }
    return client;
}

void overload_run(struct overload *scene, uint64_t ns)
{
    uint64_t until_ns = wio_sim_now_ns(scene->sim) + ns;
    while (wio_sim_now_ns(scene->sim) < until_ns) {
        if (!wio_sim_run(scene->sim, 1)) {
            sim_fail("nothing is left to happen");
        }
    }
}

void overload_end(struct overload *scene)
{
    scene->is_ending = true;
    for (unsigned i = 0; i < scene->clients_count; i++) {
        wio_session_destroy(scene->clients[i].session);
    }
    wio_target_destroy(scene->target);
    wio_admit_total_destroy(scene->total);
    wio_sim_destroy(scene->sim);
    memory_backing_fini(&scene->memory);
}

/* ---- figures ------------------------------------------------------------------------------- */

void overload_forget(struct overload *scene)
{
    for (unsigned i = 0; i < scene->clients_count; i++) {
        struct overload_client *client = &scene->clients[i];
        client->in_time = client->late = client->overloaded = client->failed = 0;
        client->longest_ns = 0;
    }
}

double overload_goodput(const struct overload *scene, uint64_t ns)
{
    uint64_t done = 0;
    for (unsigned i = 0; i < scene->clients_count; i++) {
        done += scene->clients[i].in_time;
    }
    return (double)done * OVERLOAD_SERVICE_NS / (double)ns;
}

double overload_fairness(const struct overload *scene, unsigned from, unsigned to)
{
    double sum = 0;
    double squares = 0;
    for (unsigned i = from; i < to; i++) {
        double got = (double)scene->clients[i].in_time;
        sum += got;
        squares += got * got;
    }
    return squares > 0 ? sum * sum / (squares * (to - from)) : 0;
}

double overload_refusals(const struct overload *scene)
{
    uint64_t refused = 0;
    uint64_t done = 0;
    for (unsigned i = 0; i < scene->clients_count; i++) {
        refused += wio_session_pacing(scene->clients[i].session).refused;
        done += scene->clients[i].in_time + scene->clients[i].late;
    }
    return done > 0 ? (double)refused / (double)done : 0;
}

void overload_print(const struct overload *scene, const char *name, uint64_t ns)
{
    uint64_t late = 0;
    uint64_t over = 0;
    uint64_t failed = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < scene->clients_count; i++) {
        const struct overload_client *client = &scene->clients[i];
        late += client->late;
        over += client->overloaded;
        failed += client->failed;
        least = client->in_time < least ? client->in_time : least;
    }
    printf("# %-10s goodput %5.1f %%, fairness %.3f, least %" PRIu64 ", late %" PRIu64
           ", EBUSY %" PRIu64 ", failed %" PRIu64 ", refusals/op %.2f\n",
           name, 100 * overload_goodput(scene, ns),
           overload_fairness(scene, 0, scene->clients_count), least, late, over, failed,
           overload_refusals(scene));
}
