/* SPDX-License-Identifier: Apache-2.0 */
/* The second reading of a ring: slots become events. FORMAT.md#pack. */
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "ops/calls.h"
#include "seal/seal_internal.h"

/* A writer and the stream of its slots, as its last CLOCK says. */
struct ring_writer {
    uint32_t number;
    uint32_t next_chunk;
    uint32_t process;
    uint32_t stream;
    bool has_stream;
    uint64_t dropped;
    uint64_t events; /* so far, with those that were overwritten */
    struct wio_seal_cpu cpu;
};

static uint64_t stream_key(uint32_t process, int32_t tid, uint64_t thread)
{
    return (((uint64_t)process << 32) | (uint32_t)tid) ^ thread * 0x9e3779b97f4a7c15ull;
}

static enum wio_status find_stream(struct wio_seal *seal, struct wio_seal_work *work,
                                   struct ring_writer *writer, int32_t tid, uint64_t thread,
                                   struct wio_error *err)
{
    uint64_t key = stream_key(writer->process, tid, thread);
    const uint64_t *known = wio_map_get(&work->streams, key);
    writer->has_stream = true;
    if (known != NULL) {
        writer->stream = (uint32_t)*known;
        return WIO_OK;
    }
    WIO_TRY(wio_segment_stream(seal->segment, writer->process, tid, thread, &writer->stream, err));
    enum wio_status status = wio_map_put(&work->streams, key, writer->stream);
    return status == WIO_OK ? WIO_OK : wio_segment_fail(seal->segment, status, err);
}

/* R-CHUNK-4, R-CHUNK-5 */
static enum wio_status take_clock(struct wio_seal *seal, struct wio_seal_ring *ring,
                                  struct wio_seal_work *work, struct ring_writer *writer,
                                  const struct wio_slot_clock *clock, struct wio_error *err)
{
    writer->process = ring->process;
    if (clock->reason != 0) {
        writer->cpu = (struct wio_seal_cpu){0}; /* another thread's */
    }
    if (clock->pid != ring->header.pid && clock->pid > 0) {
        WIO_TRY(wio_seal_vfork_child(seal, ring, work, clock, &writer->process, err));
    }
    WIO_TRY(find_stream(seal, work, writer, clock->tid, clock->thread, err));
    if (clock->dropped > writer->dropped) {
        wio_segment_lost(seal->segment, writer->stream, clock->dropped - writer->dropped);
        work->dropped += clock->dropped - writer->dropped;
        writer->dropped = clock->dropped;
    }
    return WIO_OK;
}

/* R-EVENT-2: classes whose first two arguments lie where others have offset and size. */
static bool has_args_inline(enum wio_class cls)
{
    return (wio_class_properties(cls) & WIO_DOES_INLINE_ARGS) != 0;
}

/* R-STRING-4: the second text of these is no path. */
static bool has_literal(enum wio_class cls)
{
    return cls == WIO_CLASS_READDIR || cls == WIO_CLASS_READLINK || cls == WIO_CLASS_SYMLINK ||
           cls == WIO_CLASS_XATTR;
}

static void take_inline(const struct wio_slot_event *slot, struct wio_event *event)
{
    event->arg[0] = slot->offset == WIO_NO_OFFSET ? 0 : slot->offset;
    event->arg[1] = slot->size == WIO_NO_SIZE ? 0 : (int64_t)slot->size;
    event->offset = WIO_NO_OFFSET;
    event->size = WIO_NO_SIZE;
}

static enum wio_status take_ext(struct wio_seal *seal, struct wio_seal_ring *ring,
                                const struct wio_slot_ext *ext, enum wio_class cls,
                                struct wio_event *event)
{
    event->fd2 = ext->fd2;
    event->offset2 = ext->offset2;
    for (unsigned i = 0; i < 4; i++) {
        event->arg[i] = ext->arg[i];
    }
    if (cls == WIO_CLASS_READLINK && event->op == WIO_OP_realpath) {
        return wio_seal_path(seal, ring, ext->path2, &event->path2);
    }
    return has_literal(cls) ? wio_seal_literal(seal, ring, ext->path2, &event->path2)
                            : wio_seal_path(seal, ring, ext->path2, &event->path2);
}

