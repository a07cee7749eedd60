/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of several hosts that are sealed together: pids, ends and counters are of one host each. */
#include "seal/seal.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sealed_fixture.h"

static bool ended_by_kill(void *arg, int32_t pid, uint64_t start_mono_ns, int *wait_status_out)
{
    (void)start_mono_ns;
    *(int32_t *)arg = pid;
    *wait_status_out = 9; /* SIGKILL */
    return true;
}

/* A process of another host may have the pid of one that the recorder waited for. */
static void recorder_knows_no_other_host(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_error err = WIO_ERROR_INIT;
    int32_t asked = 0;
    const struct wio_seal_params params = {
        .struct_size = sizeof(params), .ended = ended_by_kill, .ended_arg = &asked};
    begin_process(&ring);
    ring.header.end = WIO_END_NONE;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    assert_ok(wio_seal(fixture->dir, NULL, "sealed", &params, &err), &err);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(asked, 0);
    assert_int_equal(wio_trace_process(sealed.trace, 0)->end, WIO_END_NONE);
    close_all(&sealed);
}

static void save_process(const struct fixture *fixture, const char *host, int32_t pid, int32_t ppid,
                         uint64_t start_ns)
{
    struct ring_builder ring;
    char name[64];
    ring_begin(&ring, pid, start_ns);
    ring_clock(&ring, 0, pid, pid);
    ring.header.ppid = ppid;
    ring.header.pid_start = start_ns;
    (void)snprintf(ring.header.host, sizeof(ring.header.host), "%s", host);
    (void)snprintf(name, sizeof(name), "%s.%d.ring", host, pid);
    ring_save(&ring, raw_dir(fixture), name);
}

/* Rings that killed recorders left on two hosts, as containers number processes: the same on both.
 */
static void parents_are_of_the_same_host(void **state)
{
    struct fixture *fixture = *state;
    static const int32_t pids[] = {10, 10, 11, 11, 12};
    static const uint32_t parents[] = {UINT32_MAX, UINT32_MAX, 0, 1, UINT32_MAX};
    save_process(fixture, "n1", 10, 9, 5000000000ull);
    save_process(fixture, "n2", 10, 9, 5000001000ull);
    save_process(fixture, "n1", 11, 10, 5000002000ull);
    save_process(fixture, "n2", 11, 10, 5000003000ull);
    save_process(fixture, "n3", 12, 11, 5000004000ull);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(wio_trace_process_count(sealed.trace), 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(wio_trace_process(sealed.trace, i)->pid, pids[i]);
        assert_int_equal(wio_trace_process(sealed.trace, i)->parent, parents[i]);
    }
    close_all(&sealed);
}

static void save_image(const struct fixture *fixture, const char *name, const char *host,
                       uint64_t start_ns, enum wio_ring_end end)
{
    struct ring_builder ring;
    ring_begin(&ring, 10, start_ns);
    ring_clock(&ring, 0, 10, 10);
    ring.header.end = end;
    (void)snprintf(ring.header.host, sizeof(ring.header.host), "%s", host);
    ring_save(&ring, raw_dir(fixture), name);
}

/* As `unshare --uts` makes them. */
static void image_may_have_another_host_name(void **state)
{
    struct fixture *fixture = *state;
    save_image(fixture, "a.ring", "n1", 5000000000ull, WIO_END_EXEC);
    save_image(fixture, "b.ring", "n2", 5000001000ull, WIO_END_EXIT);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(wio_trace_process_count(sealed.trace), 2);
    assert_int_equal(wio_trace_process(sealed.trace, 1)->parent, 0);
    close_all(&sealed);
}

/* Containers of one boot that count alike: a process that ended otherwise continues in no other. */
static void only_exec_makes_another_image(void **state)
{
    struct fixture *fixture = *state;
    save_image(fixture, "a.ring", "n1", 5000000000ull, WIO_END_EXIT);
    save_image(fixture, "b.ring", "n2", 5000001000ull, WIO_END_EXIT);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(wio_trace_process(sealed.trace, 1)->parent, UINT32_MAX);
    close_all(&sealed);
}

/* A process whose counter has `ticks` of them in `span_ns`, on a machine of its own. */
static void save_counting(const struct fixture *fixture, const char *host, uint64_t span_ns,
                          uint64_t ticks)
{
    struct ring_builder ring;
    char name[64];
    begin_process(&ring);
    ring.header.clock = WIO_CLOCK_TSC;
    ring.header.end_mono_ns = ring.header.start_mono_ns + span_ns;
    ring.header.end_ticks = ring.header.start_ticks + ticks;
    (void)snprintf(ring.header.host, sizeof(ring.header.host), "%s", host);
    (void)snprintf(ring.header.boot_id, sizeof(ring.header.boot_id), "boot of %s", host);
    ring_event(&ring, 0, "read");
    (void)snprintf(name, sizeof(name), "%s.ring", host);
    ring_save(&ring, raw_dir(fixture), name);
}

/* R-RING-2: what one machine's counter counts says nothing of another one's, however long it was
 * measured. */
