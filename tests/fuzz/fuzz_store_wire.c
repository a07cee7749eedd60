/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes over the network to a server or client of the store: the bytes as they are, as a
 * header, and, with checksums that fit, as a message of their kind. What is read must be writable
 * to the same bytes: each message has one encoding.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "store/wire/message.h"
#include "store/wire/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void expect_same(struct wio_blob *out, enum wio_status status, struct wio_buf body,
                        const void *data, uint32_t data_bytes)
{
    require(status == WIO_OK);
    require(data_bytes == 0 || wio_blob_put(out, data, data_bytes) == WIO_OK);
    require(out->size == body.size + WIO_WIRE_HEADER_BYTES);
    require(body.size == 0 || memcmp(out->data + WIO_WIRE_HEADER_BYTES, body.data, body.size) == 0);
    wio_blob_fini(out);
}

static void read_request(const struct wio_wire_header *header, struct wio_buf body)
{
    static uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_store_request request;
    struct wio_blob out = {0};
    uint32_t data_bytes = 0;
    if (wio_wire_get_request(header, body, participants, &request) == WIO_OK) {
        require(request.data_size <= WIO_STORE_DATA_MAX);
        enum wio_status status = wio_wire_put_request(&out, &request, &data_bytes);
        expect_same(&out, status, body, request.data, data_bytes);
    }
}

static void read_reply(const struct wio_wire_header *header, struct wio_buf body)
{
    static struct wio_store_reply reply;
    struct wio_blob out = {0};
    uint32_t data_bytes = 0;
    if (wio_wire_get_reply(header, body, &reply) == WIO_OK) {
        require(reply.blockers.listed <= WIO_LOCK_BLOCKERS);
        enum wio_status status = wio_wire_put_reply(&out, &reply, &data_bytes);
        expect_same(&out, status, body, reply.data, data_bytes);
    }
}

static void read_push(const struct wio_wire_header *header, struct wio_buf body)
{
    struct wio_store_push push;
    struct wio_blob out = {0};
    if (wio_wire_get_push(header, body, &push) == WIO_OK) {
        expect_same(&out, wio_wire_put_push(&out, &push), body, NULL, 0);
    }
}

static void read_hello(const struct wio_wire_header *header, struct wio_buf body)
{
    struct wio_wire_hello hello;
    struct wio_blob out = {0};
    if (wio_wire_get_hello(header, body, &hello) == WIO_OK) {
        require(strlen(hello.executable) < sizeof(hello.executable));
        expect_same(&out, wio_wire_put_hello(&out, &hello), body, NULL, 0);
    }
}

static void read_session(const struct wio_wire_header *header, struct wio_buf body)
{
    struct wio_wire_challenge challenge;
    struct wio_wire_proof_text proof;
    struct wio_wire_welcome welcome;
    struct wio_wire_job job;
    struct wio_blob out = {0};
    if (wio_wire_get_challenge(header, body, &challenge) == WIO_OK) {
        expect_same(&out, wio_wire_put_challenge(&out, &challenge), body, NULL, 0);
    }
    if (wio_wire_get_proof(header, body, &proof) == WIO_OK) {
        expect_same(&out, wio_wire_put_proof(&out, &proof), body, NULL, 0);
    }
    if (wio_wire_get_welcome(header, body, &welcome) == WIO_OK) {
        expect_same(&out, wio_wire_put_welcome(&out, &welcome), body, NULL, 0);
    }
    if (wio_wire_get_job(header, body, &job) == WIO_OK) {
        expect_same(&out, wio_wire_put_job(&out, &job), body, NULL, 0);
    }
}

static void put32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Magic, version, size and checksums as they have to be: bytes 6, 7 and 12 to 55 are the input's.
 */
static void repair(uint8_t header[WIO_WIRE_HEADER_BYTES], const uint8_t *body, uint32_t bytes)
{
    memcpy(header, "WIOS\1", 6);
    put32(header + 8, bytes);
    put32(header + 56, wio_crc32c(0, body, bytes));
    put32(header + 60, wio_crc32c(0, header, 60));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t bytes[WIO_WIRE_HEADER_BYTES];
    struct wio_wire_header header;
    if (wio_wire_header_get(wio_buf_of(data, size), &header) == WIO_OK) {
        require(header.body_bytes <= WIO_WIRE_BODY_MAX && size >= WIO_WIRE_HEADER_BYTES);
    }
    if (size < WIO_WIRE_HEADER_BYTES || size > WIO_WIRE_BODY_MAX) {
        return 0;
    }
    struct wio_buf body = wio_buf_of(data + sizeof(bytes), size - sizeof(bytes));
    memcpy(bytes, data, sizeof(bytes));
    repair(bytes, body.data, (uint32_t)body.size);
    if (wio_wire_header_get(wio_buf_of(bytes, sizeof(bytes)), &header) != WIO_OK) {
        return 0;
    }
    require(wio_wire_body_check(&header, body) == WIO_OK);
    read_request(&header, body);
    read_reply(&header, body);
    read_push(&header, body);
    read_hello(&header, body);
    read_session(&header, body);
    return 0;
}
