/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that contradict each other, or that were not recorded like that. */
#include "throttle/merge/merge_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <whyio/segment.h>

#include "base/io.h"
#include "node.h"
#include "ops/calls.h"
#include "support/killed.h"
#include "support/unit.h"
#include "throttle/merge/merge_place.h"
#include "trace/edges/edge_file.h"

#define RANKS 2u
#define WRITES 3u
#define MS UINT64_C(1000000)

static void add(struct wio_segment *segment, uint32_t stream, enum wio_op op, uint64_t t_ns)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_event event = {.op = (uint16_t)op,
                                    .flags = WIO_EVENT_HOLD,
                                    .stream = stream,
                                    .t_ns = t_ns,
                                    .dur_ns = 1000,
                                    .fd = 3,
                                    .fd2 = WIO_NO_FD,
                                    .offset = 0,
                                    .offset2 = WIO_NO_OFFSET,
                                    .size = 8,
                                    .result = 8};
    assert_ok(wio_segment_append(segment, &event, &err), &err);
}

/* Two ranks that write, each behind so many marks of holding that bear the flag of an I/O. */
static void write_segment(const char *dir, unsigned marks)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    char name[512];
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    assert_ok(wio_segment_create(name, &params, &segment, &err), &err);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint32_t stream = add_node(segment, 100 + (int32_t)rank, (int32_t)rank);
        for (unsigned i = 0; i < marks; i++) {
            add(segment, stream, WIO_OP_hold, MS);
        }
        for (uint64_t i = 0; i < WRITES; i++) {
            add(segment, stream, WIO_OP_pwrite, (2 + i) * MS);
        }
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
}

/* A run in which the second write of rank `to` waited for that of the other one. */
static char *make_run(const char *name, uint32_t to, unsigned marks)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_edge_writer *writer = NULL;
    char *dir = wio_test_path(name);
    assert_int_equal(mkdir(dir, 0777), 0);
    write_segment(dir, marks);
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    assert_ok(wio_edge_writer_create(trace, &writer, &err), &err);
    const struct wio_edge_row row = {
        .from = {marks + 1, 1 - to}, .to = {marks + 1, to}, .evidence = WIO_EVIDENCE_HELD};
    assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &row, &err), &err);
    assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_OUT, &row, &err), &err);
    assert_ok(wio_edge_writer_finish(writer, NULL, &err), &err);
    wio_trace_close(trace);
    return dir;
}

static enum wio_status merge(char *const runs[2], const char *name, struct wio_merge_result *result,
                             struct wio_error *err)
{
    char *dir = wio_test_path(name);
    const char *const both[] = {runs[0], runs[1]};
    const struct wio_merge_params params = {
        .struct_size = sizeof(params), .dir = dir, .runs = both, .count = 2};
    enum wio_status status = wio_merge(&params, result, err);
    free(dir);
    return status;
}

static void edges_that_go_round_are_named(void **state)
{
    (void)state;
    struct wio_merge_result result;
    struct wio_error err = WIO_ERROR_INIT;
    char *runs[] = {make_run("one", 1, 0), make_run("other", 0, 0)};
    assert_int_equal(merge(runs, "merged", &result, &err), WIO_ERR_FORMAT);
    assert_non_null(strstr(err.message, "rank 0 thread 100 operation 1 waits for "
                                        "rank 1 thread 101 operation 1 (hard, held)"));
    assert_non_null(strstr(err.message, "rank 1 thread 101 operation 1 waits for "
                                        "rank 0 thread 100 operation 1 (hard, held)"));
    free(runs[0]);
    free(runs[1]);
}

/* They were counted in one place and not in another: what was written went behind its array. */
static void marks_with_the_flag_of_an_io_are_none(void **state)
{
    (void)state;
    struct wio_merge_result result;
    struct wio_error err = WIO_ERROR_INIT;
    char *runs[] = {make_run("marked", 1, 500), make_run("marked-too", 1, 500)};
    assert_ok(merge(runs, "merged-marks", &result, &err), &err);
    assert_true(result.is_same);
    assert_int_equal(result.events, RANKS * (WRITES + 1)); /* one mark stays */
    free(runs[0]);
    free(runs[1]);
}

