/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/feed.h"

#include "base/cleanup.h"

/* What is performed does not depend on the others, and is decoded while the clock runs. */
#define COLUMNS_UNUSED (WIO_COLUMN_SOURCE | WIO_COLUMN_CPU)

/* Blocks without events are skipped. */
static enum wio_status load(struct rp_feed *feed, struct wio_error *err)
{
    feed->at = 0;
    feed->count = 0;
    while (feed->count == 0) {
        WIO_TRY(wio_cursor_next_block(feed->cursor, &feed->events, &feed->count, err));
    }
    return WIO_OK;
}

enum wio_status rp_feed_init(struct rp_feed *feed, const struct wio_trace *trace, uint32_t stream,
                             struct wio_error *err)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .streams = &stream,
                                      .stream_count = 1,
                                      .columns = ~(uint64_t)COLUMNS_UNUSED};
    WIO_TRY(wio_cursor_create(trace, &filter, &feed->cursor, err));
    enum wio_status status = load(feed, err);
    return status == WIO_END ? WIO_OK : status;
}

void rp_feed_fini(struct rp_feed *feed)
{
    wio_cursor_destroy(feed->cursor);
    *feed = (struct rp_feed){0};
}

enum wio_status rp_feed_next(struct rp_feed *feed, const struct wio_event **event_out,
                             struct wio_error *err)
{
    if (feed->at == feed->count) {
        WIO_TRY(load(feed, err));
    }
    *event_out = &feed->events[feed->at++];
    return WIO_OK;
}
