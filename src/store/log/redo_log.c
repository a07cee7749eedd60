/* SPDX-License-Identifier: Apache-2.0 */
/* The log of our own: batches are formed in memory, written to the last segment, flushed one at a
 * time. */
#include "store/log/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/log/redo_chain.h"
#include "store/log/redo_super.h"

struct redo_log {
    struct wio_log base;
    struct wio_log_config config;
    struct redo_segments segments;
    struct wio_io_file *super_file;
    struct redo_super super;
    struct wio_blob forming; /* records that no flush has taken */
    uint64_t offset;         /* in the last segment, where the next batch goes */
    uint64_t flight_lsn;     /* the last record that the running flush concerns */
    uint64_t open_lsn;       /* the last record when the log was opened */
    uint64_t used_bytes;     /* written since the last checkpoint */
    uint32_t epoch;
    struct wio_log_state state;
};

static const struct redo_log *const_log_of(const struct wio_log *log)
{
    return (const struct redo_log *)log;
}

static struct redo_log *log_of(struct wio_log *log)
{
    return (struct redo_log *)log;
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, "log", WIO_ERROR_NO_OFFSET, "out of memory");
}

static void fail(struct redo_log *log, int sys_errno)
{
    log->state.has_failed = true;
    log->state.sys_errno = sys_errno != 0 ? sys_errno : EIO;
}

static enum wio_status check_failed(const struct redo_log *log, struct wio_error *err)
{
    if (!log->state.has_failed) {
        return WIO_OK;
    }
    errno = log->state.sys_errno;
    return wio_error_sys(err, "log",
                         "an earlier write or flush of the log failed; it has to be "
                         "recovered");
}

static void get_state(const struct redo_log *log, struct wio_log_state *state_out)
{
    *state_out = log->state;
    state_out->redo_from = log->super.redo_from;
    state_out->used_bytes = log->used_bytes;
}

/* ---- writing batches ---- */

/* Bytes of the forming records that fit into `room`, finished; *count_out of them. */
static size_t take_fitting(struct redo_log *log, uint64_t room, uint64_t *count_out)
{
    size_t taken = 0;
    *count_out = 0;
    while (taken < log->forming.size) {
        size_t bytes = redo_record_finish(log->forming.data + taken, log->state.durable_lsn);
        if (taken + bytes > room) {
            break;
        }
        taken += bytes;
        (*count_out)++;
    }
    return taken;
}

/* `header` is NULL but for the first batch of a segment. */
static enum wio_status write_batch(struct redo_log *log, const uint8_t *header, size_t bytes,
                                   struct wio_error *err)
{
    static const uint8_t padding[REDO_BLOCK];
    size_t padded = (size_t)redo_align(bytes, REDO_BLOCK);
    struct wio_io_bytes parts[3] = {
        {log->forming.data, bytes}, {padding, padded - bytes}, {NULL, 0}};
    if (header != NULL) {
        parts[2] = parts[1];
        parts[1] = parts[0];
        parts[0] = (struct wio_io_bytes){header, REDO_BLOCK};
        log->offset = 0;
        padded += REDO_BLOCK;
    }
    WIO_TRY(log->config.io->ops->file_write(redo_segments_last(&log->segments)->file, log->offset,
                                            parts, header != NULL ? 3 : 2, err));
    log->offset += padded;
    log->used_bytes += padded;
    log->forming.size -= bytes;
    memmove(log->forming.data, log->forming.data + bytes, log->forming.size);
    return WIO_OK;
}

/* Go on in a free segment: `append` has seen to it that there is one. */
static enum wio_status next_segment(struct redo_log *log, uint8_t header[REDO_BLOCK],
                                    struct wio_error *err)
{
    const struct redo_segment *segment =
        redo_segments_next(&log->segments, log->state.durable_lsn + 1, log->epoch);
    if (segment == NULL) {
        return no_memory(err);
    }
    redo_segment_header_encode(&(struct redo_segment_header){segment->epoch, segment->seq,
                                                             segment->first_lsn,
                                                             log->segments.bytes},
                               header);
    log->offset = REDO_BLOCK;
    return WIO_OK;
}

