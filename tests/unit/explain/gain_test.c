/* SPDX-License-Identifier: Apache-2.0 */
/* Gains of changes, on traces made by hand. A flush costs 4 ms on the machine, a write nothing that
 * matters beside it. */
#include "support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"
#include "explain/gains/gain_change.h"
#include "explain/gains/gain_scope.h"
#include "explain/gains/network_fs.h"
#include "explain_run.h"
#include "predict/program.h"

#define HOST                                                                                       \
    "{\"bw_mem\": 1e10, \"bw_ramdisk\": 1e10, \"bw_reduced\": 1e10, \"bw_dev\": 1e8, "             \
    "\"bw_rdev\": 1e8, \"sc_w\": %s, \"sc_sw\": 4e-3, \"c_sk\": 0, \"bs\": 4096, \"bf\": 4096, "   \
    "\"limit_bg\": 1e9, \"limit_hard\": 2e9, \"dirty_expire\": 30%s}"

static char script[1 << 18];
static size_t used;
static char *host;

WIO_PRINTF(1, 2) static void add(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    used += (size_t)vsnprintf(script + used, sizeof(script) - used, format, args);
    va_end(args);
    assert_true(used < sizeof(script));
}

static void begin_script(void)
{
    used = 0;
    script[0] = '\0';
}

static void make_host(const char *sc_w, const char *members)
{
    char text[1024];
    free(host);
    host = wio_test_path("host.json");
    (void)snprintf(text, sizeof(text), HOST, sc_w, members);
    wio_test_write(host, text, strlen(text));
}

static int end_test(void **state)
{
    (void)state;
    free(host);
    host = NULL;
    return 0;
}

static struct run explain(uint32_t count)
{
    return run_explain(script,
                       (struct wio_explain_params){.thresholds = wio_thresholds_default(),
                                                   .gains = {.host = host, .count = count}});
}

/* 64 flushes of a line, a write before each. */
static void add_storm(unsigned t, const char *file, unsigned line, unsigned dur)
{
    for (unsigned i = 0; i < 64; i++) {
        add("pwrite t=%u dur=1000 fd=3 path=%s off=%u size=4096 at=0x10\n", t, file, i * 4096);
        add("fsync t=%u dur=%u fd=3 path=%s res=0 at=0x%x\n", t + 2000, dur, file, line);
        t += 5000000;
    }
}

static double predict(const struct run *run, const struct wio_change *change)
{
    struct wio_predict_params params = wio_predict_params_default();
    struct wio_program program = {0};
    struct wio_error err = WIO_ERROR_INIT;
    double seconds = NAN;
    params.host = host;
    params.changes = change;
    params.change_count = change != NULL;
    assert_ok(wio_program_init(&program, run->trace, &err), &err);
    assert_ok(wio_predict_seconds(&program, &params, &seconds, &err), &err);
    wio_program_fini(&program);
    return seconds;
}

static void assert_close(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9)) {
        fail_msg("%.9f, expected %.9f", a, b);
    }
}

/* Looks that are left away but for the first: no option of `whyio predict` says that. */
static void a_gain_of_what_is_left_away(void **state)
{
    (void)state;
    begin_script();
    for (unsigned i = 0; i < 100; i++) {
        add("stat t=%u dur=10000000 path=/d/a at=0x10\n", i * 10001000);
    }
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].kind, "stat_storm");
    assert_string_equal(run.of->findings.items[0].predict_options, "");
    assert_int_equal(gain->basis, WIO_GAIN_TRACE);
    assert_true(gain->gain_s > 0.985 && gain->gain_s < 0.995);
    run_end(&run);
}

/* A stream that is flushed after each line: the flushes take the time, and go. */
static void a_gain_of_flushes_of_a_stream(void **state)
{
    (void)state;
    begin_script();
    for (unsigned i = 0; i < 300; i++) {
        unsigned t = i * 5000000;
        add("fprintf t=%u dur=1000 fd=3 path=/d/log off=%u size=20 at=0x10\n", t, i * 20);
        add("fflush t=%u dur=4000000 fd=3 path=/d/log res=0 at=0x20\n", t + 2000);
        add("write t=%u dur=3990000 fd=3 path=/d/log off=%u size=20 at=0x20 caused\n", t + 3000,
            i * 20);
    }
    struct run run = explain(5);
    const struct wio_finding *finding = &run.of->findings.items[0];
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(finding->kind, "small_writes");
    assert_string_equal(finding->predict_options, "");
    assert_non_null(strstr(finding->change, "fflush"));
    assert_int_equal(gain->basis, WIO_GAIN_TRACE);
    assert_true(gain->gain_s > 0.99 * 298 * 4e-3 && gain->gain_s <= 300 * 4e-3);
    run_end(&run);
}

