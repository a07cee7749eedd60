/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that make a connection. */
#include "support/unit.h"

#include <string.h>

#include "store/wire/session.h"

static struct wio_buf open_body(const struct wio_blob *bytes, struct wio_wire_header *header)
{
    assert_int_equal(wio_wire_header_get(wio_buf_of(bytes->data, bytes->size), header), WIO_OK);
    assert_int_equal(header->body_bytes + WIO_WIRE_HEADER_BYTES, bytes->size);
    return wio_buf_of(bytes->data + WIO_WIRE_HEADER_BYTES, header->body_bytes);
}

static struct wio_wire_hello sample(void)
{
    struct wio_wire_hello hello;
    memset(&hello, 0, sizeof(hello));
    memset(hello.nonce.bytes, 0xab, sizeof(hello.nonce.bytes));
    hello.auth = WIO_WIRE_AUTH_KEY;
    hello.client = 77;
    hello.pool = 1;
    hello.container = 2;
    hello.unix_ns = 3;
    hello.mono_ns = 4;
    hello.uid = 1000;
    hello.gid = 100;
    hello.pid = 4711;
    hello.features.bits[7] = 8;
    strcpy(hello.job, "slurm 42");
    strcpy(hello.project, "climate");
    strcpy(hello.host, "node1");
    strcpy(hello.executable, "/usr/bin/a.out");
    return hello;
}

/* R-WIRE-11: and each cut and each control character is refused. */
static void hello_comes_back(void **state)
{
    (void)state;
    struct wio_wire_hello hello = sample();
    struct wio_wire_hello back;
    struct wio_wire_header header;
    struct wio_blob bytes = {0};
    memset(&back, 0, sizeof(back));
    assert_int_equal(wio_wire_put_hello(&bytes, &hello), WIO_OK);
    struct wio_buf body = open_body(&bytes, &header);
    assert_int_equal(wio_wire_get_hello(&header, body, &back), WIO_OK);
    assert_memory_equal(&back, &hello, sizeof(back));
    for (size_t size = 0; size < body.size; size++) {
        assert_int_not_equal(wio_wire_get_hello(&header, wio_buf_of(body.data, size), &back),
                             WIO_OK);
    }
    bytes.data[bytes.size - 1] = '\n';
    assert_int_equal(wio_wire_get_hello(&header, body, &back), WIO_ERR_FORMAT);
    bytes.data[bytes.size - 1] = 't';
    bytes.data[WIO_WIRE_HEADER_BYTES + WIO_WIRE_NONCE_BYTES] = WIO_WIRE_AUTHS;
    assert_int_equal(wio_wire_get_hello(&header, body, &back), WIO_ERR_FORMAT);
    wio_blob_fini(&bytes);
}

static void the_longest_hello_is_short(void **state)
{
    (void)state;
    struct wio_wire_hello hello = sample();
    struct wio_wire_hello back;
    struct wio_wire_header header;
    struct wio_blob bytes = {0};
    memset(hello.job, 'x', sizeof(hello.job) - 1);
    memset(hello.project, 'x', sizeof(hello.project) - 1);
    memset(hello.host, 'x', sizeof(hello.host) - 1);
    memset(hello.executable, 'x', sizeof(hello.executable) - 1);
    assert_int_equal(wio_wire_put_hello(&bytes, &hello), WIO_OK);
    struct wio_buf body = open_body(&bytes, &header);
    assert_true(body.size <= WIO_WIRE_HELLO_MAX);
    assert_int_equal(wio_wire_get_hello(&header, body, &back), WIO_OK);
    wio_blob_fini(&bytes);
}

/* R-WIRE-12 */
static void challenge_and_proof_come_back(void **state)
{
    (void)state;
    struct wio_wire_challenge challenge = {.auth = WIO_WIRE_AUTH_MUNGE,
                                           .features.bits = {1, 2},
                                           .credential = (const uint8_t *)"MUNGE:x:",
                                           .credential_bytes = 8};
    struct wio_wire_challenge back;
    struct wio_wire_proof_text proof = {.credential = (const uint8_t *)"y", .credential_bytes = 1};
    struct wio_wire_header header;
    struct wio_blob bytes = {0};
    memset(challenge.nonce.bytes, 5, sizeof(challenge.nonce.bytes));
    assert_int_equal(wio_wire_put_challenge(&bytes, &challenge), WIO_OK);
    struct wio_buf body = open_body(&bytes, &header);
    assert_int_equal(wio_wire_get_challenge(&header, body, &back), WIO_OK);
    assert_memory_equal(back.nonce.bytes, challenge.nonce.bytes, sizeof(back.nonce.bytes));
    assert_int_equal(back.auth, WIO_WIRE_AUTH_MUNGE);
    assert_int_equal(back.features.bits[1], 2);
    assert_int_equal(back.credential_bytes, 8);
    assert_memory_equal(back.credential, "MUNGE:x:", 8);
    wio_blob_clear(&bytes);
    assert_int_equal(wio_wire_put_proof(&bytes, &proof), WIO_OK);
    body = open_body(&bytes, &header);
    assert_int_equal(wio_wire_get_proof(&header, body, &proof), WIO_OK);
    assert_int_equal(proof.credential_bytes, 1);
    header.number = 1;
    assert_int_equal(wio_wire_get_proof(&header, body, &proof), WIO_ERR_FORMAT);
    wio_blob_fini(&bytes);
}

/* R-WIRE-13, R-WIRE-14 */
static void welcome_and_job_come_back(void **state)
{
    (void)state;
    struct wio_wire_welcome welcome = {.server = 9, .lease_ns = 2, .uid = 3, .proof = 1};
    struct wio_wire_welcome back;
    struct wio_wire_job job;
    struct wio_wire_job job_back;
    struct wio_wire_header header;
    struct wio_blob bytes = {0};
    memset(&back, 0, sizeof(back));
    assert_int_equal(wio_wire_put_welcome(&bytes, &welcome), WIO_OK);
    assert_int_equal(wio_wire_get_welcome(&header, open_body(&bytes, &header), &back), WIO_OK);
    assert_int_equal(back.server, 9);
    assert_int_equal(back.lease_ns, 2);
    assert_int_equal(back.proof, 1);
    wio_blob_clear(&bytes);
    memset(&job, 0, sizeof(job));
    memset(&job_back, 0, sizeof(job_back));
    job.job = 12;
    job.container = 13;
    strcpy(job.name, "slurm 43");
    assert_int_equal(wio_wire_put_job(&bytes, &job), WIO_OK);
    assert_int_equal(wio_wire_get_job(&header, open_body(&bytes, &header), &job_back), WIO_OK);
    assert_memory_equal(&job_back, &job, sizeof(job));
    wio_blob_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_comes_back),
        cmocka_unit_test(the_longest_hello_is_short),
        cmocka_unit_test(challenge_and_proof_come_back),
        cmocka_unit_test(welcome_and_job_come_back),
    };
    return WIO_RUN(tests);
}
