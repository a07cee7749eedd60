/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <whyio/segment.h>
#include <whyio/trace.h>

#include "explain/select.h"
#include "ops/calls.h"

static const char *const paths[] = {"/scratch/run1/out.h5", "/scratch/run1", "/scratch/run10/x",
                                    "/home/u/out.h5",       "pipe:[7]",      "/a*b"};

/* A trace that names these paths. */
static struct wio_trace *open_trace(void)
{
    static unsigned number;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = ""};
    struct wio_segment *segment;
    struct wio_trace *trace;
    char name[600];
    uint32_t id;

    snprintf(name, sizeof(name), "%s/t%u", wio_test_dir(), number++);
    assert_int_equal(mkdir(name, 0700), 0);
    strcat(name, "/a.seg");
    assert_ok(wio_segment_create(name, &params, &segment, &err), &err);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_ok(wio_segment_string(segment, paths[i], strlen(paths[i]), &id, &err), &err);
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
    *strrchr(name, '/') = '\0';
    assert_ok(wio_trace_open(name, &trace, &err), &err);
    return trace;
}

/* `want`: a bit for each of the paths that the pattern must select. */
static void expect_paths(const struct wio_trace *trace, const char *pattern, unsigned want)
{
    struct wio_wanted wanted = {0};
    unsigned found = 0;

    assert_ok(wio_select_paths(&wanted, trace, pattern, NULL), NULL);
    assert_true(wanted.path_count > 0); /* an empty list would let everything through */
    for (size_t k = 0; k < wanted.path_count; k++) {
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
            if (strcmp(wio_trace_string(trace, wanted.paths[k], NULL), paths[i]) == 0) {
                found |= 1u << i;
            }
        }
    }
    assert_int_equal(found, want);
    wio_wanted_fini(&wanted);
}

static void paths_by_name_place_and_pattern(void **state)
{
    struct wio_trace *trace = open_trace();

    (void)state;
    expect_paths(trace, "/scratch/run1", 0x03);
    expect_paths(trace, "/scratch/run1/", 0x03);
    expect_paths(trace, "/scratch", 0x07);
    expect_paths(trace, "/", 0x2f);
    expect_paths(trace, "out.h5", 0x09);
    expect_paths(trace, "u/out.h5", 0x08);
    expect_paths(trace, "t.h5", 0);
    expect_paths(trace, "*.h5", 0x09);
    expect_paths(trace, "/scratch/*", 0x07);
    expect_paths(trace, "/scratch/run?", 0x02);
    expect_paths(trace, "pipe:\\[*", 0x10);
    expect_paths(trace, "/nowhere", 0);
    expect_paths(trace, "", 0);
    wio_trace_close(trace);
}

static void ranks_and_ranges(void **state)
{
    static const int32_t want[] = {0, 4, 5, 6, 7, -1, 2};
    struct wio_wanted wanted = {0};

    (void)state;
    assert_ok(wio_select_ranks(&wanted, "0,4-7,none", NULL), NULL);
    assert_ok(wio_select_ranks(&wanted, "2", NULL), NULL);
    assert_int_equal(wanted.rank_count, 7);
    assert_memory_equal(wanted.ranks, want, sizeof(want));
    wio_wanted_fini(&wanted);
}

static void ranks_that_make_no_sense(void **state)
{
    static const char *const texts[] = {
        "", ",", "1,", "x", "-1", "3-1", "1-", "0-99999999999", "99999999999", "1 2", "nonesuch"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct wio_wanted wanted = {0};
        struct wio_error err = WIO_ERROR_INIT;
        assert_status(wio_select_ranks(&wanted, texts[i], &err), WIO_ERR_USAGE, &err);
        assert_non_null(strstr(err.message, "expected"));
        wio_wanted_fini(&wanted);
    }
}

static void operations_by_name(void **state)
{
    struct wio_wanted wanted = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_filter filter = {0};

    (void)state;
    assert_ok(wio_select_ops(&wanted, "pread,open", &err), &err);
    assert_int_equal(wanted.op_count, 2);
    assert_int_equal(wanted.ops[0], WIO_OP_pread);
    assert_int_equal(wanted.ops[1], WIO_OP_open);
    wio_wanted_apply(&wanted, &filter);
    assert_int_equal(filter.op_count, 2);
    assert_int_equal(filter.rank_count + filter.path_count, 0);
    assert_status(wio_select_ops(&wanted, "raed", &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "'read'"));
    assert_status(wio_select_ops(&wanted, "", &err), WIO_ERR_USAGE, &err);
    assert_status(wio_select_ops(&wanted, "read,,write", &err), WIO_ERR_USAGE, &err);
    wio_wanted_fini(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_by_name_place_and_pattern),
        cmocka_unit_test(ranks_and_ranges),
        cmocka_unit_test(ranks_that_make_no_sense),
        cmocka_unit_test(operations_by_name),
    };
    return WIO_RUN(tests);
}
