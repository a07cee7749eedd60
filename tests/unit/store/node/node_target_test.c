/* SPDX-License-Identifier: Apache-2.0 */
/* A target on its own log and files over a simulated disk, what it says to a client, and what is
 * there after it has ended in any way. Chance and many clients: tests/sim/transactions.c. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "store/node/node_target.h"
#include "store/session/targets.h"

#define SECOND_NS UINT64_C(1000000000)

enum { CLIENT = 7, LOG_SEGMENT = 256 << 10, CHECKPOINT = 64 << 10 };

static const char *const addresses[] = {"unix:target"};

struct node_scene {
    struct wio_sim *sim;
    struct wio_link_config link;
    struct wio_sim_node *node;
    struct wio_io *io;
    struct node_target *target;
    uint64_t size_bytes;
    enum wio_log_choice log;
    unsigned failures;
    bool has_stopped;
    struct wio_targets *client;
    struct wio_store_reply last;
    uint8_t data[4096];
    unsigned replies;
    unsigned backs;
    uint64_t numbers;
};

/* ---- the client ---------------------------------------------------------------------------- */

static void back(void *context, uint16_t target, bool is_known)
{
    struct node_scene *scene = context;
    (void)target;
    (void)is_known;
    scene->backs++;
}

static void reply(void *context, uint16_t target, const struct wio_store_reply *said)
{
    struct node_scene *scene = context;
    (void)target;
    scene->last = *said;
    scene->replies++;
    assert_true(said->data_size <= sizeof(scene->data));
    if (said->data_size > 0) {
        memcpy(scene->data, said->data, said->data_size);
    }
}

static const struct wio_targets_events client_events = {.back = back, .reply = reply};

static void nothing(void *context)
{
    (void)context;
}

static void run(struct node_scene *scene, uint64_t ns)
{
    uint64_t until_ns = wio_sim_now_ns(scene->sim) + ns;
    wio_sim_later(scene->sim, ns, nothing, NULL);
    while (wio_sim_now_ns(scene->sim) < until_ns && wio_sim_run(scene->sim, 1)) {
    }
}

/* ---- the target ---------------------------------------------------------------------------- */

static void failed(void *context, const struct wio_error *why)
{
    struct node_scene *scene = context;
    (void)why;
    scene->failures++;
}

static void stopped(void *context)
{
    struct node_scene *scene = context;
    scene->has_stopped = true;
}

static void start(struct node_scene *scene)
{
    const struct node_target_config config = {.link = &scene->link,
                                              .addresses = addresses,
                                              .targets = 1,
                                              .policy = WIO_LOCK_WOUND_WAIT,
                                              .log = scene->log,
                                              .size_bytes = scene->size_bytes,
                                              .log_segment_bytes = LOG_SEGMENT,
                                              .checkpoint_bytes = CHECKPOINT,
                                              .failed = failed,
                                              .context = scene};
    struct wio_error err = WIO_ERROR_INIT;
    unsigned backs = scene->backs;
    scene->io = wio_sim_start(scene->node);
    assert_ok(node_target_create(scene->io, &config, &scene->target, &err), &err);
    assert_ok(node_target_listen(scene->target, addresses[0], NULL, &err), &err);
    while (scene->backs == backs) { /* a node without power says nothing: a lease has to end */
        run(scene, SECOND_NS / 100);
    }
}

static void begin(struct node_scene *scene, enum wio_log_choice log)
{
    const struct wio_sim_options options = {.seed = 3};
    const struct wio_wire_hello hello = {.client = CLIENT};
    struct wio_error err = WIO_ERROR_INIT;
    memset(scene, 0, sizeof(*scene));
    scene->log = log;
    scene->sim = wio_sim_create(&options);
    scene->link.limits = wio_link_limits_default;
    scene->node = wio_sim_node(scene->sim, "target");
    assert_ok(wio_targets_create(wio_sim_start(wio_sim_node(scene->sim, "client")), &scene->link,
                                 &hello, addresses, 1, &client_events, scene, &scene->client, &err),
              &err);
    start(scene);
}