static bool is_before(const struct wio_seal_completion *completion, uint64_t key, uint64_t ticks)
{
    return completion->key != key ? completion->key < key : completion->ticks < ticks;
}

/* R-EVENT-3: the first completion of this key that is not used and not before the submission. */
static struct wio_seal_completion *find_completion(struct wio_seal_work *work, uint64_t key,
                                                   uint64_t ticks)
{
    const struct wio_seal_completion *sorted = work->completions;
    uint32_t count = work->completion_count;
    size_t first = WIO_FIRST(i, 0, count, !is_before(&sorted[i], key, ticks));
    for (size_t i = first; i < count && sorted[i].key == key; i++) {
        if (!sorted[i].is_used) {
            return &work->completions[i];
        }
    }
    return NULL;
}

static void complete(struct wio_seal_work *work, uint64_t key, uint64_t begin,
                     struct wio_event *event)
{
    event->flags |= WIO_EVENT_ASYNC;
    struct wio_seal_completion *completion = find_completion(work, key, begin);
    if (completion == NULL) {
        return;
    }
    completion->is_used = true;
    event->dur_ns = wio_ticks_length(&work->ticks, completion->ticks - begin);
    event->result = completion->result;
    if (completion->result < 0 && completion->result >= -4095) {
        event->result = -1;
        event->error = (uint16_t)-completion->result;
    }
}

static enum wio_status take_source(struct wio_seal *seal, struct wio_seal_work *work,
                                   const struct wio_slot_event *slot, struct wio_event *event,
                                   struct wio_error *err)
{
    if ((slot->flags & WIO_EVENT_STACK) == 0) {
        return wio_seal_source(seal, work, slot->source, &event->source, err);
    }
    const uint64_t *source = wio_map_get(&work->stacks, slot->source);
    event->source = source == NULL ? 0 : (uint32_t)*source;
    return WIO_OK;
}

static enum wio_status take_event(struct wio_seal *seal, struct wio_seal_ring *ring,
                                  struct wio_seal_work *work, struct ring_writer *writer,
                                  const union wio_slot *record, struct wio_error *err)
{
    const struct wio_slot_event *slot = &record->event;
    bool has_ext = slot->kind == WIO_SLOT_EVENT_EXT;
    enum wio_op op = wio_call_op(slot->call);
    enum wio_class cls = wio_op_class(op);
    uint64_t begin_ns = wio_ticks_to_ns(&work->ticks, slot->begin);
    /* R-EVENT-1 */
    struct wio_event event = {
        .t_ns = wio_seal_time(seal, ring, begin_ns),
        .dur_ns = wio_ticks_length(&work->ticks, slot->dur_error & 0xffffffffffffull),
        .stream = writer->stream,
        .op = (uint16_t)op,
        .call = slot->call < WIO_CALL_COUNT ? slot->call : 0,
        .flags = slot->flags,
        .error = (uint16_t)(slot->dur_error >> 48),
        .fd = slot->fd,
        .fd2 = WIO_NO_FD,
        .offset = slot->offset,
        .offset2 = WIO_NO_OFFSET,
        .size = slot->size,
        .result = slot->result,
    };
    enum wio_status status = wio_seal_path(seal, ring, slot->path, &event.path);
    if (has_ext && status == WIO_OK) {
        status = take_ext(seal, ring, &record[1].ext, cls, &event);
    } else if (has_args_inline(cls)) {
        take_inline(slot, &event);
    }
    if (status != WIO_OK) {
        return wio_segment_fail(seal->segment, status, err);
    }
    if (has_ext && record[1].ext.key != 0 && slot->result == WIO_RESULT_PENDING) {
        complete(work, record[1].ext.key, slot->begin, &event);
    }
    WIO_TRY(take_source(seal, work, slot, &event, err));
    wio_seal_cpu_event(&writer->cpu, &work->ticks, slot, &event);
    uint64_t end_ns = event.t_ns + event.dur_ns;
    work->last_ns = end_ns > work->last_ns ? end_ns : work->last_ns;
    seal->totals.events++;
    if (cls == WIO_CLASS_WAIT || cls == WIO_CLASS_PROCESS || cls == WIO_CLASS_KILL) {
        status = wio_seal_note_kin(seal, ring, writer->process, &event);
    }
    if (status != WIO_OK) {
        return wio_segment_fail(seal->segment, status, err);
    }
    return wio_segment_append(seal->segment, &event, err);
}

