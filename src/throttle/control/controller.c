/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/control/controller_internal.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define IDLE_NS (20 * MILLISECOND_NS)     /* no node is held: the doorbell ends the sleep */
#define PAUSE_MIN_NS (MILLISECOND_NS / 2) /* until a node that is not still has used more time */
#define PAUSE_MAX_NS (4 * MILLISECOND_NS)

enum wio_status wio_conduct_begin(struct wio_conduct *conduct,
                                  const struct wio_conduct_params *params, uint64_t now_ns)
{
    uint32_t count = params->roster->count;
    *conduct = (struct wio_conduct){.params = *params, .node = WIO_NO_PARTICIPANT};
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
        wio_conduct_set_patience(conduct, n);
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
    c->arrival = WIO_CONDUCT_UNKNOWN;
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        wio_watch_restart(&c->nodes[n]);
    }
}

/* ---- deciding ----------------------------------------------------------------------------- */

/* The first node that is held before an I/O, or WIO_NO_PARTICIPANT. */
static uint32_t find_held(const struct wio_conduct *c)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->nodes[n].node != NULL && wio_watch_is_held(&c->nodes[n])) {
            return n;
        }
    }
    return WIO_NO_PARTICIPANT;
}

static bool all_still(const struct wio_conduct *c)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        const struct wio_watch *watch = &c->nodes[n];
        bool is_still = watch->node != NULL ? wio_watch_is_still(watch) : !wio_conduct_awaits(c, n);
        if (!is_still) {
            return false;
        }
    }
    return true;
}

/* Nodes that are still while they count as computing wait for something that is not observed. */
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

/* Decides when all nodes are still and the doorbell has not rung since the step began. */
static enum wio_status step_priority(struct wio_conduct *c, uint32_t doorbell, uint64_t now_ns,
                                     uint64_t *sleep_ns_out)
{
    uint32_t held = find_held(c);
    if (held == WIO_NO_PARTICIPANT) {
        *sleep_ns_out = IDLE_NS;
        c->moved_ns = now_ns;
        return WIO_OK;
    }
    if (now_ns - c->moved_ns > c->params.limit_ns) {
        wio_conduct_give_up(c, WIO_CONDUCT_TOO_LONG, held, c->nodes[held].node->pid);
        return WIO_OK;
    }
    if (wio_conduct_awaits_birth(c, now_ns) || !all_still(c)) {
        *sleep_ns_out = c->pause_ns;
        c->arrival = WIO_CONDUCT_UNKNOWN;
        c->pause_ns = c->pause_ns < PAUSE_MAX_NS ? c->pause_ns * 2 : PAUSE_MAX_NS;
        return WIO_OK;
    }
    if (c->params.director != NULL && !wio_conduct_is_settled(c)) {
        *sleep_ns_out = PAUSE_MIN_NS;
        return WIO_OK;
    }
    *sleep_ns_out = 0;
    return wio_board_doorbell(c->params.board) == doorbell ? decide(c, now_ns) : WIO_OK;
}

/* A thread ended all holds: the recorder gave no sign of life, or a hold exceeded its limit. */
static bool is_lost(struct wio_conduct *c)
{
    bool is_over = __atomic_load_n(&c->params.board->is_over, __ATOMIC_SEQ_CST) != 0;
    if (is_over) {
        wio_conduct_give_up(c, WIO_CONDUCT_LOST, WIO_NO_PARTICIPANT, 0);
    }
    return is_over;
}

/* Sample all nodes. Threads of other hosts were sampled before the changes were known here, so
 * their time is measured anew from the next sample. */
static enum wio_status look(struct wio_conduct *c, bool is_news, uint64_t now_ns)
{
    bool is_far = c->params.director != NULL;
    WIO_TRY(wio_conduct_seat_newcomers(c, now_ns, &is_news));
    WIO_TRY(wio_conduct_read_nodes(c, now_ns, &is_news));
    bool is_anew = is_news && c->params.method == WIO_HOLD_PRIORITY;
    if (is_anew && !is_far) {
        restart(c);
    }
    WIO_TRY(wio_conduct_look_at_nodes(c, now_ns));
    if (is_anew && is_far) {
        restart(c);
    }
    return WIO_OK;
}

static enum wio_status step(struct wio_conduct *c, uint64_t now_ns, uint64_t *sleep_ns_out)
{
    bool is_news = false;
    uint32_t doorbell = wio_board_doorbell(c->params.board);
    if (c->params.director != NULL) {
        WIO_TRY(wio_conduct_exchange(c, &is_news)); /* also after the holds have ended */
    }
    if (c->verdict != WIO_CONDUCT_GOOD || is_lost(c)) {
        return WIO_OK;
    }
    WIO_TRY(look(c, is_news, now_ns));
    if (c->verdict != WIO_CONDUCT_GOOD) {
        return WIO_OK;
    }
    return c->params.method == WIO_HOLD_TRACE ? wio_conduct_step_trace(c, now_ns, sleep_ns_out)
                                              : step_priority(c, doorbell, now_ns, sleep_ns_out);
}

enum wio_status wio_conduct_step(struct wio_conduct *conduct, uint64_t now_ns,
                                 uint64_t *sleep_ns_out)
{
    *sleep_ns_out = IDLE_NS;
    enum wio_status status = step(conduct, now_ns, sleep_ns_out);
    bool is_far = conduct->params.director != NULL; /* remote nodes do not ring the doorbell */
    *sleep_ns_out = is_far && *sleep_ns_out > PAUSE_MAX_NS ? PAUSE_MAX_NS : *sleep_ns_out;
    return status;
}

enum wio_status wio_conduct_end(struct wio_conduct *conduct, uint64_t now_ns)
{
    (void)is_lost(conduct);
    for (uint32_t n = 0; n < conduct->params.roster->count; n++) {
        if (conduct->told[n] != WIO_NODE_EXITED) {
            WIO_TRY(wio_conduct_tell(conduct, n, WIO_NODE_EXITED, now_ns));
        }
    }
    return WIO_OK;
}
