/* SPDX-License-Identifier: Apache-2.0 */
#include "store/log/redo_segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/grow.h"
#include "base/memory.h"

enum { KEPT_FREE = 4, ZERO_BYTES = 1 << 20 };

void redo_segment_name(char name[REDO_NAME_BYTES], uint32_t slot)
{
    (void)snprintf(name, REDO_NAME_BYTES, "log/%06u.redo", slot);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, "log", WIO_ERROR_NO_OFFSET, "out of memory");
}

static enum wio_status add(struct redo_segment **list, uint32_t *count, uint32_t *capacity,
                           const struct redo_segment *segment)
{
    void *array = *list;
    WIO_TRY(wio_make_room(&array, sizeof(**list), capacity, *count + 1));
    *list = array;
    (*list)[(*count)++] = *segment;
    return WIO_OK;
}

/* ---- finding what is there ---- */

struct slots {
    uint32_t *numbers;
    uint32_t count;
    uint32_t capacity;
    enum wio_status status;
};

static void slots_fini(struct slots *slots)
{
    free(slots->numbers);
}

/* "NNNNNN.redo", nothing else; false ends the listing for lack of memory. */
static bool note_slot(void *context, const char *name)
{
    struct slots *slots = context;
    const char *text = name;
    uint64_t slot = 0;
    char again[REDO_NAME_BYTES];
    if (!wio_scan_u64(&text, &slot) || slot > 999999) {
        return true;
    }
    redo_segment_name(again, (uint32_t)slot);
    if (strcmp(again + strlen("log/"), name) != 0) {
        return true;
    }
    void *array = slots->numbers;
    slots->status =
        wio_make_room(&array, sizeof(*slots->numbers), &slots->capacity, slots->count + 1);
    slots->numbers = array;
    if (slots->status == WIO_OK) {
        slots->numbers[slots->count++] = (uint32_t)slot;
    }
    return slots->status == WIO_OK;
}

/* What the front of an open file says; seq stays 0 where it is no header. */
static enum wio_status read_header(struct redo_segments *segments, struct redo_segment *segment,
                                   const char *name, struct wio_error *err)
{
    uint8_t block[REDO_BLOCK];
    struct redo_segment_header header;
    size_t got = 0;
    WIO_TRY(segments->io->ops->file_read(segment->file, 0, block, sizeof(block), &got, err));
    if (!redo_segment_header_decode(block, got, &header)) {
        return WIO_OK;
    }
    if (header.segment_bytes != segments->bytes || header.seq == 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, name, 0,
                             "expected a segment of %llu bytes, as the superblock says, found %llu",
                             (unsigned long long)segments->bytes,
                             (unsigned long long)header.segment_bytes);
    }
    segment->seq = header.seq;
    segment->first_lsn = header.first_lsn;
    segment->epoch = header.epoch;
    return WIO_OK;
}

/* Put an open file where it belongs; it is closed where it belongs nowhere. */
static enum wio_status place(struct redo_segments *segments, struct redo_segment *segment,
                             bool is_checked, struct wio_error *err)
{
    char name[REDO_NAME_BYTES];
    uint64_t bytes = 0;
    redo_segment_name(name, segment->slot);
    WIO_TRY(segments->io->ops->file_size(segment->file, &bytes, err));
    WIO_TRY(read_header(segments, segment, name, err));
    if (bytes != segments->bytes && segment->seq != 0) {
        return wio_error_set(err, WIO_ERR_TRUNCATED, name, bytes,
                             "expected %llu bytes, found the end of the file",
                             (unsigned long long)segments->bytes);
    }
    enum wio_status status = WIO_OK;
    if (segment->seq != 0) {
        status = add(&segments->live, &segments->live_count, &segments->live_capacity, segment);
    } else if (bytes == segments->bytes) {
        status = add(&segments->free, &segments->free_count, &segments->free_capacity, segment);
    } else {
        segments->io->ops->file_close(segment->file);
        segment->file = NULL;
        return is_checked ? WIO_OK : segments->io->ops->remove(segments->io, name, err);
    }
    return status == WIO_OK ? WIO_OK : no_memory(err);
}

