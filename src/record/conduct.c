/* SPDX-License-Identifier: Apache-2.0 */
#include "record/conduct_internal.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define IDLE_NS (20 * MILLISECOND_NS)     /* nobody is held: the doorbell tells more */
#define CHECK_NS (10 * MILLISECOND_NS)    /* how soon a death is noticed */
#define PAUSE_MIN_NS (MILLISECOND_NS / 2) /* while somebody has to have more time of his own */
#define PAUSE_MAX_NS (4 * MILLISECOND_NS)
#define BIRTH_NS (2000 * MILLISECOND_NS) /* from fork or spawn to the first word */

/* A node that computes for longer is taken for one that waits: twice as long as the same way took
 * when nobody was held. What looked like computing then may have been waiting in part. */
#define PATIENCE_FACTOR 2
#define PATIENCE_MIN_NS (10 * MILLISECOND_NS)

static void set_patience(struct wio_conduct *c, uint32_t n)
{
    struct wio_watch *watch = &c->nodes[n];
    uint64_t way_ns = c->params.method == WIO_HOLD_TRACE
                          ? wio_profile_phase(c->params.profile, n, watch->asked)
                          : wio_profile_gap(c->params.profile, n, watch->asked);
    uint64_t call_ns = c->params.profile->nodes[n].longest_call_ns;
    watch->patience_ns = PATIENCE_MIN_NS + PATIENCE_FACTOR * way_ns;
    watch->call_patience_ns = PATIENCE_MIN_NS + PATIENCE_FACTOR * call_ns;
}

enum wio_status wio_conduct_tell(struct wio_conduct *c, uint32_t n, enum wio_node_state state,
                                 uint64_t now_ns)
{
    c->told[n] = state;
    c->is_guess[n] = false;
    return wio_hold_event(c->params.hold, n, state, now_ns);
}

uint32_t wio_conduct_begun(const struct wio_conduct *c, uint32_t n)
{
    const struct wio_watch *watch = &c->nodes[n];
    uint32_t granted = __atomic_load_n(&watch->node->granted, __ATOMIC_SEQ_CST);
    return watch->asked < granted ? watch->asked : granted;
}

void wio_conduct_give_up(struct wio_conduct *c, enum wio_conduct_verdict verdict, uint32_t node,
                         int32_t pid)
{
    if (c->verdict == WIO_CONDUCT_GOOD) {
        c->verdict = verdict;
        c->node = node;
        c->pid = pid;
        wio_board_let_all_go(c->params.board);
    }
}

enum wio_status wio_conduct_begin(struct wio_conduct *conduct,
                                  const struct wio_conduct_params *params, uint64_t now_ns)
{
    uint32_t count = params->roster->count;
    *conduct = (struct wio_conduct){.params = *params, .node = WIO_NOBODY};
    conduct->nodes = calloc(count + 1, sizeof(*conduct->nodes));
    conduct->told = calloc(count + 1, sizeof(*conduct->told));
    conduct->is_guess = calloc(count + 1, sizeof(*conduct->is_guess));
    conduct->counted = calloc(count + 1, sizeof(*conduct->counted));
    if (conduct->nodes == NULL || conduct->told == NULL || conduct->is_guess == NULL ||
        conduct->counted == NULL) {
        return WIO_ERR_NOMEM;
    }
    conduct->moved_ns = now_ns;
    wio_hold_begin_run(params->hold, now_ns);
    wio_hold_throttle(params->hold, params->throttled);
    for (uint32_t n = 0; n < count; n++) {
        set_patience(conduct, n);
        if (params->roster->nodes[n].has_parent) {
            WIO_TRY(wio_conduct_tell(conduct, n, WIO_NODE_BLOCKED, now_ns)); /* waits to be made */
        }
    }
    return WIO_OK;
}

void wio_conduct_fini(struct wio_conduct *conduct)
{
    free(conduct->nodes);
    free(conduct->told);
    free(conduct->is_guess);
    free(conduct->counted);
    *conduct = (struct wio_conduct){0};
}

static void restart(struct wio_conduct *c)
{
    c->pause_ns = PAUSE_MIN_NS;
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        wio_watch_restart(&c->nodes[n]);
    }
}

/* ---- newcomers ---------------------------------------------------------------------------- */

static bool is_held_method(const struct wio_conduct *c, uint32_t n)
{
    return c->params.method == WIO_HOLD_PRIORITY || n == c->params.throttled;
}

