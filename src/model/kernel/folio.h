/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dirty folios: memory knows a folio as dirty or clean as a whole, and counts all its pages, while
 * the file system knows which of its blocks there are to write. So a write of 4 KiB into a clean
 * folio of 2 MiB is charged as 2 MiB, and the device gets 4 KiB.
 *
 * Source: behaviour of folio_account_dirtied in mm/page-writeback.c and of fs/ext4/inode.c, traced
 * on 6.18; docs/MODEL.md#kernel, rule 1.
 */
#ifndef WIO_MODEL_KERNEL_FOLIO_H
#define WIO_MODEL_KERNEL_FOLIO_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "model/kernel/cache.h"

/* Pages of the file's largest folio; 1 where it was never written to. */
static inline uint64_t wio_folio_pages(const struct wio_cache_file *file)
{
    return file->folio > WIO_CACHE_PAGE ? file->folio / WIO_CACHE_PAGE : 1;
}

/* The pages [first, end) have something to write, and their folios count as dirty. `fresh_out`:
 * those of them that had nothing to write; `added_out`: pages that count from now on. What is not
 * in memory yet is a folio of its own. On WIO_ERR_NOMEM some of them may have been added. */
WIO_MUST_CHECK enum wio_status wio_folio_dirty(struct wio_cache *cache, struct wio_cache_file *file,
                                               uint64_t first, uint64_t end, uint64_t *fresh_out,
                                               uint64_t *added_out);

/* How far pages from `page` on have something to write, or those in the folio around it if it is
 * one of which only a part is to be written; in pages. */
uint64_t wio_folio_alike(struct wio_cache_file *file, uint64_t page);

/* The next run of pages at or after *first and before `end` that are not idle. False: there is
 * none. */
bool wio_folio_skip_idle(struct wio_cache_file *file, uint64_t *first, uint64_t end,
                         uint64_t *stop_out);

/* `count` pages from `first` on do not count any more; returns how many had something to write. */
uint64_t wio_folio_take_data(struct wio_cache *cache, struct wio_cache_file *file, uint64_t first,
                             uint64_t count);

#endif