static void end(struct node_scene *scene)
{
    wio_targets_destroy(scene->client);
    node_target_destroy(scene->target);
    wio_sim_destroy(scene->sim);
}

enum death { KILL, POWER };

static void die(struct node_scene *scene, enum death how)
{
    if (how == POWER) {
        wio_sim_crash(scene->node);
    } else {
        wio_sim_kill(scene->io);
    }
    node_target_destroy(scene->target);
    start(scene);
}

static enum wio_store_result send_it(struct node_scene *scene,
                                     const struct wio_store_request *request)
{
    unsigned replies = scene->replies;
    assert_true(wio_targets_send(scene->client, 0, request));
    run(scene, SECOND_NS / 10);
    assert_int_equal(scene->replies, replies + 1);
    return (enum wio_store_result)scene->last.result;
}

static struct wio_store_request single(struct node_scene *scene, uint16_t op, uint16_t flags)
{
    uint64_t number = ++scene->numbers;
    return (struct wio_store_request){
        .op = op,
        .flags = flags | WIO_STORE_FLAG_SINGLE,
        .number = number,
        .txn = {.client = CLIENT, .number = number, .birth_ns = number, .attempt = 1},
        .file = 1};
}

static enum wio_store_result put(struct node_scene *scene, uint64_t offset, const char *text,
                                 uint16_t flags)
{
    struct wio_store_request request = single(scene, WIO_STORE_WRITE, flags);
    request.offset = offset;
    request.data = (const uint8_t *)text;
    request.data_size = (uint32_t)strlen(text);
    return send_it(scene, &request);
}

static enum wio_store_result cut(struct node_scene *scene, uint64_t size, uint16_t flags)
{
    struct wio_store_request request = single(scene, WIO_STORE_TRUNCATE, flags);
    request.size = size;
    return send_it(scene, &request);
}

static void assert_content(struct node_scene *scene, const char *text)
{
    struct wio_store_request request = single(scene, WIO_STORE_READ, 0);
    request.size = sizeof(scene->data);
    assert_int_equal(send_it(scene, &request), WIO_STORE_OK);
    assert_int_equal(scene->last.data_size, strlen(text));
    assert_memory_equal(scene->data, text, strlen(text));
}

static const enum wio_log_choice logs[] = {WIO_LOG_OWN,
#ifdef WIO_HAS_SQLITE
                                           WIO_LOG_SQLITE
#endif
};
#define LOGS (sizeof(logs) / sizeof(logs[0]))

/* ---- tests --------------------------------------------------------------------------------- */

