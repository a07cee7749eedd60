/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between recorders, and what is in the way of those that are none of the run's. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/loopback.h"
#include "ring/control_block.h"
#include "throttle/hosts/remote_address.h"
#include "throttle/hosts/remote_handshake.h"

/* Both sides, and a program in the middle that has all their bytes. */
struct scene {
    struct wio_remote_key key;
    struct wio_remote_handshake recorder;
    struct wio_remote_handshake director;
    int middle[2]; /* the recorder's other end, the director's */
};

static void begin(struct scene *scene)
{
    const struct wio_remote_hello hello = {.host = "far", .pid = 77};
    int left[2];
    int right[2];
    const int flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    assert_int_equal(socketpair(AF_UNIX, flags, 0, left), 0);
    assert_int_equal(socketpair(AF_UNIX, flags, 0, right), 0);
    wio_remote_key_make(&scene->key);
    scene->middle[0] = left[1];
    scene->middle[1] = right[1];
    wio_remote_handshake_call(&scene->recorder, left[0], &scene->key, &hello);
    wio_remote_handshake_answer(&scene->director, right[0], &scene->key);
}

static void end(struct scene *scene)
{
    wio_remote_handshake_fini(&scene->recorder);
    wio_remote_handshake_fini(&scene->director);
    (void)close(scene->middle[0]);
    (void)close(scene->middle[1]);
}

/* What one side has sent goes to the other side so many times; it is what `bytes` hold then. */
static size_t pass(const struct scene *scene, unsigned from, unsigned times, uint8_t bytes[4096])
{
    ssize_t got = recv(scene->middle[from], bytes, 4096, 0);
    for (unsigned i = 0; got > 0 && i < times; i++) {
        assert_int_equal(send(scene->middle[1 - from], bytes, (size_t)got, MSG_NOSIGNAL), got);
    }
    return got > 0 ? (size_t)got : 0;
}

/* All frames as often as that. True: both have proven themselves. */
static bool shake(struct scene *scene, unsigned times)
{
    uint8_t bytes[4096];
    assert_int_equal(wio_remote_handshake_step(&scene->recorder), WIO_REMOTE_GOES_ON);
    (void)pass(scene, 0, times, bytes);
    assert_int_equal(wio_remote_handshake_step(&scene->director), WIO_REMOTE_GOES_ON);
    (void)pass(scene, 1, times, bytes);
    if (wio_remote_handshake_step(&scene->recorder) != WIO_REMOTE_PROVEN) {
        return false;
    }
    (void)pass(scene, 0, times, bytes);
    return wio_remote_handshake_step(&scene->director) == WIO_REMOTE_PROVEN;
}

static void send_welcome(struct scene *scene, uint64_t limit_ns)
{
    const struct wio_remote_welcome welcome = {.limit_ns = limit_ns, .first_grant = 3};
    struct wio_blob body = {0};
    assert_ok(wio_remote_put_welcome(&body, &welcome), NULL);
    assert_true(wio_remote_send(&scene->director.link, WIO_REMOTE_WELCOME, &body, 0));
    wio_blob_fini(&body);
}

static void expect_welcome(struct scene *scene, uint64_t limit_ns)
{
    struct wio_remote_welcome welcome;
    struct wio_buf body;
    assert_int_equal(wio_remote_poll(&scene->recorder.link, WIO_REMOTE_WELCOME, &body),
                     WIO_REMOTE_MESSAGE);
    assert_ok(wio_remote_get_welcome(body, &welcome), NULL);
    assert_int_equal(welcome.limit_ns, limit_ns);
}

static void both_prove_themselves(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t bytes[4096];
    begin(&scene);
    assert_true(shake(&scene, 1));
    assert_string_equal(scene.director.hello.host, "far");
    assert_int_equal(scene.director.hello.pid, 77);
    send_welcome(&scene, 12345);
    (void)pass(&scene, 1, 1, bytes);
    expect_welcome(&scene, 12345);
    end(&scene);
}

/* Each frame twice, and those of before once more at the end. */
static void bytes_that_come_again_change_nothing(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t bytes[4096];
    struct wio_buf body;
    begin(&scene);
    assert_true(shake(&scene, 2));
    for (uint64_t i = 1; i <= 5; i++) {
        send_welcome(&scene, i);
        (void)pass(&scene, 1, 3, bytes);
        expect_welcome(&scene, i);
    }
    assert_int_equal(wio_remote_poll(&scene.recorder.link, WIO_REMOTE_WELCOME, &body),
                     WIO_REMOTE_NOTHING);
    assert_int_equal(scene.recorder.link.repeated, 1 + 5 * 2);
    end(&scene);
}

