/* SPDX-License-Identifier: Apache-2.0 */
/* What all steps of the controller use: the rules are told, the run is given up. */
#include "throttle/control/controller_internal.h"

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
        if (c->params.director != NULL && node != WIO_NO_PARTICIPANT &&
            c->nodes[node].node != NULL) {
            c->host = wio_director_host(c->params.director, c->nodes[node].node->host);
        }
        wio_board_let_all_go(c->params.board);
    }
}
