/* SPDX-License-Identifier: Apache-2.0 */
/* Connections between programs that know each other, and their limits. Strangers: auth_test.c. */
#include "scene.h"

#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "store/link/address.h"
#include "store/link/link_internal.h"

#define SECOND_NS UINT64_C(1000000000)

enum { SEEDS = 20, LONG = 300000 };

static uint8_t *pattern(uint32_t bytes)
{
    uint8_t *data = malloc(bytes);
    assert_non_null(data);
    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(i * 13 + i / 256);
    }
    return data;
}

/* Messages of all sizes there and back, in pieces of all sizes. */
static void exchange(struct scene *scene)
{
    uint8_t *data = pattern(LONG);
    uint32_t sent = 0;
    scene_listen(scene);
    scene_connect(scene);
    scene_run(scene, SECOND_NS);
    assert_int_equal(scene->opened[0], 1);
    assert_int_equal(scene->opened[1], 1);
    for (uint32_t bytes = 0; sent + bytes <= LONG; bytes = bytes * 3 + 1) {
        assert_int_equal(scene_send(scene, data + sent, bytes), WIO_OK);
        sent += bytes;
    }
    scene_run(scene, SECOND_NS);
    for (unsigned end = 0; end < 2; end++) {
        assert_int_equal(scene->came[end].size, sent);
        assert_memory_equal(scene->came[end].data, data, sent);
    }
    assert_int_equal(wio_link_features(scene->client)->bits[1], 2);
    assert_int_equal(wio_link_features(scene->served)->bits[1], 2);
    assert_string_equal(scene->known.job, "slurm 42");
    assert_int_equal(scene->welcome.job, 17);
    free(data);
}

static void messages_go_there_and_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct scene scene;
        scene_begin(&scene, seed);
        exchange(&scene);
        assert_int_equal(scene.welcome.proof, WIO_WIRE_PROOF_NONE);
        scene_end(&scene);
        scene_begin(&scene, seed);
        scene_with_key(&scene);
        exchange(&scene);
        assert_int_equal(scene.welcome.proof, WIO_WIRE_PROOF_KEY);
        scene_end(&scene);
    }
}

/* R-LINK-9: much more than is kept unsent, both ways at once. */
static void long_messages_do_not_wait_for_each_other(void **state)
{
    (void)state;
    enum { BYTES = 3000000, COUNT = 6 };
    struct scene scene;
    uint8_t *data = pattern(BYTES);
    scene_begin(&scene, 1);
    scene_listen(&scene);
    scene_connect(&scene);
    scene_run(&scene, SECOND_NS);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(scene_send(&scene, data, BYTES), WIO_OK);
    }
    scene_run(&scene, 10 * SECOND_NS);
    assert_int_equal(scene.messages[1], COUNT);
    assert_int_equal(scene.closed[0] + scene.closed[1], 0);
    assert_int_equal(wio_link_unsent(scene.client), 0);
    free(data);
    scene_end(&scene);
}

/* What comes in pieces tells since when; what comes at once does not. */
static void a_message_tells_how_long_it_came(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t *data = pattern(300000);
    scene_begin(&scene, 1);
    scene.is_quiet = true;
    scene.server_config.limits.bytes_per_second = 100000;
    scene_listen(&scene);
    scene_connect(&scene);
    scene_run(&scene, SECOND_NS);
    assert_int_equal(scene_send(&scene, data, 100), WIO_OK);
    scene_run(&scene, 2 * SECOND_NS);
    assert_int_equal(scene.messages[0], 1);
    assert_int_equal(scene.transfer_ns[0], 0);
    assert_int_equal(scene_send(&scene, data, 300000), WIO_OK);
    scene_run(&scene, 10 * SECOND_NS);
    assert_int_equal(scene.messages[0], 2);
    assert_in_range(scene.transfer_ns[0], SECOND_NS, 4 * SECOND_NS);
    assert_int_equal(wio_link_transfer_ns(scene.client), 0); /* outside of `message` */
    assert_int_equal(scene_send(&scene, data, 100), WIO_OK);
    scene_run(&scene, 2 * SECOND_NS);
    assert_int_equal(scene.transfer_ns[0], 0);
    free(data);
    scene_end(&scene);
}

