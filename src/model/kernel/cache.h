/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page cache of the `kernel` model as time passes: files with dirty pages, the devices below
 * with their flushers (flusher.h), and the dirty limits at which tasks are slowed (task.h has the
 * tasks).
 *
 * Source: behaviour of mm/page-writeback.c and fs/fs-writeback.c; docs/MODEL.md#kernel.
 */
#ifndef WIO_MODEL_KERNEL_CACHE_H
#define WIO_MODEL_KERNEL_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "base/tree.h"
#include "model/kernel/pages.h"
#include "model/kernel/queue.h"
#include "model/kernel/resident.h"
#include "model/kernel/throttle.h"
#include "model/kernel/writeback_share.h"
#include "model/model.h"

/* Bytes; the model knows machines with pages of 4 KiB. */
#define WIO_CACHE_PAGE 4096u

/* The page behind the bytes [0, end); `end` is at most UINT64_MAX - WIO_CACHE_PAGE. */
static inline uint64_t wio_cache_page_behind(uint64_t end)
{
    return (end + WIO_CACHE_PAGE - 1) / WIO_CACHE_PAGE;
}

struct wio_cache_device;
struct wio_readers;

/* A file: its dirty pages, its place among the dirty files, its stdio stream. */
struct wio_cache_file {
    RB_ENTRY(wio_cache_file) node;
    TAILQ_ENTRY(wio_cache_file) in_dirty; /* while it has dirty pages */
    uint64_t id;
    struct wio_cache_device *device; /* that it is on */
    struct wio_pages pages;          /* dirty, or in a folio that is */
    struct wio_pages idle;           /* of these: those that have nothing to write */
    uint64_t cursor;                 /* page at which the flusher goes on */
    uint64_t mapped;                 /* pages below it are taken to have blocks on the device */
    struct wio_pages blocks;         /* pages that have blocks: behind `hole_from`, and all where
                                        the journal is modelled */
    uint64_t hole_from;              /* pages from here on are holes until they are written */
    double changed_s;                /* when it got new blocks last, which the journal takes in;
                                        -1: never */
    double longer_s;                 /* when it became longer within its blocks last; -1: never */
    double timed_s;                  /* when its time changed last, unless a synchronous write
                                        has committed that; -1: never */
    int64_t tick;                    /* its time: in ticks of the kernel's clock; -1: before all */
    uint64_t sent_size;              /* bytes: its length by what the device was handed */
    TAILQ_ENTRY(wio_cache_file) in_growing; /* while the device has to write new blocks of it */
    bool is_growing;
    uint64_t new_from;  /* pages ever submitted to the device in front of new blocks that it .. */
    uint64_t new_end;   /* .. has to write, and to the end of the last of them */
    uint64_t queued;    /* pages ever submitted to the device when its last request ends */
    double dirty_at_s;  /* when its first dirty page became dirty */
    uint64_t last_end;  /* bytes, of the last operation with a range */
    bool is_used;       /* last_end is valid */
    uint64_t size;      /* bytes, as far as operations wrote; files start empty */
    uint64_t safe_size; /* bytes: what of it the device has, with the file's new length */
    uint64_t known_end; /* bytes: where it ends, as far as that is known; else UINT64_MAX */
    uint64_t folio;     /* bytes: the largest that writes brought into memory */
    bool is_begun;      /* it was written to, through memory */
    bool has_buffer;    /* its stream has one: after the first fwrite */
    uint64_t position;  /* bytes, of its stream */
    uint64_t pending;   /* bytes in its stream's buffer, which end at `position` */
    struct wio_resident_file resident;
    struct wio_readers *readers; /* its readers (reader.h); NULL: it was never read */
};

RB_HEAD(wio_cache_files, wio_cache_file);
TAILQ_HEAD(wio_cache_dirty_files, wio_cache_file);
TAILQ_HEAD(wio_cache_growing, wio_cache_file);

