/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/sim/sim_store.h"

#include <stdlib.h>

#include "admit/client.h"
#include "admit/negotiate.h"
#include "base/cleanup.h"
#include "base/map.h"

#define NS 1e9
#define CLIENTS_MAX (1u << 24)
#define PENDING_MAX 4096u

enum store_what { OP_ENDS, ARRIVES, ANSWERED, TARGET_IS_FREE, TARGET_WAKES, CLIENT_WAKES };

struct store_event {
    RB_ENTRY(store_event) by_time;
    uint64_t ns;
    uint64_t order; /* of those at one time: as they came */
    enum store_what what;
    bool is_set;
};

RB_HEAD(store_events, store_event);

/* An operation: it ends with the last of its requests. */
struct store_op {
    struct store_event event; /* first, as in all of these */
    LIST_ENTRY(store_op) all;
    uint64_t begin_ns;
    uint32_t task;
    uint32_t left;
};

struct store_target {
    struct store_event free;
    struct store_event wake;
    struct wio_admit *shard;
    struct store_request *running; /* NULL: none */
    struct wio_map senders;        /* number of the client -> struct store_sender */
};

/* A process at a target. */
struct store_sender {
    struct store_event wake;
    struct wio_sender *sender;
    struct store_target *target;
    uint32_t client;
    uint32_t job;
};

struct store_request {
    struct store_event event;
    LIST_ENTRY(store_request) all;
    struct store_op *op; /* NULL: it was given up */
    struct store_sender *sender;
    uint64_t number; /* in the sender */
    uint64_t handle;
    uint64_t bytes;
    uint16_t operation;
    bool is_in_flight;
    struct wio_admit_request ask;
    struct wio_admit_reply reply;
};

struct sim_store {
    struct wio_host_store is;
    struct wio_admit_total *total;
    struct store_target *targets; /* is.targets of them */
    struct wio_map senders;       /* process and target -> struct store_sender */
    struct store_events events;
    uint64_t order;
    LIST_HEAD(store_ops, store_op) ops; /* under way */
    LIST_HEAD(store_requests, store_request) requests;
    struct wio_predict_store sums;
};

/* ---- events -------------------------------------------------------------------------------- */

