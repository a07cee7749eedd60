/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/event_reader.h"

#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "trace/format/events.h"

/* What is performed does not depend on the others, and is decoded while the clock runs. */
#define COLUMNS_UNUSED (WIO_COLUMN_SOURCE | WIO_COLUMN_CPU)

/* Have a block that was read, unless there is none. Blocks without events are skipped; behind one
 * that cannot be read nothing is: operations would be missing. */
static enum wio_status read_block(struct rp_feed *feed, struct wio_error *err)
{
    while (feed->block_count == 0 && feed->ended == WIO_OK) {
        feed->ended = wio_cursor_next_block(feed->cursor, &feed->block, &feed->block_count, err);
    }
    if (feed->block_count == 0) {
        feed->has_room = false;
        return feed->ended;
    }
    return WIO_OK;
}

/* Behind what is at hand, if there is room. */
static bool store_block(struct rp_feed *feed)
{
    feed->has_room = feed->block_count <= feed->store_max - feed->count;
    if (!feed->has_room) {
        return false;
    }
    memcpy(feed->store + feed->count, feed->block, feed->block_count * sizeof(*feed->block));
    feed->count += feed->block_count;
    feed->block_count = 0;
    return true;
}

/* All at hand was given. */
static enum wio_status load(struct rp_feed *feed, struct wio_error *err)
{
    feed->at = 0;
    feed->count = 0;
    WIO_TRY(read_block(feed, err));
    feed->events = feed->store;
    if (!store_block(feed)) {
        feed->events = feed->block;
        feed->count = feed->block_count;
        feed->block_count = 0;
    }
    return WIO_OK;
}

/* Without it every block is used where it was decoded. */
static void make_store(struct rp_feed *feed, uint64_t events, size_t max)
{
    size_t count = events < max ? (size_t)events : max;
    size_t bytes = count * sizeof(*feed->store);
    if (count <= WIO_SLICE_MAX) { /* nothing to read ahead of */
        return;
    }
    void *store = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (store == MAP_FAILED) {
        return;
    }
    (void)madvise(store, bytes, MADV_DONTFORK); /* a fork of the replay takes no longer for it */
    feed->store = store;
    feed->store_max = count;
}

enum wio_status rp_feed_init(struct rp_feed *feed, const struct wio_trace *trace, uint32_t stream,
                             size_t ahead, struct wio_error *err)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .streams = &stream,
                                      .stream_count = 1,
                                      .columns = ~(uint64_t)COLUMNS_UNUSED};
    WIO_TRY(wio_cursor_create(trace, &filter, &feed->cursor, err));
    make_store(feed, wio_trace_stream(trace, stream)->events, ahead);
    enum wio_status status = load(feed, err);
    return status == WIO_END ? WIO_OK : status;
}

void rp_feed_fini(struct rp_feed *feed)
{
    if (feed->store != NULL) {
        (void)munmap(feed->store, feed->store_max * sizeof(*feed->store));
    }
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
    if (feed->at == feed->count && feed->events != feed->store) {
        feed->last = **event_out;
        *event_out = &feed->last;
    }
    return WIO_OK;
}

uint64_t rp_feed_next_ns(struct rp_feed *feed, struct wio_error *err)
{
    if (feed->at < feed->count) {
        return feed->events[feed->at].t_ns;
    }
    return read_block(feed, err) == WIO_OK ? feed->block->t_ns : UINT64_MAX;
}

enum wio_status rp_feed_read_ahead(struct rp_feed *feed, struct wio_error *err)
{
    if (!feed->has_room) {
        return WIO_END;
    }
    WIO_TRY(read_block(feed, err));
    return store_block(feed) ? WIO_OK : WIO_END;
}
