/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record of the log does to segments: a list of changes (docs/STORE-FORMAT.md section 4).
 * Performing a list any number of times gives the same bytes.
 */
#ifndef WIO_STORE_STORAGE_REDO_H
#define WIO_STORE_STORAGE_REDO_H

#include "base/buf.h"
#include "store/storage/storage.h"

enum wio_redo_change_kind {
    WIO_CHANGE_IMAGE = 1,    /* a block as it was before the record: repairs a torn one */
    WIO_CHANGE_WRITE = 2,    /* data at offset */
    WIO_CHANGE_TRUNCATE = 3, /* the segment has `offset` bytes */
    WIO_CHANGE_REMOVE = 4,   /* all segments of the file */
    WIO_CHANGE_DROP = 5,     /* the segment has no bytes and no name any more */
    WIO_CHANGE_KINDS
};

struct wio_redo_change {
    uint8_t kind;
    struct wio_segment_id id;
    uint64_t offset;
    const void *data; /* borrowed */
    uint32_t bytes;
};

WIO_MUST_CHECK enum wio_status wio_change_encode(struct wio_blob *redo,
                                                 const struct wio_redo_change *change);
/* WIO_END behind the last one; WIO_ERR_FORMAT or _TRUNCATED where it is none. */
WIO_MUST_CHECK enum wio_status wio_change_decode(struct wio_buf *redo,
                                                 struct wio_redo_change *change_out);
/* Which changes of a list are performed. */
enum redo_part { REDO_IMAGES = 1, REDO_REST = 2, REDO_ALL = 3 };
WIO_MUST_CHECK enum wio_status redo_apply(struct wio_storage *storage, const void *redo,
                                          size_t bytes, enum redo_part part, struct wio_error *err);

#endif
