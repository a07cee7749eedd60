/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

/* Targets that ask each other do so by these "clients". */
#define ASKER 1000u

static void heard(struct rig_target *target, uint16_t from, const struct wio_store_reply *reply)
{
    enum wio_store_outcome outcome = (enum wio_store_outcome)reply->outcome;
    if (reply->result == WIO_STORE_OK) {
        wio_server_answered(target->server, from, &reply->txn, outcome, target->rig->now_ns);
    }
}

/* An answer between targets must not be given from within the call: it waits for rig_tick. */
struct rig_mail {
    uint16_t to;
    uint16_t from;
    bool is_answer;
    bool is_prepared;
    struct wio_store_reply reply;
    struct wio_txn txn;
};

static struct rig_mail mail[64];
static uint32_t mail_count;

static void on_reply(void *context, uint64_t client, const struct wio_store_reply *reply)
{
    struct rig_target *target = context;
    if (client >= ASKER) {
        assert_true(mail_count < 64);
        mail[mail_count++] = (struct rig_mail){.to = (uint16_t)(client - ASKER),
                                               .from = target->self,
                                               .is_answer = true,
                                               .reply = *reply};
        return;
    }
    struct rig_inbox *inbox = &target->rig->inbox[target->self][client];
    inbox->count++;
    inbox->last = *reply;
    assert_true(reply->data_size <= sizeof(inbox->data));
    if (reply->data_size > 0) {
        memcpy(inbox->data, reply->data, reply->data_size);
    }
    inbox->last.data = inbox->data;
}

static void on_push(void *context, uint64_t client, const struct wio_store_push *push)
{
    struct rig_target *target = context;
    struct rig_inbox *inbox = &target->rig->inbox[target->self][client];
    inbox->wounds++;
    inbox->wound = *push;
}

static void on_inquire(void *context, uint16_t other, const struct wio_txn *txn, bool is_prepared)
{
    struct rig_target *target = context;
    target->asked++;
    if (!target->rig->is_cut) {
        assert_true(mail_count < 64);
        mail[mail_count++] = (struct rig_mail){
            .to = other, .from = target->self, .is_prepared = is_prepared, .txn = *txn};
    }
}

static const struct wio_server_ops server_ops = {on_reply, on_push, on_inquire};

static void start(struct rig *rig, uint16_t i)
{
    struct rig_target *target = &rig->targets[i];
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    struct wio_server_config config = rig->config;
    config.self = i;
    config.targets = rig->count;
    config.backing = &target->memory.base;
    config.ops = &server_ops;
    config.context = target;
    target->rig = rig;
    target->self = i;
    assert_int_equal(wio_server_create(&alloc, &config, &target->server), WIO_OK);
}

static void connect_all(struct rig *rig, uint16_t i)
{
    for (uint64_t client = 1; client < RIG_CLIENTS; client++) {
        struct wio_store_peer peer = {.client = client, .job = (uint32_t)client * 10};
        assert_int_equal(wio_server_connected(rig->targets[i].server, &peer, rig->now_ns, NULL),
                         WIO_OK);
    }
}

void rig_init(struct rig *rig, uint16_t targets)
{
    memset(rig, 0, sizeof(*rig));
    mail_count = 0;
    rig->count = targets;
    rig->now_ns = 1000000000;
    rig->config = (struct wio_server_config){.policy = WIO_LOCK_WOUND_WAIT,
                                             .clients_max = 16,
                                             .txns_max = 32,
                                             .calls_max = 64,
                                             .locks_max = 256,
                                             .outcomes_max = 16,
                                             .txn_bytes_max = 4096,
                                             .update_bytes_max = 16384};
}

void rig_start(struct rig *rig)
{
    for (uint16_t i = 0; i < rig->count; i++) {
        memory_backing_init(&rig->targets[i].memory);
        start(rig, i);
        connect_all(rig, i);
    }
}

void rig_fini(struct rig *rig)
{
    for (uint16_t i = 0; i < rig->count; i++) {
        wio_server_destroy(rig->targets[i].server);
        assert_int_equal(rig->targets[i].memory.reserved, 0);
        memory_backing_fini(&rig->targets[i].memory);
    }
}

