/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a target server: one plain sparse file for each segment of each file of the store,
 * "data/XX/FILE.SEGMENT" (docs/STORE-FORMAT.md section 3), written in place through the page cache.
 * Nothing is durable before wio_storage_flush; stable transactions go through storage/stable.h.
 *
 * Capacity is a promise: what has been reserved can be written. `size_bytes` bounds the blocks of
 * all files; a reservation is also refused (ENOSPC in sys_errno) where the device would come below
 * `keep_free_bytes`. Belongs to the thread of its `struct wio_io`.
 */
#ifndef WIO_STORE_STORAGE_H
#define WIO_STORE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "store/io.h"

/* Blocks in which capacity is counted and images are taken. */
#define WIO_STORAGE_BLOCK 4096u
/* A segment ends before this offset (EFBIG), and where the file system's longest file does. */
#define WIO_STORAGE_OFFSET_MAX (UINT64_C(1) << 62)

struct wio_storage_config {
    struct wio_io *io;        /* the root is its directory; wio_store_root_create made it */
    uint64_t size_bytes;      /* at most so much; 0: as much as the device gives */
    uint64_t keep_free_bytes; /* of the device, for the log and others; 0: 64 MiB */
    uint32_t open_files;      /* kept open at most; 0: 512 */
};

/* A segment of a file. */
struct wio_segment_id {
    uint64_t file;
    uint32_t segment; /* below 4096 */
};

struct wio_storage_space {
    uint64_t total_bytes; /* size_bytes, or what the device can hold */
    uint64_t used_bytes;
    uint64_t reserved_bytes;
};

struct wio_storage;

/* Adds up what is there. WIO_ERR_IO with ENOSPC where the device cannot give `size_bytes`. The
 * caller closes it. */
WIO_MUST_CHECK enum wio_status wio_storage_open(const struct wio_storage_config *config,
                                                struct wio_storage **storage_out,
                                                struct wio_error *err);
/* Flushes nothing. Not while wio_storage_flush runs. NULL is allowed. */
void wio_storage_close(struct wio_storage *storage);

/* Up to `size` bytes, fewer where the segment ends; holes are zeros. A segment that was never
 * written is empty. */
WIO_MUST_CHECK enum wio_status wio_storage_read(struct wio_storage *storage,
                                                struct wio_segment_id id, uint64_t offset,
                                                void *data, size_t size, size_t *got_out,
                                                struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_storage_size(struct wio_storage *storage,
                                                struct wio_segment_id id, uint64_t *bytes_out,
                                                struct wio_error *err);

/* Room for a write of `bytes` at `offset`; 0: for a truncation to `offset`. *reserved_out goes back
 * by wio_storage_release when the write has been performed or dropped. sys_errno: ENOSPC, EFBIG. */
WIO_MUST_CHECK enum wio_status wio_storage_reserve(struct wio_storage *storage,
                                                   struct wio_segment_id id, uint64_t offset,
                                                   uint64_t bytes, uint64_t *reserved_out,
                                                   struct wio_error *err);
void wio_storage_release(struct wio_storage *storage, uint64_t reserved_bytes);

/* Into the page cache; makes the segment where it is not there. */
WIO_MUST_CHECK enum wio_status wio_storage_write(struct wio_storage *storage,
                                                 struct wio_segment_id id, uint64_t offset,
                                                 const void *data, size_t size,
                                                 struct wio_error *err);
/* Shorter, or longer by a hole. */
WIO_MUST_CHECK enum wio_status wio_storage_truncate(struct wio_storage *storage,
                                                    struct wio_segment_id id, uint64_t bytes,
                                                    struct wio_error *err);
/* A segment, its bytes and its name; that it is not there is no error. */
WIO_MUST_CHECK enum wio_status wio_storage_drop(struct wio_storage *storage,
                                                struct wio_segment_id id, struct wio_error *err);
/* All segments of a file; none is no error. */
WIO_MUST_CHECK enum wio_status wio_storage_remove(struct wio_storage *storage, uint64_t file,
                                                  struct wio_error *err);

/* Make durable what was written before this call, one file after the other while the loop goes on;
 * `done` comes once, from the loop. WIO_END: nothing was unflushed, `done` does not come. One at a
 * time. */
WIO_MUST_CHECK enum wio_status wio_storage_flush(struct wio_storage *storage, wio_io_done *done,
                                                 void *context, struct wio_error *err);
/* The same, waiting for it: at recovery. */
WIO_MUST_CHECK enum wio_status wio_storage_sync(struct wio_storage *storage, struct wio_error *err);

WIO_MUST_CHECK enum wio_status wio_storage_space(struct wio_storage *storage,
                                                 struct wio_storage_space *space_out,
                                                 struct wio_error *err);

#endif
