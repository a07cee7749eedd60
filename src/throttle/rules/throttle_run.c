/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the command: the first, which only observes, and those that hold threads. */
#include "throttle/rules/throttle_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)
/* Period in which run 1 checks for new nodes. */
#define LOOK_NS (20 * MILLISECOND_NS)
#define FAR_LOOK_NS (4 * MILLISECOND_NS) /* recorders of other hosts wait for that at their end */

/* The limit of a hold, per I/O: this, and twice the longest gap, for which a node may compute
 * before it counts as still (controller_nodes.c); but all of these gaps together .. */
#define STEP_NS (50 * MILLISECOND_NS)
#define WAYS 2
#define WAYS_MAX_NS (3600 * SECOND_NS) /* .. no longer than this */
#define LIMIT_MIN_NS (30 * SECOND_NS)

static void tell(const struct wio_throttle_session *t, const struct wio_throttle_news *news)
{
    if (t->params->news != NULL) {
        t->params->news(t->params->news_arg, news);
    }
}

enum wio_status wio_throttle_no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}

/* ---- run 1 -------------------------------------------------------------------------------- */

static enum wio_status note_newcomer(struct wio_throttle_session *t, uint32_t place)
{
    const struct wio_board_node *node = &t->board.board->nodes[place];
    if (t->director == NULL) {
        int32_t launcher;
        bool is_made = wio_roster_has_parent(t->board.board, place, &launcher);
        WIO_TRY(wio_roster_add(&t->roster, node, is_made));
        t->roster.nodes[place].launcher = launcher;
        return WIO_OK;
    }
    const struct wio_director_look *look = wio_director_look(t->director, place);
    bool has_parent = look->has_parent || look->wave > 1;
    WIO_TRY(wio_roster_add(&t->roster, node, has_parent));
    t->roster.nodes[place].wave = look->has_parent ? 0 : look->wave;
    return WIO_OK;
}

static enum wio_status note_newcomers(struct wio_throttle_session *t)
{
    uint32_t count = wio_board_count(t->board.board);
    while (t->roster.count < count) {
        WIO_TRY(note_newcomer(t, t->roster.count));
    }
    for (uint32_t n = 0; n < t->roster.count; n++) {
        const struct wio_board_node *node = &t->board.board->nodes[n];
        t->roster.nodes[n].ops = wio_board_asked(node);
        t->roster.nodes[n].rank = __atomic_load_n(&node->rank, __ATOMIC_RELAXED);
    }
    return WIO_OK;
}

static void rewind_input(const struct wio_throttle_session *t)
{
    if (t->input >= 0) {
        (void)lseek(STDIN_FILENO, t->input, SEEK_SET);
    }
}

static enum wio_status look_at_first(struct wio_throttle_session *t)
{
    struct wio_director_news news;
    if (t->director != NULL) {
        WIO_TRY(wio_director_exchange(t->director, false, &news));
    }
    return note_newcomers(t);
}

enum wio_status wio_throttle_run_first(struct wio_throttle_session *t, struct wio_error *err)
{
    struct wio_rerun rerun;
    tell(t, &(struct wio_throttle_news){.run = 1, .is_begin = true, .rank = -1});
    WIO_TRY(wio_throttle_direct_run(t, t->record.dir, WIO_BOARD_FREE, UINT64_MAX, err));
    WIO_TRY(wio_throttle_start(t, &t->record, &rerun, err));
    enum wio_status status = WIO_OK;
    while (wio_rerun_goes_on(&rerun)) {
        status = status == WIO_OK ? look_at_first(t) : status;
        wio_clock_sleep_ns(t->director != NULL ? FAR_LOOK_NS : LOOK_NS);
    }
    enum wio_status finished = wio_rerun_finish(&rerun, &t->result->record, err);
    t->interrupt = rerun.interrupt;
    WIO_TRY(finished);
    wio_throttle_end_run(t, &t->result->record, NULL);
    t->result->runs = 1;
    t->result->exit_status = t->result->record.exit_status;
    status = status == WIO_OK ? note_newcomers(t) : status;
    if (t->director == NULL) {
        wio_roster_find_launches(&t->roster);
    }
    return status == WIO_ERR_NOMEM ? wio_throttle_no_memory(err) : status;
}

/* ---- the runs that hold ------------------------------------------------------------------- */

/* The last node's first I/O may have to wait for all those of the others. */
uint64_t wio_throttle_limit_ns(uint64_t ops, uint64_t longest_ns)
{
    bool is_long = longest_ns > 0 && ops > WAYS_MAX_NS / (WAYS * longest_ns);
    uint64_t ways_ns = is_long ? WAYS_MAX_NS : ops * WAYS * longest_ns;
    return LIMIT_MIN_NS + ops * STEP_NS + 10 * longest_ns + ways_ns;
}

void wio_throttle_set_limits(struct wio_throttle_session *t, uint32_t runs_most)
{
    uint64_t ops = 0;
    uint64_t longest_ns = 0;
    for (uint32_t n = 0; n < t->roster.count; n++) {
        ops += t->roster.nodes[n].ops;
        longest_ns = t->profile.nodes[n].longest_ns > longest_ns ? t->profile.nodes[n].longest_ns
                                                                 : longest_ns;
    }
    t->limit_ns = wio_throttle_limit_ns(ops, longest_ns);
    bool is_limited = t->params->runs_max > 0 && t->params->runs_max < runs_most;
    t->runs_most = is_limited ? t->params->runs_max : runs_most;
}

