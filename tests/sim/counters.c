/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real target servers and the real protocol in the simulated world, with clients that add 1 to
 * counters, each addition a transaction by itself. Connections break, nodes are cut off, bytes are
 * late; a client that lost a connection sends its request again with the same number.
 *
 * Clients are killed, with an addition under way, and others come.
 *
 * What must hold: a counter is the number of additions that were answered, and at most of those
 * that were under way in a client that was killed, or was away for longer than its lease; answers
 * give each value once; at the end nothing is locked or under way.
 *
 *     store_counters_sim [--seed=N | --seeds=N | --seconds=N] [--steps=N] [--log]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/runner.h"
#include "sim/sim.h"
#include "store/session/target.h"
#include "store/session/targets.h"
#include "support/store/memory_backing.h"

#define SECOND_NS UINT64_C(1000000000)

enum { TARGETS = 2, CLIENTS = 4, COUNTERS = 6, VALUES = 100000 };

struct counter_client {
    struct counters *run;
    struct wio_io *io;
    struct wio_targets *targets;
    uint64_t id;
    uint64_t number[TARGETS];
    struct wio_store_request request; /* under way */
    uint8_t one[8];
    uint16_t target;
    unsigned counter;
    bool is_waiting;
    bool was_sent;
};

struct counters {
    struct wio_sim *sim;
    struct wio_io *io[TARGETS];
    struct memory_backing memory[TARGETS];
    struct wio_target_config configs[TARGETS];
    struct wio_target *target[TARGETS];
    struct wio_link_config client_config;
    struct counter_client clients[CLIENTS];
    uint64_t added[COUNTERS];     /* and answered */
    uint64_t uncertain[COUNTERS]; /* under way when their client was killed */
    uint64_t clients_made;
    uint64_t again;
    uint64_t refused;
    uint8_t *seen[COUNTERS]; /* values before an addition, as answered */
    bool is_ending;
    const char *fault;
};

static const char *const addresses[TARGETS] = {"unix:target0", "unix:target1"};

/* ---- clients ------------------------------------------------------------------------------- */

static void send_it(struct counter_client *client)
{
    client->was_sent |= wio_targets_send(client->targets, client->target, &client->request);
}

static void next(struct counter_client *client)
{
    struct counters *run = client->run;
    if (run->is_ending) {
        client->is_waiting = false;
        return;
    }
    client->counter = (unsigned)(wio_sim_random(run->sim) % COUNTERS);
    client->target = (uint16_t)(client->counter % TARGETS);
    client->one[0] = 1;
    client->is_waiting = true;
    client->was_sent = false;
    uint64_t number = ++client->number[client->target];
    client->request = (struct wio_store_request){
        .op = WIO_STORE_WRITE,
        .flags = WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_INCREMENT,
        .number = number,
        .source = 1,
        .txn = {.client = client->id,
                .number = number * TARGETS + client->target + 1,
                .birth_ns = wio_sim_now_ns(run->sim),
                .attempt = 1},
        .file = 1,
        .segment = client->counter,
        .data = client->one,
        .data_size = 8,
    };
    send_it(client);
}

/* Whether the addition of a client that was forgotten was made is not known. */
static void back(void *context, uint16_t target, bool is_known)
{
    struct counter_client *client = context;
    if (!client->is_waiting || client->target != target) {
        return;
    }
    if (!is_known && client->was_sent) {
        client->run->uncertain[client->counter]++;
        next(client);
    } else {
        client->run->again++;
        send_it(client);
    }
}

static void take_answer(struct counter_client *client, const struct wio_store_reply *reply)
{
    struct counters *run = client->run;
    if (reply->offset >= VALUES || run->seen[client->counter][reply->offset] != 0) {
        run->fault = "two additions found the same value";
        return;
    }
    run->seen[client->counter][reply->offset] = 1;
    run->added[client->counter]++;
    next(client);
}

