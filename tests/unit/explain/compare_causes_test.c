/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of two runs beside each other. */
#include "support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain/compare/compare_causes.h"
#include "support/script_open.h"

static char script[1 << 16];
static size_t used;

WIO_PRINTF(1, 2) static void add(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    used += (size_t)vsnprintf(script + used, sizeof(script) - used, format, args);
    va_end(args);
    assert_true(used < sizeof(script));
}

/* Flushes of `file`, and small reads of another file. */
static void add_flushes(unsigned t, const char *file, unsigned dur)
{
    for (unsigned i = 0; i < 64; i++) {
        add("pwrite t=%u dur=1000 fd=3 path=%s off=%u size=4096 at=0x10\n", t, file, i * 4096);
        add("fsync t=%u dur=%u fd=3 path=%s res=0 at=0x20\n", t + 2000, dur, file);
        t += 5000000;
    }
}

static void add_reads(unsigned t)
{
    for (unsigned i = 0; i < 128; i++) {
        add("pread t=%u dur=900000 fd=4 path=/d/in off=%u size=512 res=512 at=0x30\n",
            t + i * 1000000, i * 512);
    }
}

struct run {
    struct wio_trace *trace;
    struct wio_explanation *of;
    const char *functions[32];
};

static struct run explain(const char *function)
{
    const struct wio_explain_params params = {.struct_size = sizeof(params),
                                              .thresholds = wio_thresholds_default()};
    struct wio_error err = WIO_ERROR_INIT;
    struct run run = {.trace = script_open(script)};
    assert_ok(wio_explain(run.trace, &params, &run.of, &err), &err);
    for (uint32_t i = 0; i < run.of->findings.count && i < 32; i++) {
        run.functions[i] = function;
    }
    used = 0;
    script[0] = '\0';
    return run;
}

static void end(struct run *run)
{
    wio_explanation_destroy(run->of);
    wio_trace_close(run->trace);
}

static struct wio_causes compare(const struct run *a, const struct run *b, const char *root)
{
    const struct wio_cause_side of_a = {a->of, a->functions, NULL};
    const struct wio_cause_side of_b = {b->of, b->functions, root};
    struct wio_causes causes;
    assert_int_equal(wio_causes_compare(&of_a, &of_b, &causes), WIO_OK);
    return causes;
}

/* NULL: it is no cause of a difference. */
static const struct wio_cause *find(const struct wio_causes *causes, const struct run *a,
                                    const struct run *b, const char *kind)
{
    for (uint32_t i = 0; i < causes->count; i++) {
        const struct wio_cause *cause = &causes->items[i];
        const struct run *run = cause->b != WIO_NO_FINDING ? b : a;
        uint32_t at = cause->b != WIO_NO_FINDING ? cause->b : cause->a;
        if (cause->rest == WIO_CAUSE_FINDING &&
            strcmp(run->of->findings.items[at].kind, kind) == 0) {
            return cause;
        }
    }
    return NULL;
}

static void assert_about(double seconds, double expected)
{
    if (!(fabs(seconds - expected) < 1e-4)) {
        fail_msg("%.6f s, expected %.6f s", seconds, expected);
    }
}

static void a_finding_appears_goes_grows_shrinks(void **state)
{
    (void)state;
    add_flushes(0, "/d/a", 2000000);
    struct run a = explain("step");
    add_flushes(0, "/d/a", 4000000);
    add_reads(400000000);
    struct run b = explain("step");
    struct wio_causes causes = compare(&a, &b, NULL);
    const struct wio_cause *flushes = find(&causes, &a, &b, "sync_storm");
    const struct wio_cause *reads = find(&causes, &a, &b, "small_reads");
    assert_int_equal(flushes->change, WIO_CAUSE_GREW);
    assert_about(flushes->b_s - flushes->a_s, 0.128);
    assert_int_equal(reads->change, WIO_CAUSE_NEW);
    assert_int_equal(reads->a, WIO_NO_FINDING);
    assert_about(reads->b_s, 0.1152);
    wio_causes_fini(&causes);
    causes = compare(&b, &a, NULL);
    assert_int_equal(find(&causes, &b, &a, "sync_storm")->change, WIO_CAUSE_SHRANK);
    reads = find(&causes, &b, &a, "small_reads");
    assert_int_equal(reads->change, WIO_CAUSE_GONE);
    assert_int_equal(reads->b, WIO_NO_FINDING);
    wio_causes_fini(&causes);
    end(&a);
    end(&b);
}

/* Nothing is counted twice, and nothing is left out; the largest change comes first. */
static void changes_sum_up_to_the_difference(void **state)
{
    (void)state;
    add_flushes(0, "/d/a", 2000000);
    struct run a = explain("step");
    add_flushes(0, "/d/a", 4000000);
    add_reads(400000000);
    add("exit t=900000000 dur=0\n");
    struct run b = explain("step");
    struct wio_causes causes = compare(&a, &b, NULL);
    double sum = 0;
    bool has_computing = false;
    for (uint32_t i = 0; i < causes.count; i++) {
        double change = causes.items[i].b_s - causes.items[i].a_s;
        sum += change;
        has_computing = has_computing || causes.items[i].rest == WIO_CAUSE_COMPUTING;
        assert_true(i == 0 ||
                    fabs(change) <= fabs(causes.items[i - 1].b_s - causes.items[i - 1].a_s));
    }
    assert_about(sum, ((double)b.of->duration_ns - (double)a.of->duration_ns) / 1e9);
    assert_true(has_computing);
    wio_causes_fini(&causes);
    end(&a);
    end(&b);
}

static void equal_runs_have_no_change(void **state)
{
    (void)state;
    struct run runs[2];
    for (int i = 0; i < 2; i++) {
        add_flushes(0, "/d/a", 2000000);
        runs[i] = explain("step");
    }
    struct wio_causes causes = compare(&runs[0], &runs[1], NULL);
    for (uint32_t i = 0; i < causes.count; i++) {
        assert_about(causes.items[i].b_s - causes.items[i].a_s, 0);
        assert_true(causes.items[i].change == WIO_CAUSE_GREW);
    }
    wio_causes_fini(&causes);
    end(&runs[0]);
    end(&runs[1]);
}

/* A replay has functions of its own: its files tell, below its target. */
static void a_replay_is_paired_by_its_files(void **state)
{
    (void)state;
    add_flushes(0, "/d/a", 4000000);
    add_flushes(400000000, "/d/b", 2000000);
    struct run a = explain("step");
    add_flushes(0, "/mnt/d/b", 4500000);
    add_flushes(400000000, "/mnt/d/a", 1000000);
    struct run b = explain("perform");
    struct wio_causes causes = compare(&a, &b, "/mnt/");
    unsigned found = 0;
    for (uint32_t i = 0; i < causes.count; i++) {
        const struct wio_cause *cause = &causes.items[i];
        assert_true(cause->change != WIO_CAUSE_NEW && cause->change != WIO_CAUSE_GONE);
        found += cause->rest == WIO_CAUSE_FINDING;
    }
    assert_true(found > 0);
    wio_causes_fini(&causes);
    end(&a);
    end(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_appears_goes_grows_shrinks),
        cmocka_unit_test(changes_sum_up_to_the_difference),
        cmocka_unit_test(equal_runs_have_no_change),
        cmocka_unit_test(a_replay_is_paired_by_its_files),
    };
    return WIO_RUN(tests);
}