static enum wio_status open_slot(struct redo_segments *segments, uint32_t slot, bool is_checked,
                                 struct wio_error *err)
{
    struct redo_segment segment = {.slot = slot};
    char name[REDO_NAME_BYTES];
    redo_segment_name(name, slot);
    WIO_TRY(segments->io->ops->file_open(segments->io, name, is_checked ? WIO_IO_READ_ONLY : 0,
                                         &segment.file, err));
    struct wio_io_file *file = segment.file;
    enum wio_status status = place(segments, &segment, is_checked, err);
    if (status != WIO_OK && segment.file != NULL) {
        segments->io->ops->file_close(file);
    }
    return status;
}

static int by_seq(const void *a, const void *b)
{
    uint64_t first = ((const struct redo_segment *)a)->seq;
    uint64_t second = ((const struct redo_segment *)b)->seq;
    return (first > second) - (first < second);
}

static void sort(struct redo_segments *segments)
{
    if (segments->live_count > 0) {
        qsort(segments->live, segments->live_count, sizeof(*segments->live), by_seq);
    }
}

/* R-LOG-9: the last segment is read from the device, its header too. The others were flushed before
 * it was begun. */
static enum wio_status settle_last(struct redo_segments *segments, struct wio_error *err)
{
    char name[REDO_NAME_BYTES];
    if (segments->live_count == 0 || segments->io->ops->file_settle == NULL) {
        return WIO_OK;
    }
    struct redo_segment *last = redo_segments_last(segments);
    redo_segment_name(name, last->slot);
    WIO_TRY(segments->io->ops->file_settle(last->file, err));
    last->seq = 0;
    WIO_TRY(read_header(segments, last, name, err));
    if (last->seq == 0) {
        if (add(&segments->free, &segments->free_count, &segments->free_capacity, last) != WIO_OK) {
            return no_memory(err);
        }
        segments->live_count--;
    }
    sort(segments); /* it may have the header of its former use */
    return WIO_OK;
}

enum wio_status redo_segments_open(struct redo_segments *segments, bool is_checked,
                                   struct wio_error *err)
{
    WIO_CLEANUP(slots_fini) struct slots slots = {0};
    WIO_TRY(segments->io->ops->list(segments->io, "log", note_slot, &slots, err));
    if (slots.status != WIO_OK) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < slots.count; i++) {
        WIO_TRY(open_slot(segments, slots.numbers[i], is_checked, err));
    }
    sort(segments);
    return is_checked ? WIO_OK : settle_last(segments, err);
}

void redo_segments_close(struct redo_segments *segments)
{
    for (uint32_t i = 0; i < segments->live_count; i++) {
        segments->io->ops->file_close(segments->live[i].file);
    }
    for (uint32_t i = 0; i < segments->free_count; i++) {
        segments->io->ops->file_close(segments->free[i].file);
    }
    free(segments->live);
    free(segments->free);
    *segments = (struct redo_segments){.io = segments->io, .bytes = segments->bytes};
}

/* ---- making and using again ---- */

static uint32_t unused_slot(const struct redo_segments *segments)
{
    uint32_t slot = 0;
    for (uint32_t i = 0; i < segments->live_count; i++) {
        slot = segments->live[i].slot >= slot ? segments->live[i].slot + 1 : slot;
    }
    for (uint32_t i = 0; i < segments->free_count; i++) {
        slot = segments->free[i].slot >= slot ? segments->free[i].slot + 1 : slot;
    }
    return slot;
}

