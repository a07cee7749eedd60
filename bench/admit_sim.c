/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admit_sim_internal.h"

#define JUMP 10 /* service times after half of the run */

/* What a request takes is fixed when it is submitted, but for the jump, which hits all. */
static uint64_t takes(const struct sim *sim, uint64_t service_ns)
{
    bool has_jumped =
        sim->config->service == SIM_JUMP && sim->now_ns >= sim->config->duration_ns / 2;
    return has_jumped ? service_ns * JUMP : service_ns;
}

uint32_t sim_take_message(struct sim *sim)
{
    uint32_t index = sim->message_free;
    if (index != UINT32_MAX) {
        sim->message_free = sim->messages[index].next;
        return index;
    }
    void *messages = sim->messages;
    sim_room(&messages, &sim->message_room, (size_t)sim->messages_used + 1, sizeof(*sim->messages));
    sim->messages = messages;
    return sim->messages_used++;
}

void sim_give_message(struct sim *sim, uint32_t index)
{
    sim->messages[index].next = sim->message_free;
    sim->message_free = index;
}

static void wake_core(struct sim *sim)
{
    if (!sim->is_core_scheduled) {
        sim->is_core_scheduled = true;
        uint64_t at_ns = sim->core_free_ns > sim->now_ns ? sim->core_free_ns : sim->now_ns;
        sim_events_add(&sim->events, at_ns, CORE, sim->epoch);
    }
}

static void to_server(struct sim *sim, uint32_t index)
{
    if (sim->messages[index].epoch != sim->epoch) {
        sim_give_message(sim, index); /* its connection is gone */
        return;
    }
    uint64_t paused_ns = sim->senders[sim->messages[index].client].paused_ns;
    if (sim->now_ns < paused_ns) {
        sim_events_add(&sim->events, paused_ns, TO_SERVER, index);
        return;
    }
    sim->messages[index].next = UINT32_MAX;
    if (sim->inbox_first == UINT32_MAX) {
        sim->inbox_first = index;
    } else {
        sim->messages[sim->inbox_last].next = index;
    }
    sim->inbox_last = index;
    wake_core(sim);
}

/* The core is busy for `ns`, then the reply leaves. */
static void work(struct sim *sim, uint64_t ns)
{
    uint64_t from_ns = sim->core_free_ns > sim->now_ns ? sim->core_free_ns : sim->now_ns;
    sim->core_free_ns = from_ns + ns;
}

static void to_client(struct sim *sim, uint32_t index)
{
    sim_events_add(&sim->events, sim->core_free_ns + sim->config->network_ns, TO_CLIENT, index);
}

static void push_grants(struct sim *sim)
{
    struct wio_admit_grant grant;
    while (wio_admit_push(sim->shard, sim->now_ns, &grant)) {
        work(sim, sim->config->push_ns);
        sim->stats.refusing_ns += sim->config->push_ns;
        sim->stats.pushes++;
        uint32_t index = sim_take_message(sim);
        sim->messages[index] =
            (struct sim_message){.client = sim->client_of[grant.client], .epoch = sim->epoch};
        sim->messages[index].reply.window = grant.window;
        sim_events_add(&sim->events, sim->core_free_ns + sim->config->network_ns, GRANT, index);
    }
}

static void read_one(struct sim *sim)
{
    uint32_t index = sim->inbox_first;
    struct sim_message *message = &sim->messages[index];
    sim->inbox_first = message->next;
    if (!wio_admit_arrive(sim->shard, &message->request, sim->now_ns, &message->reply)) {
        work(sim, sim->config->refuse_ns);
        sim->stats.refusing_ns += sim->config->refuse_ns;
        sim->senders[message->client].paused_ns = sim->now_ns + message->reply.pause_ns;
        to_client(sim, index);
    }
}

static void done(struct sim *sim, uint32_t index, uint64_t ns)
{
    struct sim_message *message = &sim->messages[index];
    struct wio_admit_served served = {.now_ns = sim->now_ns, .service_ns = ns};
    if (wio_admit_done(sim->shard, message->handle, &served, &message->reply) != WIO_OK) {
        fprintf(stderr, "admit: a running request is not known\n");
        exit(4);
    }
    to_client(sim, index);
}

