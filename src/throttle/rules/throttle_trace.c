/* SPDX-License-Identifier: Apache-2.0 */
/*
 * //TRACE itself: a profiling run without holding, then one run per throttled node, in which it is
 * held at every period-th I/O until the others have exited or are blocked; all runs together are
 * one trace. If a goal is given, the period goes from large to small until replay is good enough
 * or the time is used up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "record/old_trace.h"
#include "throttle/rules/throttle_internal.h"

/* ---- the throttled nodes --------------------------------------------------------------------- */

static bool is_in_list(const char *list, uint64_t number)
{
    for (const char *at = list; *at != '\0'; at += *at == ',' ? 1 : 0) {
        uint64_t first = 0;
        uint64_t last = 0;
        (void)wio_scan_u64(&at, &first);
        last = first;
        if (*at == '-') {
            at++;
            (void)wio_scan_u64(&at, &last);
        }
        if (first <= number && number <= last) {
            return true;
        }
    }
    return false;
}

static bool is_list(const char *list)
{
    const char *at = list;
    for (;;) {
        uint64_t number;
        if (!wio_scan_u64(&at, &number)) {
            return false;
        }
        if (*at == '-') {
            at++;
            if (!wio_scan_u64(&at, &number)) {
                return false;
            }
        }
        if (*at == '\0') {
            return true;
        }
        if (*at++ != ',') {
            return false;
        }
    }
}

/* How many threads were made before this one: by their ids, since which of two new ones says its
 * first word first is chance. */
static int64_t place_of(const struct wio_roster *roster, uint32_t node)
{
    int64_t place = 0;
    for (uint32_t n = 0; n < roster->count; n++) {
        place += roster->nodes[n].tid < roster->nodes[node].tid ? 1 : 0;
    }
    return place;
}

/* Ranks where there are any, else threads in the order in which they were made. */
static enum wio_status choose_nodes(struct wio_traced *traced, struct wio_error *err)
{
    const struct wio_roster *roster = &traced->t->roster;
    const char *list = traced->t->params->nodes;
    bool has_ranks = false;
    traced->is_wanted = calloc((size_t)roster->count + 1, sizeof(*traced->is_wanted));
    if (traced->is_wanted == NULL) {
        return wio_throttle_no_memory(err);
    }
    for (uint32_t n = 0; n < roster->count; n++) {
        has_ranks = has_ranks || roster->nodes[n].rank >= 0;
    }
    for (uint32_t n = 0; n < roster->count; n++) {
        int64_t number = has_ranks ? roster->nodes[n].rank : place_of(roster, n);
        bool is_named = list == NULL || (number >= 0 && is_in_list(list, (uint64_t)number));
        traced->is_wanted[n] = roster->nodes[n].ops > 0 && is_named;
        traced->wanted += traced->is_wanted[n] ? 1 : 0;
    }
    if (traced->wanted == 0) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "--nodes=%s: none of these does I/O that could be held",
                             list != NULL ? list : "");
    }
    return WIO_OK;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

/* The merged trace is made at the end: see now that it can be. */
static enum wio_status claim(struct wio_traced *traced, struct wio_error *err)
{
    struct stat st;
    if (lstat(traced->dir, &st) != 0) {
        return WIO_OK;
    }
    if (!traced->t->record.force) {
        return wio_error_set(err, WIO_ERR_USAGE, traced->dir, WIO_ERROR_NO_OFFSET,
                             "exists: choose another directory, or --force replaces an old trace");
    }
    WIO_TRY(wio_old_trace_remove(traced->dir, err));
    return rmdir(traced->dir) == 0
               ? WIO_OK
               : wio_error_sys(err, traced->dir, "cannot replace the old trace");
}

static enum wio_status run_first(struct wio_traced *traced, struct wio_error *err)
{
    struct wio_throttle_session *t = traced->t;
    WIO_TRY(wio_traced_add_run(traced, err));
    t->record.dir = traced->runs[0];
    t->record.force = true;
    WIO_TRY(wio_throttle_run_first(t, err));
    t->result->end = WIO_THROTTLE_FAILED;
    return WIO_OK;
}

static enum wio_status trace_all(struct wio_traced *traced, struct wio_error *err)
{
    struct wio_throttle_session *t = traced->t;
    WIO_TRY(claim(traced, err));
    WIO_TRY(run_first(traced, err));
    if (t->result->exit_status != 0 || t->interrupt != 0) {
        return WIO_OK;
    }
    if (wio_throttle_check_first(t, &t->result->error) != WIO_OK) {
        t->result->end = WIO_THROTTLE_REFUSED;
        return WIO_OK;
    }
    WIO_TRY(choose_nodes(traced, err));
    wio_throttle_set_limits(t, traced->wanted);
    return wio_traced_has_goal(t) ? wio_traced_search_period(traced, err)
                                  : wio_traced_run_pass(traced, err);
}

enum wio_status wio_throttle_trace(struct wio_throttle_session *t, struct wio_error *err)
{
    char dir[PATH_MAX];
    struct wio_traced traced = {.t = t, .dir = dir};
    snprintf(dir, sizeof(dir), "%s", t->record.dir);
    traced.period = t->params->period > 0 ? t->params->period : 1;
    traced.period = wio_traced_has_goal(t) ? WIO_PERIOD_FIRST : traced.period;
    if (t->params->nodes != NULL && !is_list(t->params->nodes)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "--nodes=%s: expected numbers like 0,2-4", t->params->nodes);
    }
    WIO_TRY(wio_traced_check_targets(t, err));
    enum wio_status status = trace_all(&traced, err);
    bool is_done = t->result->end == WIO_THROTTLE_MERGED;
    if (is_done || status != WIO_OK) {
        wio_traced_remove_runs(&traced, 0);
    }
    if (is_done) {
        snprintf(t->result->record.dir, sizeof(t->result->record.dir), "%s", dir);
    }
    free(traced.runs);
    free(traced.is_wanted);
    return status;
}