/* How many I/Os the node may do before it stands at the next one that shows anything. */
static uint32_t next_stop(const struct wio_conduct *c, uint32_t n, uint32_t from)
{
    uint32_t ops = c->params.roster->nodes[n].ops;
    uint32_t stop = from;
    while (stop < ops && !wio_hold_is_open(c->params.hold, n, stop)) {
        stop++;
    }
    return stop;
}

static enum wio_status seat(struct wio_conduct *c, uint32_t place, uint64_t now_ns)
{
    struct wio_board_node *node = &c->params.board->nodes[place];
    uint32_t n = wio_roster_find(c->params.roster, c->params.board, place);
    if (n == WIO_NOBODY || c->nodes[n].node != NULL) {
        wio_conduct_give_up(c, WIO_CONDUCT_STRANGER, WIO_NOBODY, node->pid);
        return WIO_OK;
    }
    c->nodes[n].node = node;
    wio_watch_restart(&c->nodes[n]);
    wio_board_grant(node, is_held_method(c, n) ? next_stop(c, n, 0) : WIO_BOARD_FREE);
    return wio_conduct_tell(c, n, WIO_NODE_COMPUTING, now_ns);
}

/* *news_out is set where somebody came. */
static enum wio_status seat_newcomers(struct wio_conduct *c, uint64_t now_ns, bool *news_out)
{
    uint32_t count = wio_board_count(c->params.board);
    for (; c->seated < count && c->verdict == WIO_CONDUCT_GOOD; c->seated++) {
        *news_out = true;
        WIO_TRY(seat(c, c->seated, now_ns));
    }
    if (wio_board_is_overfull(c->params.board)) {
        wio_conduct_give_up(c, WIO_CONDUCT_TOO_MANY, WIO_NOBODY, 0);
    }
    return WIO_OK;
}

/* ---- telling the rules -------------------------------------------------------------------- */

static enum wio_node_state state_of(const struct wio_watch *watch)
{
    switch (WIO_BOARD_STATE(watch->word)) {
    case WIO_BOARD_EXITED:
        return WIO_NODE_EXITED;
    case WIO_BOARD_IN_MPI:
        return WIO_NODE_IN_MPI;
    case WIO_BOARD_BLOCKED:
        return WIO_NODE_BLOCKED;
    case WIO_BOARD_IN_LOCK:
        return WIO_NODE_IN_LOCK;
    default:
        return wio_watch_is_held(watch) ? WIO_NODE_AT_IO : WIO_NODE_COMPUTING;
    }
}

/*
 * What the node says of itself. A node that was only seen to stand still goes on computing, in the
 * same poll loop for all that is known, until it gets somewhere: to an I/O, into a call that waits,
 * to its end. A lock on the way there is part of the loop.
 */
static enum wio_status tell_news(struct wio_conduct *c, uint32_t n, uint64_t before,
                                 uint64_t now_ns)
{
    const struct wio_watch *watch = &c->nodes[n];
    enum wio_node_state state = state_of(watch);
    bool has_passed = c->counted[n] < wio_conduct_begun(c, n);
    if (has_passed && c->told[n] != WIO_NODE_COMPUTING) { /* it got somewhere in between */
        WIO_TRY(wio_conduct_tell(c, n, WIO_NODE_COMPUTING, now_ns));
    }
    if (c->is_guess[n] && (state == WIO_NODE_COMPUTING || state == WIO_NODE_IN_LOCK)) {
        return WIO_OK;
    }
    bool waited = c->told[n] == WIO_NODE_IN_MPI || c->told[n] == WIO_NODE_BLOCKED ||
                  c->told[n] == WIO_NODE_IN_LOCK;
    bool waits = wio_watch_waits(watch);
    if (waited && waits && before != watch->word) { /* out of one and into the next */
        WIO_TRY(wio_conduct_tell(c, n, WIO_NODE_COMPUTING, now_ns));
    }
    return c->told[n] != state ? wio_conduct_tell(c, n, state, now_ns) : WIO_OK;
}

/* I/Os at which it was not to stand. */
static void count_passed(struct wio_conduct *c, uint32_t n)
{
    uint32_t begun = wio_conduct_begun(c, n);
    for (; c->counted[n] < begun; c->counted[n]++) {
        wio_hold_pass(c->params.hold, n);
    }
}

