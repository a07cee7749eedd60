/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads' time goes, on traces made by hand. */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "explain/digest/digest.h"
#include "ops/calls.h"
#include "support/script_open.h"

#define S "000000000"
#define SECOND UINT64_C(1000000000)

struct run {
    struct wio_trace *trace;
    struct wio_digest *of;
};

static struct run digest(const char *script, uint32_t rows)
{
    const struct wio_digest_params params = {.struct_size = sizeof(params), .rows = rows};
    struct wio_error err = WIO_ERROR_INIT;
    struct run run = {.trace = script_open(script)};

    assert_ok(wio_digest_create(run.trace, &params, &run.of, &err), &err);
    return run;
}

static void end(struct run *run)
{
    wio_digest_destroy(run->of);
    wio_trace_close(run->trace);
}

static void add_up(const struct wio_digest *of)
{
    uint64_t sum = 0;

    for (unsigned kind = 0; kind < WIO_STEP_KINDS; kind++) {
        sum += of->time_ns[kind];
    }
    assert_int_equal(sum, of->threads_ns);
}

static const struct wio_digest_op *files(const struct run *run, unsigned op)
{
    return &run->of->ops[WIO_DIGEST_FILES][op];
}

/* One second each: write, a gap of computing (1 s of 2 s ran), a wait, a write that was 0.25 s
 * without a processor. */
static void each_nanosecond_counts_once(void **state)
{
    struct run run =
        digest("process 1 rank=0\nstream 0 1\n"
               "write stream=0 t=5" S " dur=1" S " fd=3 path=/a off=0 size=4096 at=0x20\n"
               "MPI_Barrier stream=0 t=8" S " dur=1" S " gap_cpu=1" S " at=0x30\n"
               "write stream=0 t=9" S " dur=1" S " fd=3 path=/a off=0 size=4096"
               " dur_cpu=750000000 at=0x20\n"
               "close stream=0 t=12" S " dur=0 fd=3 path=/a gap_cpu=1" S " gap_slept=1 at=0x40\n",
               4);

    (void)state;
    assert_int_equal(run.of->time_ns[WIO_STEP_IO], 2 * SECOND - SECOND / 4);
    assert_int_equal(run.of->time_ns[WIO_STEP_WAIT], SECOND);
    assert_int_equal(run.of->time_ns[WIO_STEP_COMPUTE], 2 * SECOND);
    assert_int_equal(run.of->time_ns[WIO_STEP_CPU_WAIT], SECOND + SECOND / 4);
    assert_int_equal(run.of->time_ns[WIO_STEP_SLEPT], SECOND);
    assert_int_equal(run.of->threads_ns, 7 * SECOND);
    assert_int_equal(run.of->threads, 1);
    add_up(run.of);
    end(&run);
}

/* The write of a stdio call is within the call: its time is once in the thread, its bytes once in
 * the file, and the line is that of the call. */
static void what_is_nested_counts_once(void **state)
{
    struct run run = digest("process 1\nstream 0 1\n"
                            "fflush stream=0 t=1" S " dur=2" S " fd=3 path=/a at=0x50\n"
                            "write stream=0 t=2" S " dur=1" S " fd=3 path=/a off=0 size=100"
                            " at=0x60 caused\n",
                            4);

    (void)state;
    assert_int_equal(run.of->threads_ns, 2 * SECOND);
    assert_int_equal(run.of->time_ns[WIO_STEP_IO], 2 * SECOND);
    assert_int_equal(run.of->file_count, 1);
    assert_int_equal(run.of->files[0].sums.count, 1);
    assert_int_equal(run.of->files[0].sums.bytes_written, 100);
    assert_int_equal(run.of->line_count, 1);
    struct wio_frame frame;
    assert_int_equal(wio_trace_source(run.trace, run.of->lines[0].source, &frame, 1), 1);
    assert_int_equal(frame.address, 0x50);
    add_up(run.of);
    end(&run);
}

static void pipes_are_waited_for(void **state)
{
    struct run run =
        digest("process 1\nstream 0 1\n"
               "read stream=0 t=0 dur=3" S " fd=0 path=pipe:[7] size=10 at=0x10\n"
               "read stream=0 t=3" S " dur=1" S " fd=4 path=/a off=0 size=10 at=0x20\n",
               4);
    const struct wio_digest_op *pipes = &run.of->ops[WIO_DIGEST_CHANNELS][WIO_OP_read];

    (void)state;
    assert_int_equal(run.of->time_ns[WIO_STEP_WAIT], 3 * SECOND);
    assert_int_equal(run.of->time_ns[WIO_STEP_IO], SECOND);
    assert_int_equal(pipes->sums.time_ns, 3 * SECOND);
    assert_int_equal(files(&run, WIO_OP_read)->sums.time_ns, SECOND);
    assert_int_equal(run.of->file_count, 1);
    end(&run);
}

static void the_longest_rows_come_first(void **state)
{
    struct run run = digest("process 1\nprocess 2\nstream 0 1\nstream 1 2\n"
                            "write stream=0 t=0 dur=10 fd=3 path=/a off=0 size=1 at=0x10\n"
                            "write stream=0 t=20 dur=30 fd=3 path=/b off=0 size=2 at=0x20\n"
                            "write stream=0 t=60 dur=20 fd=3 path=/c off=0 size=4 at=0x30\n"
                            "write stream=1 t=0 dur=25 fd=3 path=/a off=0 size=8 at=0x10\n",
                            2);

    (void)state;
    assert_int_equal(run.of->files_seen, 3);
    assert_int_equal(run.of->file_count, 2);
    assert_string_equal(wio_trace_string(run.trace, run.of->files[0].path, NULL), "/a");
    assert_int_equal(run.of->files[0].sums.time_ns, 35);
    assert_int_equal(run.of->files[0].sums.bytes_written, 9);
    assert_string_equal(wio_trace_string(run.trace, run.of->files[1].path, NULL), "/b");
    assert_int_equal(run.of->lines_seen, 3);
    assert_int_equal(run.of->line_count, 2);
    assert_int_equal(run.of->lines[0].sums.time_ns, 35);
    assert_int_equal(run.of->threads, 2);
    assert_int_equal(files(&run, WIO_OP_write)->time->count, 4);
    assert_int_equal(files(&run, WIO_OP_write)->size->max, 8);
    end(&run);
}

static void nothing_is_no_fault(void **state)
{
    struct run run = digest("process 1\nstream 0 1\n", 0);

    (void)state;
    assert_int_equal(run.of->threads_ns, 0);
    assert_int_equal(run.of->file_count, 0);
    assert_int_equal(run.of->line_count, 0);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_nanosecond_counts_once),
        cmocka_unit_test(what_is_nested_counts_once),
        cmocka_unit_test(pipes_are_waited_for),
        cmocka_unit_test(the_longest_rows_come_first),
        cmocka_unit_test(nothing_is_no_fault),
    };
    return WIO_RUN(tests);
}
