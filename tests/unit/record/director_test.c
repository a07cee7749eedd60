/* SPDX-License-Identifier: Apache-2.0 */
/* A director, and a child that speaks as a recorder of another host does. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/director.h"

#define MS UINT64_C(1000000)

struct stage {
    struct wio_board_file file;
    struct wio_director *director;
    pid_t pid;
};

/* ---- the child ---------------------------------------------------------------------------- */

static bool greet(const char *address, const char *token, int *fd_out)
{
    struct wio_far_hello hello = {.host = "far", .pid = 77};
    struct wio_far_message message = {0};
    char own_token[WIO_FAR_TOKEN_BYTES];
    if (wio_far_connect(address, fd_out, own_token, NULL) != WIO_OK) {
        return false;
    }
    snprintf(hello.token, sizeof(hello.token), "%s", token != NULL ? token : own_token);
    bool is_in = wio_far_send(*fd_out, WIO_FAR_HELLO, &hello, sizeof(hello), NULL, 0) &&
                 wio_far_receive(*fd_out, WIO_FAR_WELCOME, sizeof(struct wio_far_welcome),
                                 WIO_FAR_SILENCE_NS, &message) &&
                 strcmp(((struct wio_far_welcome *)message.data)->dir, "/the/trace") == 0;
    wio_far_message_fini(&message);
    return is_in;
}

/* Answers once. The node has come to as many I/Os as it was allowed, and one more. */
static bool answer(int fd, uint32_t *granted, uint32_t flags)
{
    struct wio_far_message message = {0};
    struct wio_far_ask ask;
    struct wio_far_grant grant;
    if (!wio_far_receive(fd, WIO_FAR_ASK, sizeof(ask), WIO_FAR_SILENCE_NS, &message)) {
        return false;
    }
    memcpy(&ask, message.data, sizeof(ask));
    if (ask.count > 0) {
        memcpy(&grant, message.data + sizeof(ask), sizeof(grant));
        *granted = grant.count;
    }
    wio_far_message_fini(&message);
    const struct wio_far_node node = {.pid = 5,
                                      .tid = 6,
                                      .rank = 3,
                                      .flags = WIO_FAR_IS_THERE | WIO_FAR_IS_ASLEEP,
                                      .key = 9,
                                      .word = 1 << 8 | WIO_BOARD_AT_IO,
                                      .asked = *granted + 1};
    struct wio_far_answer said = {.now_ns = 1000, .count = 1, .flags = flags, .events = 12};
    said.flags |= ask.wants_bytes != 0 ? WIO_FAR_HAS_BYTES : 0u;
    return wio_far_send(fd, WIO_FAR_ANSWER, &said, sizeof(said), &node, sizeof(node));
}

/* Answers `count` times, the last time that it is done if `is_good`. */
static int act(const char *address, const char *token, unsigned count, bool is_good)
{
    int fd;
    uint32_t granted = 0;
    bool goes_on = greet(address, token, &fd);
    for (unsigned i = 1; goes_on && i <= count; i++) {
        goes_on = answer(fd, &granted, i == count && is_good ? (uint32_t)WIO_FAR_IS_DONE : 0u);
    }
    return goes_on ? 0 : 1;
}

/* ---- the director ------------------------------------------------------------------------- */

static void set_up(struct stage *stage, const char *token, unsigned count, bool is_good)
{
    const struct wio_director_run run = {.dir = "/the/trace", .limit_ns = 1};
    assert_ok(wio_board_create(&stage->file, NULL), NULL);
    assert_ok(wio_director_create(stage->file.board, &stage->director, NULL), NULL);
    wio_board_reset(stage->file.board, 0, 1);
    assert_ok(wio_director_begin_run(stage->director, &run, NULL), NULL);
    stage->pid = fork();
    assert_true(stage->pid >= 0);
    if (stage->pid == 0) {
        _exit(act(wio_director_address(stage->director), token, count, is_good));
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
    set_up(&stage, NULL, 4, true);
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

static void who_is_gone_too_early_is_lost(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, NULL, 2, false);
    wait_for_node(&stage);
    (void)exchange(&stage, false);
    struct wio_director_news news = exchange(&stage, false);
    assert_string_equal(news.lost, "far");
    assert_int_equal(news.lost_pid, 77);
    tear_down(&stage, 0);
}

static void who_has_no_token_is_not_heard(void **state)
{
    (void)state;
    struct stage stage;
    struct wio_director_totals totals;
    set_up(&stage, "00000000000000000000000000000000", 1, true);
    int status;
    while (waitpid(stage.pid, &status, WNOHANG | __WALL) == 0) {
        (void)exchange(&stage, false);
        wio_clock_sleep_ns(MS);
    }
    assert_int_equal(WEXITSTATUS(status), 1);
    wio_director_end_run(stage.director, &totals);
    assert_int_equal(totals.recorders, 0);
    wio_director_destroy(stage.director);
    wio_board_destroy(&stage.file);
}

/* The first one is waited for as long as anybody is; the second one at another time. */
static void strangers_do_not_add_up(void **state)
{
    (void)state;
    struct stage stage = {0};
    const struct wio_director_run run = {.dir = "/the/trace", .limit_ns = 1};
    char token[WIO_FAR_TOKEN_BYTES];
    int strangers[2];
    char byte;
    assert_ok(wio_board_create(&stage.file, NULL), NULL);
    assert_ok(wio_director_create(stage.file.board, &stage.director, NULL), NULL);
    assert_ok(wio_director_begin_run(stage.director, &run, NULL), NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(wio_far_connect(wio_director_address(stage.director), &strangers[i], token, NULL),
                  NULL);
    }
    (void)exchange(&stage, false);
    assert_int_equal(recv(strangers[0], &byte, 1, MSG_DONTWAIT), 0); /* sent away */
    assert_int_equal(recv(strangers[1], &byte, 1, MSG_DONTWAIT), -1);
    (void)close(strangers[0]);
    (void)close(strangers[1]);
    wio_director_destroy(stage.director);
    wio_board_destroy(&stage.file);
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "1",
                                        "x/y/z",
                                        "0/00000000000000000000000000000000/::1",
                                        "70000/00000000000000000000000000000000/::1",
                                        "80/0000/127.0.0.1"};
    char token[WIO_FAR_TOKEN_BYTES];
    int fd;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(wio_far_connect(wrong[i], &fd, token, NULL), WIO_ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_others_are_on_the_board),
        cmocka_unit_test(who_is_gone_too_early_is_lost),
        cmocka_unit_test(who_has_no_token_is_not_heard),
        cmocka_unit_test(strangers_do_not_add_up),
        cmocka_unit_test(what_is_no_address_is_refused),
    };
    return WIO_RUN(tests);
}