static int compare(const struct store_event *a, const struct store_event *b)
{
    if (a->ns != b->ns) {
        return a->ns < b->ns ? -1 : 1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

RB_GENERATE_STATIC(store_events, store_event, by_time, compare)

static void cancel(struct sim_store *store, struct store_event *event)
{
    if (event->is_set) {
        RB_REMOVE(store_events, &store->events, event);
        event->is_set = false;
    }
}

static void set(struct sim_store *store, struct store_event *event, enum store_what what,
                uint64_t ns)
{
    cancel(store, event);
    event->ns = ns;
    event->what = what;
    event->order = store->order++;
    event->is_set = true;
    RB_INSERT(store_events, &store->events, event);
}

static uint64_t net_ns(const struct sim_store *store)
{
    return sim_ns_of(store->is.net_s);
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void request_free(struct sim_store *store, struct store_request *request)
{
    cancel(store, &request->event);
    LIST_REMOVE(request, all);
    free(request);
}

/* It is done, or given up: its operation waits for it no more. */
static void end_request(struct sim *sim, struct store_request *request)
{
    struct sim_store *store = sim->store;
    struct store_op *op = request->op;
    request->op = NULL;
    if (op != NULL && --op->left == 0) {
        set(store, &op->event, OP_ENDS, sim->now_ns);
    }
    if (!request->is_in_flight) {
        request_free(store, request);
    }
}

/* ---- a client ------------------------------------------------------------------------------ */

static void send(struct sim *sim, struct store_request *request,
                 const struct wio_sender_action *action)
{
    struct sim_store *store = sim->store;
    struct store_sender *sender = request->sender;
    request->number = action->number;
    request->is_in_flight = true;
    request->ask = (struct wio_admit_request){.cookie = (uint64_t)(uintptr_t)request,
                                              .number = action->number,
                                              .client = sender->client,
                                              .job = sender->job,
                                              .operation = request->operation,
                                              .demand = action->demand,
                                              .flags = action->flags | WIO_ADMIT_REJECT,
                                              .bytes = request->bytes,
                                              .remaining_ns = action->remaining_ns,
                                              .demand_ns = action->demand_ns,
                                              .ticket = action->ticket};
    store->sums.again += action->tries > 0;
    set(store, &request->event, ARRIVES, sim->now_ns + net_ns(store));
}

/* All that is due at the client, and when it is next. */
static void pump(struct sim *sim, struct store_sender *sender)
{
    struct wio_sender_action action;
    while (wio_sender_next(sender->sender, sim->now_ns, &action)) {
        struct store_request *request = (struct store_request *)(uintptr_t)action.cookie;
        if (action.end == WIO_SENDER_PENDING) {
            send(sim, request, &action);
        } else {
            sim->store->sums.given_up++;
            end_request(sim, request);
        }
    }
    uint64_t wake_ns = wio_sender_wake_ns(sender->sender);
    if (wake_ns != WIO_ADMIT_NEVER) {
        set(sim->store, &sender->wake, CLIENT_WAKES,
            wake_ns > sim->now_ns ? wake_ns : sim->now_ns + 1);
    } else {
        cancel(sim->store, &sender->wake);
    }
}

/* An answer that comes after its request was given up is none. */
static void hear(struct sim *sim, struct store_request *request)
{
    struct store_sender *sender = request->sender;
    struct wio_sender_result result = {.end = WIO_SENDER_DONE};
    bool is_wanted =
        wio_sender_reply(sender->sender, request->number, &request->reply, sim->now_ns, &result);
    request->is_in_flight = false;
    if (!is_wanted) {
        request_free(sim->store, request);
    } else if (result.end != WIO_SENDER_PENDING) {
        sim->store->sums.given_up += result.end != WIO_SENDER_DONE;
        end_request(sim, request);
    }
    pump(sim, sender);
}

/* ---- a target ------------------------------------------------------------------------------ */

static void answer(struct sim *sim, struct store_request *request)
{
    set(sim->store, &request->event, ANSWERED, sim->now_ns + net_ns(sim->store));
}

static enum wio_status done(struct sim *sim, struct store_target *target,
                            struct store_request *request, uint64_t service_ns)
{
    const struct wio_admit_served served = {.now_ns = sim->now_ns, .service_ns = service_ns};
    WIO_TRY(wio_admit_done(target->shard, request->handle, &served, &request->reply));
    answer(sim, request);
    return WIO_OK;
}

static uint64_t service_ns(const struct sim_store *store, const struct store_request *request)
{
    return sim_ns_of(store->is.op_s + (double)request->bytes / store->is.bw);
}

static void grant(struct sim *sim, struct store_target *target)
{
    struct wio_admit_grant given;
    while (wio_admit_push(target->shard, sim->now_ns, &given)) {
        const uint64_t *found = wio_map_get(&target->senders, given.client);
        if (found != NULL) {
            struct store_sender *sender = (struct store_sender *)(uintptr_t)*found;
            wio_sender_grant(sender->sender, given.window, sim->now_ns);
            pump(sim, sender);
        }
    }
}

/* The next request, where the target has none; what has expired is answered at once. */
static enum wio_status serve(struct sim *sim, struct store_target *target)
{
    struct sim_store *store = sim->store;
    struct wio_admit_work work;
    while (target->running == NULL && wio_admit_next(target->shard, sim->now_ns, &work)) {
        struct store_request *request = (struct store_request *)(uintptr_t)work.cookie;
        request->handle = work.handle;
        if (work.is_expired) {
            WIO_TRY(done(sim, target, request, 0));
            continue;
        }
        target->running = request;
        store->sums.service_s += (double)service_ns(store, request) / NS;
        set(store, &target->free, TARGET_IS_FREE, sim->now_ns + service_ns(store, request));
    }
    grant(sim, target);
    uint64_t wake_ns = wio_admit_wake_ns(target->shard);
    if (target->running == NULL && wake_ns != WIO_ADMIT_NEVER) {
        set(store, &target->wake, TARGET_WAKES, wake_ns > sim->now_ns ? wake_ns : sim->now_ns + 1);
    }
    return WIO_OK;
}

static enum wio_status arrive(struct sim *sim, struct store_request *request)
{
    struct store_target *target = request->sender->target;
    if (!wio_admit_arrive(target->shard, &request->ask, sim->now_ns, &request->reply)) {
        sim->store->sums.refused++;
        answer(sim, request);
    }
    return serve(sim, target);
}

static enum wio_status finish(struct sim *sim, struct store_target *target)
{
    struct store_request *request = target->running;
    target->running = NULL;
    WIO_TRY(done(sim, target, request, service_ns(sim->store, request)));
    return serve(sim, target);
}

/* ---- operations ---------------------------------------------------------------------------- */

static struct store_sender *make_sender(struct sim_store *store, uint64_t process, uint32_t job,
                                        struct store_target *target)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_sender_settings settings = wio_sender_settings_default();
    const struct wio_admit_identity identity = {.address = process + 1,
                                                .features = WIO_ADMIT_FEATURES};
    struct store_sender *sender = calloc(1, sizeof(*sender));
    settings.seed = process * store->is.targets + (uint64_t)(target - store->targets);
    settings.features = WIO_ADMIT_FEATURES;
    settings.pending_max = PENDING_MAX;
    settings.timeout_ns = sim_ns_of(store->is.timeout_s);
    if (sender == NULL || wio_sender_create(&settings, &heap, &sender->sender) != WIO_OK ||
        wio_admit_join(target->shard, &identity, 0, &sender->client) != WIO_OK ||
        wio_map_put(&target->senders, sender->client, (uint64_t)(uintptr_t)sender) != WIO_OK) {
        if (sender != NULL) {
            wio_sender_destroy(sender->sender);
        }
        free(sender);
        return NULL;
    }
    sender->target = target;
    sender->job = job;
    return sender;
}

static struct store_sender *sender_of(struct sim *sim, const struct sim_thread *thread,
                                      uint32_t index)
{
    struct sim_store *store = sim->store;
    const uint32_t program = (uint32_t)(thread->program - sim->programs);
    const uint64_t process =
        (uint64_t)(thread->program->first_copy + thread->id.copy) << 32 | thread->id.image;
    const uint64_t key = process * WIO_HOST_STORE_TARGETS_MAX + index;
    const uint64_t *found = wio_map_get(&store->senders, key);
    if (found != NULL) {
        return (struct store_sender *)(uintptr_t)*found;
    }
    struct store_sender *sender = make_sender(store, process, program + 1, &store->targets[index]);
    if (sender != NULL &&
        wio_map_put(&store->senders, key, (uint64_t)(uintptr_t)sender) != WIO_OK) {
        (void)wio_map_remove(&sender->target->senders, sender->client);
        wio_sender_destroy(sender->sender);
        free(sender);
        return NULL;
    }
    return sender;
}

/* Bytes of the range in the units first, first + targets, .. up to the last one. */
static uint64_t bytes_at(const struct wio_host_store *is, const struct wio_model_op *op,
                         uint64_t unit)
{
    const uint64_t end = op->offset + op->size;
    const uint64_t last = (end - 1) / is->stripe_unit;
    const uint64_t units = (last - unit) / is->targets + 1;
    uint64_t bytes = units * is->stripe_unit;
    if (unit == op->offset / is->stripe_unit) {
        bytes -= op->offset % is->stripe_unit;
    }
    if ((last - unit) % is->targets == 0) {
        bytes -= is->stripe_unit - ((end - 1) % is->stripe_unit + 1);
    }
    return bytes;
}

static enum wio_status ask(struct sim *sim, const struct sim_thread *thread, struct store_op *op,
                           uint32_t index, uint16_t operation, uint64_t bytes)
{
    struct store_sender *sender = sender_of(sim, thread, index);
    struct store_request *request = calloc(1, sizeof(*request));
    if (sender == NULL || request == NULL) {
        free(request);
        return WIO_ERR_NOMEM;
    }
    *request =
        (struct store_request){.op = op, .sender = sender, .bytes = bytes, .operation = operation};
    LIST_INSERT_HEAD(&sim->store->requests, request, all);
    WIO_TRY(wio_sender_submit(sender->sender, (uint64_t)(uintptr_t)request, 0, sim->now_ns));
    op->left++;
    sim->store->sums.requests++;
    pump(sim, sender);
    return WIO_OK;
}

/* One request to each target that has bytes of the range. */
static enum wio_status ask_all(struct sim *sim, const struct sim_thread *thread,
                               struct store_op *op, const struct wio_model_op *what)
{
    const struct wio_host_store *is = &sim->store->is;
    const uint16_t operation = wio_model_flow(what->method) == WIO_MODEL_MOVES_IN ? 0 : 1;
    const uint64_t first = what->offset / is->stripe_unit;
    const uint64_t last = (what->offset + what->size - 1) / is->stripe_unit;
    for (uint64_t unit = first; unit <= last && unit < first + is->targets; unit++) {
        const uint32_t index = (uint32_t)((what->file + unit) % is->targets);
        WIO_TRY(ask(sim, thread, op, index, operation, bytes_at(is, what, unit)));
    }
    return WIO_OK;
}

enum wio_status sim_store_begin(struct sim *sim, const struct sim_thread *thread, uint32_t task,
                                const struct wio_model_op *what, struct wio_error *err)
{
    struct store_op *op = calloc(1, sizeof(*op));
    if (op == NULL) {
        return WIO_ERR_NOMEM;
    }
    op->task = task;
    op->begin_ns = sim->now_ns;
    op->left = 1; /* this call */
    LIST_INSERT_HEAD(&sim->store->ops, op, all);
    enum wio_status status = WIO_OK;
    if (wio_model_flow(what->method) != WIO_MODEL_MOVES_NOTHING && what->size > 0) {
        status = ask_all(sim, thread, op, what);
    }
    if (status == WIO_ERR_BUSY) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                             "a process has more than %u requests under way at a target of the "
                             "store",
                             PENDING_MAX);
    }
    WIO_TRY(status);
    if (--op->left == 0) {
        set(sim->store, &op->event, OP_ENDS, sim->now_ns);
    }
    if (task < sim->first_request) {
        sim_cpu_leave(sim, &sim->threads[sim_thread_of(sim, task)]);
    }
    return WIO_OK;
}

