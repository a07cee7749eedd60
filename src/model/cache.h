/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page cache of the `kernel` model as time passes: files with dirty pages in the order in
 * which they became dirty, the flusher that hands them to the device, and the dirty limits at which
 * tasks are slowed (task.h has the tasks).
 *
 * Source: behaviour of mm/page-writeback.c and fs/fs-writeback.c; docs/MODEL.md#kernel.
 */
#ifndef WIO_MODEL_CACHE_H
#define WIO_MODEL_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "base/tree.h"
#include "model/model.h"
#include "model/pages.h"
#include "model/queue.h"
#include "model/resident.h"
#include "model/throttle.h"

/* Bytes; the model knows machines with pages of 4 KiB. */
#define WIO_CACHE_PAGE 4096u

/* A file: its dirty pages, its place among the dirty files, its stdio stream. */
struct wio_cache_file {
    RB_ENTRY(wio_cache_file) node;
    TAILQ_ENTRY(wio_cache_file) in_dirty; /* while it has dirty pages */
    uint64_t id;
    struct wio_pages pages;
    uint64_t cursor;   /* page at which the flusher goes on */
    uint64_t queued;   /* pages ever submitted to the device when its last request ends */
    double dirty_at_s; /* when its first dirty page became dirty */
    uint64_t last_end; /* bytes, of the last operation with a range */
    bool is_used;      /* last_end is valid */
    uint64_t size;     /* bytes, as far as operations wrote; files start empty */
    bool has_buffer;   /* its stream has one: after the first fwrite */
    uint64_t position; /* bytes, of its stream */
    uint64_t pending;  /* bytes in its stream's buffer, which end at `position` */
};

RB_HEAD(wio_cache_files, wio_cache_file);
TAILQ_HEAD(wio_cache_dirty, wio_cache_file);

struct wio_cache {
    struct wio_alloc alloc;
    struct wio_chunk_pool pool;
    struct wio_cache_files files;
    struct wio_cache_file *last;  /* the file used last */
    struct wio_cache_dirty dirty; /* in order of dirty_at_s */
    uint64_t dirty_pages;
    struct wio_queue queue;
    struct wio_throttle throttle;
    struct wio_resident resident;
    double time_s;
    double hz;
    double next_s;          /* nothing happens by itself before this */
    double next_expiry_s;   /* when the flusher looks for old files */
    double next_update_s;   /* when the bandwidth is estimated after the device fell idle */
    double expire_s;        /* age of an old file */
    double interval_s;      /* between two looks for old files */
    double device_free_s;   /* when those who took the device are served */
    uint64_t request_pages; /* the longest request */
    uint64_t written_bytes; /* ever, by operations */
    enum wio_status status; /* WIO_ERR_NOMEM once the flusher ran out of memory */
};

void wio_cache_init(struct wio_cache *cache, const struct wio_alloc *alloc,
                    const struct wio_model_params *params);
void wio_cache_fini(struct wio_cache *cache);

/* NULL: out of memory. */
struct wio_cache_file *wio_cache_file(struct wio_cache *cache, uint64_t id);

/* Time passes: the device writes, old files are flushed. */
void wio_cache_wait(struct wio_cache *cache, double seconds);
void wio_cache_wait_until(struct wio_cache *cache, double end_s);
/* The task writes [offset, end) of a file; `fresh_out`: bytes of pages that were not dirty. */
WIO_MUST_CHECK enum wio_status wio_cache_dirty(struct wio_cache *cache, struct wio_cache_file *file,
                                               uint64_t offset, uint64_t end, uint64_t *fresh_out);
/* After a piece of a write: does the kernel make the task sleep? Until *until_s_out (now, if it
 * does not); after AGAIN it looks again. */
WIO_MUST_CHECK enum wio_status wio_cache_look(struct wio_cache *cache,
                                              enum wio_throttle_verdict *verdict_out,
                                              double *until_s_out);
/* Hand all dirty pages of a file to the device. */
WIO_MUST_CHECK enum wio_status wio_cache_write_out(struct wio_cache *cache,
                                                   struct wio_cache_file *file);
/* Has the device written all that it was handed of this file? */
static inline bool wio_cache_is_written(const struct wio_cache *cache,
                                        const struct wio_cache_file *file)
{
    return cache->queue.completed >= file->queued;
}
/* Pages of a range are written otherwise: they are not dirty any more. */
void wio_cache_clean(struct wio_cache *cache, struct wio_cache_file *file, uint64_t offset,
                     uint64_t end);

/* A range of a file is read or written; `hits_out`: bytes of pages that were in memory. */
WIO_MUST_CHECK enum wio_status wio_cache_use(struct wio_cache *cache,
                                             const struct wio_cache_file *file, uint64_t offset,
                                             uint64_t end, uint64_t *hits_out);
/* A task takes the device for so many seconds, after those that took it before; write-back goes on
 * later. When its turn begins. */
double wio_cache_device_take(struct wio_cache *cache, double seconds);
/* The device may end requests up to so many pages ever (wio_queue_grant). */
void wio_cache_device_grant(struct wio_cache *cache, uint64_t pages);

/* Dirty or under write-back, in pages. */
static inline uint64_t wio_cache_pages(const struct wio_cache *cache)
{
    return cache->dirty_pages + wio_queue_pages(&cache->queue);
}

#endif