/* ---- merges that are killed --------------------------------------------------------------- */

struct killed {
    char *runs[2];
    char *dir;
    char *work;
};

static enum wio_status merge_again(const struct killed *killed, struct wio_merge_result *result)
{
    const char *const both[] = {killed->runs[0], killed->runs[1]};
    const struct wio_merge_params params = {
        .struct_size = sizeof(params), .dir = killed->dir, .runs = both, .count = 2};
    return wio_merge(&params, result, NULL);
}

static void merge_in_child(void *arg)
{
    struct wio_merge_result result;
    if (merge_again(arg, &result) != WIO_OK) {
        _exit(1);
    }
}

/* With the edge that holding found, as a file and as what is derived. */
static void expect_whole(const char *dir)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_edge_info info;
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    assert_non_null(wio_trace_edges(trace));
    wio_edge_file_get_info(wio_trace_edges(trace), &info);
    assert_int_equal(info.by_evidence[WIO_EVIDENCE_HELD].all, 1);
    wio_trace_close(trace);
}

static struct killed make_killed(const char *name)
{
    char second[64];
    (void)snprintf(second, sizeof(second), "%s-second", name);
    struct killed killed = {.runs = {make_run(name, 1, 0), make_run(second, 1, 0)}};
    (void)snprintf(second, sizeof(second), "%s-merged", name);
    killed.dir = wio_test_path(second);
    (void)snprintf(second, sizeof(second), "%s-merged.merging", name);
    killed.work = wio_test_path(second);
    return killed;
}

static void killed_fini(struct killed *killed)
{
    free(killed->runs[0]);
    free(killed->runs[1]);
    free(killed->dir);
    free(killed->work);
}

/* At each system call: nothing is there, or all of it; and the next merge is as if none was. */
static void a_merge_that_is_killed_leaves_all_or_nothing(void **state)
{
    (void)state;
    struct killed killed = make_killed("all-or-nothing");
    unsigned whole = 0;
    unsigned cleaned = 0;
    unsigned n = 1;
    for (; wio_test_killed_at(n, merge_in_child, &killed); n += WIO_TEST_KILL_STEP) {
        struct wio_merge_result result = {0};
        if (access(killed.dir, F_OK) == 0) {
            whole++;
        } else {
            assert_int_equal(merge_again(&killed, &result), WIO_OK);
        }
        cleaned += result.has_cleaned ? 1 : 0;
        expect_whole(killed.dir);
        assert_int_equal(access(killed.work, F_OK), -1);
        assert_ok(wio_io_remove_tree(killed.dir, NULL), NULL);
    }
    expect_whole(killed.dir);
    /* Few steps are left when all of it is there. */
    assert_true(n > 20 && (whole > 0 || WIO_TEST_KILL_STEP > 1) && cleaned > 0);
    killed_fini(&killed);
}

static void what_is_being_merged_is_left_alone(void **state)
{
    (void)state;
    struct killed killed = make_killed("busy");
    struct wio_merge_place place = {.dir_fd = -1, .lock_fd = -1};
    struct wio_merge_result result;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_merge_place_begin(&place, killed.dir, &err), &err);
    assert_int_equal(merge_again(&killed, &result), WIO_ERR_BUSY);
    assert_int_equal(access(killed.work, F_OK), 0);
    wio_merge_place_fini(&place);
    assert_int_equal(access(killed.work, F_OK), -1);
    assert_int_equal(merge_again(&killed, &result), WIO_OK);
    assert_int_equal(merge_again(&killed, &result), WIO_ERR_USAGE); /* it is there */
    killed_fini(&killed);
}

