/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and their events: numbered, sorted within a block, written when a block is full. */
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "trace/write/segment_internal.h"

/* Unwritten events of a stream: the older half becomes a block when it is full, so an event may
 * come up to WIO_EVENTS_PER_BLOCK places late and is sorted in all the same. */
#define BUFFER_EVENTS (2 * WIO_EVENTS_PER_BLOCK)
#define BUFFER_FIRST 32u

enum wio_status wio_segment_stream(struct wio_segment *segment, uint32_t process, int32_t tid,
                                   uint64_t thread, uint32_t *index_out, struct wio_error *err)
{
    if (process >= segment->process_count) {
        return wio_segment_refuse(segment, "process", process, err);
    }
    void *array = segment->streams;
    enum wio_status status = wio_grow(&array, sizeof(*segment->streams), &segment->stream_capacity,
                                      segment->stream_count + 1);
    if (status != WIO_OK) {
        return wio_segment_fail(segment, status, err);
    }
    segment->streams = array;
    segment->streams[segment->stream_count] = (struct wio_segment_stream){
        .process = process,
        .tid = tid,
        .thread = thread,
    };
    *index_out = segment->stream_count++;
    return WIO_OK;
}

/* Key of (host, pid, tid): images of one process go on counting. Hosts by their text's id. */
static enum wio_status thread_key(struct wio_segment *segment,
                                  const struct wio_segment_stream *stream, uint64_t *key_out)
{
    const struct wio_process_info *info = &segment->processes[stream->process].info;
    uint32_t host = 0;
    WIO_TRY(wio_strtab_add(&segment->strings, info->host, strlen(info->host), &host));
    *key_out = ((uint64_t)host << 44) ^ ((uint64_t)(uint32_t)info->pid << 22) ^
               (uint64_t)(uint32_t)stream->tid;
    return WIO_OK;
}

/* R-STREAM-1: the first event of a stream takes the number behind its predecessor's last. */
static enum wio_status begin_counting(struct wio_segment *segment, uint32_t index)
{
    struct wio_segment_stream *stream = &segment->streams[index];
    uint64_t key = 0;
    WIO_TRY(thread_key(segment, stream, &key));
    const uint64_t *before = wio_map_get(&segment->last_stream, key);
    if (before != NULL) {
        const struct wio_segment_stream *former = &segment->streams[*before];
        stream->first_seq = former->first_seq + former->events;
        stream->next_seq = stream->first_seq;
    }
    return wio_map_put(&segment->last_stream, key, index);
}

/* R-EVENTS-1: by begin; of two that begin together the longer one, which holds the other, is first.
 */
static bool is_before(const struct wio_event *a, const struct wio_event *b)
{
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->dur_ns > b->dur_ns;
}

/* R-EVENT-4, R-EVENTS-2: events come nearly in order: insertion by moving is linear then. Where an
 * event comes very late (a call that held thousands of others) one long move puts it in place. */
static void sort_events(struct wio_event *events, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (!is_before(&events[i], &events[i - 1])) {
            continue;
        }
        struct wio_event late = events[i];
        size_t place = WIO_FIRST(j, 0, i, is_before(&late, &events[j]));
        memmove(&events[place + 1], &events[place], (i - place) * sizeof(late));
        events[place] = late;
    }
}

static enum wio_status write_events(struct wio_segment *segment, uint32_t index, uint32_t count,
                                    struct wio_error *err)
{
    struct wio_segment_stream *stream = &segment->streams[index];
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    struct wio_events_head head = {
        .stream = index,
        .count = count,
        .first_seq = stream->next_seq,
        .first_ns = stream->buffer[0].t_ns,
        .dropped = stream->dropped,
    };
    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = stream->buffer[i].t_ns + stream->buffer[i].dur_ns;
        head.last_ns = end > head.last_ns ? end : head.last_ns;
    }
    uint64_t offset = segment->file.size;
    enum wio_status status =
        wio_events_encode(stream->buffer, &head, segment->scratch, &segment->pack, &payload);
    if (status != WIO_OK) {
        return wio_segment_fail(segment, status, err);
    }
    WIO_TRY(wio_block_write(&segment->file, &segment->pack, WIO_BLOCK_EVENTS, &payload, 0, err));
    WIO_TRY(wio_segment_index_events(segment, &head, stream->buffer, offset, err));
    if (stream->next_seq == stream->first_seq) {
        stream->first_ns = head.first_ns;
    }
    stream->last_ns = head.last_ns > stream->last_ns ? head.last_ns : stream->last_ns;
    stream->next_seq += count;
    stream->dropped = 0;
    stream->count -= count;
    memmove(stream->buffer, stream->buffer + count, stream->count * sizeof(*stream->buffer));
    return WIO_OK;
}

