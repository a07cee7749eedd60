/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of the own log: header of a segment, record, superblock (docs/STORE-FORMAT.md section
 * 2). Encoders write into memory that is large enough; decoders believe nothing. No I/O.
 */
#ifndef WIO_STORE_LOG_REDO_FORMAT_H
#define WIO_STORE_LOG_REDO_FORMAT_H

#include "base/buf.h"
#include "store/log/log.h"

enum {
    REDO_VERSION = 1,
    REDO_BLOCK = 4096, /* batches begin at multiples; a flushed block is never written again */
    REDO_ALIGN = 8,    /* records begin at multiples */
    REDO_HEADER_BYTES = 64
};

/* Of block 0 of a segment. */
struct redo_segment_header {
    uint32_t epoch;
    uint64_t seq;
    uint64_t first_lsn;
    uint64_t segment_bytes;
};

/* Of each of the two blocks of the superblock. */
struct redo_super {
    uint64_t generation;
    uint64_t redo_from;
    uint64_t segment_bytes;
};

/* What the log adds to a record. */
struct redo_stamp {
    uint64_t lsn;
    uint64_t durable_lsn; /* when the batch was written */
    uint32_t epoch;
};

void redo_segment_header_encode(const struct redo_segment_header *header,
                                uint8_t block[REDO_BLOCK]);
/* False: it is none. */
bool redo_segment_header_decode(const uint8_t *data, size_t size,
                                struct redo_segment_header *header_out);
void redo_super_encode(const struct redo_super *super, uint8_t block[REDO_BLOCK]);
bool redo_super_decode(const uint8_t *data, size_t size, struct redo_super *super_out);

/* Bytes of a record with header and padding. */
size_t redo_record_bytes(const struct wio_log_record *record);
/* Append a record to `blob`, without durable_lsn and checksum. */
WIO_MUST_CHECK enum wio_status redo_record_encode(struct wio_blob *blob, uint64_t lsn,
                                                  uint32_t epoch,
                                                  const struct wio_log_record *record);
/* Finish the record at `at`: gives its bytes with padding. */
size_t redo_record_finish(uint8_t *at, uint64_t durable_lsn);
/* The record in front of the cursor, which moves behind it; borrowed from the cursor's bytes
 * (participants lie at even addresses there if the bytes begin at one). False: it is none, and the
 * cursor stays. */
bool redo_record_decode(struct wio_buf *buf, struct redo_stamp *stamp_out,
                        struct wio_log_record *record_out);

static inline uint64_t redo_align(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

#endif
