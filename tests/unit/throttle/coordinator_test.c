/* SPDX-License-Identifier: Apache-2.0 */
/* A director, and a child that speaks as a recorder of another host does. */
#include "support/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "throttle/hosts/coordinator.h"
#include "throttle/hosts/remote_connect.h"

#define MS UINT64_C(1000000)
#define LOOPBACK                                                                                   \
    {                                                                                              \
        "lo", NULL                                                                                 \
    }

struct stage {
    struct wio_board_file file;
    struct wio_director *director;
    pid_t pid;
};

/* ---- the child ---------------------------------------------------------------------------- */

static bool greet(const char *text, struct wio_remote_link *link)
{
    const struct wio_remote_hello hello = {.host = "far", .pid = 77};
    struct wio_remote_address address;
    struct wio_remote_welcome welcome;
    struct wio_buf body;
    return wio_remote_address_read(text, &address, NULL) == WIO_OK &&
           strcmp(address.dir, "/the/trace") == 0 &&
           wio_remote_connect(&address, &hello, link, NULL) == WIO_OK &&
           wio_remote_receive(link, WIO_REMOTE_WELCOME, WIO_REMOTE_SILENCE_NS, &body) ==
               WIO_REMOTE_MESSAGE &&
           wio_remote_get_welcome(body, &welcome) == WIO_OK && welcome.limit_ns == 1;
}

/* Answers once. The node has come to as many I/Os as it was allowed, and one more. */
static bool answer(struct wio_remote_link *link, uint32_t *granted, uint32_t flags)
{
    struct wio_buf body;
    struct wio_remote_ask ask;
    struct wio_remote_grant grant;
    if (wio_remote_receive(link, WIO_REMOTE_ASK, WIO_REMOTE_SILENCE_NS, &body) !=
            WIO_REMOTE_MESSAGE ||
        wio_remote_get_ask(&body, &ask) != WIO_OK ||
        (ask.count > 0 && wio_remote_get_grant(&body, &grant) != WIO_OK)) {
        return false;
    }
    *granted = ask.count > 0 ? grant.count : *granted;
    const struct wio_remote_node node = {.pid = 5,
                                         .tid = 6,
                                         .rank = 3,
                                         .flags = WIO_REMOTE_IS_THERE | WIO_REMOTE_IS_ASLEEP,
                                         .key = 9,
                                         .word = 1 << 8 | WIO_BOARD_AT_IO,
                                         .asked = *granted + 1};
    struct wio_remote_answer said = {.now_ns = 1000, .count = 1, .flags = flags, .events = 12};
    struct wio_blob out = {0};
    said.flags |= ask.wants_bytes != 0 ? WIO_REMOTE_HAS_BYTES : 0u;
    bool is_sent = wio_remote_put_answer(&out, &said, &node) == WIO_OK &&
                   wio_remote_send(link, WIO_REMOTE_ANSWER, &out, WIO_REMOTE_SILENCE_NS);
    wio_blob_fini(&out);
    return is_sent;
}

/* Answers `count` times, the last time that it is done if `is_good`. */
static int act(const char *address, unsigned count, bool is_good)
{
    struct wio_remote_link link = {.fd = -1};
    uint32_t granted = 0;
    bool goes_on = greet(address, &link);
    for (unsigned i = 1; goes_on && i <= count; i++) {
        goes_on =
            answer(&link, &granted, i == count && is_good ? (uint32_t)WIO_REMOTE_IS_DONE : 0u);
    }
    wio_remote_link_fini(&link);
    return goes_on ? 0 : 1;
}

/* ---- the director ------------------------------------------------------------------------- */

static void begin(struct stage *stage)
{
    const struct wio_remote_where where = LOOPBACK;
    const struct wio_director_run run = {.dir = "/the/trace", .limit_ns = 1};
    struct wio_error err = WIO_ERROR_INIT;
    *stage = (struct stage){.pid = -1};
    assert_ok(wio_board_create(&stage->file, &err), &err);
    assert_ok(wio_director_create(stage->file.board, &where, &stage->director, &err), &err);
    wio_board_reset(stage->file.board, 0, 1);
    assert_ok(wio_director_begin_run(stage->director, &run, &err), &err);
}

static void set_up(struct stage *stage, unsigned count, bool is_good)
{
    begin(stage);
    stage->pid = fork();
    assert_true(stage->pid >= 0);
    if (stage->pid == 0) {
        _exit(act(wio_director_address(stage->director), count, is_good));
    }
}

static void tear_down(struct stage *stage, int exit_status)
{
    int status;
    assert_int_equal(waitpid(stage->pid, &status, 0), stage->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), exit_status);
    wio_director_destroy(stage->director);
    wio_board_destroy(&stage->file);
}

static struct wio_director_news exchange(const struct stage *stage, bool wants_bytes)
{
    struct wio_director_news news;
    assert_int_equal(wio_director_exchange(stage->director, wants_bytes, &news), WIO_OK);
    return news;
}