static enum wio_status make_room(struct wio_segment *segment, struct wio_segment_stream *stream,
                                 uint32_t index, struct wio_error *err)
{
    if (stream->count == BUFFER_EVENTS) {
        sort_events(stream->buffer, stream->count);
        return write_events(segment, index, WIO_EVENTS_PER_BLOCK, err);
    }
    uint32_t capacity = stream->capacity == 0 ? BUFFER_FIRST : stream->capacity * 2;
    struct wio_event *buffer = reallocarray(stream->buffer, capacity, sizeof(*buffer));
    if (buffer == NULL) {
        return wio_segment_fail(segment, WIO_ERR_NOMEM, err);
    }
    stream->buffer = buffer;
    stream->capacity = capacity;
    return WIO_OK;
}

static enum wio_status call_of(struct wio_segment *segment, const struct wio_event *event,
                               uint16_t *index_out)
{
    uint64_t key = (uint64_t)event->op << 16 | event->call;
    const uint64_t *known = wio_map_get(&segment->call_index, key);
    if (known != NULL) {
        *index_out = (uint16_t)*known;
        return WIO_OK;
    }
    if (segment->call_count > UINT16_MAX) {
        return WIO_ERR_UNSUPPORTED;
    }
    uint32_t capacity = segment->call_capacity;
    void *totals = segment->totals;
    WIO_TRY(wio_grow(&totals, sizeof(*segment->totals), &capacity, segment->call_count + 1));
    segment->totals = totals;
    void *calls = segment->calls;
    WIO_TRY(wio_grow(&calls, sizeof(*segment->calls), &segment->call_capacity,
                     segment->call_count + 1));
    segment->calls = calls;
    WIO_TRY(wio_map_put(&segment->call_index, key, segment->call_count));
    segment->calls[segment->call_count] = (struct wio_events_call){event->op, event->call};
    *index_out = (uint16_t)segment->call_count++;
    return WIO_OK;
}

enum wio_status wio_segment_append(struct wio_segment *segment, const struct wio_event *event,
                                   struct wio_error *err)
{
    if (event->stream >= segment->stream_count) {
        return wio_segment_refuse(segment, "stream", event->stream, err);
    }
    if (event->path > segment->strings.count || event->path2 > segment->strings.count) {
        const uint32_t wrong = event->path > event->path2 ? event->path : event->path2;
        return wio_segment_refuse(segment, "path", wrong, err);
    }
    struct wio_segment_stream *stream = &segment->streams[event->stream];
    uint16_t call = 0;
    if (stream->count == stream->capacity) {
        WIO_TRY(make_room(segment, stream, event->stream, err));
    }
    enum wio_status status = WIO_OK;
    if (stream->events == 0) {
        status = begin_counting(segment, event->stream);
    }
    if (status == WIO_OK) {
        status = call_of(segment, event, &call);
    }
    if (status == WIO_OK) {
        status = wio_segment_note_uses(segment, stream, event);
    }
    if (status != WIO_OK) {
        return wio_segment_fail(segment, status, err);
    }
    struct wio_event *place = &stream->buffer[stream->count++];
    *place = *event;
    place->call = call; /* the segment's own number from here on */
    stream->events++;
    return WIO_OK;
}

void wio_segment_lost(struct wio_segment *segment, uint32_t stream, uint64_t count)
{
    segment->streams[stream].dropped += count;
}

enum wio_status wio_segment_flush(struct wio_segment *segment, uint32_t index,
                                  struct wio_error *err)
{
    struct wio_segment_stream *stream = &segment->streams[index];
    sort_events(stream->buffer, stream->count);
    while (stream->count > 0) {
        uint32_t count = stream->count;
        count = count < WIO_EVENTS_PER_BLOCK ? count : WIO_EVENTS_PER_BLOCK;
        WIO_TRY(write_events(segment, index, count, err));
    }
    free(stream->buffer);
    stream->buffer = NULL;
    stream->capacity = 0;
    return WIO_OK;
}
