/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of events: columns whole, numbers in order, ids known, index right. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/check/check_internal.h"

enum wio_status wio_check_events_begin(struct wio_check *check)
{
    size_t streams = (size_t)check->trace->stream_count + 1;
    check->next_seq = calloc(streams, sizeof(*check->next_seq));
    check->has_block = calloc(streams, sizeof(*check->has_block));
    check->counted = calloc(streams, sizeof(*check->counted));
    check->last_ns = calloc(streams, sizeof(*check->last_ns));
    if (check->next_seq == NULL || check->has_block == NULL || check->counted == NULL ||
        check->last_ns == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < check->trace->stream_count; i++) {
        check->next_seq[i] = check->trace->streams[i].first_seq;
    }
    return WIO_OK;
}

static const struct wio_block_ref *indexed(const struct wio_check *check, uint64_t offset)
{
    const struct wio_check_entry *entry = wio_check_entry_from(check, offset);
    if (entry == NULL || entry->offset != offset || entry->kind != WIO_BLOCK_EVENTS) {
        return NULL;
    }
    return &check->trace->blocks[entry->block];
}

/* The block's head against the tables, its neighbours and the index. */
static bool check_head(struct wio_check *check, uint64_t offset, const struct wio_events_head *head)
{
    const struct wio_block_ref *ref = indexed(check, offset);
    if (head->stream >= check->trace->stream_count) {
        wio_check_fault(check, offset, "expected one of %u streams, found stream %u",
                        check->trace->stream_count, head->stream);
        return false;
    }
    if (ref == NULL || ref->stream != head->stream || ref->count != head->count ||
        ref->first_seq != head->first_seq || ref->first_ns != head->first_ns ||
        ref->last_ns != head->last_ns || ref->dropped != head->dropped) {
        wio_check_fault(check, offset, "expected the index to say what this block holds");
    }
    uint64_t *next = &check->next_seq[head->stream];
    if (*next != head->first_seq) {
        wio_check_fault(check, offset, "expected event %llu of stream %u, found event %llu",
                        (unsigned long long)*next, head->stream,
                        (unsigned long long)head->first_seq);
    }
    *next = head->first_seq + head->count;
    check->counted[head->stream] += head->count;
    return true;
}

/* R-EVENTS-1; R-EVENTS-2: the first event of a block may be late if it held what came before it. */
static bool is_in_order(const struct wio_events_head *head, const struct wio_event *event,
                        uint64_t last_ns)
{
    bool is_first = event->seq == head->first_seq;
    return event->t_ns >= last_ns || (is_first && event->dur_ns >= last_ns - event->t_ns);
}

static bool check_event(struct wio_check *check, uint64_t offset,
                        const struct wio_events_head *head, const struct wio_event *event)
{
    uint64_t *last = &check->last_ns[event->stream];
    bool is_first = !check->has_block[event->stream];
    check->has_block[event->stream] = true;
    if (!is_first && !is_in_order(head, event, *last)) {
        wio_check_fault(check, offset,
                        "expected event %llu to begin at %llu ns or later, found %llu ns",
                        (unsigned long long)event->seq, (unsigned long long)*last,
                        (unsigned long long)event->t_ns);
        return false;
    }
    *last = event->t_ns;
    return true;
}

static void report_end(struct wio_check *check, uint64_t offset, const struct wio_events *events)
{
    const struct wio_trace *trace = check->trace;
    if (events->unknown != NULL) {
        bool is_string = strcmp(events->unknown, "string") == 0;
        wio_check_fault(
            check, offset, "expected one of %u %ss in event %llu or soon after, found %u",
            is_string ? trace->string_count : trace->source_count, events->unknown,
            (unsigned long long)events->head.first_seq + events->done, events->unknown_id);
        return;
    }
    wio_check_fault(check, offset, "expected %u events, found columns that end before %u",
                    events->head.count, events->done + 1);
}

static void check_slices(struct wio_check *check, uint64_t offset, struct wio_events *events)
{
    const struct wio_events_context *context = &check->trace->segments[0].context;
    struct wio_event slice[64];
    size_t count = 0;
    do {
        if (wio_events_read(events, context, slice, WIO_ARRAY_SIZE(slice), &count) != WIO_OK) {
            report_end(check, offset, events);
            return;
        }
        for (size_t i = 0; i < count; i++) {
            if (!check_event(check, offset, &events->head, &slice[i])) {
                return;
            }
        }
    } while (count > 0);
    if (!wio_events_at_end(events)) {
        wio_check_fault(check, offset, "expected %u events, found columns with more",
                        events->head.count);
    }
}

void wio_check_events(struct wio_check *check, uint64_t offset)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    WIO_CLEANUP(wio_blob_fini) struct wio_blob unpacked = {0};
    struct wio_error fault = WIO_ERROR_INIT;
    struct wio_block_head head;
    struct wio_events events;
    if (wio_block_read(&check->trace->segments[0].file, &check->pack, offset, &head, &payload,
                       &fault) != WIO_OK) {
        wio_check_report(check, &fault);
        return;
    }
    uint64_t at = offset + WIO_BLOCK_HEAD_BYTES;
    if (wio_events_open(&events, UINT32_MAX, &payload, &check->pack, &unpacked) != WIO_OK) {
        wio_check_fault(check, at, "expected events as columns");
        return;
    }
    if (check_head(check, at - WIO_BLOCK_HEAD_BYTES, &events.head)) {
        check_slices(check, at, &events);
    }
}

void wio_check_events_end(struct wio_check *check)
{
    for (uint32_t i = 0; i < check->trace->stream_count; i++) {
        if (check->counted[i] != check->trace->streams[i].events) {
            wio_check_fault(check, wio_check_offset_of(check, WIO_BLOCK_STREAMS),
                            "expected %llu events in stream %u, found %llu",
                            (unsigned long long)check->trace->streams[i].events, i,
                            (unsigned long long)check->counted[i]);
        }
    }
}
