/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel, rule 15. */
#include "model/kernel/reader.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/pick.h"
#include "model/kernel/holes.h"

struct wio_reader *wio_reader_find(struct wio_cache *cache, struct wio_cache_file *file,
                                   uint64_t at)
{
    if (file->readers == NULL) {
        file->readers = cache->alloc.get(cache->alloc.context, sizeof(*file->readers));
    }
    struct wio_readers *all = file->readers;
    if (all == NULL) {
        return NULL;
    }
    struct wio_reader *found = &all->readers[0];
    for (unsigned i = 0; i < WIO_READERS_MAX; i++) {
        struct wio_reader *reader = &all->readers[i];
        if (wio_readahead_is_at(&reader->ahead, at)) {
            found = reader;
            break;
        }
        found = reader->used < found->used ? reader : found;
    }
    if (!wio_readahead_is_at(&found->ahead, at)) {
        *found = (struct wio_reader){0};
    }
    found->used = ++all->reads;
    return found;
}

/* Holes come into memory, too, but not from the device. */
static enum wio_status fetch_data(struct wio_cache *cache, struct wio_cache_file *file,
                                  struct wio_read_piece *piece)
{
    uint64_t at = piece->first;
    uint64_t added;
    for (uint64_t stop; wio_holes_skip(file, &at, piece->end, &stop); at = stop) {
        WIO_TRY(wio_resident_add(&cache->resident, &file->resident, at, stop, &added));
        piece->fetch += added;
    }
    return wio_resident_add(&cache->resident, &file->resident, piece->first, piece->end, &added);
}

/* Of the pages [first, end) those that are not in memory are fetched; nothing is behind the file's
 * end. */
static enum wio_status fetch(struct wio_cache *cache, struct wio_cache_file *file, uint64_t first,
                             uint64_t end, struct wio_read_piece *piece)
{
    uint64_t last =
        file->known_end < UINT64_MAX ? wio_cache_page_behind(file->known_end) : UINT64_MAX;
    uint64_t stop = wio_smaller(end, last);
    piece->first = first;
    piece->end = stop > first ? stop : first;
    if (file->hole_from >= piece->end) {
        return wio_resident_add(&cache->resident, &file->resident, piece->first, piece->end,
                                &piece->fetch);
    }
    return fetch_data(cache, file, piece);
}

/* What can be copied at once, from `at` on: up to `stop`, or to the next marker. */
static uint64_t up_to_marker(const struct wio_readahead *ahead, uint64_t at, uint64_t stop)
{
    uint64_t marker = wio_readahead_marker(ahead);
    return marker > at && marker < stop ? marker : stop;
}

/* The largest window: a quarter of memory at most, so that little memory is not filled ahead of
 * time. */
static uint64_t window_most(const struct wio_cache *cache, const struct wio_cache_file *file)
{
    uint64_t pages = (uint64_t)(file->device->params.read_ahead / WIO_CACHE_PAGE);
    return wio_smaller(pages, cache->resident.room / 4);
}

/* Pages from `at` on are in memory: up to the next marker they can be copied. */
static enum wio_status read_there(struct wio_cache *cache, struct wio_cache_file *file,
                                  struct wio_readahead *ahead, uint64_t at, uint64_t end,
                                  struct wio_read_piece *piece)
{
    if (at == wio_readahead_marker(ahead)) {
        wio_readahead_go_on(ahead, end - at, window_most(cache, file));
        WIO_TRY(fetch(cache, file, ahead->start, ahead->start + ahead->size, piece));
        if (piece->fetch == 0) {
            ahead->async = 0; /* in memory already: there is no marker */
        }
    }
    uint64_t run = wio_pages_run(&file->resident.pages, at, end);
    piece->stop = up_to_marker(ahead, at, at + (run > 0 ? run : 1)); /* 0: driven out just now */
    return WIO_OK;
}

static enum wio_status read_missing(struct wio_cache *cache, struct wio_cache_file *file,
                                    struct wio_readahead *ahead, uint64_t at, uint64_t end,
                                    struct wio_read_piece *piece)
{
    uint64_t pages = wio_readahead_miss(ahead, at, end - at, window_most(cache, file));
    WIO_TRY(fetch(cache, file, at, at + pages, piece));
    piece->is_waited_for = true;
    piece->stop = up_to_marker(ahead, at, wio_smaller(end, at + pages));
    return WIO_OK;
}

enum wio_status wio_reader_next(struct wio_cache *cache, struct wio_cache_file *file,
                                struct wio_reader *reader, uint64_t at, uint64_t end,
                                struct wio_read_piece *piece_out)
{
    bool is_there = wio_pages_run(&file->resident.pages, at, at + 1) > 0;
    *piece_out = (struct wio_read_piece){0};
    if (is_there) {
        WIO_TRY(read_there(cache, file, &reader->ahead, at, end, piece_out));
    } else {
        WIO_TRY(read_missing(cache, file, &reader->ahead, at, end, piece_out));
    }
    reader->ahead.next = piece_out->stop;
    wio_resident_touch(&cache->resident, &file->resident, at, piece_out->stop);
    return WIO_OK;
}

void wio_reader_fetches(struct wio_cache_file *file, struct wio_reader *reader,
                        const struct wio_read_piece *piece, double there_s)
{
    reader->flights[1] = reader->flights[0];
    reader->flights[0] =
        (struct wio_flight){.first = piece->first, .end = piece->end, .there_s = there_s};
    file->readers->all_there_s = fmax(file->readers->all_there_s, there_s);
}

double wio_reader_there(const struct wio_cache *cache, const struct wio_cache_file *file,
                        uint64_t first, uint64_t end)
{
    double there_s = cache->time_s;
    if (file->readers->all_there_s <= there_s) {
        return there_s;
    }
    for (unsigned i = 0; i < 2 * WIO_READERS_MAX; i++) {
        const struct wio_flight *flight = &file->readers->readers[i / 2].flights[i % 2];
        if (flight->first < end && first < flight->end) {
            there_s = fmax(there_s, flight->there_s);
        }
    }
    return there_s;
}