/* It did something that it rang for. */
static enum wio_status hear(struct wio_conduct *c, uint32_t n, uint64_t before, uint64_t now_ns)
{
    struct wio_watch *watch = &c->nodes[n];
    set_patience(c, n);
    if (watch->asked > c->params.roster->nodes[n].ops) {
        wio_conduct_give_up(c, WIO_CONDUCT_DIFFERENT, n, watch->node->pid);
    }
    if (c->params.method == WIO_HOLD_TRACE) {
        wio_watch_begin_phase(watch); /* the others' go on */
        return wio_watch_has_exited(watch) ? tell_news(c, n, before, now_ns) : WIO_OK;
    }
    WIO_TRY(tell_news(c, n, before, now_ns));
    count_passed(c, n);
    return WIO_OK;
}

static enum wio_status read_nodes(struct wio_conduct *c, uint64_t now_ns, bool *news_out)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        struct wio_watch *watch = &c->nodes[n];
        uint64_t before = watch->word;
        if (watch->node == NULL || wio_watch_has_exited(watch)) {
            continue;
        }
        if (!wio_watch_read(watch)) {
            continue;
        }
        *news_out = true;
        WIO_TRY(hear(c, n, before, now_ns));
    }
    return WIO_OK;
}

/* ---- the dead ----------------------------------------------------------------------------- */

/* The process said that it ends. Its other threads may have gone on for a moment. */
static bool has_said_goodbye(const struct wio_conduct *c, int32_t pid)
{
    for (uint32_t i = 0; i < c->seated; i++) {
        const struct wio_board_node *node = &c->params.board->nodes[i];
        if (node->pid == pid && node->tid == pid) {
            return WIO_BOARD_STATE(wio_board_word(node)) == WIO_BOARD_EXITED;
        }
    }
    return false;
}

/* A thread that is gone: the end of the run if its process was killed. */
static enum wio_status bury(struct wio_conduct *c, uint32_t n, uint64_t now_ns)
{
    struct wio_watch *watch = &c->nodes[n];
    struct wio_task process;
    (void)wio_watch_read(watch);
    if (c->params.method == WIO_HOLD_PRIORITY) {
        count_passed(c, n);
    }
    if (!wio_watch_has_exited(watch)) {
        wio_task_look(watch->node->pid, watch->node->pid, &process);
        if (!process.is_there && !has_said_goodbye(c, watch->node->pid)) {
            wio_conduct_give_up(c, WIO_CONDUCT_DIED, n, watch->node->pid);
        }
        watch->word = WIO_BOARD_EXITED;
    }
    return wio_conduct_tell(c, n, WIO_NODE_EXITED, now_ns);
}

/* Look at everybody who does not stand at an I/O, or at all where it is time to look for the dead.
 */
static enum wio_status look_at_nodes(struct wio_conduct *c, uint64_t now_ns)
{
    bool is_check = now_ns - c->checked_ns > CHECK_NS;
    c->checked_ns = is_check ? now_ns : c->checked_ns;
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        struct wio_watch *watch = &c->nodes[n];
        if (watch->node == NULL || wio_watch_has_exited(watch)) {
            continue;
        }
        if ((is_check || !wio_watch_is_held(watch)) && !wio_watch_look(watch, now_ns)) {
            WIO_TRY(bury(c, n, now_ns));
        }
    }
    return WIO_OK;
}

/* ---- deciding ----------------------------------------------------------------------------- */

/* Somebody who stands before an I/O, or WIO_NOBODY. */
static uint32_t find_held(const struct wio_conduct *c)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->nodes[n].node != NULL && wio_watch_is_held(&c->nodes[n])) {
            return n;
        }
    }
    return WIO_NOBODY;
}

/* Somebody is being made, and has not said yet who he is. Who takes too long for that is a program
 * that never will, one that cannot be recorded. */
static bool is_birth_going_on(struct wio_conduct *c, uint64_t now_ns)
{
    uint32_t arrived = __atomic_load_n(&c->params.board->arrived, __ATOMIC_SEQ_CST);
    uint32_t announced = __atomic_load_n(&c->params.board->announced, __ATOMIC_SEQ_CST);
    uint32_t expected = announced - arrived;
    if (expected != c->expected) {
        c->expected = expected;
        c->expected_ns = now_ns;
    }
    if (now_ns - c->expected_ns > BIRTH_NS) {
        c->forgiven = expected;
    }
    return (int32_t)(expected - c->forgiven) > 0;
}

