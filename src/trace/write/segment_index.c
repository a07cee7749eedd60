/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/write/segment_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ids.h"
#include "base/mix.h"

/* One INDEX block holds about this much, so that none comes near the limit of a block. */
#define INDEX_BLOCK_BYTES (16u << 20)

static enum wio_status write_block(struct wio_segment *segment, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    uint64_t offset = segment->file.size;
    enum wio_status status = wio_blob_varint(&payload, segment->index_count);
    if (status == WIO_OK) {
        status = wio_blob_put(&payload, segment->index.data, segment->index.size);
    }
    if (status != WIO_OK) {
        return wio_segment_fail(segment, status, err);
    }
    WIO_TRY(wio_block_write(&segment->file, &segment->pack, WIO_BLOCK_INDEX, &payload, 1, err));
    segment->index_offset = segment->index_offset == 0 ? offset : segment->index_offset;
    wio_blob_clear(&segment->index);
    segment->index_count = 0;
    return WIO_OK;
}

/* Entries into the next block. */
static enum wio_status put_part(struct wio_segment *segment, const uint8_t *entries, size_t bytes,
                                struct wio_error *err)
{
    enum wio_status status = wio_blob_put(&segment->index, entries, bytes);
    return status == WIO_OK ? WIO_OK : wio_segment_fail(segment, status, err);
}

/* R-INDEX-1: INDEX blocks are together at the end, so all but the last wait in memory, one behind
 * the other; `parts` are their ends. */
enum wio_status wio_segment_write_index(struct wio_segment *segment, struct wio_error *err)
{
    struct wio_blob all = segment->index;
    uint64_t total = segment->index_count;
    size_t from = 0;
    uint64_t done = 0;
    segment->index = (struct wio_blob){0};
    enum wio_status status = WIO_OK;
    for (size_t i = 0; i < segment->index_part_count && status == WIO_OK; i++) {
        const struct wio_index_part *part = &segment->index_parts[i];
        segment->index_count = part->count - done;
        status = put_part(segment, all.data + from, part->end - from, err);
        status = status == WIO_OK ? write_block(segment, err) : status;
        from = part->end;
        done = part->count;
    }
    segment->index_count = total - done;
    if (status == WIO_OK) {
        status = put_part(segment, all.data + from, all.size - from, err);
    }
    wio_blob_fini(&all);
    return status == WIO_OK ? write_block(segment, err) : status;
}

static enum wio_status end_of_entry(struct wio_segment *segment)
{
    segment->index_count++;
    size_t from = segment->index_part_count == 0
                      ? 0
                      : segment->index_parts[segment->index_part_count - 1].end;
    if (segment->index.size - from < INDEX_BLOCK_BYTES) {
        return WIO_OK;
    }
    void *parts = segment->index_parts;
    WIO_TRY(wio_grow(&parts, sizeof(*segment->index_parts), &segment->index_part_capacity,
                     segment->index_part_count + 1));
    segment->index_parts = parts;
    segment->index_parts[segment->index_part_count++] =
        (struct wio_index_part){segment->index.size, segment->index_count};
    return WIO_OK;
}

static enum wio_status put_entry(struct wio_segment *segment, enum wio_block_kind kind,
                                 uint64_t offset)
{
    WIO_TRY(wio_blob_varint(&segment->index, offset));
    WIO_TRY(wio_blob_varint(&segment->index, segment->file.size - offset - WIO_BLOCK_HEAD_BYTES));
    return wio_blob_varint(&segment->index, kind);
}

enum wio_status wio_segment_index_table(struct wio_segment *segment, enum wio_block_kind kind,
                                        uint64_t offset, struct wio_error *err)
{
    enum wio_status status = put_entry(segment, kind, offset);
    status = status == WIO_OK ? end_of_entry(segment) : status;
    return status == WIO_OK ? WIO_OK : wio_segment_fail(segment, status, err);
}

static void add_totals(struct wio_segment *segment, const struct wio_event *events, uint32_t count)
{
    memset(segment->totals, 0, segment->call_count * sizeof(*segment->totals));
    for (uint32_t i = 0; i < count; i++) {
        struct wio_call_total *total = &segment->totals[events[i].call];
        total->count++;
        total->bytes += wio_event_bytes(&events[i]);
        total->time_ns += events[i].dur_ns;
        total->errors += events[i].error != 0;
    }
}

