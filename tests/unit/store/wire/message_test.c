/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, replies and pushes as bytes and back, of every operation, with numbers from a seed. */
#include "support/unit.h"

#include <string.h>

#include "admit/counts.h"
#include "store/wire/message.h"

enum { ROUNDS = 200, TEXT = 300 };

static const uint16_t operations[] = {
#define X(name, request, reply) WIO_STORE_##name,
#include "store/wire/fields.def"
#undef X
};
#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* Random things of a message, and what they point to. */
struct source {
    uint64_t seed;
    char path[TEXT];
    char path2[TEXT];
    uint8_t data[TEXT];
    uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
};

static uint32_t below(struct source *source, uint32_t limit)
{
    return (uint32_t)(wio_test_random(&source->seed) % limit);
}

static struct wio_txn random_txn(struct source *source)
{
    return (struct wio_txn){.client = wio_test_random(&source->seed),
                            .number = wio_test_random(&source->seed),
                            .birth_ns = wio_test_random(&source->seed),
                            .attempt = below(source, UINT32_MAX)};
}

static void fill(struct source *source)
{
    for (unsigned i = 0; i < TEXT; i++) {
        source->path[i] = (char)(1 + below(source, 255));
        source->path2[i] = (char)(1 + below(source, 255));
        source->data[i] = (uint8_t)below(source, 256);
    }
    for (unsigned i = 0; i < WIO_STORE_PARTICIPANTS_MAX; i++) {
        source->participants[i] = (uint16_t)below(source, 65536);
    }
}

static bool is_part_of(const struct wio_store_request *request, unsigned field)
{
    unsigned fields = 0;
    unsigned reply = 0;
    assert_true(wio_wire_fields(request->op, &fields, &reply));
    return (fields & field) != 0;
}

static void add_texts(struct source *source, struct wio_store_request *request)
{
    if (is_part_of(request, WIO_HAS_PATH)) {
        request->path = source->path;
        request->path_size = below(source, TEXT);
    }
    if (is_part_of(request, WIO_HAS_PATH2)) {
        request->path2 = source->path2;
        request->path2_size = below(source, TEXT);
    }
    if (is_part_of(request, WIO_HAS_DATA)) {
        request->data = source->data;
        request->data_size = below(source, TEXT);
    }
    if (request->op == WIO_STORE_PREPARE || (request->flags & WIO_STORE_FLAG_PREPARE) != 0) {
        request->participants = source->participants;
        request->participant_count = below(source, WIO_STORE_PARTICIPANTS_MAX + 1);
    }
}

static struct wio_ticket random_ticket(struct source *source)
{
    struct wio_ticket ticket = {0};
    if (below(source, 2) == 0) {
        ticket.sequence = wio_test_random(&source->seed) | 1;
        ticket.mac = wio_test_random(&source->seed);
        ticket.incarnation = below(source, UINT32_MAX);
        ticket.retries = (uint16_t)below(source, 65536);
    }
    return ticket;
}

static void add_asks(struct source *source, struct wio_store_request *request)
{
    if (below(source, 2) == 0) {
        request->flags |= WIO_STORE_FLAG_ADMIT;
        request->asks = (struct wio_store_asks){.remaining_ns = wio_test_random(&source->seed),
                                                .demand_ns = wio_test_random(&source->seed),
                                                .demand = (uint16_t)below(source, 65536),
                                                .flags = (uint16_t)below(source, 2),
                                                .ticket = random_ticket(source)};
    }
}