/* Any byte of any frame, changed on the way, ends the connection: no other message is read. */
static void changed_bytes_end_the_connection(void **state)
{
    (void)state;
    size_t size = 1;
    for (size_t at = 0; at < size; at++) {
        struct scene scene;
        uint8_t bytes[4096];
        struct wio_buf body;
        begin(&scene);
        assert_true(shake(&scene, 1));
        send_welcome(&scene, 1);
        size = pass(&scene, 1, 0, bytes);
        bytes[at] ^= 4;
        assert_int_equal(send(scene.middle[0], bytes, size, 0), (ssize_t)size);
        (void)shutdown(scene.middle[0], SHUT_WR); /* one that says it is longer */
        enum wio_remote_came came =
            wio_remote_poll(&scene.recorder.link, WIO_REMOTE_WELCOME, &body);
        assert_true(came == WIO_REMOTE_WRONG || came == WIO_REMOTE_GONE);
        end(&scene);
    }
}

static void a_frame_that_is_left_out_is_missed(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t bytes[4096];
    struct wio_buf body;
    begin(&scene);
    assert_true(shake(&scene, 1));
    send_welcome(&scene, 1);
    (void)pass(&scene, 1, 0, bytes);
    send_welcome(&scene, 2);
    (void)pass(&scene, 1, 1, bytes);
    assert_int_equal(wio_remote_poll(&scene.recorder.link, WIO_REMOTE_WELCOME, &body),
                     WIO_REMOTE_WRONG);
    end(&scene);
}

/* What a recorder says, said back to it. */
static void an_echo_proves_nothing(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t bytes[4096];
    begin(&scene);
    assert_int_equal(wio_remote_handshake_step(&scene.recorder), WIO_REMOTE_GOES_ON);
    size_t size = pass(&scene, 0, 0, bytes);
    assert_int_equal(send(scene.middle[0], bytes, size, 0), (ssize_t)size);
    assert_int_equal(wio_remote_handshake_step(&scene.recorder), WIO_REMOTE_REFUSED);
    end(&scene);
}

/* A whole conversation, said again to another director of the same key, and to another recorder. */
static void an_old_conversation_proves_nothing(void **state)
{
    (void)state;
    struct scene old;
    struct scene now;
    uint8_t said[3][4096];
    size_t sizes[3];
    begin(&old);
    assert_int_equal(wio_remote_handshake_step(&old.recorder), WIO_REMOTE_GOES_ON);
    sizes[0] = pass(&old, 0, 1, said[0]);
    assert_int_equal(wio_remote_handshake_step(&old.director), WIO_REMOTE_GOES_ON);
    sizes[1] = pass(&old, 1, 1, said[1]);
    assert_int_equal(wio_remote_handshake_step(&old.recorder), WIO_REMOTE_PROVEN);
    sizes[2] = pass(&old, 0, 1, said[2]);
    begin(&now);
    wio_remote_handshake_fini(&now.director);
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    wio_remote_handshake_answer(&now.director, ends[0], &old.key);
    assert_int_equal(send(ends[1], said[0], sizes[0], 0), (ssize_t)sizes[0]);
    assert_int_equal(send(ends[1], said[2], sizes[2], 0), (ssize_t)sizes[2]);
    assert_int_equal(wio_remote_handshake_step(&now.director), WIO_REMOTE_REFUSED);
    assert_int_equal(wio_remote_handshake_step(&now.recorder), WIO_REMOTE_GOES_ON);
    assert_int_equal(send(now.middle[0], said[1], sizes[1], 0), (ssize_t)sizes[1]);
    assert_int_equal(wio_remote_handshake_step(&now.recorder), WIO_REMOTE_REFUSED);
    (void)close(ends[1]);
    end(&old);
    end(&now);
}

static bool holds(const uint8_t *bytes, size_t size, const void *what, size_t length)
{
    return memmem(bytes, size, what, length) != NULL;
}

static void the_key_is_never_sent(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t bytes[3][4096];
    size_t sizes[3];
    begin(&scene);
    assert_int_equal(wio_remote_handshake_step(&scene.recorder), WIO_REMOTE_GOES_ON);
    sizes[0] = pass(&scene, 0, 1, bytes[0]);
    assert_int_equal(wio_remote_handshake_step(&scene.director), WIO_REMOTE_GOES_ON);
    sizes[1] = pass(&scene, 1, 1, bytes[1]);
    assert_int_equal(wio_remote_handshake_step(&scene.recorder), WIO_REMOTE_PROVEN);
    sizes[2] = pass(&scene, 0, 1, bytes[2]);
    assert_true(holds(bytes[0], sizes[0], scene.recorder.hello.nonce.bytes, 32)); /* it would be */
    for (unsigned i = 0; i < 3; i++) {
        assert_true(sizes[i] > 0);
        assert_false(holds(bytes[i], sizes[i], scene.key.bytes, 16));
        assert_false(holds(bytes[i], sizes[i], scene.recorder.link.send_key.bytes, 16));
        assert_false(holds(bytes[i], sizes[i], scene.recorder.link.receive_key.bytes, 16));
    }
    end(&scene);
}