/* R-EVENT-5: a run is taken as the events that it stands for. */
static enum wio_status take_run(struct wio_seal *seal, struct wio_seal_ring *ring,
                                struct wio_seal_work *work, struct ring_writer *writer,
                                const union wio_slot *record, struct wio_error *err)
{
    const uint64_t count = (uint64_t)record->event.result;
    const uint64_t ticks = record->event.dur_error & 0xffffffffffffull;
    union wio_slot one = *record;
    if (count < 1 || count > WIO_RUN_MAX) {
        return WIO_OK;
    }
    one.event.kind = WIO_SLOT_EVENT;
    one.event.dur_error = 0;
    one.event.result = (int64_t)record->event.size;
    for (uint64_t i = 0; i < count; i++) {
        one.event.begin = record->event.begin + (count > 1 ? ticks * i / (count - 1) : 0);
        WIO_TRY(take_event(seal, ring, work, writer, &one, err));
        if (one.event.offset != WIO_NO_OFFSET) {
            one.event.offset = (int64_t)((uint64_t)one.event.offset + one.event.size);
        }
    }
    return WIO_OK;
}

static bool is_same_module(const struct wio_seal_module *a, const struct wio_seal_module *b)
{
    return a->low == b->low && a->high == b->high && a->file_offset == b->file_offset &&
           a->image == b->image;
}

/* A module that takes the place of another holds from here on; one that is known changes nothing.
 */
static enum wio_status take_module(struct wio_seal *seal, struct wio_seal_work *work,
                                   const union wio_slot *slot, struct wio_error *err)
{
    uint32_t before = work->module_count;
    enum wio_status status = wio_seal_module(seal, work, slot);
    if (status != WIO_OK) {
        return wio_segment_fail(seal->segment, status, err);
    }
    if (work->module_count == before) {
        return WIO_OK;
    }
    const struct wio_seal_module *fresh = &work->modules[before];
    for (uint32_t i = before; i > 0; i--) {
        const struct wio_seal_module *other = &work->modules[i - 1];
        if (is_same_module(fresh, other)) {
            work->module_count = before;
            return WIO_OK;
        }
        if (fresh->low < other->high && other->low < fresh->high) {
            break;
        }
    }
    wio_map_fini(&work->sources);
    return WIO_OK;
}

static enum wio_status take_record(struct wio_seal *seal, struct wio_seal_ring *ring,
                                   struct wio_seal_work *work, struct ring_writer *writer,
                                   const union wio_slot *slot, struct wio_error *err)
{
    switch (slot->any.kind) {
    case WIO_SLOT_EVENT_EXT:
    case WIO_SLOT_EVENT:
    case WIO_SLOT_EVENT_RUN:
        if (!writer->has_stream) {
            /* The chunk's CLOCK is damaged: the process' main thread has to do. */
            writer->process = ring->process;
            WIO_TRY(find_stream(seal, work, writer, ring->header.pid, 0, err));
        }
        return slot->any.kind == WIO_SLOT_EVENT_RUN
                   ? take_run(seal, ring, work, writer, slot, err)
                   : take_event(seal, ring, work, writer, slot, err);
    case WIO_SLOT_CLOCK:
        return take_clock(seal, ring, work, writer, &slot->clock, err);
    case WIO_SLOT_CPU:
        wio_seal_cpu_record(&writer->cpu, &slot->cpu);
        return WIO_OK;
    case WIO_SLOT_MODULE:
        return take_module(seal, work, slot, err);
    case WIO_SLOT_STACK:
        return wio_seal_stack(seal, work, slot, err);
    default:
        return WIO_OK;
    }
}