/* R-LOG-1: all blocks are there and were written before the segment is used. */
static enum wio_status fill(struct redo_segments *segments, struct wio_io_file *file,
                            struct wio_error *err)
{
    const struct wio_io_ops *ops = segments->io->ops;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob zeros = {0};
    size_t most = segments->bytes < ZERO_BYTES ? (size_t)segments->bytes : ZERO_BYTES;
    if (wio_blob_reserve(&zeros, most) != WIO_OK) {
        return no_memory(err);
    }
    memset(zeros.data, 0, most);
    WIO_TRY(ops->file_allocate(file, segments->bytes, err));
    for (uint64_t at = 0; at < segments->bytes; at += most) {
        uint64_t left = segments->bytes - at;
        struct wio_io_bytes part = {zeros.data, left < most ? (size_t)left : most};
        WIO_TRY(ops->file_write(file, at, &part, 1, err));
    }
    WIO_TRY(ops->file_sync(file, err));
    return ops->dir_sync(segments->io, "log", err);
}

enum wio_status redo_segments_spare(struct redo_segments *segments, struct wio_error *err)
{
    if (segments->free_count > 0) {
        return WIO_OK;
    }
    const struct wio_io_ops *ops = segments->io->ops;
    struct redo_segment segment = {.slot = unused_slot(segments)};
    char name[REDO_NAME_BYTES];
    redo_segment_name(name, segment.slot);
    WIO_TRY(
        ops->file_open(segments->io, name, WIO_IO_CREATE | WIO_IO_EXCLUSIVE, &segment.file, err));
    enum wio_status status = fill(segments, segment.file, err);
    if (status == WIO_OK &&
        add(&segments->free, &segments->free_count, &segments->free_capacity, &segment) != WIO_OK) {
        status = no_memory(err);
    }
    if (status != WIO_OK) {
        struct wio_error ignored = WIO_ERROR_INIT;
        ops->file_close(segment.file);
        (void)!ops->remove(segments->io, name, &ignored);
    }
    return status;
}

struct redo_segment *redo_segments_next(struct redo_segments *segments, uint64_t first_lsn,
                                        uint32_t epoch)
{
    WIO_PRE(segments->free_count > 0);
    struct redo_segment segment = segments->free[segments->free_count - 1];
    segment.seq = segments->live_count > 0 ? redo_segments_last(segments)->seq + 1 : 1;
    segment.first_lsn = first_lsn;
    segment.epoch = epoch;
    if (add(&segments->live, &segments->live_count, &segments->live_capacity, &segment) != WIO_OK) {
        return NULL;
    }
    segments->free_count--;
    return redo_segments_last(segments);
}

uint32_t redo_segments_find(const struct redo_segments *segments, uint64_t lsn)
{
    for (uint32_t i = segments->live_count; i > 0; i--) {
        if (segments->live[i - 1].first_lsn <= lsn) {
            return i - 1;
        }
    }
    return WIO_NO_INDEX;
}

/* The oldest live segment is not needed any more. */
static enum wio_status release_first(struct redo_segments *segments, struct wio_error *err)
{
    struct redo_segment first = segments->live[0];
    if (segments->free_count < KEPT_FREE) {
        if (add(&segments->free, &segments->free_count, &segments->free_capacity, &first) !=
            WIO_OK) {
            return no_memory(err);
        }
    } else {
        char name[REDO_NAME_BYTES];
        redo_segment_name(name, first.slot);
        WIO_TRY(segments->io->ops->remove(segments->io, name, err));
        segments->io->ops->file_close(first.file);
    }
    segments->live_count--;
    memmove(segments->live, segments->live + 1, segments->live_count * sizeof(*segments->live));
    return WIO_OK;
}

enum wio_status redo_segments_release(struct redo_segments *segments, uint64_t redo_from,
                                      struct wio_error *err)
{
    for (uint32_t first = redo_segments_find(segments, redo_from);
         first != WIO_NO_INDEX && first > 0; first--) {
        WIO_TRY(release_first(segments, err));
    }
    return WIO_OK;
}
