/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASKER UINT64_C(1000000) /* targets, as clients of each other */
#define LEASE_NS UINT64_C(20000000)
#define STEPS_MAX 3000000u

static uint64_t below(struct world *world, uint64_t n)
{
    return wio_test_random(&world->seed) % n;
}

/* ---- queues ---- */

static struct world_message *push_message(struct world_queue *queue)
{
    assert_true(queue->count < WORLD_QUEUE);
    struct world_message *message = &queue->messages[(queue->first + queue->count++) % WORLD_QUEUE];
    memset(message, 0, sizeof(*message));
    return message;
}

static struct world_message *pop_message(struct world_queue *queue)
{
    struct world_message *message = &queue->messages[queue->first];
    queue->first = (queue->first + 1) % WORLD_QUEUE;
    queue->count--;
    return message;
}

/* ---- what targets say ---- */

static struct world_client *client_by_id(struct world *world, uint64_t id)
{
    for (int c = 0; c < WORLD_CLIENTS; c++) {
        if (world->clients_now[c].id == id && world->clients_now[c].is_alive) {
            return &world->clients_now[c];
        }
    }
    return NULL;
}

static struct world_queue *queue_to(struct world_target *target, uint64_t id)
{
    struct world *world = target->world;
    const struct world_client *client = client_by_id(world, id);
    if (client == NULL || !client->is_up[target->self]) {
        return NULL;
    }
    return &world->to_client[client - world->clients_now][target->self];
}

static void post(struct world *world, struct world_letter letter)
{
    assert_true(world->letter_count < WORLD_QUEUE);
    world->letters[world->letter_count++] = letter;
}

static void on_reply(void *context, uint64_t client, const struct wio_store_reply *reply)
{
    struct world_target *target = context;
    if (client >= ASKER) {
        if (reply->result == WIO_STORE_OK) {
            post(target->world,
                 (struct world_letter){.from = target->self,
                                       .to = (uint16_t)(client - ASKER),
                                       .is_answer = true,
                                       .outcome = (enum wio_store_outcome)reply->outcome,
                                       .txn = reply->txn});
        }
        return;
    }
    struct world_queue *queue = queue_to(target, client);
    if (queue != NULL && reply->number != 0) {
        struct world_message *message = push_message(queue);
        message->reply = *reply;
        assert_true(reply->data_size <= sizeof(message->data));
        if (reply->data_size > 0) {
            memcpy(message->data, reply->data, reply->data_size);
        }
    }
}

static void on_push(void *context, uint64_t client, const struct wio_store_push *push)
{
    struct world_target *target = context;
    struct world_queue *queue = queue_to(target, client);
    if (queue != NULL) {
        struct world_message *message = push_message(queue);
        message->is_push = true;
        message->push = *push;
    }
}

static void on_inquire(void *context, uint16_t other, const struct wio_txn *txn, bool is_prepared)
{
    struct world_target *target = context;
    target->world->inquiries++;
    post(target->world,
         (struct world_letter){
             .from = target->self, .to = other, .is_prepared = is_prepared, .txn = *txn});
}

static const struct wio_server_ops server_ops = {on_reply, on_push, on_inquire};

static void start_target(struct world *world, uint16_t i)
{
    struct world_target *target = &world->targets[i];
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    struct wio_server_config config = {.self = i,
                                       .targets = WORLD_TARGETS,
                                       .policy = world->config.policy,
                                       .lease_ns = LEASE_NS,
                                       .clients_max = 64,
                                       .txns_max = 256,
                                       .calls_max = 256,
                                       .locks_max = 4096,
                                       .outcomes_max = 4096,
                                       .txn_bytes_max = 65536,
                                       .update_bytes_max = 1 << 20,
                                       .backing = &target->memory.base,
                                       .ops = &server_ops,
                                       .context = target};
    if (world->config.policy == WIO_LOCK_TIMEOUT) {
        config.lock_timeout_ns = 2000000;
    }
    target->world = world;
    target->self = i;
    assert_int_equal(wio_server_create(&alloc, &config, &target->server), WIO_OK);
}