/* R-LINK-7: with nothing to say both stay; one that stops is found after a lease. */
static void silence_is_death(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene, 1);
    scene_listen(&scene);
    scene_connect(&scene);
    scene_run(&scene, 60 * SECOND_NS);
    assert_int_equal(scene.closed[0] + scene.closed[1], 0);
    wio_sim_part(scene.sim, NULL, NULL);
    scene_run(&scene, 4 * SECOND_NS);
    assert_int_equal(scene.closed[0], 1);
    assert_int_equal(scene.closed[1], 1);
    assert_int_equal(scene.why[0], WIO_LINK_SILENT);
    assert_int_equal(scene.why[1], WIO_LINK_SILENT);
    assert_int_equal(scene_ends(&scene, WIO_LINK_SILENT), 1);
    assert_int_equal(wio_link_server_counts(scene.server)->links, 0);
    scene_end(&scene);
}

/* R-LINK-8: ten times the bytes of a second take about nine seconds more. */
static void a_rate_is_kept(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t *data = pattern(100000);
    scene_begin(&scene, 1);
    scene.is_quiet = true;
    scene.server_config.limits.bytes_per_second = 100000;
    scene_listen(&scene);
    scene_connect(&scene);
    scene_run(&scene, SECOND_NS);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(scene_send(&scene, data, 100000), WIO_OK);
    }
    scene_run(&scene, 4 * SECOND_NS);
    assert_in_range(scene.messages[0], 3, 6);
    scene_run(&scene, 7 * SECOND_NS);
    assert_int_equal(scene.messages[0], 10);
    assert_int_equal(scene.closed[0], 0);
    free(data);
    scene_end(&scene);
}

/* R-LINK-9: a client that sends and does not read fills the server's memory to the bound only. */
static void a_side_that_does_not_read_ends(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t *data = pattern(LONG);
    scene_begin(&scene, 1);
    scene.server_config.limits.silence_ns = 0;
    scene.client_config.limits.silence_ns = 0;
    scene_listen(&scene);
    scene_connect(&scene);
    scene_run(&scene, SECOND_NS);
    /* All answers stop on their way to the client: requests still arrive. */
    wio_link_pause(scene.client, WIO_LINK_PAUSED_RATE, true);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(scene_send(&scene, data, LONG), WIO_OK);
    }
    scene_run(&scene, 10 * SECOND_NS);
    assert_true(scene.messages[0] < 10); /* 1 MiB and a few more: it reads no further */
    assert_int_equal(scene.closed[0], 0);
    scene_run(&scene, 70 * SECOND_NS);
    assert_int_equal(scene.closed[0], 1);
    assert_int_equal(scene.why[0], WIO_LINK_UNREAD);
    free(data);
    scene_end(&scene);
}

static void a_body_over_the_limit_ends_it(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t *data = pattern(LONG);
    scene_begin(&scene, 1);
    scene.server_config.limits.body_max = 1000;
    scene_listen(&scene);
    scene_connect(&scene);
    scene_run(&scene, SECOND_NS);
    assert_int_equal(scene.welcome.frame_max, 1000);
    assert_int_equal(scene_send(&scene, data, 900), WIO_OK);
    assert_int_equal(scene_send(&scene, data, 1000), WIO_OK);
    scene_run(&scene, SECOND_NS);
    assert_int_equal(scene.messages[0], 1);
    assert_int_equal(scene.why[0], WIO_LINK_STRANGE);
    assert_int_equal(scene.why[1], WIO_LINK_ENDED_BY_PEER);
    free(data);
    scene_end(&scene);
}

static void a_refused_client_is_closed(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene, 1);
    scene.refuses = true;
    scene_listen(&scene);
    scene_connect(&scene);
    scene_run(&scene, SECOND_NS);
    assert_int_equal(scene_ends(&scene, WIO_LINK_NOT_ADMITTED), 1);
    assert_int_equal(scene.closed[1], 1);
    assert_int_equal(scene.opened[1], 0);
    scene_end(&scene);
}