static bool all_still(const struct wio_conduct *c)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        const struct wio_watch *watch = &c->nodes[n];
        bool is_still =
            watch->node != NULL ? wio_watch_is_still(watch) : c->params.roster->nodes[n].has_parent;
        if (!is_still) {
            return false;
        }
    }
    return true;
}

/* Those who stand still without saying so wait for something that is not observed. */
static enum wio_status tell_guesses(struct wio_conduct *c, uint64_t now_ns)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->nodes[n].node != NULL && c->told[n] == WIO_NODE_COMPUTING) {
            WIO_TRY(wio_conduct_tell(c, n, WIO_NODE_BLOCKED, now_ns));
            c->is_guess[n] = true;
        }
    }
    return WIO_OK;
}

void wio_conduct_let_go(struct wio_conduct *c, uint32_t n)
{
    struct wio_watch *watch = &c->nodes[n];
    struct wio_board_node *node = &c->params.board->nodes[watch->node - c->params.board->nodes];
    uint64_t granted = c->params.method == WIO_HOLD_PRIORITY ? next_stop(c, n, watch->asked)
                                                             : watch->asked + c->params.period - 1;
    c->told[n] = WIO_NODE_COMPUTING;
    c->is_guess[n] = false;
    c->released++;
    c->counted[n]++;
    wio_board_grant(node, granted < WIO_BOARD_FREE ? (uint32_t)granted : WIO_BOARD_FREE);
}

static enum wio_status decide(struct wio_conduct *c, uint64_t now_ns)
{
    struct wio_hold_decision decision;
    WIO_TRY(tell_guesses(c, now_ns));
    WIO_TRY(wio_hold_decide(c->params.hold, now_ns, &decision));
    if (decision.verdict == WIO_HOLD_RELEASE) {
        c->moved_ns = now_ns;
        restart(c);
        wio_conduct_let_go(c, decision.node);
    }
    return WIO_OK;
}

/* Everybody stands still, and nobody rang while that was found out. */
static enum wio_status step_priority(struct wio_conduct *c, uint32_t doorbell, uint64_t now_ns,
                                     uint64_t *sleep_ns_out)
{
    uint32_t held = find_held(c);
    if (held == WIO_NOBODY) {
        *sleep_ns_out = IDLE_NS;
        c->moved_ns = now_ns;
        return WIO_OK;
    }
    if (now_ns - c->moved_ns > c->params.limit_ns) {
        wio_conduct_give_up(c, WIO_CONDUCT_TOO_LONG, held, c->nodes[held].node->pid);
        return WIO_OK;
    }
    if (is_birth_going_on(c, now_ns) || !all_still(c)) {
        *sleep_ns_out = c->pause_ns;
        c->pause_ns = c->pause_ns < PAUSE_MAX_NS ? c->pause_ns * 2 : PAUSE_MAX_NS;
        return WIO_OK;
    }
    *sleep_ns_out = 0;
    return wio_board_doorbell(c->params.board) == doorbell ? decide(c, now_ns) : WIO_OK;
}

enum wio_status wio_conduct_step(struct wio_conduct *conduct, uint64_t now_ns,
                                 uint64_t *sleep_ns_out)
{
    struct wio_conduct *c = conduct;
    bool is_news = false;
    uint32_t doorbell = wio_board_doorbell(c->params.board);
    *sleep_ns_out = IDLE_NS;
    if (c->verdict != WIO_CONDUCT_GOOD) {
        return WIO_OK;
    }
    WIO_TRY(seat_newcomers(c, now_ns, &is_news));
    WIO_TRY(read_nodes(c, now_ns, &is_news));
    if (is_news && c->params.method == WIO_HOLD_PRIORITY) {
        restart(c);
    }
    WIO_TRY(look_at_nodes(c, now_ns));
    if (c->verdict != WIO_CONDUCT_GOOD) {
        return WIO_OK;
    }
    return c->params.method == WIO_HOLD_TRACE ? wio_conduct_step_trace(c, now_ns, sleep_ns_out)
                                              : step_priority(c, doorbell, now_ns, sleep_ns_out);
}

enum wio_status wio_conduct_end(struct wio_conduct *conduct, uint64_t now_ns)
{
    for (uint32_t n = 0; n < conduct->params.roster->count; n++) {
        if (conduct->told[n] != WIO_NODE_EXITED) {
            WIO_TRY(wio_conduct_tell(conduct, n, WIO_NODE_EXITED, now_ns));
        }
    }
    return WIO_OK;
}