/* Any that the operation can have: other fields stay 0. */
static struct wio_store_request random_request(struct source *source, uint16_t op)
{
    struct wio_store_request request = {.op = op,
                                        .flags = (uint16_t)below(source, 256),
                                        .hint = (uint16_t)below(source, 65536),
                                        .number = wio_test_random(&source->seed),
                                        .source = below(source, UINT32_MAX),
                                        .txn = random_txn(source)};
#define RANDOM(field, has, value) request.field = is_part_of(&request, has) ? (value) : 0
    RANDOM(file, WIO_HAS_FILE, wio_test_random(&source->seed));
    RANDOM(generation, WIO_HAS_FILE, wio_test_random(&source->seed));
    RANDOM(segment, WIO_HAS_SEGMENT, below(source, WIO_STORE_SEGMENTS_MAX));
    RANDOM(group, WIO_HAS_GROUP, below(source, UINT32_MAX));
    RANDOM(whence, WIO_HAS_WHENCE, (uint8_t)below(source, 2));
    RANDOM(mode, WIO_HAS_MODE, (uint8_t)below(source, WIO_LOCK_MODES));
    RANDOM(offset, WIO_HAS_OFFSET, wio_test_random(&source->seed) >> 1);
    RANDOM(size, WIO_HAS_SIZE, below(source, WIO_STORE_DATA_MAX + 1));
    RANDOM(open_flags, WIO_HAS_OPEN_FLAGS, below(source, 32));
    RANDOM(file_mode, WIO_HAS_FILE_MODE, below(source, UINT32_MAX));
    RANDOM(uid, WIO_HAS_OWNER, below(source, UINT32_MAX));
    RANDOM(gid, WIO_HAS_OWNER, below(source, UINT32_MAX));
    RANDOM(segments, WIO_HAS_LAYOUT, below(source, WIO_STORE_SEGMENTS_MAX + 1));
    RANDOM(stripe_unit, WIO_HAS_LAYOUT, below(source, UINT32_MAX));
    RANDOM(atime_ns, WIO_HAS_TIMES, (int64_t)wio_test_random(&source->seed));
    RANDOM(mtime_ns, WIO_HAS_TIMES, (int64_t)wio_test_random(&source->seed));
#undef RANDOM
    add_texts(source, &request);
    add_asks(source, &request);
    return request;
}

/* What goes over the wire: the data is behind what the encoder appended. */
static void append(struct wio_blob *out, const void *data, uint32_t bytes)
{
    if (bytes > 0) {
        assert_int_equal(wio_blob_put(out, data, bytes), WIO_OK);
    }
}

static void encode_request(struct wio_blob *out, const struct wio_store_request *request)
{
    uint32_t data_bytes = 0;
    assert_int_equal(wio_wire_put_request(out, request, &data_bytes), WIO_OK);
    append(out, request->data, data_bytes);
}

static struct wio_buf open_body(const struct wio_blob *bytes, struct wio_wire_header *header)
{
    struct wio_buf all = wio_buf_of(bytes->data, bytes->size);
    assert_int_equal(wio_wire_header_get(all, header), WIO_OK);
    struct wio_buf body =
        wio_buf_of(bytes->data + WIO_WIRE_HEADER_BYTES, bytes->size - WIO_WIRE_HEADER_BYTES);
    assert_int_equal(wio_wire_body_check(header, body), WIO_OK);
    return body;
}

static void assert_bytes(const void *got, uint32_t got_bytes, const void *want, uint32_t bytes)
{
    assert_int_equal(got_bytes, bytes);
    if (bytes > 0) {
        assert_memory_equal(got, want, bytes);
    }
}

static void assert_same_numbers(const struct wio_store_request *got,
                                const struct wio_store_request *want)
{
#define SAME(field) assert_true(got->field == want->field)
    SAME(op);
    SAME(flags);
    SAME(hint);
    SAME(number);
    SAME(source);
    SAME(txn.client);
    SAME(txn.number);
    SAME(txn.birth_ns);
    SAME(txn.attempt);
    SAME(file);
    SAME(generation);
    SAME(segment);
    SAME(group);
    SAME(offset);
    SAME(size);
    SAME(whence);
    SAME(mode);
    SAME(open_flags);
    SAME(file_mode);
    SAME(uid);
    SAME(gid);
    SAME(segments);
    SAME(stripe_unit);
    SAME(atime_ns);
    SAME(mtime_ns);
    SAME(asks.remaining_ns);
    SAME(asks.demand_ns);
    SAME(asks.demand);
    SAME(asks.flags);
    SAME(asks.ticket.sequence);
    SAME(asks.ticket.mac);
    SAME(asks.ticket.incarnation);
    SAME(asks.ticket.retries);
#undef SAME
}

