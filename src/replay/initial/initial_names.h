/* SPDX-License-Identifier: Apache-2.0 */
/* What one operation tells: the parts of rp_observe (initial_state.h), by class of operation. */
#ifndef WIO_REPLAY_INITIAL_INITIAL_NAMES_H
#define WIO_REPLAY_INITIAL_INITIAL_NAMES_H

#include <stdbool.h>

#include "replay/initial/initial_state.h"

/* The node of a path (string id), RP_NONE where it is none that is replayed. */
WIO_MUST_CHECK enum wio_status rp_observer_node(struct rp_observer *observer, uint32_t string,
                                                bool follow, uint32_t *node_out);

/* The node of the name itself, also where it is that of a fifo or its like. */
WIO_MUST_CHECK enum wio_status rp_observer_name(struct rp_observer *observer, uint32_t string,
                                                uint32_t *node_out);

/* An operation on one name that succeeded, one that failed, rename and link, copies. */
WIO_MUST_CHECK enum wio_status rp_see_success(struct rp_observer *observer,
                                              const struct wio_event *event, uint32_t node);
WIO_MUST_CHECK enum wio_status rp_see_failure(struct rp_observer *observer,
                                              const struct wio_event *event, uint32_t node);
WIO_MUST_CHECK enum wio_status rp_see_two_names(struct rp_observer *observer,
                                                const struct wio_event *event);
/* In initial_special.c: an operation that makes, moves or removes what is no file. *seen_out:
 * nothing else is to be learnt from it. */
WIO_MUST_CHECK enum wio_status rp_see_special(struct rp_observer *observer,
                                              const struct wio_event *event, bool *seen_out);
/* In initial_data.c: of the size of a file and of what it held. */
WIO_MUST_CHECK enum wio_status rp_see_stat(struct rp_observer *observer,
                                           const struct wio_event *event, uint32_t node);
WIO_MUST_CHECK enum wio_status rp_see_size(struct rp_observer *observer,
                                           const struct wio_event *event, uint32_t node);
WIO_MUST_CHECK enum wio_status rp_see_seek(struct rp_observer *observer,
                                           const struct wio_event *event, uint32_t node);
WIO_MUST_CHECK enum wio_status rp_see_map(struct rp_observer *observer,
                                          const struct wio_event *event, uint32_t node);
WIO_MUST_CHECK enum wio_status rp_see_data(struct rp_observer *observer,
                                           const struct wio_event *event, uint32_t node,
                                           bool is_read);
WIO_MUST_CHECK enum wio_status rp_see_copy(struct rp_observer *observer,
                                           const struct wio_event *event, uint32_t node);

#endif