/* ---- what clients do ---- */

static void on_send(void *context, uint16_t t, const struct wio_store_request *request)
{
    struct world_client *client = context;
    struct world *world = client->world;
    if (!client->is_up[t]) {
        return;
    }
    struct world_message *message = push_message(&world->to_target[client - world->clients_now][t]);
    message->request = *request;
    assert_true(request->data_size <= sizeof(message->data));
    if (request->data_size > 0) {
        memcpy(message->data, request->data, request->data_size);
    }
    for (uint32_t i = 0; i < request->participant_count; i++) {
        message->participants[i] = request->participants[i];
    }
    message->request.data = message->data;
    message->request.participants = message->participants;
}

static struct wio_store_request request_to(uint32_t cell, enum wio_store_op op)
{
    return (struct wio_store_request){.op = (uint16_t)op,
                                      .file = 1,
                                      .segment = cell % WORLD_TARGETS,
                                      .offset = cell / WORLD_TARGETS * 16,
                                      .size = op == WIO_STORE_READ ? 16 : 0};
}

static struct wio_store_request request_of(struct world_actor *actor, uint32_t a)
{
    const struct history_access *access = &actor->accesses[a];
    struct wio_store_request request =
        request_to(access->cell, actor->is_writing ? WIO_STORE_WRITE : WIO_STORE_READ);
    if (actor->is_writing) {
        memcpy(actor->data[a], &access->written, 8);
        memcpy(actor->data[a] + 8, &access->written, 8);
        request.data = actor->data[a];
        request.data_size = 16;
    }
    return request;
}

static void issue(struct world_actor *actor, struct wio_coord_txn *txn, uint32_t a)
{
    struct wio_store_request request = request_of(actor, a);
    assert_int_equal(wio_coord_issue(txn, (uint16_t)request.segment, &request, a), WIO_OK);
}

static void finish(const struct world *world, struct world_actor *actor, struct wio_coord_txn *txn)
{
    struct wio_store_request request = request_of(actor, actor->last);
    assert_int_equal(wio_coord_finish(txn, (uint16_t)request.segment, &request, actor->last, true,
                                      world->now_ns),
                     WIO_OK);
}

static void on_run(void *context, struct wio_coord_txn *txn, void *user)
{
    struct world_actor *actor = user;
    (void)context;
    actor->txn = txn;
    actor->answered = 0;
    actor->is_writing = false;
    for (uint32_t a = 0; a < actor->count; a++) {
        issue(actor, txn, a);
    }
}

static uint32_t writes_of(const struct world_actor *actor)
{
    uint32_t writes = 0;
    for (uint32_t a = 0; a < actor->count; a++) {
        writes += actor->accesses[a].is_write;
    }
    return writes;
}

static void write_all(struct world *world, struct world_actor *actor, struct wio_coord_txn *txn)
{
    uint32_t left = writes_of(actor);
    actor->is_writing = true;
    actor->answered = 0;
    actor->finishes = world->config.seed % 2 == 0 && world->versions % 2 == 0;
    for (uint32_t a = 0; a < actor->count; a++) {
        if (actor->accesses[a].is_write) {
            actor->accesses[a].written = HISTORY_CELLS + ++world->versions;
            actor->last = a;
            if (--left > 0 || !actor->finishes) {
                issue(actor, txn, a);
            }
        }
    }
    if (actor->finishes && writes_of(actor) == 1) {
        finish(world, actor, txn);
    }
}

static void on_part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                    const struct wio_store_reply *reply)
{
    struct world_client *client = context;
    struct world_actor *actor = user;
    actor->answered++;
    if (!actor->is_writing) {
        uint64_t cell[2] = {0, 0};
        memcpy(cell, reply->data, reply->data_size);
        assert_int_equal(cell[0], cell[1]);
        actor->accesses[tag].seen = cell[0];
        if (actor->answered < actor->count) {
            return;
        }
        if (writes_of(actor) > 0) {
            write_all(client->world, actor, txn);
            return;
        }
    } else if (actor->finishes && actor->answered == writes_of(actor) - 1) {
        finish(client->world, actor, txn);
        return;
    } else if (actor->finishes || actor->answered < writes_of(actor)) {
        return;
    }
    assert_int_equal(wio_coord_commit(txn, client->world->now_ns), WIO_OK);
}

