/* SPDX-License-Identifier: Apache-2.0 */
/* How processes ended, by what others of the trace did with them. */
#include "sealed_fixture.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/ring.h"
#include "seal/seal.h"

#define SECOND UINT64_C(1000000000)
#define CHILD 200

/* A child of process 100, which has written something and does not say how it ended. */
static void save_child(const struct fixture *fixture, uint64_t start_ns, uint32_t end,
                       const char *name)
{
    struct ring_builder ring;
    ring_begin(&ring, CHILD, start_ns);
    ring_clock(&ring, 0, CHILD, CHILD);
    ring_event(&ring, 0, "read");
    ring.header.ppid = 100;
    ring.header.pid_start = 7;
    ring.header.end = end;
    ring_save(&ring, raw_dir(fixture), name);
}

static void add_fork(struct ring_builder *ring, int64_t pid)
{
    struct wio_slot_event *event = ring_event(ring, 0, "fork");
    event->result = pid;
    event->offset = 0;
    event->size = (uint64_t)pid;
}

/* `code`: of waitid, 0 for the others. */
static void add_wait(struct ring_builder *ring, const char *call, int64_t pid, int status, int code)
{
    struct wio_slot_ext *ext = NULL;
    struct wio_slot_event *event = ring_event_ext(ring, 0, call, &ext);
    event->result = pid;
    ext->arg[0] = status;
    ext->arg[3] = code;
}

static void add_kill(struct ring_builder *ring, int64_t pid, int number)
{
    struct wio_slot_event *event = ring_event(ring, 0, "kill");
    event->result = 0;
    event->offset = pid;
    event->size = (uint64_t)number;
}

static void begin_parent(struct ring_builder *ring, uint64_t start_ns)
{
    ring_begin(ring, 100, start_ns);
    ring_clock(ring, 0, 100, 100);
    ring->header.end = WIO_END_EXIT;
}

/* Seal all and look at the one image of the child. */
static struct wio_process_info child_of(const struct fixture *fixture)
{
    struct sealed sealed = open_all(fixture->dir);
    struct wio_process_info found = {.end = UINT32_MAX};
    for (uint32_t i = 0; i < wio_trace_process_count(sealed.trace); i++) {
        const struct wio_process_info *process = wio_trace_process(sealed.trace, i);
        if (process->pid == CHILD) {
            assert_int_equal(found.end, UINT32_MAX);
            found = *process;
        }
    }
    found.unseen = NULL;
    close_all(&sealed);
    return found;
}

/* R-END-1 */
static void parent_is_told_a_signal(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 5 * SECOND);
    add_fork(&ring, CHILD);
    ring.ticks = 8 * SECOND;
    add_wait(&ring, "waitpid", CHILD, W_STOPCODE(SIGSTOP), 0);
    add_wait(&ring, "waitpid", CHILD + 1, W_EXITCODE(3, 0), 0);
    add_wait(&ring, "waitpid", CHILD, W_EXITCODE(0, SIGTERM), 0);
    ring_save(&ring, raw_dir(*state), "a.ring");
    save_child(*state, 6 * SECOND, WIO_END_NONE, "b.ring");
    const struct wio_process_info child = child_of(*state);
    assert_int_equal(child.end, WIO_END_SIGNAL);
    assert_int_equal(child.end_status, SIGTERM);
    assert_true(child.is_expected);
}

static void waitid_tells_by_its_code(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 5 * SECOND);
    ring.ticks = 8 * SECOND;
    add_wait(&ring, "waitid", CHILD, 9, CLD_EXITED);
    ring_save(&ring, raw_dir(*state), "a.ring");
    save_child(*state, 6 * SECOND, WIO_END_NONE, "b.ring");
    const struct wio_process_info child = child_of(*state);
    assert_int_equal(child.end, WIO_END_EXIT);
    assert_int_equal(child.end_status, 9);
    assert_false(child.is_expected);
}

/* The parent became another program, whose ring is sealed behind that of the child. */
static void later_image_of_the_parent_is_told(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 7 * SECOND);
    ring.ticks = 8 * SECOND;
    add_wait(&ring, "wait4", CHILD, W_EXITCODE(0, SIGKILL), 0);
    ring_save(&ring, raw_dir(*state), "c.ring");
    save_child(*state, 6 * SECOND, WIO_END_NONE, "b.ring");
    assert_int_equal(child_of(*state).end_status, SIGKILL);
}