/* One size alone: gains of larger requests rest on what their bytes are assumed to cost. */
static void a_gain_that_rests_on_an_assumption_says_so(void **state)
{
    (void)state;
    begin_script();
    for (unsigned i = 0; i < 1000; i++) {
        add("pwrite t=%u dur=1000000 fd=3 path=/d/a off=%u size=100 at=0x10\n", i * 1001000,
            i * 100);
    }
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].kind, "small_writes");
    assert_int_equal(gain->basis, WIO_GAIN_TRACE);
    assert_true(gain->is_assumed);
    assert_true(gain->gain_s > 0.99 && gain->gain_s < 1.0);
    assert_true(gain->low_s < 0.1);
    run_end(&run);
}

static void a_gain_is_the_difference_of_two_predictions(void **state)
{
    (void)state;
    const struct wio_change change = {.kind = WIO_CHANGE_FSYNC_EVERY, .amount = 16};
    make_host("0", "");
    begin_script();
    add_storm(0, "/d/a", 0x20, 4000000);
    struct run run = explain(5);
    const struct wio_gains *gains = &run.of->gains;
    double before = predict(&run, NULL);
    double after = predict(&run, &change);
    assert_int_equal(gains->basis, WIO_GAIN_HOST);
    assert_string_equal(run.of->findings.items[0].kind, "sync_storm");
    assert_true(before - after > 60 * 4e-3 * 0.9); /* 60 flushes less */
    assert_close(gains->predicted_s, before);
    assert_close(gains->items[0].predicted_s, after);
    assert_close(gains->items[0].gain_s, (before - after) / before * gains->recorded_s);
    assert_true(isnan(gains->items[0].low_s) && isnan(gains->items[0].with_s));
    assert_string_equal(gains->items[0].why, "");
    run_end(&run);
}

/* What lies behind the last operation on a file is in no prediction: no change could save it. */
static void a_gain_is_no_part_of_what_is_not_predicted(void **state)
{
    (void)state;
    make_host("0", "");
    begin_script();
    add_storm(0, "/d/a", 0x20, 4000000);
    struct run first = explain(5);
    add("exit t=9000000000 dur=0\n");
    struct run longer = explain(5);
    assert_true(longer.of->duration_ns > 20 * first.of->duration_ns);
    assert_close(longer.of->gains.items[0].gain_s, first.of->gains.items[0].gain_s);
    run_end(&first);
    run_end(&longer);
}

/* Two lines flush: the change of one leaves the other's as they are, also in one file. */
static void a_change_is_of_its_finding_alone(void **state)
{
    (void)state;
    static const char *const files[] = {"/d/a", "/d/b"};
    const struct wio_change all = {.kind = WIO_CHANGE_FSYNC_EVERY, .amount = 16};
    make_host("0", "");
    for (int i = 0; i < 2; i++) {
        begin_script();
        add_storm(0, "/d/a", 0x20, 4000000);
        add_storm(400000000, files[i], 0x30, 3000000);
        struct run run = explain(5);
        const struct wio_gains *gains = &run.of->gains;
        double before = predict(&run, NULL);
        double both = before - predict(&run, &all);
        double first = before - gains->items[0].predicted_s;
        double second = before - gains->items[1].predicted_s;
        assert_string_equal(run.of->findings.items[1].kind, "sync_storm");
        assert_true(first > 0.4 * both && first < 0.6 * both);
        assert_true(second > 0.4 * both && second < 0.6 * both);
        run_end(&run);
    }
}