static void write_down(struct world *world, const struct world_actor *actor, bool is_certain)
{
    struct history_txn *txn = history_add(&world->history);
    txn->is_certain = is_certain;
    txn->count = actor->count;
    memcpy(txn->accesses, actor->accesses, sizeof(txn->accesses));
}

static void on_ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                     enum wio_store_result result)
{
    struct world_client *client = context;
    struct world_actor *actor = user;
    (void)txn;
    actor->txn = NULL;
    client->world->ended++;
    if (end == WIO_COORD_COMMITTED) {
        write_down(client->world, actor, true);
    } else {
        /* whether it has committed is not known: only where its target has lost it */
        assert_int_equal(result, WIO_STORE_NO_LEASE);
        write_down(client->world, actor, false);
    }
}

static const struct wio_coord_ops coord_ops = {
    .send = on_send, .run = on_run, .part = on_part, .ended = on_ended};

static void connect_client(struct world *world, struct world_client *client, uint16_t t)
{
    struct wio_store_peer peer = {.client = client->id, .job = (uint32_t)client->id};
    bool is_new = false;
    client->is_up[t] = true;
    enum wio_status status =
        wio_server_connected(world->targets[t].server, &peer, world->now_ns, &is_new);
    assert_int_equal(status, WIO_OK);
    wio_coord_back(client->coord, t, is_new, world->now_ns);
}

static void start_client(struct world *world, int c)
{
    struct world_client *client = &world->clients_now[c];
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    memset(client, 0, sizeof(*client));
    client->world = world;
    client->id = ++world->clients;
    client->is_alive = true;
    struct wio_coord_config config = {.client = client->id,
                                      .targets = WORLD_TARGETS,
                                      .txns_max = 64,
                                      .vote_ns = 3 * LEASE_NS,
                                      .ops = &coord_ops,
                                      .context = client};
    assert_int_equal(wio_coord_create(&alloc, &config, &client->coord), WIO_OK);
    for (uint16_t t = 0; t < WORLD_TARGETS; t++) {
        connect_client(world, client, t);
    }
}

static void draw_accesses(struct world *world, struct world_actor *actor)
{
    actor->count = 1 + (uint32_t)below(world, 4);
    for (uint32_t a = 0; a < actor->count; a++) {
        struct history_access *access = &actor->accesses[a];
        bool is_again = true;
        while (is_again) {
            access->cell = (uint32_t)below(world, WORLD_CELLS);
            is_again = false;
            for (uint32_t b = 0; b < a; b++) {
                is_again |= actor->accesses[b].cell == access->cell;
            }
        }
        access->is_write = below(world, 2) == 0;
    }
}

static void begin(struct world *world)
{
    struct world_client *client = &world->clients_now[below(world, WORLD_CLIENTS)];
    struct world_actor *actor = &client->actors[below(world, WORLD_TXNS)];
    if (actor->txn != NULL || world->begun >= world->config.txns) {
        return;
    }
    struct wio_coord_txn *txn = NULL;
    world->begun++;
    draw_accesses(world, actor);
    uint16_t flags = world->config.is_stable ? WIO_STORE_FLAG_STABLE : 0;
    assert_int_equal(wio_coord_begin(client->coord, actor, flags, world->now_ns, &txn), WIO_OK);
}

/* ---- steps ---- */

static void deliver_request(struct world *world, int c, uint16_t t)
{
    struct world_queue *queue = &world->to_target[c][t];
    if (queue->count > 0) {
        const struct world_message *message = pop_message(queue);
        wio_server_request(world->targets[t].server, world->clients_now[c].id, &message->request,
                           world->now_ns);
    }
}

