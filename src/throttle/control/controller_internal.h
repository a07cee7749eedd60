/* SPDX-License-Identifier: Apache-2.0 */
/* What the two ways to conduct a run share. */
#ifndef WIO_THROTTLE_CONTROL_CONTROLLER_INTERNAL_H
#define WIO_THROTTLE_CONTROL_CONTROLLER_INTERNAL_H

#include "throttle/control/controller.h"

/* controller_core.c. Tell the rules what a node does. */
WIO_MUST_CHECK enum wio_status wio_conduct_tell(struct wio_conduct *c, uint32_t n,
                                                enum wio_node_state state, uint64_t now_ns);
/* I/Os that were begun: those that a node came to, but for one at which it stands. */
uint32_t wio_conduct_begun(const struct wio_conduct *c, uint32_t n);
/* The run cannot be trusted any more: all nodes are released. */
void wio_conduct_give_up(struct wio_conduct *c, enum wio_conduct_verdict verdict, uint32_t node,
                         int32_t pid);

/* controller_nodes.c. *news_out is set where a node registered, or rang the doorbell. */
void wio_conduct_set_patience(struct wio_conduct *c, uint32_t n);
WIO_MUST_CHECK enum wio_status wio_conduct_seat_newcomers(struct wio_conduct *c, uint64_t now_ns,
                                                          bool *news_out);
WIO_MUST_CHECK enum wio_status wio_conduct_read_nodes(struct wio_conduct *c, uint64_t now_ns,
                                                      bool *news_out);
/* Ask the kernel about each node that is not held, and at intervals about all, to find those that
 * have ended. */
WIO_MUST_CHECK enum wio_status wio_conduct_look_at_nodes(struct wio_conduct *c, uint64_t now_ns);
/* A node that is held may do its I/O, and those up to the next one at which it is to be held. */
void wio_conduct_let_go(struct wio_conduct *c, uint32_t n);
/* A thread or process is being made, and has not registered yet. */
bool wio_conduct_awaits_birth(struct wio_conduct *c, uint64_t now_ns);

/* Over several hosts: controller_hosts.c. *news_out is set where a node was examined before a grant
 * reached it. */
WIO_MUST_CHECK enum wio_status wio_conduct_exchange(struct wio_conduct *c, bool *news_out);
/* All nodes are still: is it sure that no bytes in flight between hosts wake one? To be asked again
 * after the next exchange if not. */
bool wio_conduct_is_settled(struct wio_conduct *c);
/* Must this node, which is not there, register before the run can be quiescent? */
bool wio_conduct_awaits(const struct wio_conduct *c, uint32_t n);

/* //TRACE: controller_trace.c. */
WIO_MUST_CHECK enum wio_status wio_conduct_step_trace(struct wio_conduct *c, uint64_t now_ns,
                                                      uint64_t *sleep_ns_out);

#endif