/* Before the proof no head may announce a long body. */
static void strangers_get_no_memory(void **state)
{
    (void)state;
    struct scene scene;
    struct wio_blob frame = {0};
    struct wio_blob body = {0};
    begin(&scene);
    assert_ok(wio_blob_reserve(&body, 4000), NULL);
    memset(body.data, 0, 4000);
    body.size = 4000;
    assert_ok(wio_remote_frame_put(&frame, WIO_REMOTE_ANSWER, 0, &body, &scene.key), NULL);
    assert_int_equal(send(scene.middle[1], frame.data, WIO_REMOTE_HEAD_BYTES, 0),
                     WIO_REMOTE_HEAD_BYTES);
    assert_int_equal(wio_remote_handshake_step(&scene.director), WIO_REMOTE_REFUSED);
    assert_true(scene.director.link.in.capacity < 1000);
    wio_blob_fini(&frame);
    wio_blob_fini(&body);
    end(&scene);
}

/* ---- bodies ------------------------------------------------------------------------------- */

static void bodies_are_read_as_written(void **state)
{
    (void)state;
    const struct wio_remote_node nodes[] = {
        {.pid = 1, .tid = 2, .rank = -1, .flags = 31, .key = UINT64_MAX, .asked = 7},
        {.pid = INT32_MAX, .tid = 3, .rank = 4, .parent = 5, .word = 6, .run_ns = 8}};
    struct wio_remote_answer said = {.now_ns = 9,
                                     .count = 2,
                                     .flags = 5,
                                     .exit_status = 255,
                                     .bytes = 10,
                                     .unseen = {[15] = 11}};
    struct wio_remote_answer answer;
    struct wio_remote_node node;
    struct wio_blob out = {0};
    assert_ok(wio_remote_put_answer(&out, &said, nodes), NULL);
    struct wio_buf body = wio_buf_of(out.data, out.size);
    assert_ok(wio_remote_get_answer(&body, &answer), NULL);
    assert_memory_equal(&answer, &said, sizeof(said));
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(wio_remote_get_node(&body, &node), NULL);
        assert_int_equal(node.pid, nodes[i].pid);
        assert_int_equal(node.rank, nodes[i].rank);
        assert_int_equal(node.key, nodes[i].key);
        assert_int_equal(node.run_ns, nodes[i].run_ns);
        assert_int_equal(node.asked, nodes[i].asked);
    }
    for (size_t size = 0; size < out.size; size++) {
        body = wio_buf_of(out.data, size);
        assert_int_not_equal(wio_remote_get_answer(&body, &answer), WIO_OK);
    }
    wio_blob_fini(&out);
}

static void hosts_have_names(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "a b", "a\x1b[2J", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wio_remote_hello hello = {.pid = 1};
        struct wio_blob out = {0};
        (void)snprintf(hello.host, sizeof(hello.host), "%s", wrong[i]);
        assert_ok(wio_remote_put_hello(&out, &hello), NULL);
        assert_int_equal(wio_remote_get_hello(wio_buf_of(out.data, out.size), &hello),
                         WIO_ERR_FORMAT);
        wio_blob_fini(&out);
    }
}

/* ---- WHYIO_DIRECTOR ----------------------------------------------------------------------- */

