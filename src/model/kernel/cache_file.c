/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of the pages of a file: dirty, clean, sent to the device, gone.
 * docs/MODEL.md#kernel: rules are cited as (rule N).
 */
#include "model/kernel/cache.h"

#include "base/cleanup.h"

void wio_cache_note_cleaned(struct wio_cache *cache, struct wio_cache_file *file, uint64_t pages)
{
    cache->dirty_pages -= pages;
    file->device->dirty_pages -= pages;
    if (pages > 0 && file->pages.count == 0) {
        TAILQ_REMOVE(&file->device->dirty, file, in_dirty);
    }
}

void wio_cache_clean(struct wio_cache *cache, struct wio_cache_file *file, uint64_t offset,
                     uint64_t end)
{
    uint64_t removed = wio_pages_remove(&file->pages, &cache->pool, offset / WIO_CACHE_PAGE,
                                        wio_cache_page_behind(end));
    (void)wio_pages_remove(&file->idle, &cache->pool, offset / WIO_CACHE_PAGE,
                           wio_cache_page_behind(end));
    wio_cache_note_cleaned(cache, file, removed);
    file->mapped =
        file->mapped > wio_cache_page_behind(end) ? file->mapped : wio_cache_page_behind(end);
}

enum wio_status wio_cache_note_sent(struct wio_cache *cache, struct wio_cache_file *file,
                                    uint64_t offset, uint64_t end,
                                    enum wio_cache_change *change_out)
{
    uint64_t added = 0;
    bool is_longer = end > file->sent_size;
    file->sent_size = end > file->sent_size ? end : file->sent_size;
    bool is_asked_for = file->device->params.commit_bytes > 0 || file->hole_from < UINT64_MAX;
    if (is_asked_for) {
        WIO_TRY(wio_pages_add(&file->blocks, &cache->pool, offset / WIO_CACHE_PAGE,
                              wio_cache_page_behind(end), &added));
    }
    *change_out = added > 0 ? WIO_CACHE_BLOCKS : is_longer ? WIO_CACHE_LENGTH : WIO_CACHE_NOTHING;
    return WIO_OK;
}

void wio_cache_note_longer(const struct wio_cache *cache, struct wio_cache_file *file)
{
    file->longer_s = file->device->changed_s = cache->time_s;
}

void wio_cache_note_growing(struct wio_cache_file *file, uint64_t pages)
{
    struct wio_cache_device *device = file->device;
    if (!file->is_growing) {
        file->is_growing = true;
        file->new_from = device->queue.submitted - pages;
        TAILQ_INSERT_TAIL(&device->growing, file, in_growing);
    }
    file->new_end = device->queue.submitted;
}

void wio_cache_note_written(const struct wio_cache *cache, struct wio_cache_device *device)
{
    struct wio_cache_file *next;
    uint64_t written = device->queue.completed;
    for (struct wio_cache_file *file = TAILQ_FIRST(&device->growing);
         file != NULL && file->new_from < written; file = next) {
        next = TAILQ_NEXT(file, in_growing);
        file->changed_s = device->changed_s = cache->time_s;
        file->is_growing = file->new_end > written;
        if (!file->is_growing) {
            TAILQ_REMOVE(&device->growing, file, in_growing);
        }
    }
}

void wio_cache_note_folio(struct wio_cache_file *file, uint64_t size)
{
    uint64_t step = (uint64_t)file->device->params.balance_step;
    uint64_t most = size < step ? size : step;
    uint64_t longest = most > WIO_CACHE_PAGE ? most : WIO_CACHE_PAGE;
    uint64_t folio = UINT64_C(1) << (63 - __builtin_clzll(longest));
    file->folio = folio > file->folio ? folio : file->folio;
}

void wio_cache_cut(struct wio_cache *cache, struct wio_cache_file *file, uint64_t size,
                   bool is_shared)
{
    uint64_t first = wio_cache_page_behind(size);
    wio_cache_note_cleaned(cache, file,
                           wio_pages_remove(&file->pages, &cache->pool, first, UINT64_MAX));
    (void)wio_pages_remove(&file->idle, &cache->pool, first, UINT64_MAX);
    wio_resident_drop(&cache->resident, &file->resident, first, UINT64_MAX);
    (void)wio_pages_remove(&file->blocks, &cache->pool, first, UINT64_MAX);
    file->mapped = file->mapped < first ? file->mapped : first;
    file->size = file->size < size ? file->size : size;
    file->safe_size = file->safe_size < size ? file->safe_size : size;
    file->sent_size = file->sent_size < size ? file->sent_size : size;
    file->known_end = size;
    if (!is_shared && file->hole_from > first) {
        file->hole_from = first;
    }
}

void wio_cache_forget(struct wio_cache *cache, struct wio_cache_file *file, uint64_t offset,
                      uint64_t end)
{
    wio_resident_drop(&cache->resident, &file->resident, offset / WIO_CACHE_PAGE,
                      wio_cache_page_behind(end));
}

enum wio_status wio_cache_use(struct wio_cache *cache, struct wio_cache_file *file, uint64_t offset,
                              uint64_t end, uint64_t *added_out)
{
    uint64_t first = offset / WIO_CACHE_PAGE;
    uint64_t last = wio_cache_page_behind(end);
    WIO_TRY(wio_resident_add(&cache->resident, &file->resident, first, last, added_out));
    wio_resident_touch(&cache->resident, &file->resident, first, last);
    return WIO_OK;
}