static void wait_before_a_process_is_for_another_one(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 2 * SECOND);
    add_wait(&ring, "waitpid", CHILD, W_EXITCODE(0, SIGKILL), 0);
    ring_save(&ring, raw_dir(*state), "a.ring");
    save_child(*state, 6 * SECOND, WIO_END_NONE, "b.ring");
    const struct wio_process_info child = child_of(*state);
    assert_int_equal(child.end, WIO_END_NONE);
    assert_false(child.is_expected);
}

static void process_kills_another_one(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 5 * SECOND);
    ring.ticks = 8 * SECOND;
    add_kill(&ring, CHILD, SIGTERM);
    ring_save(&ring, raw_dir(*state), "a.ring");
    save_child(*state, 6 * SECOND, WIO_END_SIGNAL, "b.ring"); /* by signal 0 */
    assert_false(child_of(*state).is_expected);
}

static bool ended_by_term(void *arg, int32_t pid, uint64_t start_mono_ns, int *wait_status_out)
{
    (void)start_mono_ns;
    *wait_status_out = W_EXITCODE(0, SIGTERM);
    *(int *)arg += 1;
    return pid == CHILD;
}

/* The recorder got the status, the run sent the signal: to the process, or to all of a group. */
static void recorder_tells_and_the_run_killed(void **state)
{
    static const int64_t targets[] = {CHILD, -50, 0};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct wio_error err = WIO_ERROR_INIT;
        struct ring_builder ring;
        char name[16];
        int asked = 0;
        const struct fixture *fixture = *state;
        const struct wio_seal_params params = {
            .struct_size = sizeof(params), .ended = ended_by_term, .ended_arg = &asked};
        begin_parent(&ring, 5 * SECOND);
        set_this_boot(&ring);
        ring.ticks = 8 * SECOND;
        add_kill(&ring, targets[i], SIGTERM);
        ring_save(&ring, raw_dir(fixture), "a.ring");
        ring_begin(&ring, CHILD, 6 * SECOND);
        set_this_boot(&ring);
        ring_clock(&ring, 0, CHILD, CHILD);
        ring.header.end = WIO_END_NONE;
        ring_save(&ring, raw_dir(fixture), "b.ring");
        (void)snprintf(name, sizeof(name), "s%zu", i);
        assert_ok(wio_seal(fixture->dir, NULL, name, &params, &err), &err);
        const struct wio_process_info child = child_of(fixture);
        assert_int_equal(child.end_status, SIGTERM);
        assert_true(child.is_expected);
        (void)snprintf(name, sizeof(name), "s%zu.seg", i);
        char path[4200];
        (void)snprintf(path, sizeof(path), "%s/%s", fixture->dir, name);
        assert_int_equal(unlink(path), 0);
    }
}

static uint64_t killed_early(const struct fixture *fixture)
{
    struct sealed sealed = open_all(fixture->dir);
    const struct wio_process_info *parent = wio_trace_process(sealed.trace, 0);
    assert_int_equal(parent->pid, 100);
    uint64_t count = parent->unseen_count > WIO_UNSEEN_KILLED_EARLY
                         ? parent->unseen[WIO_UNSEEN_KILLED_EARLY]
                         : 0;
    close_all(&sealed);
    return count;
}

/* R-END-2 */
static void child_without_a_ring_is_counted(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 5 * SECOND);
    add_fork(&ring, CHILD);
    add_wait(&ring, "wait", CHILD, W_EXITCODE(0, SIGKILL), 0);
    add_fork(&ring, CHILD + 1); /* nothing to tell: it ended by itself */
    add_wait(&ring, "wait", CHILD + 1, W_EXITCODE(0, 0), 0);
    add_fork(&ring, CHILD + 2); /* not known */
    ring_save(&ring, raw_dir(*state), "a.ring");
    assert_int_equal(killed_early(*state), 1);
}

