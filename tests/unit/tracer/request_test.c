/* SPDX-License-Identifier: Apache-2.0 */
/* Which process may ask the tracer, and what it answers: only one that knows the secret. */
#include "support/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/tracer.h"

static struct wio_ptracer tracer;

static void begin(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_ptracer_params params = {.rings = wio_test_dir(), .capture_lib = "/lib.so"};
    assert_ok(wio_ptracer_start(&params, &tracer, &err), &err);
}

static void end(void)
{
    struct wio_ptracer_end told;
    wio_ptracer_stop(&tracer, &told);
    assert_false(told.is_killed);
    assert_int_equal(told.no_ring, 0);
}

/* TracerPid of this process. */
static int traced_by(void)
{
    int pid = -1;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "TracerPid: %d", &pid);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return pid;
}

/* What a child with that address is answered, 0 .. 255; 200 + 1: it is traced and should not be. */
static int ask(const char *address, int32_t tid)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const long answer = wio_trace_request(address, WIO_TRACE_EXEC, tid);
        const bool is_traced = traced_by() > 0; /* a thread of the tracer */
        _exit(is_traced == (answer == 0) ? (int)-answer : 201);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_child_is_traced(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 20; i++) {
        assert_int_equal(ask(tracer.address, 0), 0);
    }
    end();
    assert_int_equal(ask(tracer.address, 0), ECONNREFUSED);
}

static void a_wrong_secret_is_refused(void **state)
{
    char address[WIO_TRACER_ADDRESS_BYTES];
    (void)state;
    begin();
    for (size_t i = WIO_TRACER_NAME_BYTES; i < WIO_TRACER_ADDRESS_BYTES - 1; i += 5) {
        memcpy(address, tracer.address, sizeof(address));
        address[i] = address[i] == '0' ? '1' : '0';
        assert_int_equal(ask(address, 0), EACCES);
    }
    assert_int_equal(ask("", 0), EINVAL);
    assert_int_equal(ask("short:0", 0), EINVAL);
    end();
}

/* A process can have only itself traced. */
static void another_process_is_refused(void **state)
{
    (void)state;
    begin();
    assert_int_equal(ask(tracer.address, getpid()), ESRCH);
    assert_int_equal(ask(tracer.address, 1), ESRCH);
    end();
}

/* What is still traced when the tracer is stopped goes on. */
static void what_is_traced_is_let_go(void **state)
{
    int ready[2];
    int ends[2];
    int status = 0;
    char byte = 'r';
    (void)state;
    begin();
    assert_true(pipe(ready) == 0 && pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const long answer = wio_trace_request(tracer.address, WIO_TRACE_EXEC, 0);
        (void)close(ends[1]);
        (void)close(tracer.control); /* as an exec does */
        bool is_right = write(ready[1], &byte, 1) == 1 && answer == 0;
        is_right = read(ends[0], &byte, 1) == 0 && is_right; /* until the other end is closed */
        _exit(is_right && traced_by() == 0 ? 42 : 1);
    }
    (void)close(ends[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    end();
    (void)close(ends[1]);
    (void)close(ready[0]);
    (void)close(ready[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 42);
}

/* Signals that are sent to all processes of a job do not end it; what does is told. */
static void a_killed_tracer_is_told(void **state)
{
    struct wio_ptracer_end told;
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        assert_int_equal(kill(tracer.pid, signals[i]), 0);
        assert_int_equal(ask(tracer.address, 0), 0);
    }
    end();
    begin();
    assert_int_equal(kill(tracer.pid, SIGKILL), 0);
    wio_ptracer_stop(&tracer, &told);
    assert_true(told.is_killed);
}

int main(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_traced), cmocka_unit_test(a_wrong_secret_is_refused),
        cmocka_unit_test(another_process_is_refused), cmocka_unit_test(what_is_traced_is_let_go),
        cmocka_unit_test(a_killed_tracer_is_told)};
    if (wio_ptracer_probe(&err) != WIO_OK) {
        wio_test_skip("ptrace is forbidden here");
    }
    return WIO_RUN(tests);
}
