/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls a run as //TRACE does: one node is held at every period-th I/O until each other one has
 * exited or is blocked. By its watchdog a node is blocked when it is in a computing phase or call
 * for longer than the longest in a run without holds, times a factor. Time is the node's own.
 */
#include "base/cleanup.h"
#include "throttle/control/controller_internal.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define WATCH_NS (2 * MILLISECOND_NS) /* period of the watchdogs while the node is held */
#define IDLE_NS (20 * MILLISECOND_NS)

/* The rules count I/Os: report those that began without a hold. */
static enum wio_status catch_up(struct wio_conduct *c, uint32_t n, uint64_t now_ns)
{
    struct wio_hold_decision decision;
    while (c->counted[n] < wio_conduct_begun(c, n)) {
        WIO_TRY(wio_conduct_tell(c, n, WIO_NODE_AT_IO, now_ns));
        WIO_TRY(wio_hold_decide(c->params.hold, now_ns, &decision));
        if (decision.verdict != WIO_HOLD_RELEASE || decision.node != n) {
            return WIO_ERR_INTERNAL;
        }
        c->told[n] = WIO_NODE_COMPUTING;
        c->counted[n]++;
    }
    bool has_exited = wio_watch_has_exited(&c->nodes[n]) && c->told[n] != WIO_NODE_EXITED;
    return has_exited ? wio_conduct_tell(c, n, WIO_NODE_EXITED, now_ns) : WIO_OK;
}

/* Each watchdog's answer is in. */
static bool all_answered(const struct wio_conduct *c)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        const struct wio_watch *watch = &c->nodes[n];
        bool is_there = watch->node != NULL;
        if (n != c->params.throttled && is_there && !wio_watch_has_exited(watch) &&
            !wio_watch_is_blocked(watch)) {
            return false;
        }
        if (!is_there && wio_conduct_awaits(c, n)) {
            return false;
        }
    }
    return true;
}

/* A node that has not been made yet cannot wait: it counts as exited. */
static enum wio_status tell_answers(struct wio_conduct *c, uint64_t now_ns)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (n == c->params.throttled || c->told[n] == WIO_NODE_EXITED) {
            continue;
        }
        WIO_TRY(wio_conduct_tell(
            c, n, c->nodes[n].node == NULL ? WIO_NODE_EXITED : WIO_NODE_BLOCKED, now_ns));
    }
    return wio_conduct_tell(c, c->params.throttled, WIO_NODE_AT_IO, now_ns);
}

static enum wio_status take_answers_back(struct wio_conduct *c, uint64_t now_ns)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->told[n] == WIO_NODE_BLOCKED) {
            WIO_TRY(wio_conduct_tell(c, n, WIO_NODE_COMPUTING, now_ns));
        }
    }
    return WIO_OK;
}

static enum wio_status let_throttled_go(struct wio_conduct *c, uint64_t now_ns)
{
    struct wio_hold_decision decision;
    uint32_t n = c->params.throttled;
    WIO_TRY(tell_answers(c, now_ns));
    WIO_TRY(wio_hold_decide(c->params.hold, now_ns, &decision));
    if (decision.verdict != WIO_HOLD_RELEASE || decision.node != n) {
        return WIO_ERR_INTERNAL;
    }
    c->moved_ns = now_ns;
    /* The release may unblock other nodes: each is measured anew. */
    for (uint32_t i = 0; i < c->params.roster->count; i++) {
        wio_watch_restart(&c->nodes[i]);
    }
    wio_conduct_let_go(c, n);
    return take_answers_back(c, now_ns);
}

enum wio_status wio_conduct_step_trace(struct wio_conduct *c, uint64_t now_ns,
                                       uint64_t *sleep_ns_out)
{
    const struct wio_watch *throttled = &c->nodes[c->params.throttled];
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->nodes[n].node != NULL) {
            WIO_TRY(catch_up(c, n, now_ns));
        }
    }
    *sleep_ns_out = IDLE_NS;
    if (throttled->node == NULL || !wio_watch_is_held(throttled)) {
        c->moved_ns = now_ns;
        return WIO_OK;
    }
    if (now_ns - c->moved_ns > c->params.limit_ns) {
        wio_conduct_give_up(c, WIO_CONDUCT_TOO_LONG, c->params.throttled, throttled->node->pid);
        return WIO_OK;
    }
    if (wio_conduct_awaits_birth(c, now_ns) || !all_answered(c)) {
        *sleep_ns_out = WATCH_NS;
        return WIO_OK;
    }
    *sleep_ns_out = 0;
    return let_throttled_go(c, now_ns);
}
