/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one stream in order, decoded a block at a time. */
#ifndef WIO_REPLAY_FEED_H
#define WIO_REPLAY_FEED_H

#include <stddef.h>

#include <whyio/trace.h>

/* Zero-initialise; release with rp_feed_fini. One thread. */
struct rp_feed {
    struct wio_cursor *cursor;
    const struct wio_event *events;
    size_t count;
    size_t at; /* next */
};

/* Also reads the first block, so that this costs no time later. */
WIO_MUST_CHECK enum wio_status rp_feed_init(struct rp_feed *feed, const struct wio_trace *trace,
                                            uint32_t stream, struct wio_error *err);
void rp_feed_fini(struct rp_feed *feed);

/* The next event, valid until the next call; WIO_END. */
WIO_MUST_CHECK enum wio_status
rp_feed_next(struct rp_feed *feed, const struct wio_event **event_out, struct wio_error *err);

#endif
