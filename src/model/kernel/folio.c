/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/kernel/folio.h"

#include "base/cleanup.h"

/* Is all of [begin, end) in memory, and nothing of it dirty? */
static bool is_clean(struct wio_cache_file *file, uint64_t begin, uint64_t end)
{
    uint64_t at = begin;
    bool is_dirty = wio_pages_find(&file->pages, &at) && at < end; /* O(log n), the rest is not */
    return !is_dirty && wio_pages_run(&file->resident.pages, begin, end) == end - begin;
}

/* These pages count, and there is nothing to write. */
static enum wio_status add_idle(struct wio_cache *cache, struct wio_cache_file *file,
                                uint64_t first, uint64_t end, uint64_t *added)
{
    uint64_t count;
    WIO_TRY(wio_pages_add(&file->idle, &cache->pool, first, end, &count));
    WIO_TRY(wio_pages_add(&file->pages, &cache->pool, first, end, &count));
    *added += count;
    return WIO_OK;
}

/* The rest of a clean folio of which [first, end) is written becomes dirty with it (rule 1). */
static enum wio_status dirty_rest(struct wio_cache *cache, struct wio_cache_file *file,
                                  uint64_t first, uint64_t end, uint64_t *added)
{
    uint64_t folio = wio_folio_pages(file);
    uint64_t begin = first - first % folio;
    uint64_t stop = begin + folio;
    if (end - first >= folio || end > stop || !is_clean(file, begin, stop)) {
        return WIO_OK;
    }
    WIO_TRY(add_idle(cache, file, begin, first, added));
    return add_idle(cache, file, end, stop, added);
}

enum wio_status wio_folio_dirty(struct wio_cache *cache, struct wio_cache_file *file,
                                uint64_t first, uint64_t end, uint64_t *fresh_out,
                                uint64_t *added_out)
{
    uint64_t rest = 0;
    WIO_TRY(dirty_rest(cache, file, first, end, &rest));
    WIO_TRY(wio_pages_add(&file->pages, &cache->pool, first, end, fresh_out));
    *added_out = *fresh_out + rest;
    if (file->idle.count > 0) {
        *fresh_out += wio_pages_remove(&file->idle, &cache->pool, first, end);
    }
    return WIO_OK;
}

uint64_t wio_folio_alike(struct wio_cache_file *file, uint64_t page)
{
    uint64_t idle = page;
    if (file->idle.count == 0 || !wio_pages_find(&file->idle, &idle)) {
        return UINT64_MAX;
    }
    uint64_t folio = wio_folio_pages(file);
    uint64_t begin = idle - idle % folio;
    return (begin > page ? begin : begin + folio) - page;
}

bool wio_folio_skip_idle(struct wio_cache_file *file, uint64_t *first, uint64_t end,
                         uint64_t *stop_out)
{
    *stop_out = end;
    if (file->idle.count > 0) {
        *first += wio_pages_run(&file->idle, *first, end);
        *stop_out = *first;
        if (!wio_pages_find(&file->idle, stop_out) || *stop_out > end) {
            *stop_out = end;
        }
    }
    return *first < end;
}

uint64_t wio_folio_take_data(struct wio_cache *cache, struct wio_cache_file *file, uint64_t first,
                             uint64_t count)
{
    uint64_t idle = 0;
    if (file->idle.count > 0) {
        idle = wio_pages_remove(&file->idle, &cache->pool, first, first + count);
    }
    return count - idle;
}
