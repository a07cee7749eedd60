/* SPDX-License-Identifier: Apache-2.0 */
/* //TRACE's search for a period: from large to small, until a replay of the trace is good enough or
 * the time is used up. */
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "throttle/rules/throttle_internal.h"

#define NS_PER_S 1e9

bool wio_traced_has_goal(const struct wio_throttle_session *t)
{
    return t->params->goal.target_error > 0 || t->params->goal.budget_s > 0;
}

enum wio_status wio_traced_check_targets(const struct wio_throttle_session *t,
                                         struct wio_error *err)
{
    for (uint32_t i = 0; i < t->params->target_count; i++) {
        const char *root = t->params->targets[i].root;
        struct stat st;
        if (stat(root, &st) != 0 || !S_ISDIR(st.st_mode) || access(root, W_OK | X_OK) != 0) {
            return wio_error_set(err, WIO_ERR_USAGE, root, WIO_ERROR_NO_OFFSET,
                                 "--target-root: expected a directory that can be written into");
        }
    }
    return WIO_OK;
}

/* The replay on one storage system, beside how long the command takes there. */
static enum wio_status measure_on(struct wio_traced *traced,
                                  const struct wio_throttle_target *target, double *error_out,
                                  struct wio_error *err)
{
    struct wio_throttle_session *t = traced->t;
    double time_s = 0;
    double wanted_s =
        target->command_s > 0 ? target->command_s : (double)t->profile.duration_ns / NS_PER_S;
    WIO_TRY(t->params->replay(t->params->replay_arg, traced->dir, target->root, &time_s, err));
    *error_out = wanted_s > 0 ? fabs(time_s - wanted_s) / wanted_s : 0;
    return WIO_OK;
}

/* A period that is right on one storage system may be too large on another one: the worst counts.
 */
static enum wio_status measure(struct wio_traced *traced, struct wio_error *err)
{
    static const struct wio_throttle_target beside = {NULL, 0};
    const struct wio_throttle_params *params = traced->t->params;
    struct wio_throttle_result *result = traced->t->result;
    uint32_t count = params->target_count > 0 ? params->target_count : 1;
    double worst = -1;
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_throttle_target *target =
            params->target_count > 0 ? &params->targets[i] : &beside;
        double error = 0;
        WIO_TRY(measure_on(traced, target, &error, err));
        result->time_root = error > worst ? target->root : result->time_root;
        worst = error > worst ? error : worst;
    }
    result->time_error = worst;
    return WIO_OK;
}

/* The trace of a larger period while a smaller one is tried, and what was said of it. */
struct kept {
    char dir[PATH_MAX];
    bool is_there;
    uint64_t period;
    uint64_t found;
    uint64_t edges;
    double time_error;
    const char *time_root;
};

static enum wio_status keep(struct wio_traced *traced, struct kept *kept, struct wio_error *err)
{
    const struct wio_throttle_result *result = traced->t->result;
    (void)snprintf(kept->dir, sizeof(kept->dir), "%.*s.kept", PATH_MAX - 32, traced->dir);
    kept->is_there = false;
    wio_throttle_remove_run(kept->dir);
    if (rename(traced->dir, kept->dir) != 0) {
        return wio_error_sys(err, traced->dir, "cannot set the trace aside");
    }
    kept->is_there = true;
    kept->period = result->period;
    kept->found = result->found;
    kept->edges = result->edges;
    kept->time_error = result->time_error;
    kept->time_root = result->time_root;
    return WIO_OK;
}

/* A smaller period that comes to nothing takes nothing away: not even where what it left is in the
 * way. */
static void end_keeping(struct wio_traced *traced, const struct kept *kept, bool is_better)
{
    struct wio_throttle_result *result = traced->t->result;
    if (!kept->is_there) {
        return;
    }
    if (is_better) {
        wio_throttle_remove_run(kept->dir);
        return;
    }
    if (rename(kept->dir, traced->dir) != 0) {
        return;
    }
    result->end = WIO_THROTTLE_MERGED;
    result->period = kept->period;
    result->found = kept->found;
    result->edges = kept->edges;
    result->time_error = kept->time_error;
    result->time_root = kept->time_root;
}

/* Another period after one that made a trace; *more_out: it is to be tried. */
static enum wio_status next_period(struct wio_traced *traced, const struct wio_period_goal *goal,
                                   double spent_s, uint64_t begin_ns, bool *more_out,
                                   struct wio_error *err)
{
    WIO_TRY(measure(traced, err));
    double total_s = (double)(wio_clock_mono_ns() - begin_ns) / NS_PER_S;
    *more_out =
        wio_period_next(goal, traced->t->result->time_error, spent_s, total_s, &traced->period);
    return WIO_OK;
}

/* Smaller and smaller periods. The last trace that was made stays. */
enum wio_status wio_traced_search_period(struct wio_traced *traced, struct wio_error *err)
{
    struct wio_throttle_session *t = traced->t;
    struct wio_period_goal goal = t->params->goal;
    struct kept kept = {.is_there = false};
    uint64_t begin_ns = wio_clock_mono_ns();
    enum wio_status status = WIO_OK;
    bool more = true;
    goal.budget_s = goal.budget_s > 0 ? goal.budget_s : HUGE_VAL;
    while (status == WIO_OK && more) {
        uint64_t pass_ns = wio_clock_mono_ns();
        status = wio_traced_run_pass(traced, err);
        more = status == WIO_OK && t->result->end == WIO_THROTTLE_MERGED;
        if (more) {
            double spent_s = (double)(wio_clock_mono_ns() - pass_ns) / NS_PER_S;
            status = next_period(traced, &goal, spent_s, begin_ns, &more, err);
        }
        if (status == WIO_OK && more) {
            wio_traced_remove_runs(traced, 1);
            status = keep(traced, &kept, err);
        }
    }
    end_keeping(traced, &kept, status == WIO_OK && t->result->end == WIO_THROTTLE_MERGED);
    return status;
}