/* Kills and crashes at every step of it: nothing is left, nothing hangs. */
static void an_end_at_every_step_leaves_nothing(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 60; steps++) {
        struct scene scene;
        scene_begin(&scene, steps);
        scene_with_key(&scene);
        scene_listen(&scene);
        scene_connect(&scene);
        (void)wio_sim_run(scene.sim, steps);
        wio_sim_kill(scene.client_io);
        scene_run(&scene, 30 * SECOND_NS);
        assert_null(scene.served);
        assert_int_equal(wio_link_server_counts(scene.server)->strangers, 0);
        assert_int_equal(wio_link_server_counts(scene.server)->links, 0);
        scene_end(&scene);
    }
}

/* ---- pieces of it -------------------------------------------------------------------------- */

/* R-LINK-6: memory follows from what was said, not from what is claimed. */
static void a_claim_takes_no_memory(void **state)
{
    (void)state;
    struct wio_link_stream stream = {0};
    struct wio_wire_header header = {.kind = WIO_STORE_WRITE, .body_bytes = WIO_WIRE_BODY_MAX};
    struct wio_link_frame frame;
    size_t room = 0;
    uint8_t *at = wio_link_stream_room(&stream, 0, 0, &room);
    assert_non_null(at);
    assert_int_equal(room, WIO_WIRE_HEADER_BYTES);
    wio_wire_header_put(&header, at);
    wio_link_stream_came(&stream, WIO_WIRE_HEADER_BYTES);
    assert_int_equal(wio_link_stream_next(&stream, WIO_WIRE_HELLO_MAX, 0, &frame), WIO_ERR_FORMAT);
    assert_true(stream.capacity <= 512);
    wio_link_stream_fini(&stream);
}

static bool is_local(const char *text)
{
    struct wio_link_address address;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_link_address_parse(text, &address, &err), &err);
    return wio_link_address_is_local(&address);
}

static void addresses_say_whether_they_are_local(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",      "host",   "host:", "host:65536", ":1",
                                        "unix:", "::1:80", "[::1]", "host:1x",    "[]:1"};
    struct wio_link_address address;
    assert_true(is_local("unix:/run/x"));
    assert_true(is_local("127.0.0.1:1"));
    assert_true(is_local("127.9.9.9:1"));
    assert_true(is_local("[::1]:1"));
    assert_true(is_local("[::ffff:127.0.0.1]:1"));
    assert_false(is_local("[::ffff:10.0.0.1]:1"));
    assert_false(is_local("0.0.0.0:1"));
    assert_false(is_local("[::]:1"));
    assert_false(is_local("192.168.1.1:1"));
    assert_false(is_local("localhost:1"));
    assert_false(is_local("node1:65535"));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(wio_link_address_parse(wrong[i], &address, NULL), WIO_ERR_USAGE);
    }
}

/* R-LINK-10 */
static void an_open_server_listens_locally_only(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene, 1);
    scene_listen(&scene);
    assert_int_equal(wio_link_server_listen(scene.server, "0.0.0.0:0", NULL, NULL), WIO_ERR_USAGE);
    assert_int_equal(wio_link_server_listen(scene.server, "node1:7", NULL, NULL), WIO_ERR_USAGE);
    assert_int_equal(wio_link_server_listen(scene.server, "127.0.0.1:0", NULL, NULL), WIO_OK);
    scene_end(&scene);
    scene_begin(&scene, 1);
    scene_with_key(&scene);
    scene_listen(&scene);
    assert_int_equal(wio_link_server_listen(scene.server, "0.0.0.0:0", NULL, NULL), WIO_OK);
    scene_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_go_there_and_back),
        cmocka_unit_test(long_messages_do_not_wait_for_each_other),
        cmocka_unit_test(silence_is_death),
        cmocka_unit_test(a_rate_is_kept),
        cmocka_unit_test(a_message_tells_how_long_it_came),
        cmocka_unit_test(a_side_that_does_not_read_ends),
        cmocka_unit_test(a_body_over_the_limit_ends_it),
        cmocka_unit_test(a_refused_client_is_closed),
        cmocka_unit_test(an_end_at_every_step_leaves_nothing),
        cmocka_unit_test(a_claim_takes_no_memory),
        cmocka_unit_test(addresses_say_whether_they_are_local),
        cmocka_unit_test(an_open_server_listens_locally_only),
    };
    return WIO_RUN(tests);
}