/* Without the flushes between them the writes could be one, which alone they cannot. */
static void what_another_finding_hides_is_told(void **state)
{
    (void)state;
    make_host("1e-3", "");
    begin_script();
    for (unsigned i = 0; i < 128; i++) {
        add("pwrite t=%u dur=2000000 fd=3 path=/d/a off=%u size=4096 at=0x10\n", i * 7000000,
            i * 4096);
        add("fsync t=%u dur=4000000 fd=3 path=/d/a res=0 at=0x20\n", i * 7000000 + 2001000);
    }
    struct run run = explain(5);
    const struct wio_gain *gains = run.of->gains.items;
    assert_string_equal(run.of->findings.items[0].kind, "sync_storm");
    assert_string_equal(run.of->findings.items[1].kind, "small_writes");
    assert_true(isnan(gains[0].with_s));
    assert_close(gains[1].gain_s, 0);
    assert_true(gains[1].with_s > 0.05);
    run_end(&run);
}

/* An exchange of data between ranks has no cost in this HOST.json. */
static void what_cannot_be_predicted_has_a_reason(void **state)
{
    (void)state;
    make_host("0", "");
    begin_script();
    add("process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n");
    for (unsigned i = 0; i < 256; i++) {
        unsigned t = i / 2 * 1000000;
        add("MPI_File_write_at stream=%u t=%u dur=900000 fd=3 path=/d/a off=%u size=4096 at=0x10\n",
            i % 2, t, i * 4096);
        add("pwrite stream=%u t=%u dur=880000 fd=3 path=/d/a off=%u size=4096 at=0x10\n", i % 2,
            t + 10000, i * 4096);
    }
    struct run run = explain(5);
    assert_string_equal(run.of->findings.items[0].kind, "independent_mpi_io");
    assert_true(isnan(run.of->gains.items[0].gain_s));
    assert_non_null(strstr(run.of->gains.items[0].why, "net_bw"));
    run_end(&run);
}

static void only_the_first_findings_get_one(void **state)
{
    (void)state;
    make_host("0", "");
    begin_script();
    add_storm(0, "/d/a", 0x20, 4000000);
    add_storm(400000000, "/d/b", 0x30, 3000000);
    struct run run = explain(1);
    assert_false(isnan(run.of->gains.items[0].gain_s));
    assert_true(isnan(run.of->gains.items[1].gain_s));
    assert_string_equal(run.of->gains.items[1].why, "");
    run_end(&run);
    run = explain(0);
    assert_int_equal(run.of->gains.basis, WIO_GAIN_NONE);
    assert_true(isnan(run.of->gains.items[0].gain_s) && isnan(run.of->gains.predicted_s));
    run_end(&run);
}

/* 200 MB are written at once, beyond the dirty limit of the machine. */
static void phases_of_the_page_cache_are_told(void **state)
{
    (void)state;
    char text[1024];
    host = wio_test_path("small.json");
    (void)snprintf(text, sizeof(text), "%s",
                   "{\"bw_mem\": 1e10, \"bw_ramdisk\": 1e9, \"bw_reduced\": 1e9, \"bw_dev\": 1e8, "
                   "\"bw_rdev\": 1e8, \"sc_w\": 0, \"sc_sw\": 0, \"c_sk\": 0, \"bs\": 4096, "
                   "\"bf\": 4096, \"limit_bg\": 2e7, \"limit_hard\": 4e7, \"dirty_expire\": 30}");
    wio_test_write(host, text, strlen(text));
    begin_script();
    for (unsigned i = 0; i < 200; i++) {
        add("pwrite t=%u dur=1000000 fd=3 path=/d/a off=%u size=1000000 at=0x10\n", i * 1000000,
            i * 1000000);
    }
    struct run run = explain(5);
    const struct wio_cache_phases *cache = &run.of->gains.cache;
    uint64_t writes = 0;
    assert_true(cache->count >= 2);
    assert_int_equal(cache->items[0].state, WIO_MODEL_STATE_FREE);
    assert_int_equal(cache->items[cache->count - 1].state, WIO_MODEL_STATE_THROTTLE);
    for (uint32_t i = 0; i < cache->count; i++) {
        writes += cache->items[i].writes;
    }
    assert_int_equal(writes, 200);
    run_end(&run);
    free(host);
    host = NULL;
    run = explain(5);
    assert_int_equal(run.of->gains.cache.count, 0);
    run_end(&run);
}