static void what_was_stable_is_there(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LOGS; i++) {
        struct node_scene scene;
        begin(&scene, logs[i]);
        assert_int_equal(put(&scene, 0, "stable bytes", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
        assert_int_equal(put(&scene, 7, "BYTES", 0), WIO_STORE_OK);
        assert_content(&scene, "stable BYTES");
        die(&scene, POWER);
        assert_content(&scene, "stable bytes");
        assert_int_equal(cut(&scene, 6, WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
        die(&scene, POWER);
        assert_content(&scene, "stable");
        struct wio_store_request drop = single(&scene, WIO_STORE_DROP, WIO_STORE_FLAG_STABLE);
        assert_int_equal(send_it(&scene, &drop), WIO_STORE_OK);
        die(&scene, KILL);
        assert_content(&scene, "");
        end(&scene);
    }
}

/* Recovery performs what the log has: what a volatile truncation took away does not come back. */
static void what_was_cut_off_stays_away(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LOGS; i++) {
        struct node_scene scene;
        begin(&scene, logs[i]);
        assert_int_equal(put(&scene, 0, "stable bytes", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
        assert_int_equal(cut(&scene, 3, 0), WIO_STORE_OK);
        assert_content(&scene, "sta");
        assert_int_equal(put(&scene, 5, "!", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
        die(&scene, KILL);
        struct wio_store_request request = single(&scene, WIO_STORE_READ, 0);
        request.size = 100;
        assert_int_equal(send_it(&scene, &request), WIO_STORE_OK);
        assert_int_equal(scene.last.data_size, 6);
        assert_memory_equal(scene.data, "sta\0\0!", 6);
        struct wio_store_request drop = single(&scene, WIO_STORE_DROP, 0);
        assert_int_equal(send_it(&scene, &drop), WIO_STORE_OK);
        assert_content(&scene, "");
        die(&scene, KILL);
        assert_content(&scene, "");
        end(&scene);
    }
}

/* A commit whose answer was lost is known after a checkpoint, which drops its record, and a crash:
 * it is not performed a second time. */
static void a_commit_is_known_behind_a_checkpoint(void **state)
{
    (void)state;
    struct node_scene scene;
    struct node_target_stat stat;
    const uint8_t one[8] = {1};
    char *text = calloc(1, 4001);
    assert_non_null(text);
    memset(text, 'x', 4000);
    begin(&scene, WIO_LOG_OWN);
    struct wio_store_request add =
        single(&scene, WIO_STORE_WRITE, WIO_STORE_FLAG_STABLE | WIO_STORE_FLAG_INCREMENT);
    add.data = one;
    add.data_size = 8;
    assert_int_equal(send_it(&scene, &add), WIO_STORE_OK);
    for (unsigned i = 0; i < 60; i++) {
        assert_int_equal(put(&scene, 8192, text, WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
    }
    run(&scene, SECOND_NS);
    node_target_stats(scene.target, &stat);
    assert_true(stat.stable.checkpoints > 0);
    for (unsigned i = 0; i < 2; i++) {
        die(&scene, POWER);
        assert_int_equal(send_it(&scene, &add), WIO_STORE_OK);
    }
    struct wio_store_request read = single(&scene, WIO_STORE_READ, 0);
    read.size = 8;
    assert_int_equal(send_it(&scene, &read), WIO_STORE_OK);
    assert_memory_equal(scene.data, one, 8);
    end(&scene);
    free(text);
}

/* R-LOG-9: the flush of a commit fails and leaves its record in the page cache. What the next
 * process finds, committed or not, stays so when the power goes. */
static void what_a_failed_flush_left_is_not_believed(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 10; seed++) {
        struct node_scene scene;
        begin(&scene, WIO_LOG_OWN);
        assert_int_equal(put(&scene, 0, "before", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
        for (unsigned i = 0; i < seed; i++) {
            (void)wio_sim_random(scene.sim); /* other sectors reach the disk */
        }
        wio_sim_options(scene.sim)->flush_fails = 1000000;
        struct wio_store_request write = single(&scene, WIO_STORE_WRITE, WIO_STORE_FLAG_STABLE);
        write.data = (const uint8_t *)"behind";
        write.data_size = 6;
        assert_true(wio_targets_send(scene.client, 0, &write));
        run(&scene, SECOND_NS / 10);
        assert_int_equal(scene.failures, 1);
        wio_sim_options(scene.sim)->flush_fails = 0;
        die(&scene, KILL);
        struct wio_store_request read = single(&scene, WIO_STORE_READ, 0);
        read.size = 6;
        assert_int_equal(send_it(&scene, &read), WIO_STORE_OK);
        const char *found = memcmp(scene.data, "behind", 6) == 0 ? "behind" : "before";
        assert_content(&scene, found);
        die(&scene, POWER);
        assert_content(&scene, found);
        end(&scene);
    }
}

/* A segment that cannot be written ends the target, as the log does: it does not go on as one that
 * answers each request with an error. */
static void a_segment_that_cannot_be_written_ends_the_target(void **state)
{
    struct node_scene scene;
    (void)state;
    begin(&scene, WIO_LOG_OWN);
    assert_int_equal(put(&scene, 0, "before", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
    wio_sim_options(scene.sim)->write_fails = 1000000;
    struct wio_store_request write = single(&scene, WIO_STORE_WRITE, 0);
    write.data = (const uint8_t *)"behind";
    write.data_size = 6;
    assert_true(wio_targets_send(scene.client, 0, &write));
    run(&scene, SECOND_NS / 10);
    assert_int_equal(scene.failures, 1);
    wio_sim_options(scene.sim)->write_fails = 0;
    die(&scene, KILL);
    assert_content(&scene, "before");
    end(&scene);
}

/* All that was answered is durable when the target has stopped, volatile or not. */
static void a_stop_loses_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LOGS; i++) {
        struct node_scene scene;
        begin(&scene, logs[i]);
        assert_int_equal(put(&scene, 0, "volatile", 0), WIO_STORE_OK);
        node_target_stop(scene.target, stopped, &scene);
        run(&scene, SECOND_NS);
        assert_true(scene.has_stopped);
        die(&scene, POWER);
        assert_content(&scene, "volatile");
        end(&scene);
    }
}

/* --size: what does not fit is refused, and what was there stays. */
static void a_full_store_refuses(void **state)
{
    (void)state;
    struct node_scene scene;
    enum wio_store_result result = WIO_STORE_OK;
    unsigned written = 0;
    char *text = calloc(1, 4097);
    assert_non_null(text);
    memset(text, 'x', 4096);
    begin(&scene, WIO_LOG_OWN);
    scene.size_bytes = 64 << 10;
    die(&scene, KILL);
    while ((result = put(&scene, (uint64_t)written * 4096, text, WIO_STORE_FLAG_STABLE)) ==
           WIO_STORE_OK) {
        assert_true(++written < 100);
    }
    assert_int_equal(result, WIO_STORE_NO_SPACE);
    assert_int_equal(written, 16);
    assert_int_equal(put(&scene, 0, "over what is there", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
    assert_int_equal(cut(&scene, 0, 0), WIO_STORE_OK);
    assert_int_equal(put(&scene, 0, "room again", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
    assert_content(&scene, "room again");
    end(&scene);
    free(text);
}

/* The device is full, by others: what the log cannot take is refused, and the target goes on. */
static void a_full_device_refuses(void **state)
{
    (void)state;
    struct node_scene scene;
    char *text = calloc(1, 3001);
    unsigned refused = 0;
    assert_non_null(text);
    memset(text, 'x', 3000);
    begin(&scene, WIO_LOG_OWN);
    assert_int_equal(put(&scene, 0, text, WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
    wio_sim_options(scene.sim)->disk_bytes = 1;
    for (unsigned i = 0; i < 300; i++) {
        enum wio_store_result result = put(&scene, 0, text, WIO_STORE_FLAG_STABLE);
        assert_true(result == WIO_STORE_OK || result == WIO_STORE_NO_SPACE);
        refused += result == WIO_STORE_NO_SPACE;
    }
    assert_true(refused > 0);
    assert_int_equal(scene.failures, 0);
    wio_sim_options(scene.sim)->disk_bytes = 1 << 30;
    assert_int_equal(put(&scene, 0, "room again", WIO_STORE_FLAG_STABLE), WIO_STORE_OK);
    die(&scene, POWER);
    struct wio_store_request read = single(&scene, WIO_STORE_READ, 0);
    read.size = 10;
    assert_int_equal(send_it(&scene, &read), WIO_STORE_OK);
    assert_memory_equal(scene.data, "room again", 10);
    end(&scene);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_stable_is_there),
        cmocka_unit_test(what_was_cut_off_stays_away),
        cmocka_unit_test(a_commit_is_known_behind_a_checkpoint),
        cmocka_unit_test(what_a_failed_flush_left_is_not_believed),
        cmocka_unit_test(a_segment_that_cannot_be_written_ends_the_target),
        cmocka_unit_test(a_stop_loses_nothing),
        cmocka_unit_test(a_full_store_refuses),
        cmocka_unit_test(a_full_device_refuses),
    };
    return WIO_RUN(tests);
}