/* The status of a merge in a process of its own. */
static pid_t merge_beside(const struct killed *killed)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct wio_merge_result result;
        _exit(-(int)merge_again(killed, &result)); /* statuses are negative */
    }
    return pid;
}

/* Of merges to one name at the same time one makes it, the others say so and take nothing away. */
static void of_merges_at_once_one_is_published(void **state)
{
    (void)state;
    struct killed killed = make_killed("at-once");
    for (unsigned round = 0; round < 12; round++) {
        pid_t pids[4];
        unsigned made = 0;
        for (unsigned i = 0; i < 4; i++) {
            pids[i] = merge_beside(&killed);
        }
        for (unsigned i = 0; i < 4; i++) {
            int status;
            assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
            assert_true(WIFEXITED(status));
            made += WEXITSTATUS(status) == 0;
            assert_true(-WEXITSTATUS(status) == WIO_OK || -WEXITSTATUS(status) == WIO_ERR_BUSY ||
                        -WEXITSTATUS(status) == WIO_ERR_USAGE);
        }
        assert_int_equal(made, 1);
        expect_whole(killed.dir);
        assert_int_equal(access(killed.work, F_OK), -1);
        assert_ok(wio_io_remove_tree(killed.dir, NULL), NULL);
    }
    killed_fini(&killed);
}

/* Another trace has got the name while this one was made: it stays. */
static void a_trace_that_came_meanwhile_stays(void **state)
{
    (void)state;
    struct killed killed = make_killed("meanwhile");
    struct wio_merge_place place = {.dir_fd = -1, .lock_fd = -1};
    struct wio_error err = WIO_ERROR_INIT;
    char name[600];
    assert_ok(wio_merge_place_begin(&place, killed.dir, &err), &err);
    assert_int_equal(mkdir(killed.dir, 0777), 0); /* empty: a plain rename would replace it */
    assert_status(wio_merge_place_publish(&place, &err), WIO_ERR_USAGE, &err);
    wio_merge_place_fini(&place);
    (void)snprintf(name, sizeof(name), "%s/lock", killed.dir);
    assert_int_equal(access(name, F_OK), -1);
    assert_int_equal(access(killed.work, F_OK), -1);
    assert_int_equal(rmdir(killed.dir), 0);
    killed_fini(&killed);
}

static void files_of_others_are_left_alone(void **state)
{
    (void)state;
    struct killed killed = make_killed("others");
    struct wio_merge_result result;
    char name[600];
    assert_int_equal(mkdir(killed.work, 0777), 0);
    (void)snprintf(name, sizeof(name), "%s/merged.seg.tmp", killed.work);
    wio_test_write(name, "x", 1);
    (void)snprintf(name, sizeof(name), "%s/letter.txt", killed.work);
    wio_test_write(name, "x", 1);
    assert_int_equal(merge_again(&killed, &result), WIO_ERR_USAGE);
    assert_int_equal(access(name, F_OK), 0);
    (void)snprintf(name, sizeof(name), "%s/merged.seg.tmp", killed.work);
    assert_int_equal(access(name, F_OK), 0);
    assert_ok(wio_io_remove_tree(killed.work, NULL), NULL);
    assert_int_equal(symlink("/tmp", killed.work), 0); /* nor followed */
    assert_int_equal(merge_again(&killed, &result), WIO_ERR_IO);
    killed_fini(&killed);
}

int main(void)
{
    wio_test_in_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_that_go_round_are_named),
        cmocka_unit_test(marks_with_the_flag_of_an_io_are_none),
        cmocka_unit_test(a_merge_that_is_killed_leaves_all_or_nothing),
        cmocka_unit_test(what_is_being_merged_is_left_alone),
        cmocka_unit_test(of_merges_at_once_one_is_published),
        cmocka_unit_test(a_trace_that_came_meanwhile_stays),
        cmocka_unit_test(files_of_others_are_left_alone),
    };
    return WIO_RUN(tests);
}