static void a_wrong_host_is_an_error_whatever_was_found(void **state)
{
    (void)state;
    struct wio_explain_params params = {.struct_size = sizeof(params),
                                        .thresholds = wio_thresholds_default()};
    struct wio_explanation *none = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = script_open("pwrite t=0 dur=1000 fd=3 path=/d/a off=0 size=1\n");
    host = wio_test_path("bad.json");
    wio_test_write(host, "{", 1);
    params.gains = (struct wio_gain_params){.host = host, .count = 5};
    assert_int_equal(wio_explain(trace, &params, &none, &err), WIO_ERR_FORMAT);
    assert_string_equal(err.file, host);
    assert_null(none);
    wio_trace_close(trace);
}

static void figures_in_doubt_are_told(void **state)
{
    (void)state;
    make_host("0", ", \"trusted\": false, \"doubts\": [\"the disk was busy\"]");
    begin_script();
    add_storm(0, "/d/a", 0x20, 4000000);
    struct run run = explain(5);
    assert_non_null(strstr(run.of->gains.remarks[WIO_GAIN_DOUBTED], "the disk was busy"));
    assert_string_equal(run.of->gains.remarks[WIO_GAIN_UNLIKE], "");
    run_end(&run);
    make_host("0", ", \"trusted\": false");
    run = explain(5);
    assert_string_equal(run.of->gains.remarks[WIO_GAIN_DOUBTED],
                        "the figures of HOST.json are in doubt, and the gains with them");
    run_end(&run);
}

/* ---- fitted from the trace ---- */

/* Flushes of 4 KiB, then one of 64 KiB if `has_large`. */
static void add_flushes(bool has_large, unsigned large_ns)
{
    add_storm(0, "/d/a", 0x20, 4000000);
    if (has_large) {
        add("pwrite t=400000000 dur=1000 fd=3 path=/d/b off=0 size=65536 at=0x40\n");
        add("fsync t=400002000 dur=%u fd=3 path=/d/b res=0 at=0x50\n", large_ns);
    }
}

static struct wio_gain fitted_gain(bool has_large, unsigned large_ns)
{
    begin_script();
    add_flushes(has_large, large_ns);
    struct run run = explain(5);
    struct wio_gain gain = run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].kind, "sync_storm");
    assert_int_equal(run.of->gains.basis, WIO_GAIN_TRACE);
    assert_int_equal(gain.basis, WIO_GAIN_TRACE);
    assert_close(run.of->gains.predicted_s, run.of->gains.recorded_s);
    run_end(&run);
    return gain;
}

/* One flush for 16: 60 of 64 go. What the 4 that are left take is known where one was as large. */
static void without_a_machine_costs_are_fitted(void **state)
{
    (void)state;
    struct wio_gain gain = fitted_gain(true, 4000000);
    assert_true(fabs(gain.gain_s - 60 * 4e-3) < 1e-3);
    assert_true(gain.low_s > 57 * 4e-3 && gain.low_s <= gain.gain_s);
    assert_true(gain.high_s < 62 * 4e-3 && gain.high_s >= gain.gain_s);
    gain = fitted_gain(true, 34000000);
    assert_true(fabs(gain.gain_s - (64 * 4e-3 - 4 * 34e-3)) < 1e-3);
}

/* 16 times the bytes may take 16 times as long, or no longer. In between an assumption tells. */
static void what_was_not_seen_is_a_range(void **state)
{
    (void)state;
    struct wio_gain gain = fitted_gain(false, 0);
    assert_true(gain.is_assumed);
    assert_true(fabs(gain.gain_s - (60 * 4e-3 - 4 * 61440 / 500e6)) < 1e-3);
    assert_true(fabs(gain.low_s) < 1e-3);
    assert_true(fabs(gain.high_s - 60 * 4e-3) < 1e-3);
    assert_string_equal(gain.why, "");
}

/* Of large requests the bytes take most of the time: nothing is assumed of them. */
static void what_is_large_has_a_range_alone(void **state)
{
    (void)state;
    begin_script();
    for (unsigned i = 0; i < 64; i++) {
        add("pwrite t=%u dur=1000 fd=3 path=/d/a off=%u size=131072 at=0x10\n", i * 5000000,
            i * 131072);
        add("fsync t=%u dur=4000000 fd=3 path=/d/a res=0 at=0x20\n", i * 5000000 + 2000);
    }
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].kind, "sync_storm");
    assert_true(isnan(gain->gain_s) && isnan(gain->predicted_s) && !gain->is_assumed);
    assert_true(fabs(gain->low_s) < 1e-3);
    assert_true(fabs(gain->high_s - 60 * 4e-3) < 1e-3);
    run_end(&run);
}