static uint32_t run_one(struct sim *sim)
{
    struct wio_admit_work next;
    if (!wio_admit_next(sim->shard, sim->now_ns, &next)) {
        uint64_t wake_ns = wio_admit_wake_ns(sim->shard);
        bool is_due = wake_ns != WIO_ADMIT_NEVER &&
                      (sim->server_wake_ns <= sim->now_ns || wake_ns < sim->server_wake_ns);
        if (is_due) {
            sim->server_wake_ns = wake_ns > sim->now_ns ? wake_ns : sim->now_ns + 1;
            sim_events_add(&sim->events, sim->server_wake_ns, SERVER_WAKE, sim->epoch);
        }
        return UINT32_MAX;
    }
    uint32_t index = (uint32_t)next.cookie;
    struct sim_message *message = &sim->messages[index];
    message->handle = next.handle;
    message->is_expired = next.is_expired;
    return index;
}

/* The core finishes what it did, reads all that has come, and begins the next. */
static void core(struct sim *sim, uint32_t *running)
{
    sim->is_core_scheduled = false;
    if (*running != UINT32_MAX) {
        struct sim_message *message = &sim->messages[*running];
        uint64_t ns = takes(sim, message->service_ns);
        sim_stats_work(&sim->stats, message->op, message->is_expired ? 0 : ns);
        done(sim, *running, message->is_expired ? sim->config->refuse_ns : ns);
        *running = UINT32_MAX;
    }
    bool has_read = sim->inbox_first != UINT32_MAX;
    if (has_read) {
        read_one(sim);
        struct wio_admit_gauges gauges;
        wio_admit_gauges(sim->shard, &gauges);
        sim_stats_queue(&sim->stats, sim->now_ns, gauges.queued, gauges.memory_bytes);
    } else {
        *running = run_one(sim);
        if (*running != UINT32_MAX) {
            const struct sim_message *message = &sim->messages[*running];
            work(sim,
                 message->is_expired ? sim->config->refuse_ns : takes(sim, message->service_ns));
        }
    }
    push_grants(sim);
    if (*running != UINT32_MAX || has_read) {
        wake_core(sim);
    }
}

void sim_must(enum wio_status status, const char *what)
{
    if (status != WIO_OK) {
        fprintf(stderr, "admit: %s: %s\n", what, wio_status_text(status));
        exit(4);
    }
}

static struct wio_admit_settings settings_of(const struct sim *sim)
{
    static const enum wio_admit_kind kinds[SIM_SCHEME_COUNT] = {
        [SIM_FIFO] = WIO_ADMIT_FIFO,     [SIM_SHIPPED] = WIO_ADMIT_HINT,
        [SIM_HINT] = WIO_ADMIT_HINT,     [SIM_HINT_HEAP] = WIO_ADMIT_HINT_HEAP,
        [SIM_DRR] = WIO_ADMIT_DRR,       [SIM_TBF] = WIO_ADMIT_TBF,
        [SIM_MCLOCK] = WIO_ADMIT_MCLOCK, [SIM_CREDIT] = WIO_ADMIT_CREDIT,
    };
    const struct sim_config *config = sim->config;
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.kind = kinds[config->scheme];
    settings.timeout_ns = config->timeout_ns;
    settings.clients_max = config->clients;
    settings.incarnation = sim->epoch + 1;
    settings.key[0] = (uint8_t)sim->epoch;
    if (config->scheme == SIM_FIFO) { /* what has no admission control has no bound */
        settings.memory_bytes = (uint64_t)1 << 34;
        settings.queue_total = 1u << 20;
    } else if (config->scheme == SIM_SHIPPED) {
        settings.constant_cost_ns = 20000; /* a speed that was measured on another machine */
        settings.memory_bytes = (uint64_t)1 << 30;
    }
    return settings;
}

/* Half of what the core can do, for all that match none of the others: operations a second. */
static void set_rules(struct sim *sim)
{
    double rate = 0.95e9 / (double)sim->config->service_ns;
    struct wio_rule rule = {.id = 1,
                            .job = WIO_RULE_ANY,
                            .uid = WIO_RULE_ANY,
                            .operation = 1,
                            .ops_per_s = rate,
                            .burst_s = 0.01};
    sim_must(wio_admit_set_rules(sim->total, &rule, 1, NULL), "rules");
}

static void start_server(struct sim *sim)
{
    struct wio_admit_settings settings = settings_of(sim);
    sim_must(wio_admit_total_create(&settings, &WIO_ALLOC_HEAP, &sim->total, NULL), "total");
    sim_must(wio_admit_create(sim->total, &WIO_ALLOC_HEAP, &sim->shard, NULL), "shard");
    if (sim->config->scheme == SIM_TBF || sim->config->scheme == SIM_MCLOCK) {
        set_rules(sim);
    }
    for (uint32_t i = 0; i < sim->config->clients; i++) {
        struct wio_admit_identity identity = {.address = 1000 + i,
                                              .features = sim_features(sim->config, i)};
        sim_must(wio_admit_join(sim->shard, &identity, sim->now_ns, &sim->senders[i].number),
                 "join");
        sim->client_of[sim->senders[i].number] = i;
    }
}