/* Write what waits, as far as it goes into one segment. Nothing is in flight. */
static enum wio_status write_forming(struct redo_log *log, struct wio_error *err)
{
    uint8_t header[REDO_BLOCK];
    uint64_t count = 0;
    size_t bytes = take_fitting(log, log->segments.bytes - log->offset, &count);
    bool is_new = bytes == 0;
    if (is_new) {
        WIO_TRY(next_segment(log, header, err));
        bytes = take_fitting(log, log->segments.bytes - log->offset, &count);
    }
    log->flight_lsn = log->state.durable_lsn + count;
    return write_batch(log, is_new ? header : NULL, bytes, err);
}

static void landed(struct redo_log *log)
{
    log->state.durable_lsn = log->flight_lsn;
    log->state.flushes++;
}

static void on_done(void *context, enum wio_status status, int sys_errno);

/* Begin a flush where something waits and none runs. */
static enum wio_status start(struct redo_log *log, struct wio_error *err)
{
    WIO_TRY(check_failed(log, err));
    if (log->state.is_flushing || log->forming.size == 0) {
        return WIO_OK;
    }
    struct wio_error why = WIO_ERROR_INIT;
    enum wio_status status = write_forming(log, &why);
    if (status == WIO_OK) {
        status =
            log->config.io->ops->file_flush(redo_segments_last(&log->segments)->file, on_done, log);
    }
    if (status != WIO_OK) {
        fail(log, why.sys_errno);
        return wio_error_pass(err, &why);
    }
    log->state.is_flushing = true;
    return WIO_OK;
}

static void on_done(void *context, enum wio_status status, int sys_errno)
{
    struct redo_log *log = context;
    struct wio_log_state state;
    log->state.is_flushing = false;
    if (status == WIO_OK) {
        landed(log);
        (void)!start(log, NULL); /* a failure is in the state */
    } else {
        fail(log, sys_errno);
    }
    get_state(log, &state);
    if (log->config.on_flushed != NULL) {
        log->config.on_flushed(log->config.context, &state);
    }
}

/* ---- the five functions ---- */

static enum wio_status check_record(const struct redo_log *log, const struct wio_log_record *record,
                                    struct wio_error *err)
{
    if (record->kind == 0 || record->kind >= WIO_LOG_KINDS ||
        record->redo_bytes > WIO_LOG_REDO_MAX ||
        redo_record_bytes(record) > log->segments.bytes - REDO_BLOCK) {
        return wio_error_set(err, WIO_ERR_USAGE, "log", WIO_ERROR_NO_OFFSET,
                             "expected a record of a known kind and at most %llu bytes, found kind "
                             "%u and %zu bytes",
                             (unsigned long long)log->segments.bytes - REDO_BLOCK, record->kind,
                             redo_record_bytes(record));
    }
    return WIO_OK;
}

/* What waits goes into the rest of the last segment and one free segment. */
static enum wio_status make_place(struct redo_log *log, uint64_t more, struct wio_error *err)
{
    uint64_t waiting = log->forming.size + more;
    if (waiting > log->segments.bytes - REDO_BLOCK) {
        return wio_error_set(err, WIO_ERR_BUSY, "log", WIO_ERROR_NO_OFFSET,
                             "%zu bytes wait for a flush already", log->forming.size);
    }
    if (waiting <= log->segments.bytes - log->offset) {
        return WIO_OK;
    }
    return redo_segments_spare(&log->segments, err);
}

static enum wio_status encode_all(struct redo_log *log, uint32_t epoch,
                                  const struct wio_log_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        WIO_TRY(redo_record_encode(&log->forming, log->state.next_lsn + i, epoch, &records[i]));
    }
    return WIO_OK;
}