static void counters_of_machines_differ(void **state)
{
    struct fixture *fixture = *state;
    save_counting(fixture, "n1", 100000000000ull, 100000000000ull);
    save_counting(fixture, "n2", 10000000000ull, 20000000000ull);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 2);
    for (size_t i = 0; i < sealed.count; i++) {
        const struct wio_stream_info *stream =
            wio_trace_stream(sealed.trace, sealed.events[i].stream);
        const struct wio_process_info *process = wio_trace_process(sealed.trace, stream->process);
        bool is_fast = strcmp(process->host, "n2") == 0;
        assert_int_equal(sealed.events[i].dur_ns, is_fast ? 50 : 100);
        assert_int_equal(sealed.events[i].t_ns, is_fast ? 500 : 1000);
    }
    close_all(&sealed);
}

/* R-RING-2: in a time namespace CLOCK_MONOTONIC is not ours, so that our counter and our clock of
 * now say nothing of a rate together with those at the ring's start. */
static void time_namespace_has_a_clock_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    set_this_boot(&ring);
    ring.header.clock = WIO_CLOCK_TSC;
    ring.header.end_mono_ns = ring.header.start_mono_ns + 100000000000ull;
    ring.header.end_ticks = ring.header.start_ticks + 1000000000000ull;
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 1);
    assert_int_equal(sealed.events[0].dur_ns, 10);
    assert_int_equal(sealed.events[0].t_ns, 100);
    close_all(&sealed);
}

/* Two hosts may do so at once, and count their processes alike. */
static void segment_is_named_after_the_sealer(void **state)
{
    struct fixture *fixture = *state;
    char host[65] = "";
    char pattern[400];
    glob_t found;
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    save_process(fixture, "n1", 10, 9, 5000000000ull);
    struct sealed sealed = open_all(fixture->dir);
    close_all(&sealed);
    (void)snprintf(pattern, sizeof(pattern), "%s/sealed.%s.%d.*.seg", fixture->dir, host,
                   (int)getpid());
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    globfree(&found);
}

/* A process and its child, between whose starts the wall clock was set back, and one of another
 * machine between the two by that clock: no order by pairs has all three. */
static void save_three(const struct fixture *fixture, unsigned group, unsigned place)
{
    const uint64_t start_ns = 5000000000ull + group * 1000000ull;
    struct ring_builder ring;
    char name[32];
    ring_begin(&ring, (int32_t)(100 + 10 * group + place), start_ns + place * 1000);
    ring.header.boot_id[0] = place == 1 ? '9' : '1';
    ring.header.start_unix_ns = 1000000000000000000ull + group * 1000000ull + (2 - place) * 1000;
    ring_clock(&ring, 0, ring.header.pid, ring.header.pid);
    if (place == 0) {
        ring_string(&ring, 0, 1, 0, "/job");
    } else if (place == 2) {
        ring.header.first_string = 2;
        (void)snprintf(ring.header.parent_ring, sizeof(ring.header.parent_ring), "%u-0.ring",
                       group);
        ring_event(&ring, 0, "stat")->path = 1;
    }
    (void)snprintf(name, sizeof(name), "%u-%u.ring", group, place);
    ring_save(&ring, raw_dir(fixture), name);
}

static void parents_come_first_whatever_clocks_say(void **state)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (unsigned group = 0; group < 6; group++) {
        for (unsigned i = 0; i < 3; i++) {
            save_three(*state, group, orders[group][i]);
        }
    }
    struct sealed sealed = open_all(((const struct fixture *)*state)->dir);
    assert_int_equal(sealed.count, 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_string_equal(path_of(&sealed, i), "/job");
    }
    close_all(&sealed);
}

/* Each ring belongs to the run by what the next one says, in the order of their starts. */
static void rings_of_another_user_are_judged_once(void **state)
{
    enum { RINGS = 2000, OTHER = 12345 };
    char path[400];
    if (geteuid() != 0) {
        skip();
    }
    for (unsigned i = 0; i <= RINGS; i++) {
        struct ring_builder ring;
        char name[32];
        (void)snprintf(name, sizeof(name), "%u.ring", i);
        ring_begin(&ring, (int32_t)(1000 + i), 5000000000ull + i * 1000);
        ring.header.users[0] = OTHER + 1;
        ring.header.ppid = 1;
        (void)snprintf(ring.header.parent_ring, sizeof(ring.header.parent_ring), "%u.ring", i + 1);
        ring_save(&ring, raw_dir(*state), name);
        (void)snprintf(path, sizeof(path), "%s/%s", raw_dir(*state), name);
        assert_int_equal(i == RINGS ? 0 : chown(path, OTHER, OTHER), 0);
    }
    struct sealed sealed = open_all(((const struct fixture *)*state)->dir);
    assert_int_equal(wio_trace_process_count(sealed.trace), RINGS + 1);
    close_all(&sealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(recorder_knows_no_other_host),          TEST(parents_are_of_the_same_host),
        TEST(image_may_have_another_host_name),      TEST(only_exec_makes_another_image),
        TEST(counters_of_machines_differ),           TEST(time_namespace_has_a_clock_of_its_own),
        TEST(segment_is_named_after_the_sealer),     TEST(parents_come_first_whatever_clocks_say),
        TEST(rings_of_another_user_are_judged_once),
    };
    return WIO_RUN(tests);
}
