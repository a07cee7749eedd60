/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/remote.h"

#include <string.h>

#include "base/cleanup.h"
#include "ring/control_block.h"

/* A number of a struct, in the order of the wire. */
struct wire_field {
    uint16_t offset;
    uint8_t bytes;
};

#define FIELD(type, name)                                                                          \
    {                                                                                              \
        (uint16_t) offsetof(type, name), (uint8_t)sizeof(((type *)NULL)->name)                     \
    }

#define WELCOME(name) FIELD(struct wio_remote_welcome, name)
static const struct wire_field welcome_fields[] = {WELCOME(limit_ns), WELCOME(first_grant)};

#define ASK(name) FIELD(struct wio_remote_ask, name)
static const struct wire_field ask_fields[] = {ASK(is_over), ASK(wants_bytes), ASK(count)};

#define GRANT(name) FIELD(struct wio_remote_grant, name)
static const struct wire_field grant_fields[] = {GRANT(place), GRANT(count)};

/* `unseen` follows. */
#define ANSWER(name) FIELD(struct wio_remote_answer, name)
static const struct wire_field answer_fields[] = {
    ANSWER(now_ns),      ANSWER(count), ANSWER(flags),  ANSWER(announced), ANSWER(arrived),
    ANSWER(exit_status), ANSWER(rings), ANSWER(events), ANSWER(dropped),   ANSWER(bytes)};

#define NODE(name) FIELD(struct wio_remote_node, name)
static const struct wire_field node_fields[] = {NODE(pid),   NODE(tid),    NODE(rank),
                                                NODE(flags), NODE(key),    NODE(parent),
                                                NODE(word),  NODE(run_ns), NODE(asked)};

enum {
    HELLO_BYTES = WIO_REMOTE_NONCE_BYTES + 4 + WIO_REMOTE_HOST_BYTES,
    WELCOME_BYTES = 8 + 4,
    ASK_BYTES = 3 * 4,
    GRANT_BYTES = 2 * 4,
    ANSWER_BYTES = 8 + 5 * 4 + 4 * 8 + 8 * (int)WIO_REMOTE_UNSEEN,
    NODE_BYTES = 5 * 4 + 4 * 8,
    ALL_FLAGS = 31, /* of an answer, and of a node */
    EXIT_STATUS_MAX = 255
};

uint32_t wio_remote_body_max(uint32_t kind)
{
    static const uint32_t most[WIO_REMOTE_KINDS] = {
        [WIO_REMOTE_HELLO] = HELLO_BYTES,
        [WIO_REMOTE_CHALLENGE] = WIO_REMOTE_NONCE_BYTES,
        [WIO_REMOTE_PROOF] = 0,
        [WIO_REMOTE_WELCOME] = WELCOME_BYTES,
        [WIO_REMOTE_ASK] = ASK_BYTES + GRANT_BYTES * WIO_BOARD_NODES,
        [WIO_REMOTE_ANSWER] = ANSWER_BYTES + NODE_BYTES * WIO_BOARD_NODES,
    };
    return kind < WIO_REMOTE_KINDS ? most[kind] : 0;
}

/* ---- fields ------------------------------------------------------------------------------- */

static enum wio_status put_fields(struct wio_blob *out, const void *row,
                                  const struct wire_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)row + fields[i].offset;
        WIO_TRY(fields[i].bytes == sizeof(uint64_t) ? wio_blob_u64(out, *(const uint64_t *)at)
                                                    : wio_blob_u32(out, *(const uint32_t *)at));
    }
    return WIO_OK;
}

static enum wio_status get_fields(struct wio_buf *body, void *row, const struct wire_field *fields,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *at = (char *)row + fields[i].offset;
        WIO_TRY(fields[i].bytes == sizeof(uint64_t) ? wio_buf_u64(body, at)
                                                    : wio_buf_u32(body, at));
    }
    return WIO_OK;
}

#define PUT(out, row, fields) put_fields(out, row, fields, WIO_ARRAY_SIZE(fields))
#define GET(body, row, fields) get_fields(body, row, fields, WIO_ARRAY_SIZE(fields))

