/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of how transfers lie in time and beside each other, on traces made by hand. */
#include "findings_script.h"

#include <string.h>

#define MS 1000000ull

/* ---- io_amplification ---- */

/* `step` apart in a file, through a buffer of 4096 bytes. */
static void read_records(unsigned step)
{
    begin_script("fopen t=0 dur=1000 path=/d/a res=3 at=0x10\n");
    for (unsigned i = 0; i < 1000; i++) {
        add("fread t=%llu dur=900000 fd=3 path=/d/a size=64 res=64 at=0x20\n", (i + 1) * MS);
        if (step > 64 || i % 64 == 0) {
            add("read t=%llu dur=800000 fd=3 path=/d/a off=%u size=4096 res=4096 at=0x21 caused\n",
                (i + 1) * MS + 1000, i * step / 4096 * 4096);
        }
    }
}

static void a_buffer_filled_for_each_record(void **state)
{
    (void)state;
    read_records(8192);
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_finding *finding = &run.of->findings.items[0];
    assert_string_equal(finding->kind, "io_amplification");
    assert_string_equal(finding->title, "3.91 MiB moved by fread, 64 times what was asked for");
    run_end(&run);
}

static void a_buffer_that_is_used_up(void **state)
{
    (void)state;
    read_records(64);
    struct run run = explain_with(wio_thresholds_default());
    for (uint32_t i = 0; i < run.of->findings.count; i++) {
        assert_string_not_equal(run.of->findings.items[i].kind, "io_amplification");
    }
    run_end(&run);
}

/* ---- blocking_io ---- */

static void compute_and_write(unsigned steps, unsigned computing_ms)
{
    begin_script(OPEN);
    for (unsigned i = 0; i < steps; i++) {
        add("write t=%llu dur=10000000 fd=3 path=/d/a off=%u size=1000000 at=0x20\n",
            computing_ms * MS + i * (10 + computing_ms) * MS, i * 1000000);
    }
}

static void writes_that_could_pass_while_the_thread_computes(void **state)
{
    (void)state;
    compute_and_write(20, 8);
    expect("blocking_io");
}

static void writes_with_little_computing_between(void **state)
{
    (void)state;
    compute_and_write(20, 2);
    expect("other_io");
}

static void few_writes_between_computing(void **state)
{
    (void)state;
    compute_and_write(10, 8);
    expect("other_io");
}

/* A small part of the run. */
static void short_writes_between_computing(void **state)
{
    (void)state;
    compute_and_write(20, 60);
    expect("other_io");
}

/* ---- concurrent_io ---- */

/* One thread writes ten parts in 1 ms each; then four do at a time, in `ms` each. */
static void write_at_a_time(unsigned ms)
{
    begin_script("process 1\nstream 0 1\nstream 0 2\nstream 0 3\nstream 0 4\n");
    for (unsigned i = 0; i < 10; i++) {
        add("write stream=0 t=%llu dur=1000000 fd=3 path=/d/a.0 off=%u size=1000000 at=0x20\n",
            i * MS, i * 1000000);
    }
    for (unsigned i = 0; i < 48; i++) {
        unsigned thread = i % 4;
        add("write stream=%u t=%llu dur=%llu fd=3 path=/d/a.%u off=%u size=1000000 at=0x20\n",
            thread, 10 * MS + i / 4 * ms * MS + thread, ms * MS - 10, thread,
            (10 + i / 4) * 1000000);
    }
}

static void four_that_move_less_than_one(void **state)
{
    (void)state;
    write_at_a_time(20);
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_finding *finding = &run.of->findings.items[0];
    assert_string_equal(finding->kind, "concurrent_io");
    assert_string_equal(finding->title, "up to 4 writes at a time move less than fewer do");
    run_end(&run);
}

static void four_that_move_as_much_as_one(void **state)
{
    (void)state;
    write_at_a_time(4);
    expect("other_io");
}

/* ---- write_burst ---- */

/* Twice: `computing_ms`, then 30 writes, the last 20 of which stand for 20 ms. */
static void write_bursts(unsigned computing_ms)
{
    unsigned long long t = 1 * MS;

    begin_script(OPEN);
    for (unsigned burst = 0; burst < 2; burst++) {
        t += computing_ms * MS;
        for (unsigned i = 0; i < 30; i++) {
            unsigned long long ns = i < 10 ? MS / 10 : 20 * MS;
            add("write t=%llu dur=%llu fd=3 path=/d/a off=%u size=1000000 at=0x20\n", t, ns,
                (burst * 30 + i) * 1000000);
            t += ns;
        }
    }
}

static void bursts_that_computing_would_have_room_for(void **state)
{
    (void)state;
    write_bursts(900);
    expect("write_burst");
}

static void more_than_computing_has_room_for(void **state)
{
    (void)state;
    write_bursts(100);
    expect("page_cache_throttling");
}

/* ---- aggregators ---- */

/* Two ranks write together; `writers` of them transfer parts of `bytes`. */
static void write_together(unsigned writers, unsigned bytes)
{
    begin_script("process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n");
    for (unsigned rank = 0; rank < 2; rank++) {
        add("MPI_File_write_all stream=%u t=0 dur=400000000 path=/d/a size=1000000 at=0x20\n",
            rank);
        for (unsigned i = 0; rank < writers && i < 200; i++) {
            add("pwrite stream=%u t=%llu dur=1900000 fd=3 path=/d/a off=%u size=%u at=0x21 "
                "caused\n",
                rank, i * 2 * MS + 1000, (2 * i + rank) * bytes, bytes);
        }
    }
}

static void each_rank_writes_small_parts_in_a_collective_call(void **state)
{
    (void)state;
    write_together(2, 1000);
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_finding *finding = &run.of->findings.items[0];
    assert_string_equal(finding->kind, "aggregators");
    assert_string_equal(finding->title,
                        "2 ranks on 1 host transfer parts of 1000 B in MPI_File_write_all");
    run_end(&run);
}

static void one_rank_of_the_host_writes_them(void **state)
{
    (void)state;
    write_together(1, 1000);
    struct run run = explain_with(wio_thresholds_default());
    assert_string_not_equal(run.of->findings.items[0].kind, "aggregators");
    run_end(&run);
}

static void each_rank_writes_large_parts_in_a_collective_call(void **state)
{
    (void)state;
    write_together(2, 1048576);
    expect("other_io");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_filled_for_each_record),
        cmocka_unit_test(a_buffer_that_is_used_up),
        cmocka_unit_test(writes_that_could_pass_while_the_thread_computes),
        cmocka_unit_test(writes_with_little_computing_between),
        cmocka_unit_test(few_writes_between_computing),
        cmocka_unit_test(short_writes_between_computing),
        cmocka_unit_test(four_that_move_less_than_one),
        cmocka_unit_test(four_that_move_as_much_as_one),
        cmocka_unit_test(bursts_that_computing_would_have_room_for),
        cmocka_unit_test(more_than_computing_has_room_for),
        cmocka_unit_test(each_rank_writes_small_parts_in_a_collective_call),
        cmocka_unit_test(one_rank_of_the_host_writes_them),
        cmocka_unit_test(each_rank_writes_large_parts_in_a_collective_call),
    };
    return WIO_RUN(tests);
}