/* ---- time ---------------------------------------------------------------------------------- */

uint64_t sim_store_next_ns(const struct sim *sim)
{
    if (sim->store == NULL || LIST_EMPTY(&sim->store->ops)) {
        return UINT64_MAX; /* what a target or a client still has to do concerns no thread */
    }
    const struct store_event *first = RB_MIN(store_events, &sim->store->events);
    return first != NULL ? first->ns : UINT64_MAX;
}

static void end_op(struct sim *sim, struct store_op *op, struct wio_model_done *done_out)
{
    *done_out =
        (struct wio_model_done){.task = op->task,
                                .result = {.cost_s = (double)(sim->now_ns - op->begin_ns) / NS,
                                           .time_s = (double)sim->now_ns / NS,
                                           .state = WIO_MODEL_STATE_NONE}};
    LIST_REMOVE(op, all);
    free(op);
}

enum wio_status sim_store_run(struct sim *sim, struct wio_model_done *done_out,
                              struct wio_error *err)
{
    struct store_event *event = RB_MIN(store_events, &sim->store->events);
    enum wio_status status = WIO_OK;
    WIO_PRE(event != NULL);
    RB_REMOVE(store_events, &sim->store->events, event);
    event->is_set = false;
    sim->now_ns = event->ns > sim->now_ns ? event->ns : sim->now_ns;
    done_out->task = UINT32_MAX;
    switch (event->what) {
    case OP_ENDS:
        end_op(sim, (struct store_op *)event, done_out);
        return WIO_OK;
    case ARRIVES:
        status = arrive(sim, (struct store_request *)event);
        break;
    case ANSWERED:
        hear(sim, (struct store_request *)event);
        break;
    case TARGET_IS_FREE:
        status = finish(sim, (struct store_target *)event);
        break;
    case TARGET_WAKES:
        status = serve(sim, (struct store_target *)(void *)((char *)event -
                                                            offsetof(struct store_target, wake)));
        break;
    case CLIENT_WAKES:
        pump(sim, (struct store_sender *)event);
        break;
    }
    if (status != WIO_OK) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "the store cannot be simulated: %s", wio_status_text(status));
    }
    return WIO_END;
}

