/* SPDX-License-Identifier: Apache-2.0 */
/* Priority holding: run 1 as ever, then runs that hold until all is proven. */
#include "base/cleanup.h"
#include "throttle/rules/compare.h"
#include "throttle/rules/prior_edges.h"
#include "throttle/rules/store_edges.h"
#include "throttle/rules/throttle_internal.h"

static enum wio_status compare(struct wio_throttle_session *t, const char *dir, bool *same_out,
                               struct wio_error *err)
{
    struct wio_roster seated WIO_CLEANUP(wio_roster_fini) = {0};
    if (wio_roster_reseat(&t->roster, t->board.board, &seated) != WIO_OK) {
        return wio_throttle_no_memory(err);
    }
    const struct wio_compare_run runs[] = {{t->result->record.dir, &t->roster}, {dir, &seated}};
    WIO_TRY(wio_compare_runs(runs, same_out, &t->result->difference, err));
    t->result->difference.runs[1] = t->result->runs;
    return WIO_OK;
}

/* Did the run do the same as run 1? If not: because another node was first at a lock or queue? */
static enum wio_status compare_with_first(struct wio_throttle_session *t, const char *dir,
                                          bool *same_out, struct wio_error *err)
{
    WIO_TRY(compare(t, dir, same_out, err));
    if (!*same_out) {
        bool is_decided = t->result->difference.turns[0] != '\0';
        t->result->end = is_decided ? WIO_THROTTLE_FIRST_COME : WIO_THROTTLE_DIFFERS;
    }
    return WIO_OK;
}

/* What the run that has just ended says. *more_out: another one is worth it. */
static enum wio_status judge_run(struct wio_throttle_session *t, const char *dir,
                                 enum wio_throttle_use use, bool *more_out, struct wio_error *err)
{
    bool is_same = false;
    *more_out = false;
    if (use != WIO_THROTTLE_USE_NOTHING) {
        WIO_TRY(compare_with_first(t, dir, &is_same, err));
    }
    if (!is_same || use != WIO_THROTTLE_USE_ALL) {
        wio_hold_drop_run(t->hold);
        return WIO_OK;
    }
    enum wio_status status = wio_hold_end_run(t->hold, more_out);
    if (status == WIO_ERR_NOMEM) {
        return wio_throttle_no_memory(err);
    }
    if (status != WIO_OK) { /* it fits to nothing that was observed: store_edges says what */
        *more_out = false;
        t->result->end = WIO_THROTTLE_RUNS_OVER;
        return WIO_OK;
    }
    t->result->unproven = wio_hold_unproven(t->hold);
    t->result->contradicted = wio_hold_contradicted(t->hold);
    t->result->end = t->result->unproven == 0 ? WIO_THROTTLE_PROVEN : WIO_THROTTLE_RUNS_OVER;
    return WIO_OK;
}

/* Edges that fit to nothing that was observed (a cycle) are none. */
static enum wio_status store_edges(struct wio_throttle_session *t)
{
    const struct wio_edges *edges = wio_hold_borrow_edges(t->hold);
    t->result->found = wio_hold_found(t->hold);
    if (wio_held_store_run(t->result->record.dir, &t->roster, edges, false, &t->result->edges,
                           &t->result->error) != WIO_OK) {
        t->result->end = WIO_THROTTLE_REFUSED;
    }
    return WIO_OK;
}

static enum wio_status create_rules(struct wio_throttle_session *t, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    const struct wio_hold_params params = {.method = WIO_HOLD_PRIORITY,
                                           .nodes = t->roster.count,
                                           .period = 1,
                                           .limit_ns = UINT64_MAX}; /* conduct keeps it */
    return wio_hold_create(&params, &heap, &t->hold) == WIO_OK ? WIO_OK
                                                               : wio_throttle_no_memory(err);
}

static enum wio_status run_all_held(struct wio_throttle_session *t, struct wio_error *err)
{
    bool more = false;
    wio_throttle_set_limits(t, t->roster.count + 1);
    WIO_TRY(create_rules(t, err));
    t->result->end = WIO_THROTTLE_REFUSED;
    if (wio_known_tell(t->result->record.dir, &t->roster, t->hold, &more, &t->result->error) !=
        WIO_OK) {
        return WIO_OK;
    }
    t->result->end = WIO_THROTTLE_PROVEN; /* if what was observed says all */
    while (more && t->result->runs < 1 + t->runs_most && t->interrupt == 0) {
        char dir[PATH_MAX];
        enum wio_throttle_use use = WIO_THROTTLE_USE_NOTHING;
        const struct wio_throttle_run run = {.dir = dir, .hold = t->hold, .period = 1};
        wio_throttle_name_run(t, t->result->record.dir, dir);
        t->result->end = WIO_THROTTLE_FAILED;
        enum wio_status status = wio_throttle_run_held(t, &run, &use, err);
        if (status == WIO_OK) {
            status = judge_run(t, dir, use, &more, err);
        }
        if (t->result->end != WIO_THROTTLE_DIFFERS) {
            wio_throttle_remove_run(dir);
        }
        WIO_TRY(status);
    }
    return store_edges(t);
}

enum wio_status wio_throttle_priority(struct wio_throttle_session *t, struct wio_error *err)
{
    WIO_TRY(wio_throttle_run_first(t, err));
    t->result->end = WIO_THROTTLE_FAILED;
    if (t->result->exit_status != 0 || t->interrupt != 0) {
        return WIO_OK;
    }
    if (wio_throttle_check_first(t, &t->result->error) != WIO_OK) {
        t->result->end = WIO_THROTTLE_REFUSED;
        return WIO_OK;
    }
    if (!wio_profile_is_open(&t->profile)) {
        t->result->end = WIO_THROTTLE_EXPLAINED;
        return WIO_OK;
    }
    return run_all_held(t, err);
}