static enum wio_status redo_append(struct wio_log *base, const struct wio_log_record *records,
                                   size_t count, uint64_t *lsn_out, struct wio_error *err)
{
    struct redo_log *log = log_of(base);
    uint64_t bytes = 0;
    WIO_TRY(check_failed(log, err));
    for (size_t i = 0; i < count; i++) {
        WIO_TRY(check_record(log, &records[i], err));
        bytes += redo_record_bytes(&records[i]);
    }
    WIO_TRY(make_place(log, bytes, err));
    size_t before = log->forming.size;
    if (encode_all(log, log->epoch, records, count) != WIO_OK) {
        log->forming.size = before;
        return no_memory(err);
    }
    log->state.next_lsn += count;
    *lsn_out = log->state.next_lsn - 1;
    return WIO_OK;
}

static enum wio_status redo_flushed(struct wio_log *base, struct wio_log_state *state_out,
                                    struct wio_error *err)
{
    struct redo_log *log = log_of(base);
    enum wio_status status = start(log, err);
    if (state_out != NULL) {
        get_state(log, state_out);
    }
    return status;
}

static enum wio_status redo_checkpoint(struct wio_log *base, uint64_t redo_from,
                                       struct wio_error *err)
{
    struct redo_log *log = log_of(base);
    WIO_TRY(check_failed(log, err));
    if (redo_from < log->super.redo_from || redo_from > log->state.durable_lsn + 1) {
        return wio_error_set(err, WIO_ERR_USAGE, "log", WIO_ERROR_NO_OFFSET,
                             "expected a checkpoint from %llu to %llu, found %llu",
                             (unsigned long long)log->super.redo_from,
                             (unsigned long long)log->state.durable_lsn + 1,
                             (unsigned long long)redo_from);
    }
    struct redo_super super = log->super;
    struct wio_error why = WIO_ERROR_INIT;
    super.generation++;
    super.redo_from = redo_from;
    if (redo_super_write(log->config.io, log->super_file, &super, &why) != WIO_OK) {
        fail(log, why.sys_errno);
        return wio_error_pass(err, &why);
    }
    log->super = super;
    log->used_bytes = 0;
    return redo_segments_release(&log->segments, redo_from, err);
}

/* Stops behind the last record that was there when the log was opened. */
struct scan_until {
    uint64_t last;
    wio_log_visit *visit;
    void *context;
};

static enum wio_status visit_until(void *context, uint64_t lsn, const struct wio_log_record *record,
                                   struct wio_error *err)
{
    const struct scan_until *until = context;
    return lsn > until->last ? WIO_OK : until->visit(until->context, lsn, record, err);
}

static enum wio_status redo_scan(struct wio_log *base, wio_log_visit *visit, void *context,
                                 struct wio_error *err)
{
    const struct redo_log *log = const_log_of(base);
    struct redo_position end;
    struct scan_until until = {log->open_lsn, visit, context};
    return redo_chain_scan(&log->segments, log->super.redo_from, visit_until, &until, &end, err);
}

static void redo_close(struct wio_log *base)
{
    struct redo_log *log = log_of(base);
    redo_segments_close(&log->segments);
    log->config.io->ops->file_close(log->super_file);
    wio_blob_fini(&log->forming);
    free(log);
}

static void log_cleanup(struct redo_log **log)
{
    if (*log != NULL) {
        redo_close(&(*log)->base);
    }
}

/* ---- opening ---- */

/* Begin an epoch, by a record that is durable before any other of it is written: what a torn batch
 * has left behind the end never becomes a record again (R-LOG-4). */