void sim_store_sum_up(const struct sim *sim, struct wio_predict_store *out)
{
    if (sim->store != NULL) {
        *out = sim->store->sums;
        out->targets = sim->store->is.targets;
    }
}

/* ---- life ---------------------------------------------------------------------------------- */

bool sim_store_has(const struct sim *sim, const struct sim_host *host, uint32_t device)
{
    return sim->store != NULL && host->machine.host.devices[device].store.targets > 0;
}

static enum wio_status find_store(const struct sim *sim, struct wio_host_store *is,
                                  struct wio_error *err)
{
    for (uint32_t h = 0; h < sim->host_count; h++) {
        const struct wio_host *host = &sim->hosts[h].machine.host;
        for (uint32_t d = 0; d < host->device_count; d++) {
            const struct wio_host_store *own = &host->devices[d].store;
            if (own->targets > 0 && is->targets > 0 && !wio_host_store_is_same(is, own)) {
                return wio_error_set(
                    err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                    "the machines describe different stores; one can be simulated");
            }
            *is = own->targets > 0 ? *own : *is;
        }
    }
    return WIO_OK;
}

static enum wio_status make_targets(struct sim *sim, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct sim_store *store = sim->store;
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.kind = sim->params->store_policy;
    settings.shards = store->is.targets;
    settings.timeout_ns = sim_ns_of(store->is.timeout_s);
    settings.clients_max = CLIENTS_MAX;
    settings.key[0] = 1;
    settings.incarnation = 1;
    WIO_TRY(wio_admit_total_create(&settings, &heap, &store->total, err));
    store->targets = calloc(store->is.targets, sizeof(*store->targets));
    if (store->targets == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < store->is.targets; i++) {
        WIO_TRY(wio_admit_create(store->total, &heap, &store->targets[i].shard, err));
    }
    return WIO_OK;
}