static enum wio_status conduct_run(struct wio_throttle_session *t, struct wio_rerun *rerun,
                                   struct wio_conduct *conduct)
{
    while (wio_rerun_goes_on(rerun)) {
        uint32_t seen = wio_board_doorbell(t->board.board);
        uint64_t sleep_ns;
        WIO_TRY(wio_conduct_step(conduct, wio_clock_mono_ns(), &sleep_ns));
        if (sleep_ns > 0) {
            wio_board_sleep(t->board.board, seen, sleep_ns);
        }
    }
    return wio_conduct_end(conduct, wio_clock_mono_ns());
}

static int32_t rank_of(const struct wio_throttle_session *t, uint32_t node)
{
    return node != WIO_NO_PARTICIPANT ? t->roster.nodes[node].rank : -1;
}

static struct wio_throttle_news news_of(const struct wio_throttle_session *t,
                                        const struct wio_throttle_run *run)
{
    bool is_trace = t->params->method == WIO_HOLD_TRACE;
    return (struct wio_throttle_news){
        .runs = 1 + t->runs_most,
        .nodes = t->roster.count,
        .limit_ns = t->limit_ns,
        .period = is_trace ? run->period : 0,
        .throttled_rank = is_trace ? t->roster.nodes[run->throttled].rank : -1,
        .throttled_tid = is_trace ? t->roster.nodes[run->throttled].tid : 0,
        .rank = -1,
    };
}

static void tell_begin(const struct wio_throttle_session *t, const struct wio_throttle_run *run)
{
    struct wio_throttle_news news = news_of(t, run);
    news.run = t->result->runs + 1;
    news.is_begin = true;
    tell(t, &news);
}

static void tell_end(const struct wio_throttle_session *t, const struct wio_throttle_run *run,
                     const struct wio_conduct *conduct)
{
    struct wio_throttle_news news = news_of(t, run);
    news.run = t->result->runs;
    news.verdict = conduct->verdict;
    news.pid = conduct->pid;
    news.rank = rank_of(t, conduct->node);
    news.host = conduct->host;
    news.held = conduct->released;
    news.edges = wio_hold_found(run->hold);
    news.unproven = wio_hold_unproven(run->hold);
    tell(t, &news);
}

/* The longest of all names that are made of the trace's: "<dir>.run<number>". */
void wio_throttle_name_run(const struct wio_throttle_session *t, const char *dir,
                           char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s.run%" PRIu32, PATH_MAX - 32, dir, t->result->runs + 1);
}

/* A run's trace that is needed no more. */
void wio_throttle_remove_run(const char *dir)
{
    enum wio_status removed = wio_io_remove_tree(dir, NULL);
    (void)removed; /* it is only in the way */
}

bool wio_throttle_is_interrupted(struct wio_throttle_session *t)
{
    t->interrupt = t->interrupt != 0 ? t->interrupt : wio_rerun_take_interrupt();
    return t->interrupt != 0;
}

static enum wio_throttle_use use_of(const struct wio_record_result *result,
                                    const struct wio_conduct *conduct)
{
    bool is_whole = result->exit_status == 0 && result->seal_error.status == WIO_OK &&
                    result->totals.dropped == 0;
    bool is_other =
        conduct->verdict == WIO_CONDUCT_DIFFERENT || conduct->verdict == WIO_CONDUCT_STRANGER;
    if (!is_whole || (conduct->verdict != WIO_CONDUCT_GOOD && !is_other)) {
        return WIO_THROTTLE_USE_NOTHING;
    }
    return is_other ? WIO_THROTTLE_USE_COMPARE : WIO_THROTTLE_USE_ALL;
}

enum wio_status wio_throttle_run_held(struct wio_throttle_session *t,
                                      const struct wio_throttle_run *run,
                                      enum wio_throttle_use *use_out, struct wio_error *err)
{
    struct wio_conduct conduct WIO_CLEANUP(wio_conduct_fini) = {0};
    struct wio_rerun rerun;
    struct wio_record_result result;
    const struct wio_conduct_params params = {.board = t->board.board,
                                              .director = t->director,
                                              .roster = &t->roster,
                                              .hold = run->hold,
                                              .method = t->params->method,
                                              .throttled = run->throttled,
                                              .period = run->period,
                                              .profile = &t->profile,
                                              .limit_ns = t->limit_ns};
    struct wio_record_params record = t->record;
    if (wio_throttle_is_interrupted(t)) {
        *use_out = WIO_THROTTLE_USE_NOTHING;
        return WIO_OK;
    }
    record.dir = run->dir;
    record.force = true;
    wio_board_reset(t->board.board, 0, t->limit_ns);
    WIO_TRY(wio_throttle_direct_run(t, run->dir, 0, t->limit_ns, err));
    rewind_input(t);
    tell_begin(t, run);
    if (wio_conduct_begin(&conduct, &params, wio_clock_mono_ns()) != WIO_OK) {
        return wio_throttle_no_memory(err);
    }
    WIO_TRY(wio_throttle_start(t, &record, &rerun, err));
    enum wio_status status = conduct_run(t, &rerun, &conduct);
    wio_board_let_all_go(t->board.board);
    enum wio_status finished = wio_rerun_finish(&rerun, &result, err);
    t->interrupt = rerun.interrupt;
    WIO_TRY(finished);
    wio_throttle_end_run(t, &result, &conduct);
    if (status != WIO_OK) {
        return wio_throttle_no_memory(err);
    }
    t->result->runs++;
    t->result->exit_status = result.exit_status;
    tell_end(t, run, &conduct);
    *use_out = use_of(&result, &conduct);
    return WIO_OK;
}
