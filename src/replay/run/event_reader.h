/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one stream in order, decoded a block at a time; ahead of time where there is some.
 */
#ifndef WIO_REPLAY_RUN_EVENT_READER_H
#define WIO_REPLAY_RUN_EVENT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include <whyio/trace.h>

/* Zero-initialise; release with rp_feed_fini. One thread; a child of fork does not have it. */
struct rp_feed {
    struct wio_cursor *cursor;
    const struct wio_event *events; /* at hand: those in `store`, or the block itself */
    size_t count;
    size_t at; /* next */
    struct wio_event *store;
    size_t store_max;
    struct wio_event last;         /* of a block: the next one is read over it */
    const struct wio_event *block; /* read, but not at hand yet */
    size_t block_count;
    bool has_room; /* in the store, where all at hand is: one more block can be read ahead */
    enum wio_status ended; /* why nothing more is read: WIO_END, or a fault, which stays */
};

/* Up to `ahead` events may be decoded ahead of time. Also reads the first block, so that this costs
 * no time later. */
WIO_MUST_CHECK enum wio_status rp_feed_init(struct rp_feed *feed, const struct wio_trace *trace,
                                            uint32_t stream, size_t ahead, struct wio_error *err);
void rp_feed_fini(struct rp_feed *feed);

/* The next event, valid until the next call; WIO_END. A fault comes behind all events that were
 * read before it, each time; `err` is written when it is met, maybe by rp_feed_read_ahead: give
 * both the same one. */
WIO_MUST_CHECK enum wio_status
rp_feed_next(struct rp_feed *feed, const struct wio_event **event_out, struct wio_error *err);

/* When the event behind the one that rp_feed_next gave begins; UINT64_MAX: there is none that can
 * be read. What rp_feed_next gave stays valid; `err` as there. */
uint64_t rp_feed_next_ns(struct rp_feed *feed, struct wio_error *err);

/* Decode one more block ahead, when the caller is idle. WIO_END: there is none, or no room for it;
 * also behind a fault, which was given once and which rp_feed_next tells. What rp_feed_next gave
 * stays valid. */
WIO_MUST_CHECK enum wio_status rp_feed_read_ahead(struct rp_feed *feed, struct wio_error *err);

#endif