static void larger_transfers_are_fitted(void **state)
{
    (void)state;
    begin_script();
    for (unsigned i = 0; i < 256; i++) {
        add("pread t=%u dur=2000000 fd=3 path=/d/a off=%u size=1024 res=1024 at=0x10\n",
            i * 2100000, i * 1024);
    }
    for (unsigned i = 0; i < 6; i++) {
        add("pread t=%u dur=10000000 fd=4 path=/d/b off=%u size=1048576 res=1048576 at=0x20\n",
            600000000 + i * 10100000, i * 1048576);
    }
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].kind, "small_reads");
    /* one of 256 KiB: a quarter of the way from 2 to 10 ms */
    assert_true(fabs(gain->gain_s - (256 * 2e-3 - 4e-3)) < 1e-3);
    assert_true(gain->low_s <= gain->gain_s && gain->gain_s <= gain->high_s);
    assert_true(gain->low_s > 255 * 2e-3 - 10e-3);
    run_end(&run);
}

/* A write that does not wait takes no longer than one that did; that it is a copy is assumed. */
static void methods_that_were_not_seen_are_bounded(void **state)
{
    (void)state;
    begin_script();
    add("open t=0 dur=1000 path=/d/a res=3 a0=0x101001\n"); /* O_WRONLY | O_SYNC */
    for (unsigned i = 0; i < 64; i++) {
        add("pwrite t=%u dur=4000000 fd=3 path=/d/a off=%u size=65536 res=65536 at=0x10\n",
            10000 + i * 4100000, i * 65536);
    }
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].predict_options, "--sync=off");
    assert_true(gain->is_assumed);
    assert_true(fabs(gain->gain_s - 64 * (4e-3 - 65536 / 500e6)) < 1e-3);
    assert_true(fabs(gain->low_s) < 1e-6);
    assert_true(fabs(gain->high_s - 64 * 4e-3) < 1e-3);
    run_end(&run);
}

/* The machine's model is that of a local page cache. */
static void on_network_file_systems_gains_are_fitted(void **state)
{
    (void)state;
    make_host("0", "");
    begin_script();
    add("file /d/a regular fs=lustre\n");
    add_flushes(false, 0);
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_int_equal(run.of->gains.basis, WIO_GAIN_HOST);
    assert_int_equal(gain->basis, WIO_GAIN_TRACE);
    assert_string_equal(gain->network, "lustre");
    assert_true(gain->high_s > 0.2);
    run_end(&run);
}

/* What ranks take to exchange data is in no trace: between nothing, and 256 KiB at 500 MB/s with
 * 50 us a message. */
static void an_exchange_is_bounded(void **state)
{
    (void)state;
    begin_script();
    add("process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n");
    for (unsigned i = 0; i < 512; i++) {
        unsigned t = i / 2 * 1000000;
        add("MPI_File_write_at stream=%u t=%u dur=900000 fd=3 path=/d/a off=%u size=512 at=0x10\n",
            i % 2, t, i * 512);
        add("pwrite stream=%u t=%u dur=880000 fd=3 path=/d/a off=%u size=512 at=0x10\n", i % 2,
            t + 10000, i * 512);
    }
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].kind, "independent_mpi_io");
    assert_int_equal(gain->basis, WIO_GAIN_TRACE);
    assert_true(gain->low_s < gain->gain_s && gain->gain_s < gain->high_s);
    assert_true(gain->gain_s > 0.19 && gain->gain_s < 0.226);
    run_end(&run);
}

/* A larger buffer of stdio saves requests. */
static void larger_buffers_are_fewer_requests(void **state)
{
    (void)state;
    begin_script();
    add("process 10\nstream 0 10\n");
    for (unsigned i = 0; i < 512; i++) {
        add("fwrite stream=0 t=%u dur=1000000 fd=3 path=/d/a off=%u size=4096 at=0x10\n",
            i * 1010000, i * 4096);
        add("write stream=0 t=%u dur=990000 fd=3 path=/d/a off=%u size=4096 at=0x10 "
            "caused\n",
            i * 1010000 + 5000, i * 4096);
    }
    struct run run = explain(5);
    const struct wio_gain *gain = &run.of->gains.items[0];
    assert_string_equal(run.of->findings.items[0].kind, "stdio_bulk_data");
    assert_int_equal(gain->basis, WIO_GAIN_TRACE);
    assert_true(gain->is_assumed);
    /* two of 1 MiB: 2 * (0.99 + 2.1 ms) of 507 ms stay */
    assert_true(gain->gain_s > 0.48 && gain->gain_s < 0.507);
    assert_true(gain->low_s <= 0);
    run_end(&run);
}