static enum wio_status put_totals(struct wio_segment *segment)
{
    uint64_t used = 0;
    for (uint32_t call = 0; call < segment->call_count; call++) {
        used += segment->totals[call].count != 0;
    }
    WIO_TRY(wio_blob_varint(&segment->index, used));
    for (uint32_t call = 0; call < segment->call_count; call++) {
        const struct wio_call_total *total = &segment->totals[call];
        if (total->count == 0) {
            continue;
        }
        WIO_TRY(wio_blob_varint(&segment->index, call));
        WIO_TRY(wio_blob_varint(&segment->index, total->count));
        WIO_TRY(wio_blob_varint(&segment->index, total->bytes));
        WIO_TRY(wio_blob_varint(&segment->index, total->time_ns));
        WIO_TRY(wio_blob_varint(&segment->index, total->errors));
    }
    return WIO_OK;
}

/* Different ids of the events of a block, as many as an entry of the index names and one more. */
struct path_set {
    uint32_t ids[WIO_INDEX_PATHS_MAX + 1];
    uint32_t count;
    uint32_t places[4 * WIO_INDEX_PATHS_MAX]; /* an id each, by hash; 0 = free */
};

static void add_path(struct path_set *set, uint32_t id)
{
    size_t place = wio_mix(id) % WIO_ARRAY_SIZE(set->places);
    while (set->places[place] != 0 && set->places[place] != id) {
        place = (place + 1) % WIO_ARRAY_SIZE(set->places);
    }
    if (set->places[place] == 0) {
        set->places[place] = id;
        set->ids[set->count++] = id;
    }
}

static void collect_paths(const struct wio_event *events, uint32_t count, struct path_set *set)
{
    uint32_t last = 0; /* those of one file follow each other */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t ids[] = {events[i].path, events[i].path2};
        for (unsigned k = 0; k < 2 && set->count <= WIO_INDEX_PATHS_MAX; k++) {
            if (ids[k] != 0 && ids[k] != last) {
                add_path(set, ids[k]);
                last = ids[k];
            }
        }
    }
}

/* R-INDEX-2 */
static enum wio_status put_paths(struct wio_segment *segment, const struct wio_event *events,
                                 uint32_t count)
{
    struct path_set set = {.count = 0};
    uint32_t last = 0;
    collect_paths(events, count, &set);
    if (set.count > WIO_INDEX_PATHS_MAX) {
        return wio_blob_varint(&segment->index, 0);
    }
    qsort(set.ids, set.count, sizeof(set.ids[0]), wio_ids_compare);
    WIO_TRY(wio_blob_varint(&segment->index, set.count + 1));
    for (uint32_t i = 0; i < set.count; i++) {
        WIO_TRY(wio_blob_varint(&segment->index, set.ids[i] - last));
        last = set.ids[i];
    }
    return WIO_OK;
}

static enum wio_status put_head(struct wio_segment *segment, const struct wio_events_head *head)
{
    WIO_TRY(wio_blob_varint(&segment->index, head->stream));
    WIO_TRY(wio_blob_varint(&segment->index, head->count));
    WIO_TRY(wio_blob_varint(&segment->index, head->first_seq));
    WIO_TRY(wio_blob_varint(&segment->index, head->first_ns));
    WIO_TRY(wio_blob_varint(&segment->index, head->last_ns));
    return wio_blob_varint(&segment->index, head->dropped);
}

enum wio_status wio_segment_index_events(struct wio_segment *segment,
                                         const struct wio_events_head *head,
                                         const struct wio_event *events, uint64_t offset,
                                         struct wio_error *err)
{
    add_totals(segment, events, head->count);
    enum wio_status status = put_entry(segment, WIO_BLOCK_EVENTS, offset);
    status = status == WIO_OK ? put_head(segment, head) : status;
    status = status == WIO_OK ? put_totals(segment) : status;
    status = status == WIO_OK ? put_paths(segment, events, head->count) : status;
    status = status == WIO_OK ? end_of_entry(segment) : status;
    return status == WIO_OK ? WIO_OK : wio_segment_fail(segment, status, err);
}