static void reply(void *context, uint16_t target, const struct wio_store_reply *reply)
{
    struct counter_client *client = context;
    if (!client->is_waiting || target != client->target ||
        reply->number != client->request.number) {
        return; /* of before */
    }
    if (reply->result == WIO_STORE_OK) {
        take_answer(client, reply);
    } else if (reply->result == WIO_STORE_REFUSED || reply->result == WIO_STORE_ABORTED ||
               reply->result == WIO_STORE_BUSY) {
        client->run->refused++; /* not performed */
        next(client);
    } else if (reply->result == WIO_STORE_NO_LEASE) {
        return; /* the connection is made anew */
    } else {
        client->run->fault = "an addition failed";
    }
}

static void push(void *context, uint16_t target, const struct wio_store_push *push)
{
    (void)context;
    (void)target;
    (void)push; /* a single operation is decided by the server */
}

static const struct wio_targets_events client_events = {.back = back, .reply = reply, .push = push};

static void start_client(struct counters *run, unsigned i)
{
    char name[32];
    struct counter_client *client = &run->clients[i];
    struct wio_wire_hello hello = {.client = ++run->clients_made, .uid = 1000, .job = "slurm 1"};
    struct wio_error err = WIO_ERROR_INIT;
    snprintf(name, sizeof(name), "client%u", i);
    client->run = run;
    client->id = hello.client;
    client->io = wio_sim_start(wio_sim_node(run->sim, name));
    if (wio_targets_create(client->io, &run->client_config, &hello, addresses, TARGETS,
                           &client_events, client, &client->targets, &err) != WIO_OK) {
        sim_fail("client: %s", err.message);
    }
    next(client);
}

/* ---- targets ------------------------------------------------------------------------------- */

static void start_target(struct counters *run, uint16_t i)
{
    struct wio_target_config *config = &run->configs[i];
    struct wio_error err = WIO_ERROR_INIT;
    char name[32];
    snprintf(name, sizeof(name), "target%u", i);
    memory_backing_init(&run->memory[i]);
    run->io[i] = wio_sim_start(wio_sim_node(run->sim, name));
    *config = (struct wio_target_config){.link = run->client_config, .addresses = addresses};
    config->server = (struct wio_server_config){.self = i,
                                                .targets = TARGETS,
                                                .policy = WIO_LOCK_WOUND_WAIT,
                                                .clients_max = 64,
                                                .txns_max = 1000,
                                                .calls_max = 1000,
                                                .locks_max = 10000,
                                                .outcomes_max = 1000,
                                                .txn_bytes_max = 1 << 20,
                                                .update_bytes_max = 1 << 24,
                                                .backing = &run->memory[i].base};
    if (wio_target_create(run->io[i], config, &run->target[i], &err) != WIO_OK ||
        wio_target_listen(run->target[i], addresses[i], NULL, &err) != WIO_OK) {
        sim_fail("target: %s", err.message);
    }
}

/* ---- faults: each at the time that chance says
 * -------------------------------------------------------------------------------- */

static void kill_client(struct counters *run, unsigned i)
{
    struct counter_client *client = &run->clients[i];
    run->uncertain[client->counter] += client->is_waiting && client->was_sent;
    wio_sim_kill(client->io);
    wio_targets_destroy(client->targets);
    *client = (struct counter_client){0};
    start_client(run, i);
}

static void disturb(void *context)
{
    struct counters *run = context;
    struct wio_sim *sim = run->sim;
    char name[32];
    if (run->is_ending) {
        return;
    }
    switch (wio_sim_random(sim) % 6) {
    case 0:
        snprintf(name, sizeof(name), "client%u", (unsigned)(wio_sim_random(sim) % CLIENTS));
        wio_sim_part(sim, wio_sim_node(sim, name), NULL);
        break;
    case 1:
        wio_sim_part(sim, wio_sim_node(sim, "target0"), wio_sim_node(sim, "client0"));
        break;
    case 2:
        wio_sim_jump(wio_sim_node(sim, "target1"),
                     (int64_t)(wio_sim_random(sim) % SECOND_NS) - (int64_t)(SECOND_NS / 2));
        break;
    case 3:
        kill_client(run, (unsigned)(wio_sim_random(sim) % CLIENTS));
        break;
    default:
        wio_sim_heal(sim);
        break;
    }
    /* Mostly some milliseconds, now and then longer than a lease. */
    uint64_t most_ns = wio_sim_random(sim) % 16 == 0 ? 5 * SECOND_NS : SECOND_NS / 100;
    wio_sim_later(sim, wio_sim_random(sim) % most_ns, disturb, run);
}