static void deliver_reply(struct world *world, int c, uint16_t t)
{
    struct world_queue *queue = &world->to_client[c][t];
    if (queue->count == 0) {
        return;
    }
    struct world_message message = *pop_message(queue);
    struct wio_coord *coord = world->clients_now[c].coord;
    message.reply.data = message.data;
    if (message.is_push) {
        wio_coord_push(coord, t, &message.push, world->now_ns);
    } else {
        wio_coord_reply(coord, t, &message.reply, world->now_ns);
    }
}

static void deliver_letter(struct world *world)
{
    if (world->letter_count == 0) {
        return;
    }
    uint64_t at = below(world, world->letter_count);
    struct world_letter letter = world->letters[at];
    world->letters[at] = world->letters[--world->letter_count];
    struct wio_server *server = world->targets[letter.to].server;
    if (letter.is_answer) {
        wio_server_answered(server, letter.from, &letter.txn, letter.outcome, world->now_ns);
        return;
    }
    struct wio_store_request request = {.op = WIO_STORE_INQUIRE,
                                        .flags = letter.is_prepared ? WIO_STORE_FLAG_STABLE : 0,
                                        .number = 1,
                                        .txn = letter.txn};
    wio_server_request(server, ASKER + letter.from, &request, world->now_ns);
}

static void flush(struct world *world, uint16_t t)
{
    struct world_target *target = &world->targets[t];
    if (target->memory.wants_flush) {
        wio_server_durable(target->server, memory_backing_flush(&target->memory), true,
                           world->now_ns);
    }
}

static void disconnect(struct world *world, int c, uint16_t t, uint64_t for_ns)
{
    struct world_client *client = &world->clients_now[c];
    client->is_up[t] = false;
    client->down_until_ns[t] = world->now_ns + for_ns;
    world->to_target[c][t].count = 0;
    world->to_client[c][t].count = 0;
}

static void lose(struct world *world)
{
    int c = (int)below(world, WORLD_CLIENTS);
    uint16_t t = (uint16_t)below(world, WORLD_TARGETS);
    /* mostly for less than a lease */
    uint64_t for_ns = below(world, 8) == 0 ? 2 * LEASE_NS : below(world, LEASE_NS / 2);
    wio_server_disconnected(world->targets[t].server, world->clients_now[c].id, false,
                            world->now_ns);
    disconnect(world, c, t, world->config.is_stable ? for_ns : below(world, LEASE_NS / 4));
}

static void crash(struct world *world)
{
    uint16_t t = (uint16_t)below(world, WORLD_TARGETS);
    struct world_target *target = &world->targets[t];
    for (int c = 0; c < WORLD_CLIENTS; c++) {
        disconnect(world, c, t, below(world, LEASE_NS / 4));
    }
    wio_server_destroy(target->server);
    memory_backing_crash(&target->memory);
    start_target(world, t);
    assert_int_equal(memory_backing_replay(&target->memory, target->server, world->now_ns), WIO_OK);
}

/* Whether what it was about to commit has committed is found out at the end. */
static void die(struct world *world)
{
    int c = (int)below(world, WORLD_CLIENTS);
    struct world_client *client = &world->clients_now[c];
    for (int i = 0; i < WORLD_TXNS; i++) {
        struct world_actor *actor = &client->actors[i];
        if (actor->txn != NULL) {
            world->ended++;
            if (actor->is_writing) {
                write_down(world, actor, false);
            }
        }
    }
    for (uint16_t t = 0; t < WORLD_TARGETS; t++) {
        disconnect(world, c, t, 0);
    }
    struct wio_coord_stat stat = wio_coord_stat(client->coord);
    world->wounds += stat.wounds;
    world->retries += stat.attempts;
    wio_coord_destroy(client->coord);
    start_client(world, c);
}

