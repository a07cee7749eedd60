/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a simulation: what they submit, and what their senders do with it. */
#include <math.h>

#include "admit/negotiate.h"
#include "admit_sim_internal.h"

#define MAX_OUT (1u << 16)
#define BIMODAL_LONG 0.1 /* share of requests that take BIMODAL_RATIO times as long */
#define BIMODAL_RATIO 20
/* Closed loop: how long a program waits on average after EBUSY or a time-out. */
#define FAILED_THINK_NS (50.0 * MS)

static double uniform(struct sim *sim)
{
    uint64_t z = sim->random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static uint64_t exponential(struct sim *sim, double mean_ns)
{
    return (uint64_t)(-log(1 - uniform(sim)) * mean_ns);
}

static uint64_t service(struct sim *sim)
{
    double mean = (double)sim->config->service_ns;
    double share = BIMODAL_LONG;
    double brief = mean / (1 - share + share * BIMODAL_RATIO);
    switch (sim->config->service) {
    case SIM_EXPONENTIAL:
        return exponential(sim, mean) + 1;
    case SIM_BIMODAL:
        return (uint64_t)(uniform(sim) < share ? brief * BIMODAL_RATIO : brief);
    case SIM_JUMP:
    case SIM_CONSTANT:
    case SIM_SERVICE_COUNT:
        break;
    }
    return (uint64_t)mean;
}

static bool is_between(uint32_t client, uint32_t from, uint32_t count)
{
    return client >= from && client < from + count;
}

static bool is_liar(const struct sim_config *config, uint32_t client)
{
    return is_between(client, config->old, config->liars);
}

static bool is_ignorant(const struct sim_config *config, uint32_t client)
{
    return is_between(client, config->old + config->liars, config->ignorant);
}

uint32_t sim_features(const struct sim_config *config, uint32_t client)
{
    struct wio_offer old = wio_offer_old();
    struct wio_offer own = wio_offer_own();
    const struct wio_offer *server = config->is_old_server ? &old : &own;
    const struct wio_offer *offer = client < config->old ? &old : &own;
    struct wio_agreement agreement = wio_negotiate(offer, server);
    return wio_agreement_features(&agreement);
}

static uint32_t job_of(const struct sim_config *config, uint32_t client)
{
    bool is_small = client >= config->clients - config->small;
    return is_small ? config->tenants + 1 + client : client % config->tenants + 1;
}

static void send(struct sim *sim, uint32_t client, const struct wio_sender_action *action)
{
    const struct sim_config *config = sim->config;
    uint32_t index = sim_take_message(sim);
    struct sim_message *message = &sim->messages[index];
    uint32_t op = (uint32_t)action->cookie;
    uint32_t job = job_of(config, client);
    *message = (struct sim_message){.client = client, .op = op, .epoch = sim->epoch};
    message->service_ns = sim->stats.ops[op].service_ns;
    message->request = (struct wio_admit_request){
        .cookie = index,
        .number = action->number,
        .pool = {job, 1},
        .client = sim->senders[client].number,
        .uid = job,
        .job = job,
        .operation = 1,
        .demand = is_liar(config, client) ? UINT16_MAX : action->demand,
        .flags = action->flags,
        .bytes = 4096,
        .remaining_ns = action->remaining_ns,
        .demand_ns = action->demand_ns,
        .ticket = action->ticket,
    };
    sim_events_add(&sim->events, sim->now_ns + config->network_ns, TO_SERVER, index);
}

/* What the program is told; in a closed loop it goes on. */
static void ended(struct sim *sim, uint32_t client, uint64_t cookie, enum wio_sender_end end)
{
    const struct sim_config *config = sim->config;
    sim_stats_end(&sim->stats, (uint32_t)cookie, sim->now_ns, end == WIO_SENDER_DONE);
    if (config->load <= 0) {
        bool is_done = end == WIO_SENDER_DONE;
        double think = (double)config->think_ns + (is_done ? 0 : FAILED_THINK_NS);
        sim_events_add(&sim->events, sim->now_ns + exponential(sim, think), THOUGHT, client);
    }
}

void sim_pump(struct sim *sim, uint32_t client)
{
    struct sim_sender *sender = &sim->senders[client];
    struct wio_sender_action action;
    if (is_ignorant(sim->config, client)) {
        wio_sender_grant(sender->sender, WIO_ADMIT_WINDOW_MAX, sim->now_ns);
    }
    while (wio_sender_next(sender->sender, sim->now_ns, &action)) {
        if (action.end == WIO_SENDER_PENDING) {
            send(sim, client, &action);
        } else {
            ended(sim, client, action.cookie, action.end);
        }
    }
    uint64_t wake_ns = wio_sender_wake_ns(sender->sender);
    bool is_later = sender->wake_ns > sim->now_ns && sender->wake_ns <= wake_ns;
    if (wake_ns != WIO_ADMIT_NEVER && !is_later) {
        sender->wake_ns = wake_ns;
        sim_events_add(&sim->events, wake_ns, CLIENT_WAKE, client);
    }
}

void sim_submit(struct sim *sim, uint32_t client)
{
    bool is_small = client >= sim->config->clients - sim->config->small;
    uint32_t op = sim_stats_begin(&sim->stats, client, sim->now_ns, service(sim), is_small);
    if (wio_sender_submit(sim->senders[client].sender, op, 0, sim->now_ns) != WIO_OK) {
        ended(sim, client, op, WIO_SENDER_BUSY);
    }
    sim_pump(sim, client);
}

static double load_now(const struct sim *sim)
{
    bool is_before = sim->config->spike_ns != 0 && sim->now_ns < sim->config->spike_ns;
    return is_before ? sim->config->load_before : sim->config->load;
}

void sim_arrive_open(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    uint32_t large = config->clients - config->small;
    double gap = (double)config->service_ns / load_now(sim);
    sim_events_add(&sim->events, sim->now_ns + exponential(sim, gap), ARRIVAL, 0);
    sim_submit(sim, (uint32_t)(uniform(sim) * large));
}

void sim_arrive_small(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    double gap = (double)config->service_ns / config->small_load / config->small;
    sim_events_add(&sim->events, sim->now_ns + exponential(sim, gap), SMALL_ARRIVAL, 0);
    sim_submit(sim, config->clients - config->small + (uint32_t)(uniform(sim) * config->small));
}

void sim_received(struct sim *sim, uint32_t index)
{
    struct sim_message message = sim->messages[index];
    sim_give_message(sim, index);
    struct wio_sender_result result;
    struct sim_sender *sender = &sim->senders[message.client];
    if (message.epoch != sim->epoch) {
        return;
    }
    bool is_refused = message.reply.answer != WIO_ADMIT_ACCEPTED &&
                      message.reply.reason != WIO_ADMIT_REASON_EXPIRED;
    bool is_known = wio_sender_reply(sender->sender, message.request.number, &message.reply,
                                     sim->now_ns, &result);
    if (is_known && is_refused) {
        sim_stats_refused(&sim->stats, message.op);
    }
    if (is_known && result.end != WIO_SENDER_PENDING) {
        ended(sim, message.client, result.cookie, result.end);
    }
    sim_pump(sim, message.client);
}

void sim_granted(struct sim *sim, uint32_t index)
{
    struct sim_message message = sim->messages[index];
    sim_give_message(sim, index);
    if (message.epoch == sim->epoch) {
        wio_sender_grant(sim->senders[message.client].sender, message.reply.window, sim->now_ns);
        sim_pump(sim, message.client);
    }
}

void sim_start_clients(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    struct wio_sender_settings settings = wio_sender_settings_default();
    bool is_source = config->scheme == SIM_FIFO || config->scheme == SIM_SHIPPED ||
                     config->scheme == SIM_HINT || config->scheme == SIM_HINT_HEAP;
    settings.pending_max = MAX_OUT;
    settings.timeout_ns = config->timeout_ns;
    if (is_source) { /* the source document has no budget, and sends whatever is asked */
        settings.retry_burst = 0;
        settings.sends_late = true;
        settings.window = MAX_OUT;
    }
    settings.ignores_hints = config->scheme == SIM_SHIPPED;
    settings.back_off_max_ns = config->scheme == SIM_SHIPPED ? 4 * MS : 1000 * MS;
    for (uint32_t i = 0; i < config->clients; i++) {
        settings.seed = config->seed * 1000003 + i;
        settings.features = sim_features(config, i);
        sim_must(wio_sender_create(&settings, &WIO_ALLOC_HEAP, &sim->senders[i].sender), "sender");
    }
}

void sim_begin_load(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    if (config->load > 0) {
        sim_events_add(&sim->events, 0, ARRIVAL, 0);
    } else {
        for (uint32_t i = 0; i < (config->clients - config->small) * config->outstanding; i++) {
            uint64_t at_ns = exponential(sim, (double)config->think_ns + MS);
            sim_events_add(&sim->events, at_ns, THOUGHT, i % (config->clients - config->small));
        }
    }
    if (config->small > 0) {
        sim_events_add(&sim->events, 0, SMALL_ARRIVAL, 0);
    }
    if (config->restart_ns > 0) {
        sim_events_add(&sim->events, config->restart_ns, RESTART, 0);
    }
}
