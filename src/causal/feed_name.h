/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a name stands for: names are given to other files, and files get other names.
 *
 * A file's id is the string of the first name under which it was met; in the upper half it has how
 * many files had been named anew before it, so that two files of one name are told apart. Those
 * that were there from the beginning have 0 there.
 */
#ifndef WIO_CAUSAL_FEED_NAME_H
#define WIO_CAUSAL_FEED_NAME_H

#include "causal/feed_internal.h"

/* The file that the path names now. */
uint64_t wio_feed_named(const struct wio_feed *feed, uint32_t path);
/* The file behind a descriptor of the event's image, which keeps it whatever becomes of its name;
 * the one that the path names where the descriptor is not known. */
uint64_t wio_feed_opened(const struct wio_feed *feed, const struct wio_event *event, int32_t fd,
                         uint32_t path);
/* Every event that succeeded, at its begin: names that stand for another file from now on. */
void wio_feed_rename(struct wio_feed *feed, const struct wio_event *event);

/* feed_fifo.c: one is made (MKNOD), opened (begin and end; behind its descriptor), the last
 * descriptor of an opening is closed. */
WIO_MUST_CHECK enum wio_status wio_feed_fifo_made(struct wio_feed *feed,
                                                  const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_fifo_begin(struct wio_feed *feed,
                                                   const struct wio_event *event);
WIO_MUST_CHECK enum wio_status wio_feed_fifo_end(struct wio_feed *feed,
                                                 const struct wio_event *event);
/* The FIFO that is opened by the call, until wio_feed_fifo_end; 0: none. */
uint32_t wio_feed_fifo_opened(const struct wio_feed *feed, const struct wio_event *event);
void wio_feed_fifo_close(struct wio_feed *feed, uint32_t file, const struct wio_event *event);

#endif