static void assert_same_request(const struct wio_store_request *got,
                                const struct wio_store_request *want)
{
    assert_same_numbers(got, want);
    assert_bytes(got->path, got->path_size, want->path, want->path_size);
    assert_bytes(got->path2, got->path2_size, want->path2, want->path2_size);
    assert_bytes(got->data, got->data_size, want->data, want->data_size);
    assert_bytes(got->participants, got->participant_count * 2, want->participants,
                 want->participant_count * 2);
}

/* R-WIRE-5, R-WIRE-6, R-WIRE-7: what was said arrives, and is said again with the same bytes. */
static void requests_come_back(void **state)
{
    (void)state;
    struct source source = {.seed = 1};
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(&source);
        for (unsigned i = 0; i < OPERATIONS; i++) {
            struct wio_blob bytes = {0};
            struct wio_blob again = {0};
            struct wio_wire_header header;
            struct wio_store_request back;
            uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
            struct wio_store_request request = random_request(&source, operations[i]);
            encode_request(&bytes, &request);
            struct wio_buf body = open_body(&bytes, &header);
            assert_int_equal(wio_wire_get_request(&header, body, participants, &back), WIO_OK);
            assert_same_request(&back, &request);
            encode_request(&again, &back);
            assert_bytes(again.data, (uint32_t)again.size, bytes.data, (uint32_t)bytes.size);
            wio_blob_fini(&bytes);
            wio_blob_fini(&again);
        }
    }
}

static void cut_and_lengthened_requests_are_refused(void **state)
{
    (void)state;
    struct source source = {.seed = 2};
    fill(&source);
    for (unsigned i = 0; i < OPERATIONS; i++) {
        struct wio_blob bytes = {0};
        struct wio_wire_header header;
        struct wio_store_request back;
        uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
        struct wio_store_request request = random_request(&source, operations[i]);
        request.data_size = 0; /* data may end anywhere */
        encode_request(&bytes, &request);
        struct wio_buf body = open_body(&bytes, &header);
        for (size_t size = 0; size < body.size; size++) {
            assert_int_not_equal(
                wio_wire_get_request(&header, wio_buf_of(body.data, size), participants, &back),
                WIO_OK);
        }
        if (!is_part_of(&request, WIO_HAS_DATA)) {
            append(&bytes, "", 1);
            body =
                wio_buf_of(bytes.data + WIO_WIRE_HEADER_BYTES, bytes.size - WIO_WIRE_HEADER_BYTES);
            assert_int_equal(wio_wire_get_request(&header, body, participants, &back),
                             WIO_ERR_FORMAT);
        }
        wio_blob_fini(&bytes);
    }
}

static enum wio_status try_request(const struct wio_store_request *request)
{
    struct wio_blob bytes = {0};
    uint32_t data_bytes = 0;
    enum wio_status status = wio_wire_put_request(&bytes, request, &data_bytes);
    wio_blob_fini(&bytes);
    return status;
}