/* ---- what options mean ---- */

static void options_of_findings_are_changes(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        enum wio_change_kind kind;
        uint64_t amount;
    } changes[] = {{"--fsync-every=16", WIO_CHANGE_FSYNC_EVERY, 16},
                   {"--aggregate=1M", WIO_CHANGE_AGGREGATE, 1 << 20},
                   {"--collective=on", WIO_CHANGE_COLLECTIVE, 0},
                   {"--merge-files", WIO_CHANGE_MERGE_FILES, 0},
                   {"--merge-files=1M", WIO_CHANGE_MERGE_FILES, 1 << 20},
                   {"--sort=64K", WIO_CHANGE_SORT, 1 << 16},
                   {"--no-polling", WIO_CHANGE_NO_POLLING, 0},
                   {"--read-maps=1M", WIO_CHANGE_READ_MAPS, 1 << 20},
                   {"--balance", WIO_CHANGE_BALANCE, 0}};
    struct wio_gain_change change;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        assert_true(wio_gain_change_read(changes[i].options, &change));
        assert_false(change.is_setting);
        assert_int_equal(change.change.kind, changes[i].kind);
        assert_int_equal(change.change.amount, changes[i].amount);
    }
    assert_true(wio_gain_change_read("--sync=off", &change));
    assert_true(change.is_setting);
    assert_int_equal(change.whatif.sync, WIO_PREDICT_OFF);
    assert_true(wio_gain_change_read("--bf=1M", &change));
    assert_true(change.is_setting && change.whatif.bf > 1048575 && change.whatif.bf < 1048577);
}

static void other_options_are_none(void **state)
{
    (void)state;
    static const char *const options[] = {"",          "--",           "--fsync-every",  "--bf",
                                          "--sync=no", "--balanced",   "--balance=7",    "balance",
                                          "--cpus=4",  "--aggregate=", "--fsync-every=0"};
    struct wio_gain_change change;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        assert_false(wio_gain_change_read(options[i], &change));
    }
}

static void file_systems_of_a_network(void **state)
{
    (void)state;
    static const char *const shared[] = {"nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs"};
    static const char *const own[] = {"ext4", "xfs", "tmpfs", "fuse", "overlay", "nfsd", ""};
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
        assert_string_equal(wio_network_fs_type(shared[i]), shared[i]);
        assert_null(wio_network_fs_type(own[i]));
    }
}

#define TEST(function) cmocka_unit_test_teardown(function, end_test)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_gain_of_what_is_left_away),
        TEST(a_gain_of_flushes_of_a_stream),
        TEST(a_gain_that_rests_on_an_assumption_says_so),
        TEST(a_gain_is_the_difference_of_two_predictions),
        TEST(a_gain_is_no_part_of_what_is_not_predicted),
        TEST(a_change_is_of_its_finding_alone),
        TEST(what_another_finding_hides_is_told),
        TEST(what_cannot_be_predicted_has_a_reason),
        TEST(only_the_first_findings_get_one),
        TEST(phases_of_the_page_cache_are_told),
        TEST(a_wrong_host_is_an_error_whatever_was_found),
        TEST(figures_in_doubt_are_told),
        TEST(without_a_machine_costs_are_fitted),
        TEST(what_was_not_seen_is_a_range),
        TEST(what_is_large_has_a_range_alone),
        TEST(larger_transfers_are_fitted),
        TEST(methods_that_were_not_seen_are_bounded),
        TEST(on_network_file_systems_gains_are_fitted),
        TEST(an_exchange_is_bounded),
        TEST(larger_buffers_are_fewer_requests),
        TEST(options_of_findings_are_changes),
        TEST(other_options_are_none),
        TEST(file_systems_of_a_network),
    };
    return WIO_RUN(tests);
}