/* ---- the run ------------------------------------------------------------------------------- */

static uint64_t value_of(struct counters *run, unsigned counter)
{
    uint64_t bytes = 0;
    uint64_t value = 0;
    const uint8_t *data = memory_backing_bytes(&run->memory[counter % TARGETS], 1, counter, &bytes);
    for (uint64_t i = 0; i < bytes && i < 8; i++) {
        value |= (uint64_t)data[i] << 8 * i;
    }
    return value;
}

static void check(struct counters *run)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        uint64_t value = value_of(run, i);
        if (value < run->added[i] || value > run->added[i] + run->uncertain[i]) {
            sim_fail("counter %u is %" PRIu64 ": %" PRIu64 " additions were answered, %" PRIu64
                     " more may have been made",
                     i, value, run->added[i], run->uncertain[i]);
        }
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_server_stat stat = wio_server_stat(wio_target_server(run->target[i]));
        if (stat.txns != 0 || stat.calls != 0 || stat.update_bytes != 0) {
            sim_fail("target %u keeps %u transactions and %u calls", i, stat.txns, stat.calls);
        }
    }
}

/* Without faults: all that is under way ends. */
static void settle(struct counters *run)
{
    run->is_ending = true;
    wio_sim_options(run->sim)->reset = 0;
    wio_sim_heal(run->sim);
    uint64_t until_ns = wio_sim_now_ns(run->sim) + 30 * SECOND_NS;
    while (wio_sim_now_ns(run->sim) < until_ns && wio_sim_run(run->sim, 1)) {
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (run->clients[i].is_waiting) {
            sim_fail("client %u has waited for 30 s", i);
        }
    }
}

static void end(struct counters *run)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        wio_targets_destroy(run->clients[i].targets);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        wio_target_destroy(run->target[i]);
        memory_backing_fini(&run->memory[i]);
    }
    for (unsigned i = 0; i < COUNTERS; i++) {
        free(run->seen[i]);
    }
    wio_sim_destroy(run->sim);
}

static void run_seed(const struct sim_arguments *arguments, uint64_t seed,
                     struct sim_totals *totals)
{
    static struct counters run;
    const struct wio_sim_options options = {
        .seed = seed, .late = 2000, .reset = 2000, .log = arguments->log};
    run = (struct counters){.sim = wio_sim_create(&options)};
    run.client_config.limits = wio_link_limits_default;
    run.client_config.auth = seed % 2 == 0 ? WIO_WIRE_AUTH_OPEN : sim_auth_with_key();
    for (unsigned i = 0; i < COUNTERS; i++) {
        run.seen[i] = calloc(VALUES, 1);
    }
    for (uint16_t i = 0; i < TARGETS; i++) {
        start_target(&run, i);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        start_client(&run, i);
    }
    wio_sim_later(run.sim, SECOND_NS / 200, disturb, &run);
    for (uint64_t i = 0; i < arguments->steps && run.fault == NULL; i++) {
        (void)wio_sim_run(run.sim, 1);
    }
    settle(&run);
    if (run.fault != NULL) {
        sim_fail("%s", run.fault);
    }
    check(&run);
    sim_total(totals, "steps", wio_sim_steps(run.sim));
    for (unsigned i = 0; i < COUNTERS; i++) {
        sim_total(totals, "additions", run.added[i]);
        sim_total(totals, "uncertain", run.uncertain[i]);
    }
    sim_total(totals, "sent again", run.again);
    sim_total(totals, "refused", run.refused);
    sim_total(totals, "resets", wio_sim_counts(run.sim)->resets);
    sim_total(totals, "pieces held back", wio_sim_counts(run.sim)->parted);
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_server_stat stat = wio_server_stat(wio_target_server(run.target[i]));
        sim_total(totals, "came again", stat.again);
        sim_total(totals, "waits", stat.waits);
        sim_total(totals, "leases ended", stat.leases_ended);
    }
    end(&run);
}

int main(int argc, char **argv)
{
    return sim_main(argc, argv, run_seed, NULL);
}
