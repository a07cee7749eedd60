/* SPDX-License-Identifier: Apache-2.0 */
#include "store/log/redo_scan.h"

#include "base/cleanup.h"

/* R-LOG-4: the next number, and the epoch that is in force, or the record that begins the next. */
static bool is_next(const struct redo_position *position, const struct redo_stamp *stamp,
                    const struct wio_log_record *record)
{
    uint32_t epoch = record->kind == WIO_LOG_EPOCH ? position->epoch + 1 : position->epoch;
    return stamp->lsn == position->next_lsn && stamp->epoch == epoch;
}

/* The record at the position, else at the next block: false at the end. */
static bool take_next(struct wio_buf *buf, const struct redo_position *position,
                      struct redo_stamp *stamp, struct wio_log_record *record)
{
    struct wio_buf ahead = *buf;
    if (!redo_record_decode(&ahead, stamp, record) || !is_next(position, stamp, record)) {
        ahead = *buf;
        ahead.pos = (size_t)redo_align(buf->pos, REDO_BLOCK);
        if (ahead.pos >= ahead.size || !redo_record_decode(&ahead, stamp, record) ||
            !is_next(position, stamp, record)) {
            return false;
        }
    }
    *buf = ahead;
    return true;
}

/* R-LOG-5: no batch was written before the one before it was durable. */
static enum wio_status find_proof_of_damage(const uint8_t *data, size_t size, const char *name,
                                            const struct redo_position *position,
                                            struct wio_error *err)
{
    for (uint64_t at = redo_align(position->offset, REDO_BLOCK); at < size; at += REDO_BLOCK) {
        struct wio_buf buf = wio_buf_of(data, size);
        struct redo_stamp stamp;
        struct wio_log_record record;
        buf.pos = (size_t)at;
        if (redo_record_decode(&buf, &stamp, &record) && stamp.durable_lsn >= position->next_lsn) {
            return wio_error_set(err, WIO_ERR_FORMAT, name, position->offset,
                                 "expected record %llu, which was flushed before record %llu at "
                                 "byte %llu was written; found none",
                                 (unsigned long long)position->next_lsn,
                                 (unsigned long long)stamp.lsn, (unsigned long long)at);
        }
    }
    return WIO_OK;
}

/* NOLINTNEXTLINE(readability-function-size): a seam, a call back with its context, and an error */
enum wio_status redo_scan_bytes(const uint8_t *data, size_t size, const char *name,
                                struct redo_position *position, uint64_t from, wio_log_visit *visit,
                                void *context, struct wio_error *err)
{
    struct wio_buf buf = wio_buf_of(data, size);
    struct redo_stamp stamp;
    struct wio_log_record record;
    buf.pos = size < REDO_BLOCK ? size : REDO_BLOCK;
    while (take_next(&buf, position, &stamp, &record)) {
        position->next_lsn++;
        position->epoch = stamp.epoch;
        if (visit != NULL && stamp.lsn >= from && record.kind != WIO_LOG_EPOCH) {
            WIO_TRY(visit(context, stamp.lsn, &record, err));
        }
    }
    position->offset = buf.pos;
    return find_proof_of_damage(data, size, name, position, err);
}