/* A device: what is to be written to it, and how fast it is known to be. */
struct wio_cache_device {
    struct wio_model_params params;
    struct wio_queue queue;
    struct wio_throttle throttle;       /* its task: the one that runs, while that writes here */
    struct wio_share share;             /* of what has been written to all devices */
    struct wio_cache_dirty_files dirty; /* files in order of dirty_at_s */
    struct wio_cache_growing growing;   /* in order of new_from */
    uint64_t dirty_pages;
    uint64_t request_pages; /* the longest request */
    double next_expiry_s;   /* when its flusher looks for old files */
    double next_update_s;   /* when the bandwidth is estimated after the device fell idle */
    double changed_s;       /* of any of its files: blocks, length or time */
    double commit_begin_s;  /* of the last commit of its journal; -1: there was none */
    double commit_end_s;
    double committed_s; /* when the commit before that one began; -1: there was none */
};

struct wio_cache {
    struct wio_alloc alloc;
    struct wio_chunk_pool pool;
    struct wio_cache_files files;
    struct wio_cache_file *last; /* the file used last */
    struct wio_cache_device *devices[WIO_MODEL_DEVICES_MAX];
    uint32_t device_count;
    uint64_t dirty_pages; /* of all devices */
    struct wio_resident resident;
    double time_s;
    double hz;
    double next_s;          /* nothing happens by itself before this */
    double expire_s;        /* age of an old file */
    double interval_s;      /* between two looks for old files */
    uint64_t written_bytes; /* ever, by operations */
    uint64_t dirty_room;    /* pages that may be dirty or under write-back; UINT64_MAX: any */
    uint64_t steps;         /* of tasks and flushers, ever; at most .. */
    uint64_t steps_max;
    enum wio_status status; /* WIO_ERR_NOMEM once a flusher ran out of memory,
                               WIO_ERR_UNSUPPORTED once there were too many steps */
};

/* Without a device, which has to be added before anything else. The `params` are those of the
 * machine. */
void wio_cache_init(struct wio_cache *cache, const struct wio_alloc *alloc,
                    const struct wio_model_params *params);
void wio_cache_fini(struct wio_cache *cache);
/* A further device; its limits must be the machine's. At most WIO_MODEL_DEVICES_MAX. */
WIO_MUST_CHECK enum wio_status wio_cache_add_device(struct wio_cache *cache,
                                                    const struct wio_model_params *params);

/* A file; the device counts where it is new. NULL: out of memory. */
struct wio_cache_file *wio_cache_file(struct wio_cache *cache, uint64_t id, uint32_t device);

/* Time passes: the devices write, old files are flushed. */
void wio_cache_wait(struct wio_cache *cache, double seconds);
void wio_cache_wait_until(struct wio_cache *cache, double end_s);
/* One more step is done; the status tells where there are too many. */
static inline void wio_cache_step(struct wio_cache *cache)
{
    if (++cache->steps > cache->steps_max && cache->status == WIO_OK) {
        cache->status = WIO_ERR_UNSUPPORTED;
    }
}
/* When something happens at the device by itself; infinite: never. */
double wio_cache_device_next(const struct wio_cache_device *device);
/* After a change: when something happens by itself next. */
void wio_cache_plan(struct wio_cache *cache);
int64_t wio_cache_jiffy(const struct wio_cache *cache);

/* The task writes [offset, end) of a file; `fresh_out`: bytes of pages that had nothing to write.
 * Pages that are not in memory yet make folios of their own: wio_cache_use comes after this. */
WIO_MUST_CHECK enum wio_status wio_cache_dirty(struct wio_cache *cache, struct wio_cache_file *file,
                                               uint64_t offset, uint64_t end, uint64_t *fresh_out);
/* After a piece of a write to the device: does the kernel make the task sleep? Until *until_s_out
 * (now, if it does not); after AGAIN it looks again. */
WIO_MUST_CHECK enum wio_status wio_cache_look(struct wio_cache *cache,
                                              struct wio_cache_device *device,
                                              enum wio_throttle_verdict *verdict_out,
                                              double *until_s_out);
/* Hand all dirty pages of a file to its device. */
WIO_MUST_CHECK enum wio_status wio_cache_write_out(struct wio_cache *cache,
                                                   struct wio_cache_file *file);
/* Hand all dirty pages of the file's device to it. The file counts as written when all of that is.
 */
