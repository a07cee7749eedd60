/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "calibrate/backend/undo_process.h"

/* What is undone: a file, and a word to the listening end. */
struct thing {
    char *path;
    int told; /* a pipe's end, -1: none */
    pid_t but_not_in;
};

static enum wio_status undo(void *arg, struct wio_error *err)
{
    const struct thing *thing = arg;
    if (thing->but_not_in == getpid()) {
        return wio_error_set(err, WIO_ERR_IO, thing->path, WIO_ERROR_NO_OFFSET, "not here");
    }
    (void)unlink(thing->path);
    return thing->told < 0 || write(thing->told, "u", 1) == 1 ? WIO_OK : WIO_ERR_IO;
}

static void undoes_at_the_end(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct thing thing = {.path = wio_test_path("end"), .told = -1};
    struct wio_guard guard;
    assert_ok(wio_guard_start(&guard, undo, &thing, &err), &err);
    wio_test_write(thing.path, "x", 1);
    assert_ok(wio_guard_end(&guard, &err), &err);
    assert_int_equal(access(thing.path, F_OK), -1);
    assert_int_equal(waitpid(guard.pid, NULL, WNOHANG), -1); /* it is no child any more */
    free(thing.path);
}

static const int deaths[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};

/* A program that starts a guard and dies, in a process group of its own. */
static pid_t start_victim(struct thing *thing, int ready)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct wio_guard guard;
        struct wio_error err = WIO_ERROR_INIT;
        (void)setpgid(0, 0);
        for (size_t i = 0; i < WIO_ARRAY_SIZE(deaths); i++) {
            (void)signal(deaths[i], SIG_DFL); /* ignored behind nohup or in the background */
        }
        if (wio_guard_start(&guard, undo, thing, &err) != WIO_OK) {
            _exit(1);
        }
        wio_test_write(thing->path, "x", 1);
        (void)!write(ready, "r", 1);
        for (;;) {
            (void)pause();
        }
    }
    return pid;
}

/* All that the group is sent, also what cannot be caught, leaves the guard at work. */
static void undoes_after_a_death(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(deaths); i++) {
        int ends[2];
        char byte;
        int status;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        struct thing thing = {.path = wio_test_path("death"), .told = ends[1]};
        pid_t pid = start_victim(&thing, ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        assert_int_equal(byte, 'r');
        assert_int_equal(kill(-pid, deaths[i]), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(read(ends[0], &byte, 1), 1);
        assert_int_equal(byte, 'u');
        assert_int_equal(access(thing.path, F_OK), -1);
        (void)close(ends[0]);
        (void)close(ends[1]);
        free(thing.path);
    }
}

/* The guard is killed: its work is done all the same. */
static void undoes_without_its_guard(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct thing thing = {.path = wio_test_path("alone"), .told = -1};
    struct wio_guard guard;
    assert_ok(wio_guard_start(&guard, undo, &thing, &err), &err);
    wio_test_write(thing.path, "x", 1);
    assert_int_equal(kill(guard.pid, SIGKILL), 0);
    assert_ok(wio_guard_end(&guard, &err), &err);
    assert_int_equal(access(thing.path, F_OK), -1);
    free(thing.path);
}

static void tells_what_could_not_be_undone(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct thing thing = {.path = wio_test_path("never"), .told = -1, .but_not_in = getpid()};
    struct wio_guard guard;
    assert_ok(wio_guard_start(&guard, undo, &thing, &err), &err);
    assert_int_equal(kill(guard.pid, SIGKILL), 0);
    assert_status(wio_guard_end(&guard, &err), WIO_ERR_IO, &err);
    assert_string_equal(err.message, "not here");
    free(thing.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undoes_at_the_end),
        cmocka_unit_test(undoes_after_a_death),
        cmocka_unit_test(undoes_without_its_guard),
        cmocka_unit_test(tells_what_could_not_be_undone),
    };
    return WIO_RUN(tests);
}