static void stop_server(struct sim *sim)
{
    wio_admit_destroy(sim->shard);
    wio_admit_total_destroy(sim->total);
}

static void restart(struct sim *sim, uint32_t *running)
{
    stop_server(sim);
    sim->epoch++;
    sim->inbox_first = UINT32_MAX;
    sim->is_core_scheduled = false;
    sim->core_free_ns = sim->now_ns;
    sim->server_wake_ns = 0;
    *running = UINT32_MAX; /* the messages of the old server stay unused */
    start_server(sim);
    for (uint32_t i = 0; i < sim->config->clients; i++) {
        wio_sender_reconnect(sim->senders[i].sender, sim_features(sim->config, i), sim->now_ns);
        sim_pump(sim, i);
    }
}

static void dispatch(struct sim *sim, const struct sim_event *event, uint32_t *running)
{
    switch ((enum sim_what)event->what) {
    case ARRIVAL:
        sim_arrive_open(sim);
        return;
    case SMALL_ARRIVAL:
        sim_arrive_small(sim);
        return;
    case THOUGHT:
        sim_submit(sim, event->which);
        return;
    case CLIENT_WAKE:
        sim_pump(sim, event->which);
        return;
    case TO_SERVER:
        to_server(sim, event->which);
        return;
    case CORE:
        if (event->which == sim->epoch) {
            core(sim, running);
        }
        return;
    case TO_CLIENT:
        sim_received(sim, event->which);
        return;
    case GRANT:
        sim_granted(sim, event->which);
        return;
    case SERVER_WAKE:
        if (event->which == sim->epoch) {
            wake_core(sim);
        }
        return;
    case RESTART:
        restart(sim, running);
        return;
    }
}

void sim_run(const struct sim_config *config, struct sim_result *result_out)
{
    struct sim sim = {.config = config,
                      .random = config->seed,
                      .message_free = UINT32_MAX,
                      .inbox_first = UINT32_MAX};
    sim.senders = calloc(config->clients, sizeof(*sim.senders));
    sim.client_of = calloc(config->clients, sizeof(*sim.client_of));
    sim_stats_init(&sim.stats, config);
    start_server(&sim);
    sim_start_clients(&sim);
    sim_begin_load(&sim);
    uint32_t running = UINT32_MAX;
    struct sim_event event;
    while (sim_events_take(&sim.events, &event) && event.at_ns < config->duration_ns) {
        sim.now_ns = event.at_ns;
        dispatch(&sim, &event, &running);
    }
    memset(result_out, 0, sizeof(*result_out));
    for (uint32_t i = 0; i < config->clients; i++) {
        result_out->sent += wio_sender_counts(sim.senders[i].sender)->sent;
        wio_sender_destroy(sim.senders[i].sender);
    }
    result_out->counts = *wio_admit_counts(sim.shard);
    sim_stats_result(&sim.stats, result_out);
    sim_stats_fini(&sim.stats);
    stop_server(&sim);
    free(sim.senders);
    free(sim.client_of);
    free(sim.messages);
    free(sim.events.heap);
}

struct sim_config sim_default(enum sim_scheme scheme)
{
    return (struct sim_config){
        .scheme = scheme,
        .service = SIM_EXPONENTIAL,
        .service_ns = 100000,
        .duration_ns = (uint64_t)10000 * MS,
        .warm_ns = 0,
        .timeout_ns = (uint64_t)1000 * MS,
        .refuse_ns = 2000,
        .push_ns = 1000,
        .network_ns = 10000,
        .clients = 1000,
        .tenants = 10,
        .load = 2,
        .outstanding = 1,
        .seed = 1,
    };
}

const char *sim_scheme_name(enum sim_scheme scheme)
{
    static const char *const names[SIM_SCHEME_COUNT] = {"fifo", "as shipped", "hint",   "hint-heap",
                                                        "drr",  "tbf",        "mclock", "credit"};
    return names[scheme];
}

const char *sim_service_name(enum sim_service service)
{
    static const char *const names[SIM_SERVICE_COUNT] = {"constant", "exponential", "bimodal",
                                                         "jump"};
    return names[service];
}