WIO_MUST_CHECK enum wio_status wio_cache_write_out_all(struct wio_cache *cache,
                                                       struct wio_cache_file *file);
/* Has the device written all that it was handed of this file? */
static inline bool wio_cache_is_written(const struct wio_cache_file *file)
{
    return file->device->queue.completed >= file->queued;
}
static inline bool wio_cache_is_clean(const struct wio_cache_file *file)
{
    return file->pages.count == 0 && wio_cache_is_written(file);
}
/* So many of the file's pages are not dirty any more, and not in its set. */
void wio_cache_note_cleaned(struct wio_cache *cache, struct wio_cache_file *file, uint64_t pages);
/* The range goes to the device: does its file get new blocks, which it has once they are written,
 * or a new length alone? The journal takes that in. */
enum wio_cache_change { WIO_CACHE_NOTHING, WIO_CACHE_LENGTH, WIO_CACHE_BLOCKS };
WIO_MUST_CHECK enum wio_status wio_cache_note_sent(struct wio_cache *cache,
                                                   struct wio_cache_file *file, uint64_t offset,
                                                   uint64_t end, enum wio_cache_change *change_out);
/* It needs no new blocks for that. */
void wio_cache_note_longer(const struct wio_cache *cache, struct wio_cache_file *file);
/* New blocks were submitted last: so many pages. */
void wio_cache_note_growing(struct wio_cache_file *file, uint64_t pages);
/* The device has written something: files have got the new blocks among it. */
void wio_cache_note_written(const struct wio_cache *cache, struct wio_cache_device *device);
/* A write of `size` bytes brings folios of up to its own size, and of a page at least (rule 8). */
void wio_cache_note_folio(struct wio_cache_file *file, uint64_t size);
/* Pages of a range are written otherwise, or gone: they are not dirty any more. */
void wio_cache_clean(struct wio_cache *cache, struct wio_cache_file *file, uint64_t offset,
                     uint64_t end);
/* The file ends at `size` bytes: what is behind it is gone, from memory too, and nothing but holes
 * until it is written; `is_shared`: writers that this cache does not see may do so. */
void wio_cache_cut(struct wio_cache *cache, struct wio_cache_file *file, uint64_t size,
                   bool is_shared);
/* A range of a file leaves memory. */
void wio_cache_forget(struct wio_cache *cache, struct wio_cache_file *file, uint64_t offset,
                      uint64_t end);
/* A range of a file is in memory and used; `added_out`: pages that were not there. */
WIO_MUST_CHECK enum wio_status wio_cache_use(struct wio_cache *cache, struct wio_cache_file *file,
                                             uint64_t offset, uint64_t end, uint64_t *added_out);

/* A task takes the device for so many seconds, after those that took it before; write-back goes on
 * later. When its turn begins. */
double wio_cache_device_take(struct wio_cache *cache, struct wio_cache_device *device,
                             double seconds);
/* The same for a write (wio_queue_pass). When the device has it. */
double wio_cache_device_write(struct wio_cache *cache, struct wio_cache_device *device,
                              const struct wio_queue_write *write);
/* The same for what the journal writes, which passes in front of others. */
double wio_cache_device_commit(struct wio_cache *cache, struct wio_cache_device *device,
                               double seconds);
/* The device may end requests up to so many pages ever (wio_queue_grant). */
void wio_cache_device_grant(struct wio_cache *cache, struct wio_cache_device *device,
                            uint64_t pages);

/* Dirty or under write-back, in pages: of a device, of all. */
static inline uint64_t wio_cache_device_pages(const struct wio_cache_device *device)
{
    return device->dirty_pages + wio_queue_pages(&device->queue);
}

static inline uint64_t wio_cache_pages(const struct wio_cache *cache)
{
    uint64_t pages = cache->dirty_pages;
    for (uint32_t i = 0; i < cache->device_count; i++) {
        pages += wio_queue_pages(&cache->devices[i]->queue);
    }
    return pages;
}

/* Which part of all that has been written lately went to this device; 1 where nothing was. */
double wio_cache_part(const struct wio_cache *cache, const struct wio_cache_device *device);

#endif