static void addresses_are_read_as_written(void **state)
{
    (void)state;
    static const char dir[] = "/tmp/a b/%;$(x)\n\xc3\xa4/../t.whyio";
    struct wio_remote_address address = {.place = "boot.1", .count = 2};
    struct wio_remote_address back;
    struct wio_error err = WIO_ERROR_INIT;
    char text[WIO_REMOTE_ADDRESS_BYTES];
    char again[WIO_REMOTE_ADDRESS_BYTES];
    wio_remote_key_make(&address.key);
    assert_true(wio_remote_socket_parse("10.1.2.3", 4711, &address.sockets[0]));
    assert_true(wio_remote_socket_parse("fd77::1", 65535, &address.sockets[1]));
    (void)snprintf(address.dir, sizeof(address.dir), "%s", dir);
    assert_ok(wio_remote_address_write(&address, text, &err), &err);
    assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "/._-@,:%"),
                     strlen(text)); /* no shell changes it */
    assert_ok(wio_remote_address_read(text, &back, &err), &err);
    assert_string_equal(back.dir, dir);
    assert_string_equal(back.place, "boot.1");
    assert_memory_equal(back.key.bytes, address.key.bytes, sizeof(back.key.bytes));
    assert_int_equal(back.count, 2);
    assert_ok(wio_remote_address_write(&back, again, &err), &err);
    assert_string_equal(text, again);
    for (size_t size = 0; size + strlen("/t.whyio") < strlen(text); size++) {
        (void)snprintf(again, size + 1, "%s", text);
        if (wio_remote_address_read(again, &back, NULL) == WIO_OK) {
            assert_true(strncmp(back.dir, "/tmp", strlen(back.dir)) == 0 ||
                        strncmp(back.dir, dir, strlen(back.dir)) == 0);
        }
    }
}

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "2",
                                        "2/",
                                        "x/y/z",
                                        "2/" WIO_VERSION,
                                        "2/" WIO_VERSION "/",
                                        "2/" WIO_VERSION "/" ZEROS,
                                        "2/" WIO_VERSION "/" ZEROS "/p/10.0.0.1@0/d",
                                        "2/" WIO_VERSION "/" ZEROS "/p/10.0.0.1@70000/d",
                                        "2/" WIO_VERSION "/" ZEROS "/p/10.0.0.1@1,/d",
                                        "2/" WIO_VERSION "/" ZEROS "/p/host@1/d",
                                        "2/" WIO_VERSION "/" ZEROS
                                        "/p/::1@1,::1@1,::1@1,::1@1,::1@1/d",
                                        "2/" WIO_VERSION "/" ZEROS "/p/::1@1/d%",
                                        "2/" WIO_VERSION "/" ZEROS "/p/::1@1/d%00",
                                        "2/" WIO_VERSION "/" ZEROS "/p/::1@1/d e",
                                        "2/" WIO_VERSION "/" ZEROS "/p//d"};
    struct wio_remote_address address;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wio_error err = WIO_ERROR_INIT;
        assert_int_equal(wio_remote_address_read(wrong[i], &address, &err), WIO_ERR_USAGE);
    }
}

static void other_versions_are_named(void **state)
{
    (void)state;
    static const char *const others[] = {"4711/0123456789abcdef0123456789abcdef/10.0.0.1",
                                         "3/9.9.9/" ZEROS "/p/10.0.0.1@1/d",
                                         "2/9.9.9/" ZEROS "/p/10.0.0.1@1/d"};
    struct wio_remote_address address;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct wio_error err = WIO_ERROR_INIT;
        assert_int_equal(wio_remote_address_read(others[i], &address, &err), WIO_ERR_USAGE);
        assert_non_null(strstr(err.message, "expected one version of whyio on all hosts"));
        assert_non_null(strstr(err.message, "this is version " WIO_VERSION));
    }
}

static void loopbacks_are_known(void **state)
{
    (void)state;
    static const char *const loops[] = {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"};
    static const char *const others[] = {"128.0.0.1", "10.0.0.127", "::2", "::ffff:10.0.0.1"};
    struct wio_remote_socket at;
    for (size_t i = 0; i < 4; i++) {
        assert_true(wio_remote_socket_parse(loops[i], 1, &at));
        assert_true(wio_address_is_loopback(&at.address));
        assert_true(wio_remote_socket_parse(others[i], 1, &at));
        assert_false(wio_address_is_loopback(&at.address));
    }
}

int main(void)
{
    if (wio_remote_keys_begin(NULL) != WIO_OK) {
        wio_test_skip("built without libsodium");
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_prove_themselves),
        cmocka_unit_test(bytes_that_come_again_change_nothing),
        cmocka_unit_test(changed_bytes_end_the_connection),
        cmocka_unit_test(a_frame_that_is_left_out_is_missed),
        cmocka_unit_test(an_echo_proves_nothing),
        cmocka_unit_test(an_old_conversation_proves_nothing),
        cmocka_unit_test(the_key_is_never_sent),
        cmocka_unit_test(strangers_get_no_memory),
        cmocka_unit_test(bodies_are_read_as_written),
        cmocka_unit_test(hosts_have_names),
        cmocka_unit_test(addresses_are_read_as_written),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(other_versions_are_named),
        cmocka_unit_test(loopbacks_are_known),
    };
    return WIO_RUN(tests);
}