static enum wio_status expect_end(const struct wio_buf *body)
{
    return wio_buf_left(body) == 0 ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status expect_rows(const struct wio_buf *body, uint32_t count, size_t bytes)
{
    return count <= WIO_BOARD_NODES && wio_buf_left(body) == count * bytes ? WIO_OK
                                                                           : WIO_ERR_FORMAT;
}

/* ---- HELLO, CHALLENGE, WELCOME ------------------------------------------------------------ */

enum wio_status wio_remote_put_hello(struct wio_blob *out, const struct wio_remote_hello *hello)
{
    char host[WIO_REMOTE_HOST_BYTES] = "";
    memcpy(host, hello->host, strnlen(hello->host, sizeof(host) - 1));
    WIO_TRY(wio_blob_put(out, hello->nonce.bytes, sizeof(hello->nonce.bytes)));
    WIO_TRY(wio_blob_u32(out, (uint32_t)hello->pid));
    return wio_blob_put(out, host, sizeof(host));
}

/* Graphic characters of ASCII, then zeros. */
static bool is_host(const uint8_t *text)
{
    size_t size = strnlen((const char *)text, WIO_REMOTE_HOST_BYTES);
    for (size_t i = 0; i < WIO_REMOTE_HOST_BYTES; i++) {
        bool is_graphic = text[i] > ' ' && text[i] <= '~';
        if (i < size ? !is_graphic : text[i] != 0) {
            return false;
        }
    }
    return size > 0 && size < WIO_REMOTE_HOST_BYTES;
}

enum wio_status wio_remote_get_hello(struct wio_buf body, struct wio_remote_hello *hello_out)
{
    uint32_t pid = 0;
    const uint8_t *host = NULL;
    WIO_TRY(wio_buf_copy(&body, hello_out->nonce.bytes, sizeof(hello_out->nonce.bytes)));
    WIO_TRY(wio_buf_u32(&body, &pid));
    WIO_TRY(wio_buf_bytes(&body, WIO_REMOTE_HOST_BYTES, &host));
    if (pid == 0 || pid > INT32_MAX || !is_host(host)) {
        return WIO_ERR_FORMAT;
    }
    hello_out->pid = (int32_t)pid;
    memcpy(hello_out->host, host, sizeof(hello_out->host));
    return expect_end(&body);
}

enum wio_status wio_remote_put_challenge(struct wio_blob *out, const struct wio_remote_nonce *nonce)
{
    return wio_blob_put(out, nonce->bytes, sizeof(nonce->bytes));
}

enum wio_status wio_remote_get_challenge(struct wio_buf body, struct wio_remote_nonce *nonce_out)
{
    WIO_TRY(wio_buf_copy(&body, nonce_out->bytes, sizeof(nonce_out->bytes)));
    return expect_end(&body);
}

enum wio_status wio_remote_put_welcome(struct wio_blob *out,
                                       const struct wio_remote_welcome *welcome)
{
    return PUT(out, welcome, welcome_fields);
}

enum wio_status wio_remote_get_welcome(struct wio_buf body, struct wio_remote_welcome *welcome_out)
{
    WIO_TRY(GET(&body, welcome_out, welcome_fields));
    return expect_end(&body);
}

/* ---- ASK ---------------------------------------------------------------------------------- */

enum wio_status wio_remote_put_ask(struct wio_blob *out, const struct wio_remote_ask *ask,
                                   const struct wio_remote_grant *grants)
{
    WIO_TRY(PUT(out, ask, ask_fields));
    for (uint32_t i = 0; i < ask->count; i++) {
        WIO_TRY(PUT(out, &grants[i], grant_fields));
    }
    return WIO_OK;
}

enum wio_status wio_remote_get_ask(struct wio_buf *body, struct wio_remote_ask *ask_out)
{
    WIO_TRY(GET(body, ask_out, ask_fields));
    return expect_rows(body, ask_out->count, GRANT_BYTES);
}

enum wio_status wio_remote_get_grant(struct wio_buf *body, struct wio_remote_grant *grant_out)
{
    return GET(body, grant_out, grant_fields);
}

/* ---- ANSWER ------------------------------------------------------------------------------- */

enum wio_status wio_remote_put_answer(struct wio_blob *out, const struct wio_remote_answer *answer,
                                      const struct wio_remote_node *nodes)
{
    WIO_TRY(PUT(out, answer, answer_fields));
    for (size_t i = 0; i < WIO_REMOTE_UNSEEN; i++) {
        WIO_TRY(wio_blob_u64(out, answer->unseen[i]));
    }
    for (uint32_t i = 0; i < answer->count; i++) {
        WIO_TRY(PUT(out, &nodes[i], node_fields));
    }
    return WIO_OK;
}

enum wio_status wio_remote_get_answer(struct wio_buf *body, struct wio_remote_answer *answer_out)
{
    WIO_TRY(GET(body, answer_out, answer_fields));
    for (size_t i = 0; i < WIO_REMOTE_UNSEEN; i++) {
        WIO_TRY(wio_buf_u64(body, &answer_out->unseen[i]));
    }
    if (answer_out->flags > ALL_FLAGS || answer_out->exit_status < 0 ||
        answer_out->exit_status > EXIT_STATUS_MAX) {
        return WIO_ERR_FORMAT;
    }
    return expect_rows(body, answer_out->count, NODE_BYTES);
}

/* A thread has ids, and a rank or none. */
enum wio_status wio_remote_get_node(struct wio_buf *body, struct wio_remote_node *node_out)
{
    WIO_TRY(GET(body, node_out, node_fields));
    bool is_thread = node_out->pid > 0 && node_out->tid > 0 && node_out->rank >= -1;
    return is_thread && node_out->flags <= ALL_FLAGS ? WIO_OK : WIO_ERR_FORMAT;
}
