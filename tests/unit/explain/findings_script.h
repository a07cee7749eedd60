/* SPDX-License-Identifier: Apache-2.0 */
/* A trace made by hand, and which finding has the seconds: for tests of kinds of findings. */
#ifndef WIO_TESTS_FINDINGS_SCRIPT_H
#define WIO_TESTS_FINDINGS_SCRIPT_H

#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "explain/explain.h"
#include "explain_run.h"

static char script[1 << 18];
static size_t used;

static void begin_script(const char *text)
{
    used = (size_t)snprintf(script, sizeof(script), "%s", text);
}

WIO_PRINTF(1, 2) static void add(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    used += (size_t)vsnprintf(script + used, sizeof(script) - used, format, args);
    va_end(args);
    assert_true(used < sizeof(script));
}

static struct run explain_with(struct wio_thresholds thresholds)
{
    return run_explain(script, (struct wio_explain_params){.thresholds = thresholds});
}

/* The first finding, and that seconds are given once. */
static void expect(const char *kind)
{
    struct run run = explain_with(wio_thresholds_default());
    const struct wio_findings *findings = &run.of->findings;
    double sum = run.of->unexplained_s;

    assert_true(findings->count > 0);
    assert_string_equal(findings->items[0].kind, kind);
    for (uint32_t i = 0; i < findings->count; i++) {
        sum += findings->items[i].seconds;
    }
    sum += (double)(run.of->critical_ns[WIO_STEP_COMPUTE] + run.of->critical_ns[WIO_STEP_WAIT] +
                    run.of->critical_ns[WIO_STEP_CPU_WAIT]) /
           1e9;
    sum -= findings->claimed_wait_ns / 1e9;
    assert_true(sum * 1e9 - (double)run.of->duration_ns < 1000 &&
                (double)run.of->duration_ns - sum * 1e9 < 1000);
    run_end(&run);
}

#define OPEN "open t=0 dur=1000 path=/d/a res=3 a0=2 at=0x10\n"

#endif