void rig_crash(struct rig *rig, uint16_t i)
{
    struct rig_target *target = &rig->targets[i];
    wio_server_destroy(target->server);
    memory_backing_crash(&target->memory);
    start(rig, i);
    assert_int_equal(memory_backing_replay(&target->memory, target->server, rig->now_ns), WIO_OK);
    connect_all(rig, i);
}

static void deliver(struct rig *rig, const struct rig_mail *letter)
{
    struct rig_target *to = &rig->targets[letter->to];
    if (letter->is_answer) {
        heard(to, letter->from, &letter->reply);
        return;
    }
    struct wio_store_request request = {.op = WIO_STORE_INQUIRE,
                                        .flags = letter->is_prepared ? WIO_STORE_FLAG_STABLE : 0,
                                        .number = 1,
                                        .txn = letter->txn};
    wio_server_request(to->server, ASKER + letter->from, &request, rig->now_ns);
}

void rig_tick(struct rig *rig, uint64_t ns)
{
    rig->now_ns += ns;
    for (uint16_t i = 0; i < rig->count; i++) {
        wio_server_tick(rig->targets[i].server, rig->now_ns);
    }
    while (mail_count > 0) {
        struct rig_mail letter = mail[--mail_count];
        deliver(rig, &letter);
        for (uint16_t i = 0; i < rig->count; i++) {
            if (rig->targets[i].memory.wants_flush) {
                rig_flush(rig, i);
            }
        }
    }
}

void rig_flush(struct rig *rig, uint16_t i)
{
    struct rig_target *target = &rig->targets[i];
    wio_server_durable(target->server, memory_backing_flush(&target->memory), true, rig->now_ns);
}

const struct wio_store_reply *rig_send(struct rig *rig, uint16_t i,
                                       struct wio_store_request request)
{
    struct rig_inbox *inbox = &rig->inbox[i][request.txn.client];
    uint32_t before = inbox->count;
    if (request.number == 0) {
        request.number = ++rig->numbers;
    }
    /* bytes are lent for the call only */
    uint8_t *lent = malloc(request.data_size + 1u);
    assert_non_null(lent);
    memcpy(lent, request.data_size > 0 ? request.data : (const uint8_t *)"", request.data_size);
    request.data = lent;
    wio_server_request(rig->targets[i].server, request.txn.client, &request, rig->now_ns);
    memset(lent, '#', request.data_size);
    free(lent);
    return inbox->count > before ? &inbox->last : NULL;
}

const struct wio_store_reply *rig_last(const struct rig *rig, uint16_t i, uint64_t client)
{
    return &rig->inbox[i][client].last;
}

struct wio_store_request rig_request(enum wio_store_op op, uint64_t client, uint64_t txn)
{
    return (struct wio_store_request){
        .op = (uint16_t)op,
        .flags = WIO_STORE_FLAG_BEGIN,
        .source = (uint32_t)client,
        .txn = {.client = client, .number = txn, .birth_ns = client, .attempt = 1},
        .file = 1};
}

struct wio_store_request rig_write(uint64_t client, uint64_t txn, uint64_t offset, const char *text)
{
    struct wio_store_request request = rig_request(WIO_STORE_WRITE, client, txn);
    request.offset = offset;
    request.data = (const uint8_t *)text;
    request.data_size = (uint32_t)strlen(text);
    return request;
}

struct wio_store_request rig_read(uint64_t client, uint64_t txn, uint64_t offset, uint64_t size)
{
    struct wio_store_request request = rig_request(WIO_STORE_READ, client, txn);
    request.offset = offset;
    request.size = size;
    return request;
}

void rig_assert_result(const struct wio_store_reply *reply, enum wio_store_result wanted,
                       const char *file, int line)
{
    _assert_int_equal(reply != NULL, true, file, line);
    _assert_int_equal(reply->result, wanted, file, line);
}

void rig_assert_bytes(const struct wio_store_reply *reply, const char *text, const char *file,
                      int line)
{
    rig_assert_result(reply, WIO_STORE_OK, file, line);
    _assert_int_equal(reply->data_size, strlen(text), file, line);
    _assert_memory_equal(reply->data, text, strlen(text), file, line);
}
