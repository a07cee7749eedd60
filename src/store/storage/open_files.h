/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment files of a storage that are open, those that have unflushed bytes, and the
 * directories with unflushed names. The file that was used longest ago is closed for another one;
 * one with unflushed bytes is flushed before.
 */
#ifndef WIO_STORE_STORAGE_OPEN_FILES_H
#define WIO_STORE_STORAGE_OPEN_FILES_H

#include "base/pair_map.h"
#include "store/storage/segment_name.h"

struct open_file {
    struct wio_io_file *file; /* NULL: the place is free */
    struct wio_segment_id id;
    uint64_t used_bytes; /* of its blocks, as last seen */
    uint64_t size_bytes;
    bool has_size; /* it is known: not after a write that failed */
    uint64_t last_use;
    bool is_dirty;
    bool is_flushing; /* not to be closed */
    bool is_removed;  /* its name is gone: to be closed when the flush has ended */
};

struct open_files {
    struct wio_io *io;
    struct open_file *places;
    uint32_t limit;
    uint64_t uses;
    struct wio_pair_map index; /* (file, segment) -> place */
    bool dirty_dirs[SEGMENT_DIRS];
    int flush_errno; /* of the first flush that failed; 0: none. It stays: nothing mends it */
};

WIO_MUST_CHECK enum wio_status open_files_init(struct open_files *files, struct wio_io *io,
                                               uint32_t limit);
void open_files_fini(struct open_files *files);
/* *file_out NULL: there is no such segment, and `may_create` was not set. Valid until the next
 * call.
 */
WIO_MUST_CHECK enum wio_status open_files_get(struct open_files *files, struct wio_segment_id id,
                                              bool may_create, struct open_file **file_out,
                                              struct wio_error *err);
/* Close the segment if it is open and remove its file. */
WIO_MUST_CHECK enum wio_status open_files_remove(struct open_files *files, struct wio_segment_id id,
                                                 struct wio_error *err);
/* Flush one place, waiting for it. */
WIO_MUST_CHECK enum wio_status open_files_sync(struct open_files *files, struct open_file *place,
                                               struct wio_error *err);
/* A flush of the place has ended; sys_errno 0: well. */
void open_files_flush_ended(struct open_files *files, struct open_file *place, int sys_errno);
/* No flush has ever failed. */
WIO_MUST_CHECK enum wio_status open_files_check(const struct open_files *files,
                                                struct wio_error *err);
/* The next place with unflushed bytes from *place on; WIO_NO_INDEX: none. */
uint32_t open_files_dirty(const struct open_files *files, uint32_t place);
/* Flush all names, waiting for it. */
WIO_MUST_CHECK enum wio_status open_files_sync_dirs(struct open_files *files,
                                                    struct wio_error *err);
/* Its size: nothing but this storage changes it. */
WIO_MUST_CHECK enum wio_status open_files_size(const struct open_files *files,
                                               struct open_file *place, uint64_t *bytes_out,
                                               struct wio_error *err);
/* Blocks that the file has now. */
WIO_MUST_CHECK enum wio_status open_files_used(const struct open_files *files,
                                               struct wio_io_file *file, uint64_t *bytes_out,
                                               struct wio_error *err);

#endif
