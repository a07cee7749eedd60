/* SPDX-License-Identifier: Apache-2.0 */
/* A trace made by hand, explained. */
#ifndef WIO_TESTS_EXPLAIN_RUN_H
#define WIO_TESTS_EXPLAIN_RUN_H

#include "support/unit.h"

#include "explain/explain.h"
#include "support/script_open.h"

struct run {
    struct wio_trace *trace;
    struct wio_explanation *of;
};

/* To be ended with run_end. */
static inline struct run run_explain(const char *script, struct wio_explain_params params)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct run run = {.trace = script_open(script)};

    params.struct_size = sizeof(params);
    assert_ok(wio_explain(run.trace, &params, &run.of, &err), &err);
    return run;
}

static inline struct run run_explain_plainly(const char *script)
{
    return run_explain(script, (struct wio_explain_params){.thresholds = wio_thresholds_default()});
}

static inline void run_end(struct run *run)
{
    wio_explanation_destroy(run->of);
    wio_trace_close(run->trace);
}

#endif