/* R-WIRE-8 */
static void refuses_to_say_what_is_out_of_bounds(void **state)
{
    (void)state;
    struct wio_store_request read = {.op = WIO_STORE_READ, .offset = UINT64_MAX - 9, .size = 9};
    assert_int_equal(try_request(&read), WIO_OK);
    read.size = 10;
    assert_int_equal(try_request(&read), WIO_ERR_USAGE);
    read = (struct wio_store_request){.op = WIO_STORE_READ, .size = WIO_STORE_DATA_MAX + 1};
    assert_int_equal(try_request(&read), WIO_ERR_USAGE);
    struct wio_store_request lock = {.op = WIO_STORE_LOCK, .size = UINT64_MAX};
    assert_int_equal(try_request(&lock), WIO_OK);
    lock.mode = WIO_LOCK_MODES;
    assert_int_equal(try_request(&lock), WIO_ERR_USAGE);
    struct wio_store_request make = {.op = WIO_STORE_MKDIR, .path = "a\0b", .path_size = 3};
    assert_int_equal(try_request(&make), WIO_ERR_USAGE);
    make = (struct wio_store_request){.op = 7};
    assert_int_equal(try_request(&make), WIO_ERR_USAGE);
    make = (struct wio_store_request){.op = WIO_STORE_PING, .flags = 1 << 14};
    assert_int_equal(try_request(&make), WIO_ERR_USAGE);
}

/* ---- replies ------------------------------------------------------------------------------- */

static struct wio_lock_blocker random_blocker(struct source *source)
{
    uint64_t from = wio_test_random(&source->seed) >> 1;
    struct wio_lock_blocker blocker;
    memset(&blocker, 0, sizeof(blocker));
    blocker.txn = random_txn(source);
    blocker.job = below(source, UINT32_MAX);
    blocker.source = below(source, UINT32_MAX);
    blocker.range.file = wio_test_random(&source->seed);
    blocker.range.segment = below(source, UINT32_MAX);
    blocker.range.from = from;
    blocker.range.to = from + below(source, 100);
    blocker.mode = (uint8_t)below(source, WIO_LOCK_MODES);
    blocker.role = (uint8_t)below(source, WIO_LOCK_ROLES);
    return blocker;
}

static void add_fields(struct source *source, struct wio_store_reply *reply)
{
    unsigned request = 0;
    unsigned fields = 0;
    assert_true(wio_wire_fields(reply->op, &request, &fields));
    if (reply->result != WIO_STORE_OK) {
        return;
    }
    reply->offset = (fields & WIO_HAS_OFFSET) != 0 ? wio_test_random(&source->seed) : 0;
    reply->size = (fields & WIO_HAS_SIZE) != 0 ? wio_test_random(&source->seed) : 0;
    if ((fields & WIO_HAS_STAT) != 0) {
        uint8_t *stat = (uint8_t *)&reply->stat;
        for (size_t i = 0; i < sizeof(reply->stat); i++) {
            stat[i] = (uint8_t)below(source, 256);
        }
    }
    if ((fields & WIO_HAS_DATA) != 0) {
        reply->data = source->data;
        reply->data_size = below(source, TEXT);
    }
}

static void encode_reply(struct wio_blob *out, const struct wio_store_reply *reply);

/* R-WIRE-17, R-WIRE-18: numbers that are none of their field's. */
static void admission_is_bounded(void **state)
{
    (void)state;
    struct wio_blob bytes = {0};
    struct wio_wire_header header;
    struct wio_store_request back;
    struct wio_store_reply back_reply;
    uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_store_request request = {
        .op = WIO_STORE_SIZE, .flags = WIO_STORE_FLAG_ADMIT, .asks = {.flags = 2}};
    encode_request(&bytes, &request);
    struct wio_buf body = open_body(&bytes, &header);
    assert_int_equal(wio_wire_get_request(&header, body, participants, &back), WIO_ERR_FORMAT);
    wio_blob_clear(&bytes);
    struct wio_store_reply reply = {
        .op = WIO_STORE_SIZE, .has_told = true, .told = {.reason = WIO_ADMIT_REASON_COUNT}};
    encode_reply(&bytes, &reply);
    body = open_body(&bytes, &header);
    assert_int_equal(wio_wire_get_reply(&header, body, &back_reply), WIO_ERR_FORMAT);
    wio_blob_fini(&bytes);
}

