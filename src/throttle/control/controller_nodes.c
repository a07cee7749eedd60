/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run's nodes, from the board and the kernel to the rules: registration, changes of
 * state, exits. */
#include "base/cleanup.h"
#include "record/children.h"
#include "throttle/control/controller_internal.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define CHECK_NS (10 * MILLISECOND_NS) /* how soon a death is noticed */

/* A node that computes for longer is taken for one that waits: twice as long as the same gap took
 * without holds. Part of that may have been unobserved waiting. */
#define PATIENCE_FACTOR 2
#define PATIENCE_MIN_NS (10 * MILLISECOND_NS)
/* What a process may compute before its first word. */
#define BEGIN_NS (2000 * MILLISECOND_NS)
#define BIRTH_NS (2000 * MILLISECOND_NS) /* from fork or spawn to registration */
#define UNBORN_NS (100 * MILLISECOND_NS) /* .. then between checks for slow starters */

void wio_conduct_set_patience(struct wio_conduct *c, uint32_t n)
{
    struct wio_watch *watch = &c->nodes[n];
    uint64_t way_ns = c->params.method == WIO_HOLD_TRACE
                          ? wio_profile_phase(c->params.profile, n, watch->asked)
                          : wio_profile_gap(c->params.profile, n, watch->asked);
    uint64_t call_ns = c->params.profile->nodes[n].longest_call_ns;
    watch->patience_ns = PATIENCE_MIN_NS + PATIENCE_FACTOR * way_ns;
    watch->call_patience_ns = PATIENCE_MIN_NS + PATIENCE_FACTOR * call_ns;
}

/* ---- registration ------------------------------------------------------------------------- */

static bool is_held_method(const struct wio_conduct *c, uint32_t n)
{
    return c->params.method == WIO_HOLD_PRIORITY || n == c->params.throttled;
}

/* How many I/Os the node may do before it stands at the next one, from `from` on, that shows
 * anything. */