/* A writer's streams are complete when its last chunk is read: their memory goes. */
static enum wio_status begin_writer(struct wio_seal *seal, struct wio_seal_work *work,
                                    struct ring_writer *writer, uint32_t number,
                                    uint32_t first_stream, struct wio_error *err)
{
    for (uint32_t i = first_stream; i < seal->segment->stream_count; i++) {
        if (seal->segment->streams[i].count > 0) {
            WIO_TRY(wio_segment_flush(seal->segment, i, err));
        }
    }
    *writer = (struct ring_writer){.number = number};
    if (work->module_count != work->initial_modules) {
        work->module_count = work->initial_modules;
        wio_map_fini(&work->sources);
    }
    return WIO_OK;
}

/* R-BOUND-4: what this writer's overwritten chunks held, behind the CLOCK that tells the stream. */
static void count_evicted(struct wio_seal *seal, struct wio_seal_work *work,
                          struct ring_writer *writer)
{
    const uint64_t before = work->chunk->slots[0].header.events_before;
    if (before > writer->events && writer->has_stream) {
        wio_segment_lost(seal->segment, writer->stream, before - writer->events);
        work->evicted += before - writer->events;
        writer->events = before;
    }
}

/* Chunks that should be there and are not, unless the writer itself counted what it dropped. */
static void count_missing(struct wio_seal_work *work, struct ring_writer *writer, uint64_t dropped,
                          bool is_bound)
{
    uint32_t chunk_no = work->chunk->chunk_no;
    if (chunk_no > writer->next_chunk && writer->dropped == dropped && !is_bound) {
        work->lost += (uint64_t)(chunk_no - writer->next_chunk) * (WIO_CHUNK_SLOTS - 1);
    }
    writer->next_chunk = chunk_no + 1;
}

static enum wio_status take_chunk(struct wio_seal *seal, struct wio_seal_ring *ring,
                                  struct wio_seal_work *work, struct ring_writer *writer,
                                  struct wio_error *err)
{
    const union wio_slot *slot = NULL;
    const uint64_t dropped = writer->dropped;
    const uint64_t events = seal->totals.events;
    bool is_first = ring->header.keep == WIO_BOUND_LAST;
    while ((slot = wio_chunk_next(work->chunk)) != NULL) {
        WIO_TRY(take_record(seal, ring, work, writer, slot, err));
        if (is_first) {
            count_evicted(seal, work, writer);
            is_first = false;
        }
    }
    writer->events += seal->totals.events - events;
    count_missing(work, writer, dropped, ring->header.keep == WIO_BOUND_LAST);
    /* A claim that a signal handler overtook leaves a hole and is made again: in a process that
     * ended by itself a hole is no loss. */
    const bool is_text = ring->header.keep == WIO_BOUND_LAST && writer->number == WIO_TEXT_WRITER;
    const bool is_killed = ring->header.end == WIO_END_NONE || ring->header.end == WIO_END_SIGNAL;
    if (is_killed && !is_text) {
        work->lost += work->chunk->lost;
    }
    return WIO_OK;
}

enum wio_status wio_seal_events(struct wio_seal *seal, struct wio_seal_ring *ring,
                                struct wio_seal_work *work, struct wio_error *err)
{
    struct ring_writer writer = {.number = UINT32_MAX};
    uint32_t first_stream = seal->segment->stream_count;
    for (uint32_t place = 0; place < work->file.place_count;) {
        WIO_TRY(wio_ring_chunk(&work->file, &place, work->chunk, err));
        if (work->chunk->writer != writer.number || first_stream == UINT32_MAX) {
            WIO_TRY(begin_writer(seal, work, &writer, work->chunk->writer, first_stream, err));
        }
        WIO_TRY(take_chunk(seal, ring, work, &writer, err));
        wio_seal_progress(seal, WIO_CHUNK_BYTES / 2);
    }
    WIO_TRY(begin_writer(seal, work, &writer, UINT32_MAX, first_stream, err));
    work->lost += (uint64_t)work->file.bad_chunks * (WIO_CHUNK_SLOTS - 1);
    if (ring->is_live) {
        work->lost = 0; /* its chunks are written while we read: what is missing comes later */
    }
    return WIO_OK;
}
