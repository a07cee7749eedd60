/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel, rule 15. */
#include "model/kernel/holes.h"

#include "base/cleanup.h"
#include "base/pick.h"

/* What was handed to the device, or will be. */
static uint64_t run_of(struct wio_cache_file *file, uint64_t first, uint64_t end)
{
    uint64_t sent = wio_pages_run(&file->blocks, first, end);
    return sent > 0 ? sent : wio_pages_run(&file->pages, first, end);
}

static uint64_t find(struct wio_pages *pages, uint64_t first, uint64_t end)
{
    return wio_pages_find(pages, &first) ? wio_smaller(first, end) : end;
}

bool wio_holes_skip(struct wio_cache_file *file, uint64_t *first, uint64_t end, uint64_t *stop_out)
{
    if (*first >= end) {
        return false;
    }
    if (*first < file->hole_from) {
        *stop_out = wio_smaller(end, file->hole_from);
        return true;
    }
    *first = wio_smaller(find(&file->blocks, *first, end), find(&file->pages, *first, end));
    *stop_out = *first < end ? *first + run_of(file, *first, end) : end;
    return *first < end;
}

uint64_t wio_holes_data(struct wio_cache_file *file, uint64_t first, uint64_t end)
{
    uint64_t pages = 0;
    for (uint64_t stop; wio_holes_skip(file, &first, end, &stop); first = stop) {
        pages += stop - first;
    }
    return pages;
}

/* Pages that are not dirty have blocks. Dirty ones may be new: without a read it is not known what
 * was there. */
static enum wio_status note_blocks(struct wio_cache *cache, struct wio_cache_file *file,
                                   uint64_t first, uint64_t end)
{
    uint64_t added;
    for (uint64_t stop; first < end; first = stop) {
        stop = first + wio_pages_run(&file->pages, first, end);
        if (stop == first) {
            stop = find(&file->pages, first, end);
            WIO_TRY(wio_pages_add(&file->blocks, &cache->pool, first, stop, &added));
        }
    }
    return WIO_OK;
}

enum wio_status wio_holes_note_read(struct wio_cache *cache, struct wio_cache_file *file,
                                    uint64_t offset, uint64_t end)
{
    if (file->hole_from <= UINT64_MAX / WIO_CACHE_PAGE) {
        end = wio_smaller(end, file->hole_from * WIO_CACHE_PAGE);
    }
    if (file->pending > 0 && end > file->size && end <= file->position) {
        end = wio_smaller(end, file->position - file->pending); /* the rest came from the stream */
    }
    if (offset >= end) {
        return WIO_OK; /* nothing, or what a cut left behind the data: it proves no block */
    }
    if (end > file->size) {
        file->size = end;
        file->safe_size = wio_larger(file->safe_size, end);
        file->sent_size = wio_larger(file->sent_size, end);
    }
    if (file->device->params.commit_bytes > 0) {
        return note_blocks(cache, file, offset / WIO_CACHE_PAGE, wio_cache_page_behind(end));
    }
    return WIO_OK;
}
