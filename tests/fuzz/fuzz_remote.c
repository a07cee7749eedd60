/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes over the network to a throttled run (throttle/hosts/remote.h): the bytes as a frame,
 * as a body of each kind, and as WHYIO_DIRECTOR. What is read must be writable to the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ring/control_block.h"
#include "throttle/hosts/remote_address.h"
#include "throttle/hosts/remote_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void expect_same(struct wio_blob *out, enum wio_status status, const uint8_t *data,
                        size_t size)
{
    require(status == WIO_OK && out->size == size && memcmp(out->data, data, size) == 0);
    wio_blob_fini(out);
}

static void read_hello(const uint8_t *data, size_t size)
{
    struct wio_remote_hello hello;
    struct wio_blob out = {0};
    if (wio_remote_get_hello(wio_buf_of(data, size), &hello) == WIO_OK) {
        require(hello.pid > 0 && strlen(hello.host) < sizeof(hello.host));
        expect_same(&out, wio_remote_put_hello(&out, &hello), data, size);
    }
}

static void read_small(const uint8_t *data, size_t size)
{
    struct wio_remote_nonce nonce;
    struct wio_remote_welcome welcome;
    struct wio_blob out = {0};
    if (wio_remote_get_challenge(wio_buf_of(data, size), &nonce) == WIO_OK) {
        expect_same(&out, wio_remote_put_challenge(&out, &nonce), data, size);
    }
    if (wio_remote_get_welcome(wio_buf_of(data, size), &welcome) == WIO_OK) {
        expect_same(&out, wio_remote_put_welcome(&out, &welcome), data, size);
    }
}

static void read_ask(const uint8_t *data, size_t size)
{
    static struct wio_remote_grant grants[WIO_BOARD_NODES];
    struct wio_remote_ask ask;
    struct wio_blob out = {0};
    struct wio_buf body = wio_buf_of(data, size);
    if (wio_remote_get_ask(&body, &ask) != WIO_OK) {
        return;
    }
    require(ask.count <= WIO_BOARD_NODES);
    for (uint32_t i = 0; i < ask.count; i++) {
        require(wio_remote_get_grant(&body, &grants[i]) == WIO_OK);
    }
    require(wio_buf_left(&body) == 0);
    expect_same(&out, wio_remote_put_ask(&out, &ask, grants), data, size);
}

static void read_answer(const uint8_t *data, size_t size)
{
    static struct wio_remote_node nodes[WIO_BOARD_NODES];
    struct wio_remote_answer answer;
    struct wio_blob out = {0};
    struct wio_buf body = wio_buf_of(data, size);
    if (wio_remote_get_answer(&body, &answer) != WIO_OK) {
        return;
    }
    require(answer.count <= WIO_BOARD_NODES && answer.exit_status >= 0);
    for (uint32_t i = 0; i < answer.count; i++) {
        if (wio_remote_get_node(&body, &nodes[i]) != WIO_OK) {
            return; /* no thread */
        }
        require(nodes[i].pid > 0 && nodes[i].tid > 0);
    }
    require(wio_buf_left(&body) == 0);
    expect_same(&out, wio_remote_put_answer(&out, &answer, nodes), data, size);
}

/* A stranger's frame is no longer than a HELLO, whatever it says. */
static void read_frame(const uint8_t *data, size_t size)
{
    static const uint32_t most[] = {UINT32_MAX, 108};
    for (unsigned i = 0; i < 2; i++) {
        struct wio_remote_frame frame;
        size_t needed = 0;
        enum wio_status status =
            wio_remote_frame_get(wio_buf_of(data, size), most[i], &frame, &needed);
        if (status == WIO_END) {
            require(needed > size && needed < ((size_t)1 << 20));
            require(i == 0 || needed <= WIO_REMOTE_HEAD_BYTES + 108 + WIO_REMOTE_TAG_BYTES);
        } else if (status == WIO_OK) {
            require(frame.tagged + WIO_REMOTE_TAG_BYTES <= size &&
                    frame.tag == data + frame.tagged);
            require(frame.body.size <= wio_remote_body_max(frame.kind));
            read_answer(frame.body.data, frame.body.size);
        }
    }
}

static void read_address(const uint8_t *data, size_t size)
{
    struct wio_remote_address address;
    struct wio_remote_address again;
    static char text[WIO_REMOTE_ADDRESS_BYTES];
    size_t used = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
    if (used > 0) {
        memcpy(text, data, used);
    }
    text[used] = '\0';
    if (wio_remote_address_read(text, &address, NULL) == WIO_OK) {
        require(address.dir[0] == '/' && address.count > 0);
        require(wio_remote_address_write(&address, text, NULL) == WIO_OK);
        require(wio_remote_address_read(text, &again, NULL) == WIO_OK);
        require(strcmp(again.dir, address.dir) == 0 && again.count == address.count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_frame(data, size);
    read_hello(data, size);
    read_small(data, size);
    read_ask(data, size);
    read_answer(data, size);
    read_address(data, size);
    return 0;
}
