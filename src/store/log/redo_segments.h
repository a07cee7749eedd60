/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment files of the own log, "log/NNNNNN.redo": those that recovery needs, in the order of
 * their sequence numbers, and those that are free to be used again. A segment's blocks are written
 * once when it is made, so that later flushes concern data alone.
 */
#ifndef WIO_STORE_LOG_REDO_SEGMENTS_H
#define WIO_STORE_LOG_REDO_SEGMENTS_H

#include "store/log/redo_format.h"

struct redo_segment {
    struct wio_io_file *file;
    uint32_t slot;      /* of its name */
    uint64_t seq;       /* 0: free, and was never used */
    uint64_t first_lsn; /* meaningful where seq is not 0 */
    uint32_t epoch;
};

/* Zero-initialise, then redo_segments_open. */
struct redo_segments {
    struct wio_io *io;
    uint64_t bytes; /* of each */
    struct redo_segment *live;
    uint32_t live_count;
    uint32_t live_capacity;
    struct redo_segment *free;
    uint32_t free_count;
    uint32_t free_capacity;
};

enum { REDO_NAME_BYTES = 32 };

void redo_segment_name(char name[REDO_NAME_BYTES], uint32_t slot);

/* Open all segments of the log; those with a header are `live`, sorted. A file that is not whole
 * was being made when the process ended: removed, unless `is_checked`, where nothing is changed. */
WIO_MUST_CHECK enum wio_status redo_segments_open(struct redo_segments *segments, bool is_checked,
                                                  struct wio_error *err);
void redo_segments_close(struct redo_segments *segments);

/* See to it that one free segment is there: makes one where none is. */
WIO_MUST_CHECK enum wio_status redo_segments_spare(struct redo_segments *segments,
                                                   struct wio_error *err);
/* A free segment becomes the last live one; its header is not written. There must be one. */
struct redo_segment *redo_segments_next(struct redo_segments *segments, uint64_t first_lsn,
                                        uint32_t epoch);
/* Live segments before the one that holds `redo_from` become free; more than a few are removed. */
WIO_MUST_CHECK enum wio_status redo_segments_release(struct redo_segments *segments,
                                                     uint64_t redo_from, struct wio_error *err);
/* The last live segment that begins at or before `lsn`; WIO_NO_INDEX: none. */
uint32_t redo_segments_find(const struct redo_segments *segments, uint64_t lsn);

static inline struct redo_segment *redo_segments_last(const struct redo_segments *segments)
{
    return &segments->live[segments->live_count - 1];
}

#endif