/* R-WIRE-19 */
static void windows_come_back(void **state)
{
    (void)state;
    struct wio_blob bytes = {0};
    struct wio_wire_header header;
    struct wio_store_push back;
    const struct wio_store_push push = {.op = WIO_STORE_WINDOW, .window = 513};
    assert_int_equal(wio_wire_put_push(&bytes, &push), WIO_OK);
    struct wio_buf body = open_body(&bytes, &header);
    assert_int_equal(wio_wire_get_push(&header, body, &back), WIO_OK);
    assert_int_equal(back.op, WIO_STORE_WINDOW);
    assert_int_equal(back.window, 513);
    assert_int_not_equal(wio_wire_get_push(&header, wio_buf_of(body.data, 1), &back), WIO_OK);
    wio_blob_fini(&bytes);
}

static void random_reply(struct source *source, uint16_t op, struct wio_store_reply *reply)
{
    memset(reply, 0, sizeof(*reply));
    reply->op = op;
    reply->result = (uint16_t)(below(source, 2) == 0 ? WIO_STORE_OK : below(source, 19));
    reply->reason = (uint16_t)below(source, WIO_LOCK_REASONS);
    reply->outcome = (uint16_t)below(source, 5); /* also where the result is not OK */
    reply->number = wio_test_random(&source->seed);
    reply->txn = random_txn(source);
    reply->queue_depth = below(source, UINT32_MAX);
    reply->retry_ns = wio_test_random(&source->seed);
    reply->received_ns = wio_test_random(&source->seed);
    reply->locked_ns = wio_test_random(&source->seed);
    reply->done_ns = wio_test_random(&source->seed);
    reply->sent_ns = wio_test_random(&source->seed);
    reply->blockers.listed = below(source, WIO_LOCK_BLOCKERS + 1);
    reply->blockers.count = reply->blockers.listed + below(source, 1000);
    for (uint32_t i = 0; i < reply->blockers.listed; i++) {
        reply->blockers.list[i] = random_blocker(source);
    }
    reply->has_told = below(source, 2) == 0;
    if (reply->has_told) {
        reply->told.reason = (uint8_t)below(source, WIO_ADMIT_REASON_COUNT);
        reply->told.has_window = below(source, 2) == 0;
        reply->told.window = (uint16_t)below(source, 65536);
        reply->told.hint = (uint16_t)below(source, 65536);
        reply->told.ticket = random_ticket(source);
    }
    add_fields(source, reply);
}

static void encode_reply(struct wio_blob *out, const struct wio_store_reply *reply)
{
    uint32_t data_bytes = 0;
    assert_int_equal(wio_wire_put_reply(out, reply, &data_bytes), WIO_OK);
    append(out, reply->data, data_bytes);
}

static void assert_same_reply(const struct wio_store_reply *got, const struct wio_store_reply *want)
{
    assert_int_equal(got->result, want->result);
    assert_int_equal(got->reason, want->reason);
    assert_int_equal(got->outcome, want->outcome);
    assert_int_equal(got->number, want->number);
    assert_int_equal(got->txn.attempt, want->txn.attempt);
    assert_int_equal(got->queue_depth, want->queue_depth);
    assert_int_equal(got->sent_ns, want->sent_ns);
    assert_int_equal(got->offset, want->offset);
    assert_int_equal(got->size, want->size);
    assert_memory_equal(&got->stat, &want->stat, sizeof(got->stat));
    assert_int_equal(got->blockers.count, want->blockers.count);
    assert_int_equal(got->blockers.listed, want->blockers.listed);
    for (uint32_t i = 0; i < want->blockers.listed; i++) {
        const struct wio_lock_blocker *a = &got->blockers.list[i];
        const struct wio_lock_blocker *b = &want->blockers.list[i];
        assert_true(wio_txn_compare(&a->txn, &b->txn) == 0 && a->txn.attempt == b->txn.attempt);
        assert_true(a->job == b->job && a->source == b->source && a->role == b->role);
        assert_true(a->range.file == b->range.file && a->range.segment == b->range.segment);
        assert_true(a->range.from == b->range.from && a->range.to == b->range.to);
        assert_int_equal(a->mode, b->mode);
    }
    assert_bytes(got->data, got->data_size, want->data, want->data_size);
}