enum wio_status sim_store_init(struct sim *sim, struct wio_error *err)
{
    struct wio_host_store is = {.targets = 0};
    WIO_TRY(find_store(sim, &is, err));
    if (is.targets == 0) {
        return WIO_OK;
    }
    sim->store = calloc(1, sizeof(*sim->store));
    if (sim->store == NULL) {
        return WIO_ERR_NOMEM;
    }
    sim->store->is = is;
    return make_targets(sim, err);
}

/* Operations are under way after an error alone; requests that were given up may be. */
static void drop_all(struct sim_store *store)
{
    struct store_op *op;
    struct store_request *request;
    while ((request = LIST_FIRST(&store->requests)) != NULL) {
        request_free(store, request);
    }
    while ((op = LIST_FIRST(&store->ops)) != NULL) {
        LIST_REMOVE(op, all);
        free(op);
    }
}

void sim_store_fini(struct sim *sim)
{
    struct sim_store *store = sim->store;
    struct wio_map_entry *entry;
    size_t i = 0;
    if (store == NULL) {
        return;
    }
    drop_all(store);
    while ((entry = wio_map_each(&store->senders, &i)) != NULL) {
        struct store_sender *sender = (struct store_sender *)(uintptr_t)entry->value;
        wio_sender_destroy(sender->sender);
        free(sender);
    }
    wio_map_fini(&store->senders);
    for (uint32_t t = 0; store->targets != NULL && t < store->is.targets; t++) {
        wio_admit_destroy(store->targets[t].shard);
        wio_map_fini(&store->targets[t].senders);
    }
    wio_admit_total_destroy(store->total);
    free(store->targets);
    free(store);
    sim->store = NULL;
}