static uint32_t next_stop(const struct wio_conduct *c, uint32_t n, uint32_t from)
{
    uint32_t ops = c->params.roster->nodes[n].ops;
    uint32_t stop = from;
    while (stop < ops && !wio_hold_is_open(c->params.hold, n, stop)) {
        stop++;
    }
    return stop;
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

static enum wio_status seat(struct wio_conduct *c, uint32_t place, uint64_t now_ns)
{
    struct wio_board_node *node = &c->params.board->nodes[place];
    uint32_t n = wio_roster_find(c->params.roster, c->params.board, place);
    if (n == WIO_NO_PARTICIPANT || c->nodes[n].node != NULL) {
        wio_conduct_give_up(c, WIO_CONDUCT_STRANGER, WIO_NO_PARTICIPANT, node->pid);
        return WIO_OK;
    }
    c->nodes[n].node = node;
    c->nodes[n].far =
        c->params.director != NULL ? wio_director_look(c->params.director, place) : NULL;
    wio_watch_restart(&c->nodes[n]);
    wio_board_grant(node, is_held_method(c, n) ? next_stop(c, n, 0) : WIO_BOARD_FREE);
    return wio_conduct_tell(c, n, WIO_NODE_COMPUTING, now_ns);
}

enum wio_status wio_conduct_seat_newcomers(struct wio_conduct *c, uint64_t now_ns, bool *news_out)
{
    uint32_t count = wio_board_count(c->params.board);
    for (; c->seated < count && c->verdict == WIO_CONDUCT_GOOD; c->seated++) {
        *news_out = true;
        WIO_TRY(seat(c, c->seated, now_ns));
    }
    if (wio_board_is_overfull(c->params.board)) {
        wio_conduct_give_up(c, WIO_CONDUCT_TOO_MANY, WIO_NO_PARTICIPANT, 0);
    }
    return WIO_OK;
}

static bool is_seated(const struct wio_conduct *c, int32_t pid)
{
    for (uint32_t i = 0; i < c->seated; i++) {
        if (c->params.board->nodes[i].pid == pid) {
            return true;
        }
    }
    return false;
}

/* It runs, waits for a processor or for a disk, and has not had time to come yet. */
static bool is_beginning(int32_t pid)
{
    struct wio_task_state task;
    wio_task_look(pid, pid, &task);
    return task.is_there && !task.is_asleep && task.run_ns < BEGIN_NS;
}

/* On one host only: other hosts do not examine their children. */
static bool has_unborn(const struct wio_conduct *c)
{
    bool has_unborn = false;
    for (uint32_t i = 0; c->params.director == NULL && i < c->seated && !has_unborn; i++) {
        const struct wio_board_node *node = &c->params.board->nodes[i];
        struct wio_children children;
        if (!wio_children_read_of(node->pid, node->tid, &children)) {
            continue;
        }
        for (size_t k = 0; k < children.count && !has_unborn; k++) {
            has_unborn = !is_seated(c, children.pids[k]) && is_beginning(children.pids[k]);
        }
        wio_children_fini(&children);
    }
    return has_unborn;
}

/* A child that does not register in time is assumed not to be recordable, unless it is still
 * runnable and has used little processor time (a busy machine). */
bool wio_conduct_awaits_birth(struct wio_conduct *c, uint64_t now_ns)
{
    uint32_t arrived = __atomic_load_n(&c->params.board->arrived, __ATOMIC_SEQ_CST);
    uint32_t announced = __atomic_load_n(&c->params.board->announced, __ATOMIC_SEQ_CST);
    uint32_t expected = announced - arrived;
    if (expected != c->expected) {
        c->expected = expected;
        c->expected_ns = now_ns;
    }
    bool is_late = (int32_t)(expected - c->forgiven) < 0; /* a given-up child has registered */
    bool is_time = now_ns - c->expected_ns > BIRTH_NS;
    if (!is_late && is_time && expected != c->forgiven && has_unborn(c)) {
        c->expected_ns = now_ns - BIRTH_NS + UNBORN_NS;
    } else if (is_late || is_time) {
        c->forgiven = expected;
    }
    return (int32_t)(expected - c->forgiven) > 0;
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
 * The node's own state. A node that was only found still counts as blocked, in a poll loop for all
 * that is known, until it reaches an I/O, a call that waits, or its end. A lock before that is part
 * of the loop.
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

/* I/Os at which it was not to be held. */
static void count_passed(struct wio_conduct *c, uint32_t n)
{
    uint32_t begun = wio_conduct_begun(c, n);
    for (; c->counted[n] < begun; c->counted[n]++) {
        wio_hold_pass(c->params.hold, n);
    }
}

/* It rang the doorbell. */
static enum wio_status hear(struct wio_conduct *c, uint32_t n, uint64_t before, uint64_t now_ns)
{
    struct wio_watch *watch = &c->nodes[n];
    wio_conduct_set_patience(c, n);
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

enum wio_status wio_conduct_read_nodes(struct wio_conduct *c, uint64_t now_ns, bool *news_out)
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

/* ---- exits -------------------------------------------------------------------------------- */

/* The process has reported its exit. Its other threads may have run on for a moment. */
static bool has_said_goodbye(const struct wio_conduct *c, const struct wio_board_node *of)
{
    for (uint32_t i = 0; i < c->seated; i++) {
        const struct wio_board_node *node = &c->params.board->nodes[i];
        if (node->host == of->host && node->pid == of->pid && node->tid == of->pid) {
            return WIO_BOARD_STATE(wio_board_word(node)) == WIO_BOARD_EXITED;
        }
    }
    return false;
}

static bool has_process(const struct wio_watch *watch)
{
    struct wio_task_state process;
    if (watch->far != NULL) {
        return watch->far->has_process;
    }
    wio_task_look(watch->node->pid, watch->node->pid, &process);
    return process.is_there;
}

/* A thread that is gone: the end of the run if its process was killed. */
static enum wio_status bury(struct wio_conduct *c, uint32_t n, uint64_t now_ns)
{
    struct wio_watch *watch = &c->nodes[n];
    (void)wio_watch_read(watch);
    if (c->params.method == WIO_HOLD_PRIORITY) {
        count_passed(c, n);
    }
    if (!wio_watch_has_exited(watch)) {
        if (!has_process(watch) && !has_said_goodbye(c, watch->node)) {
            wio_conduct_give_up(c, WIO_CONDUCT_DIED, n, watch->node->pid);
        }
        watch->word = WIO_BOARD_EXITED;
    }
    return wio_conduct_tell(c, n, WIO_NODE_EXITED, now_ns);
}

enum wio_status wio_conduct_look_at_nodes(struct wio_conduct *c, uint64_t now_ns)
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