/* R-WIRE-9, R-WIRE-10 */
static void replies_come_back(void **state)
{
    (void)state;
    struct source source = {.seed = 3};
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(&source);
        for (unsigned i = 0; i < OPERATIONS; i++) {
            struct wio_blob bytes = {0};
            struct wio_blob again = {0};
            struct wio_wire_header header;
            struct wio_store_reply reply;
            struct wio_store_reply back;
            random_reply(&source, operations[i], &reply);
            encode_reply(&bytes, &reply);
            struct wio_buf body = open_body(&bytes, &header);
            assert_int_equal(wio_wire_get_reply(&header, body, &back), WIO_OK);
            assert_same_reply(&back, &reply);
            encode_reply(&again, &back);
            assert_bytes(again.data, (uint32_t)again.size, bytes.data, (uint32_t)bytes.size);
            wio_blob_fini(&bytes);
            wio_blob_fini(&again);
        }
    }
}

/* A reply that ends before its data, or says what no reply says. */
static void wrong_replies_are_refused(void **state)
{
    (void)state;
    struct source source = {.seed = 4};
    struct wio_store_reply back;
    struct wio_blob bytes = {0};
    struct wio_wire_header header;
    struct wio_store_reply reply;
    random_reply(&source, WIO_STORE_MKDIR, &reply);
    reply.blockers.listed = 2;
    reply.blockers.count = 2;
    encode_reply(&bytes, &reply);
    struct wio_buf body = open_body(&bytes, &header);
    for (size_t size = 0; size < body.size; size++) {
        assert_int_not_equal(wio_wire_get_reply(&header, wio_buf_of(body.data, size), &back),
                             WIO_OK);
    }
    header.flags = 0;
    assert_int_equal(wio_wire_get_reply(&header, body, &back), WIO_ERR_FORMAT);
    header.flags = WIO_WIRE_REPLY;
    bytes.data[WIO_WIRE_HEADER_BYTES] = 200; /* the result */
    assert_int_equal(wio_wire_get_reply(&header, body, &back), WIO_ERR_FORMAT);
    wio_blob_fini(&bytes);
}

static void pushes_come_back(void **state)
{
    (void)state;
    struct source source = {.seed = 5};
    struct wio_store_push push = {.op = WIO_STORE_WOUND, .txn = random_txn(&source)};
    struct wio_store_push back;
    struct wio_blob bytes = {0};
    struct wio_wire_header header;
    push.because = random_blocker(&source);
    assert_int_equal(wio_wire_put_push(&bytes, &push), WIO_OK);
    struct wio_buf body = open_body(&bytes, &header);
    assert_int_equal(wio_wire_get_push(&header, body, &back), WIO_OK);
    assert_true(wio_txn_compare(&back.txn, &push.txn) == 0);
    assert_int_equal(back.txn.attempt, push.txn.attempt);
    assert_int_equal(back.because.source, push.because.source);
    header.number = 1;
    assert_int_equal(wio_wire_get_push(&header, body, &back), WIO_ERR_FORMAT);
    push.op = WIO_STORE_READ;
    assert_int_equal(wio_wire_put_push(&bytes, &push), WIO_ERR_USAGE);
    wio_blob_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(admission_is_bounded),
        cmocka_unit_test(windows_come_back),
        cmocka_unit_test(requests_come_back),
        cmocka_unit_test(cut_and_lengthened_requests_are_refused),
        cmocka_unit_test(refuses_to_say_what_is_out_of_bounds),
        cmocka_unit_test(replies_come_back),
        cmocka_unit_test(wrong_replies_are_refused),
        cmocka_unit_test(pushes_come_back),
    };
    return WIO_RUN(tests);
}