static void pass_time(struct world *world)
{
    world->now_ns += below(world, 200000);
    for (uint16_t t = 0; t < WORLD_TARGETS; t++) {
        if (wio_server_deadline_ns(world->targets[t].server) <= world->now_ns) {
            wio_server_tick(world->targets[t].server, world->now_ns);
        }
    }
    for (int c = 0; c < WORLD_CLIENTS; c++) {
        struct world_client *client = &world->clients_now[c];
        for (uint16_t t = 0; t < WORLD_TARGETS; t++) {
            struct wio_store_request ping = {.op = WIO_STORE_PING};
            if (!client->is_up[t] && client->down_until_ns[t] <= world->now_ns) {
                connect_client(world, client, t);
            } else if (client->is_up[t] && world->now_ns >= client->pinged_ns + LEASE_NS / 4) {
                wio_server_request(world->targets[t].server, client->id, &ping, world->now_ns);
            }
        }
        if (world->now_ns >= client->pinged_ns + LEASE_NS / 4) {
            client->pinged_ns = world->now_ns;
        }
        wio_coord_tick(client->coord, world->now_ns);
    }
}

static void break_something(struct world *world)
{
    uint64_t dice = below(world, 10000);
    const struct world_config *config = &world->config;
    if (dice < config->losses) {
        lose(world);
    } else if (dice < config->losses + config->crashes) {
        crash(world);
    } else if (dice < config->losses + config->crashes + config->deaths) {
        die(world);
    }
}

static void step(struct world *world)
{
    int c = (int)below(world, WORLD_CLIENTS);
    uint16_t t = (uint16_t)below(world, WORLD_TARGETS);
    uint64_t dice = below(world, 100);
    if (dice < 40) {
        deliver_request(world, c, t);
    } else if (dice < 80) {
        deliver_reply(world, c, t);
    } else if (dice < 85) {
        deliver_letter(world);
    } else if (dice < 90) {
        flush(world, t);
    } else if (dice < 95) {
        begin(world);
    } else {
        pass_time(world);
    }
    break_something(world);
}

static bool is_quiet(const struct world *world)
{
    for (uint16_t t = 0; t < WORLD_TARGETS; t++) {
        if (wio_server_stat(world->targets[t].server).txns > 0) {
            return false;
        }
    }
    return world->begun == world->config.txns && world->ended == world->begun;
}

static void read_cells(const struct world *world, uint64_t last[HISTORY_CELLS])
{
    memset(last, 0, HISTORY_CELLS * sizeof(last[0]));
    for (uint32_t cell = 0; cell < WORLD_CELLS; cell++) {
        uint64_t size = 0;
        uint32_t t = cell % WORLD_TARGETS;
        uint64_t offset = cell / WORLD_TARGETS * 16;
        const uint8_t *bytes = memory_backing_bytes(&world->targets[t].memory, 1, t, &size);
        if (size >= offset + 16) {
            memcpy(&last[cell], bytes + offset, 8);
        }
    }
}

static void start(struct world *world, const struct world_config *config)
{
    memset(world, 0, sizeof(*world));
    world->config = *config;
    world->seed = config->seed;
    world->now_ns = 1000000000;
    for (uint16_t t = 0; t < WORLD_TARGETS; t++) {
        memory_backing_init(&world->targets[t].memory);
        start_target(world, t);
    }
    for (int c = 0; c < WORLD_CLIENTS; c++) {
        start_client(world, c);
    }
}

static void stop(struct world *world)
{
    for (int c = 0; c < WORLD_CLIENTS; c++) {
        struct wio_coord_stat stat = wio_coord_stat(world->clients_now[c].coord);
        world->wounds += stat.wounds;
        world->retries += stat.attempts;
        wio_coord_destroy(world->clients_now[c].coord);
    }
    for (uint16_t t = 0; t < WORLD_TARGETS; t++) {
        wio_server_destroy(world->targets[t].server);
        memory_backing_fini(&world->targets[t].memory);
    }
}

const char *world_run(struct world *world, const struct world_config *config)
{
    uint64_t last[HISTORY_CELLS];
    uint32_t steps = 0;
    start(world, config);
    while (!is_quiet(world) && steps < STEPS_MAX) {
        if (world->begun == config->txns) { /* what is left ends in peace */
            world->config.losses = world->config.crashes = world->config.deaths = 0;
        }
        step(world);
        steps++;
    }
    read_cells(world, last);
    const char *fault = steps == STEPS_MAX ? "it does not end" : NULL;
    fault = fault != NULL ? fault : history_check(&world->history, last);
    stop(world);
    return fault;
}