static enum wio_status begin_epoch(struct redo_log *log, struct wio_error *err)
{
    struct wio_log_record record = {.kind = WIO_LOG_EPOCH};
    log->state.next_lsn = log->state.durable_lsn + 1;
    WIO_TRY(make_place(log, redo_record_bytes(&record), err));
    if (encode_all(log, log->epoch + 1, &record, 1) != WIO_OK) {
        return no_memory(err);
    }
    WIO_TRY(write_forming(log, err)); /* a new segment's header is of the epoch before */
    WIO_TRY(log->config.io->ops->file_sync(redo_segments_last(&log->segments)->file, err));
    log->epoch++;
    log->state.durable_lsn = log->state.next_lsn++;
    return WIO_OK;
}

static bool remove_name(void *context, const char *name)
{
    struct redo_log *log = context;
    struct wio_error ignored = WIO_ERROR_INIT;
    char path[WIO_IO_NAME_MAX] = "log/";
    if (strlen(name) < sizeof(path) - sizeof("log/")) {
        memcpy(path + strlen("log/"), name, strlen(name) + 1);
        (void)!log->config.io->ops->remove(log->config.io, path, &ignored);
    }
    return true;
}

/* No superblock: what else is there was made by a process that ended before it had a log. */
static enum wio_status create(struct redo_log *log, struct wio_error *err)
{
    if (!log->config.may_create) {
        return wio_error_set(err, WIO_ERR_FORMAT, "log/super", WIO_ERROR_NO_OFFSET,
                             "expected the log's superblock, found no such file");
    }
    uint64_t bytes = log->config.segment_bytes;
    log->segments.bytes = bytes == 0 ? WIO_LOG_SEGMENT_BYTES : bytes;
    if (log->segments.bytes < WIO_LOG_SEGMENT_MIN || log->segments.bytes % REDO_BLOCK != 0 ||
        log->segments.bytes > UINT64_C(1) << 32) {
        return wio_error_set(err, WIO_ERR_USAGE, "log", WIO_ERROR_NO_OFFSET,
                             "expected segments of %u bytes to 4 GiB, a multiple of %d, found %llu",
                             WIO_LOG_SEGMENT_MIN, REDO_BLOCK,
                             (unsigned long long)log->segments.bytes);
    }
    WIO_TRY(log->config.io->ops->list(log->config.io, "log", remove_name, log, err));
    log->offset = log->segments.bytes;
    WIO_TRY(redo_segments_spare(&log->segments, err));
    WIO_TRY(begin_epoch(log, err));
    log->super = (struct redo_super){1, 1, log->segments.bytes};
    return redo_super_create(log->config.io, &log->super, &log->super_file, err);
}

static enum wio_status recover(struct redo_log *log, struct wio_error *err)
{
    struct redo_position end;
    log->segments.bytes = log->super.segment_bytes;
    WIO_TRY(redo_segments_open(&log->segments, false, err));
    WIO_TRY(redo_chain_scan(&log->segments, log->super.redo_from, NULL, NULL, &end, err));
    WIO_TRY(redo_segments_release(&log->segments, log->super.redo_from, err));
    log->state.durable_lsn = end.next_lsn - 1;
    log->epoch = end.epoch;
    log->offset = redo_align(end.offset, REDO_BLOCK);
    log->used_bytes = (log->segments.live_count - 1) * log->segments.bytes + log->offset;
    return begin_epoch(log, err);
}

enum wio_status wio_log_open_own(const struct wio_log_config *config, struct wio_log **log_out,
                                 struct wio_error *err)
{
    static const struct wio_log_ops ops = {redo_append, redo_flushed, redo_checkpoint, redo_scan,
                                           redo_close};
    WIO_CLEANUP(log_cleanup) struct redo_log *log = calloc(1, sizeof(*log));
    if (log == NULL) {
        return no_memory(err);
    }
    log->base.ops = &ops;
    log->config = *config;
    log->segments.io = config->io;
    WIO_TRY(redo_super_open(config->io, false, &log->super_file, &log->super, err));
    WIO_TRY(log->super_file != NULL ? recover(log, err) : create(log, err));
    log->open_lsn = log->state.durable_lsn;
    *log_out = &log->base;
    log = NULL;
    return WIO_OK;
}