static void child_with_a_ring_is_not_counted(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 5 * SECOND);
    add_fork(&ring, CHILD);
    ring.ticks = 8 * SECOND;
    add_wait(&ring, "wait", CHILD, W_EXITCODE(0, SIGKILL), 0);
    ring_save(&ring, raw_dir(*state), "a.ring");
    save_child(*state, 6 * SECOND, WIO_END_NONE, "b.ring");
    assert_int_equal(killed_early(*state), 0);
}

static void what_is_counted_already_is_not_counted_twice(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 5 * SECOND);
    ring.header.unseen[WIO_UNSEEN_STATIC_EXEC] = 1;
    add_fork(&ring, CHILD);
    add_wait(&ring, "wait", CHILD, W_EXITCODE(0, SIGKILL), 0);
    ring_save(&ring, raw_dir(*state), "a.ring");
    assert_int_equal(killed_early(*state), 0);
}

/* R-RING-9: what is known of it is its name. */
static void ring_without_a_header_counts(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char path[4200];
    begin_parent(&ring, 5 * SECOND);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    (void)snprintf(path, sizeof(path), "%s/a.host.name.%d.6000000000.ring", raw_dir(fixture),
                   CHILD);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(wio_trace_process_count(sealed.trace), 2);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    assert_false(info.complete);
    assert_non_null(strstr(info.remarks, "has no header: process 200 of user"));
    for (uint32_t i = 0; i < 2; i++) {
        const struct wio_process_info *process = wio_trace_process(sealed.trace, i);
        bool is_blank = process->pid == CHILD;
        assert_int_equal(process->unseen_count > 0 ? process->unseen[WIO_UNSEEN_NO_RING] : 0,
                         is_blank);
        assert_string_equal(process->host, is_blank ? "a.host.name" : process->host);
    }
    close_all(&sealed);
    assert_int_not_equal(access(raw_dir(fixture), F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* So many forks that are told to have made the same child that to look through all behind each
 * would take minutes. */
static void children_of_one_number_are_not_walked_over(void **state)
{
    enum { RINGS = 12, FORKS = 15000 };
    for (unsigned i = 0; i < RINGS; i++) {
        struct ring_builder ring;
        char name[32];
        begin_parent(&ring, (5 + i) * SECOND);
        for (unsigned k = 0; k < FORKS; k += 2) {
            add_fork(&ring, CHILD);
            add_kill(&ring, CHILD, SIGTERM);
        }
        (void)snprintf(name, sizeof(name), "%02u.ring", i);
        ring_save(&ring, raw_dir(*state), name);
    }
    struct sealed sealed = open_all(((const struct fixture *)*state)->dir);
    assert_int_equal(sealed.count, RINGS * FORKS);
    close_all(&sealed);
}

/* No kernel tells such numbers. */
static void statuses_out_of_range_are_no_ends(void **state)
{
    struct ring_builder ring;
    begin_parent(&ring, 5 * SECOND);
    ring.ticks = 8 * SECOND;
    add_wait(&ring, "waitid", CHILD, INT_MIN, CLD_STOPPED);
    add_wait(&ring, "waitid", CHILD, 0x7fffff00, CLD_TRAPPED);
    add_wait(&ring, "waitid", CHILD, 0x700 | SIGKILL, CLD_KILLED);
    ring_save(&ring, raw_dir(*state), "a.ring");
    save_child(*state, 6 * SECOND, WIO_END_NONE, "b.ring");
    const struct wio_process_info child = child_of(*state);
    assert_int_equal(child.end, WIO_END_SIGNAL);
    assert_int_equal(child.end_status, SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parent_is_told_a_signal),
        TEST(waitid_tells_by_its_code),
        TEST(later_image_of_the_parent_is_told),
        TEST(wait_before_a_process_is_for_another_one),
        TEST(process_kills_another_one),
        TEST(recorder_tells_and_the_run_killed),
        TEST(child_without_a_ring_is_counted),
        TEST(child_with_a_ring_is_not_counted),
        TEST(what_is_counted_already_is_not_counted_twice),
        TEST(ring_without_a_header_counts),
        TEST(children_of_one_number_are_not_walked_over),
        TEST(statuses_out_of_range_are_no_ends),
    };
    return WIO_RUN(tests);
}