static void wait_for_node(const struct stage *stage)
{
    while (wio_board_count(stage->file.board) == 0) {
        (void)exchange(stage, false);
        wio_clock_sleep_ns(MS);
    }
}

static void threads_of_others_are_on_the_board(void **state)
{
    (void)state;
    struct stage stage;
    struct wio_director_totals totals;
    set_up(&stage, 4, true);
    wait_for_node(&stage); /* the first answer */
    struct wio_board_node *node = &stage.file.board->nodes[0];
    assert_int_equal(node->pid, 5);
    assert_int_equal(node->rank, 3);
    assert_int_equal(node->asked, 1);
    assert_string_equal(wio_director_host(stage.director, node->host), "far");
    assert_true(wio_director_look(stage.director, 0)->task.is_asleep);
    assert_int_equal(wio_director_wave(stage.director), 1);
    assert_false(exchange(&stage, false).has_granted);
    wio_board_grant(node, 4);
    struct wio_director_news news = exchange(&stage, true);
    assert_true(news.has_granted);
    assert_true(news.has_bytes);
    assert_int_equal(node->asked, 5);
    assert_false(exchange(&stage, false).has_granted); /* the last one */
    wio_director_end_run(stage.director, &totals);
    assert_null(totals.lost);
    assert_int_equal(totals.seal.events, 12);
    tear_down(&stage, 0);
}

static void a_node_that_goes_too_early_is_lost(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, 2, false);
    wait_for_node(&stage);
    (void)exchange(&stage, false);
    struct wio_director_news news = exchange(&stage, false);
    assert_string_equal(news.lost, "far");
    assert_int_equal(news.lost_pid, 77);
    tear_down(&stage, 0);
}

/* The next run has another key: a recorder that is late is of none. */
static void a_recorder_of_the_run_before_is_refused(void **state)
{
    (void)state;
    struct stage stage;
    struct wio_director_totals totals;
    const struct wio_director_run next = {.dir = "/the/next", .limit_ns = 1};
    begin(&stage);
    char *address = strdup(wio_director_address(stage.director));
    assert_ok(wio_director_begin_run(stage.director, &next, NULL), NULL);
    assert_string_not_equal(address, wio_director_address(stage.director));
    stage.pid = fork();
    if (stage.pid == 0) {
        _exit(act(address, 1, true));
    }
    free(address);
    while (wio_director_refused(stage.director) == 0) {
        (void)exchange(&stage, false);
        wio_clock_sleep_ns(MS);
    }
    assert_int_equal(kill(stage.pid, SIGKILL), 0);
    assert_int_equal(waitpid(stage.pid, NULL, 0), stage.pid);
    wio_director_end_run(stage.director, &totals);
    assert_int_equal(totals.recorders, 0);
    assert_int_equal(wio_board_count(stage.file.board), 0);
    wio_director_destroy(stage.director);
    wio_board_destroy(&stage.file);
}

/* Hundreds that say nothing, and as many that say something else, are there before it. */
static void strangers_do_not_keep_a_recorder_out(void **state)
{
    (void)state;
    enum { STRANGERS = 800 };
    static const char garbage[] = "GET / HTTP/1.1 and what else a browser says";
    struct stage stage;
    struct wio_director_totals totals;
    int strangers[STRANGERS];
    begin(&stage);
    const struct wio_remote_socket *at = wio_director_listeners(stage.director)->sockets;
    for (unsigned i = 0; i < STRANGERS; i++) {
        strangers[i] = socket(at->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(strangers[i], (const struct sockaddr *)&at->address, at->size), 0);
        assert_int_equal(i % 2 == 0 ? 40 : send(strangers[i], garbage, 40, 0), 40);
    }
    stage.pid = fork();
    if (stage.pid == 0) {
        _exit(act(wio_director_address(stage.director), 3, true));
    }
    wait_for_node(&stage);
    (void)exchange(&stage, false);
    (void)exchange(&stage, false);
    wio_director_end_run(stage.director, &totals);
    assert_null(totals.lost);
    assert_int_equal(totals.recorders, 1);
    assert_int_equal(totals.seal.events, 12);
    while (wio_director_refused(stage.director) < STRANGERS / 2) {
        (void)exchange(&stage, false);
    }
    for (unsigned i = 0; i < STRANGERS; i++) {
        (void)close(strangers[i]);
    }
    tear_down(&stage, 0);
}

int main(void)
{
    if (wio_remote_keys_begin(NULL) != WIO_OK) {
        wio_test_skip("built without libsodium");
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_others_are_on_the_board),
        cmocka_unit_test(a_node_that_goes_too_early_is_lost),
        cmocka_unit_test(a_recorder_of_the_run_before_is_refused),
        cmocka_unit_test(strangers_do_not_keep_a_recorder_out),
    };
    return WIO_RUN(tests);
}
