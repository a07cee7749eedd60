/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops/calls.h"
#include "report/wait_text.h"

static void expect(const struct wio_event *event, bool has_any, const char *want)
{
    char *text = NULL;
    size_t bytes = 0;
    struct wio_line line;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    assert_ok(wio_line_init(&line, out, NULL), NULL);
    assert_true(wio_wait_text(&line, event, has_any));
    wio_line_fini(&line);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void each_class_says_what_it_is_about(void **state)
{
    static const struct {
        struct wio_event event;
        const char *want;
    } cases[] = {
        {{.op = WIO_OP_pthread_mutex_lock, .arg = {0x7f00}}, "0x7f00"},
        {{.op = WIO_OP_pthread_rwlock_unlock, .arg = {0x7f00, 1}}, "0x7f00, reader"},
        {{.op = WIO_OP_pthread_cond_wait, .arg = {0x10, 0x20}}, "0x10, 0x20"},
        {{.op = WIO_OP_pthread_cond_signal, .arg = {0x10, 1}}, "0x10"},
        {{.op = WIO_OP_sem_post, .arg = {INT64_MIN + 1}}, "0x8000000000000001"},
        {{.op = WIO_OP_pthread_barrier_wait, .arg = {0x10, 3, 8, 3}}, "0x10, round 3 of 8 threads"},
        {{.op = WIO_OP_futex_wait, .arg = {0x10, 128, 1}}, "0x10, operation 128, value 1"},
        {{.op = WIO_OP_poll, .size = 3000000}, "3.00 ms"},
        {{.op = WIO_OP_select, .size = WIO_NO_SIZE}, "no limit"},
        {{.op = WIO_OP_usleep, .size = 2000}, "2.00 us"},
        {{.op = WIO_OP_kill, .arg = {12, SIGUSR1}}, "pid 12, SIGUSR1"},
        {{.op = WIO_OP_killpg, .arg = {-12, 1000}}, "group 12, signal 1000"},
        {{.op = WIO_OP_kill, .arg = {INT64_MIN, 9}}, "group 9223372036854775808, SIGKILL"},
        {{.op = WIO_OP_kill, .arg = {0, SIGTERM}}, "own group, SIGTERM"},
        {{.op = WIO_OP_kill, .arg = {-1, SIGTERM}}, "all, SIGTERM"},
        {{.op = WIO_OP_killpg, .arg = {-1, SIGTERM}}, "group 1, SIGTERM"},
        {{.op = WIO_OP_pidfd_send_signal, .arg = {0, SIGTERM}}, "pid unknown, SIGTERM"},
        {{.op = WIO_OP_sigwait, .arg = {12, SIGTERM}}, "SIGTERM from pid 12"},
        {{.op = WIO_OP_pause}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect(&cases[i].event, false, cases[i].want);
    }
    expect(&cases[0].event, true, ", 0x7f00");
}

static void other_classes_are_left_alone(void **state)
{
    struct wio_event event = {.op = WIO_OP_pwrite};
    (void)state;
    assert_false(wio_wait_text(NULL, &event, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_says_what_it_is_about),
        cmocka_unit_test(other_classes_are_left_alone),
    };
    return WIO_RUN(tests);
}
