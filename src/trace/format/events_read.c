/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/events.h"

#include <string.h>

#include <whyio/trace.h>

#include "base/cleanup.h"

/* Working memory of one slice. */
struct slice {
    struct wio_event *events;
    size_t count;
    uint16_t calls[WIO_SLICE_MAX];
    uint8_t shapes[WIO_SLICE_MAX];
    int64_t values[WIO_SLICE_MAX];
};

static bool is_wanted(const struct wio_events *events, unsigned id)
{
    return (events->wanted >> id & 1) != 0;
}

static size_t count_shapes(const struct slice *slice, unsigned mask, unsigned equals)
{
    size_t n = 0;
    for (size_t i = 0; i < slice->count; i++) {
        n += (slice->shapes[i] & mask) == equals;
    }
    return n;
}

/* CALL and SHAPE decide how the others are read; they also set every field to its default. */
static enum wio_status read_calls(struct wio_events *events,
                                  const struct wio_events_context *context, struct slice *slice)
{
    struct wio_event blank = {
        .stream = events->head.stream + context->stream_base,
        .fd = WIO_NO_FD,
        .fd2 = WIO_NO_FD,
        .offset = WIO_NO_OFFSET,
        .offset2 = WIO_NO_OFFSET,
        .size = WIO_NO_SIZE,
    };
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_CALL], slice->values, slice->count));
    for (size_t i = 0; i < slice->count; i++) {
        uint64_t call = (uint64_t)slice->values[i];
        if (call >= context->call_count) {
            return WIO_ERR_FORMAT;
        }
        slice->calls[i] = (uint16_t)call;
        slice->events[i] = blank;
        slice->events[i].seq = events->head.first_seq + events->done + i;
        slice->events[i].op = context->calls[call].op;
        slice->events[i].call = context->calls[call].call;
    }
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_SHAPE], slice->values, slice->count));
    for (size_t i = 0; i < slice->count; i++) {
        if ((uint64_t)slice->values[i] > UINT8_MAX) {
            return WIO_ERR_FORMAT;
        }
        slice->shapes[i] = (uint8_t)slice->values[i];
    }
    return WIO_OK;
}

static enum wio_status read_times(struct wio_events *events, uint64_t shift_ns, struct slice *slice)
{
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_DURATION], slice->values, slice->count));
    for (size_t i = 0; i < slice->count; i++) {
        slice->events[i].dur_ns = (uint64_t)slice->values[i];
    }
    if (!is_wanted(events, WIO_COL_GAP)) {
        return WIO_OK;
    }
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_GAP], slice->values, slice->count));
    uint64_t end = events->previous_end;
    for (size_t i = 0; i < slice->count; i++) {
        uint64_t begin = end + (uint64_t)slice->values[i];
        slice->events[i].t_ns = begin + shift_ns;
        end = begin + slice->events[i].dur_ns;
    }
    events->previous_end = end;
    return WIO_OK;
}

static enum wio_status read_fds(struct wio_events *events, struct slice *slice)
{
    size_t n = count_shapes(slice, WIO_SHAPE_FD, WIO_SHAPE_FD);
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_FD], slice->values, n));
    const int64_t *value = slice->values;
    for (size_t i = 0; i < slice->count; i++) {
        if (slice->shapes[i] & WIO_SHAPE_FD) {
            slice->events[i].fd = (int32_t)*value++;
        }
    }
    return WIO_OK;
}

/* Room is made by ids later: none that the tables lack goes on. */
static enum wio_status unknown(struct wio_events *events, const char *what, uint32_t id)
{
    events->unknown = what;
    events->unknown_id = id;
    return WIO_ERR_FORMAT;
}

static enum wio_status string_of(struct wio_events *events,
                                 const struct wio_events_context *context, uint32_t id,
                                 uint32_t *string_out)
{
    if (id != WIO_NO_STRING && id >= context->string_count) {
        return unknown(events, "string", id);
    }
    *string_out = context->strings == NULL || id == WIO_NO_STRING ? id : context->strings[id];
    return WIO_OK;
}

static enum wio_status read_paths(struct wio_events *events,
                                  const struct wio_events_context *context, struct slice *slice)
{
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_PATH], slice->values, slice->count));
    for (size_t i = 0; i < slice->count; i++) {
        uint32_t *last = &events->path[wio_slot_of_fd(slice->events[i].fd)];
        *last += (uint32_t)slice->values[i];
        WIO_TRY(string_of(events, context, *last, &slice->events[i].path));
    }
    return WIO_OK;
}

/* R-COL-3. Values of the events whose shape has `equals` in `mask`, in slice->values. */
static enum wio_status read_by_call(struct wio_events *events, struct slice *slice, unsigned id,
                                    unsigned mask, unsigned equals)
{
    size_t n = count_shapes(slice, mask, equals);
    WIO_TRY(wio_column_read(&events->columns[id], slice->values, n));
    uint64_t *last = events->by_call[id];
    int64_t *value = slice->values;
    for (size_t i = 0; i < slice->count; i++) {
        if ((slice->shapes[i] & mask) == equals) {
            unsigned slot = wio_slot_of_call(slice->calls[i]);
            last[slot] += (uint64_t)*value;
            *value++ = (int64_t)last[slot];
        }
    }
    return WIO_OK;
}

static enum wio_status read_sizes(struct wio_events *events, struct slice *slice)
{
    WIO_TRY(read_by_call(events, slice, WIO_COL_SIZE, WIO_SHAPE_SIZE, WIO_SHAPE_SIZE));
    const int64_t *value = slice->values;
    for (size_t i = 0; i < slice->count; i++) {
        if (slice->shapes[i] & WIO_SHAPE_SIZE) {
            slice->events[i].size = (uint64_t)*value++;
        }
    }
    return WIO_OK;
}

static enum wio_status read_offsets(struct wio_events *events, struct slice *slice)
{
    size_t n = count_shapes(slice, WIO_SHAPE_OFFSET, WIO_SHAPE_OFFSET);
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_OFFSET], slice->values, n));
    const int64_t *value = slice->values;
    for (size_t i = 0; i < slice->count; i++) {
        if (slice->shapes[i] & WIO_SHAPE_OFFSET) {
            struct wio_event *event = &slice->events[i];
            uint64_t *after = &events->offset_after[wio_slot_of_fd(event->fd)];
            event->offset = (int64_t)(*after + (uint64_t)*value++);
            *after = wio_offset_after(event->offset, event->size);
        }
    }
    return WIO_OK;
}

static enum wio_status read_results(struct wio_events *events, struct slice *slice)
{
    WIO_TRY(
        read_by_call(events, slice, WIO_COL_RESULT, WIO_SHAPE_RESULT_MASK, WIO_SHAPE_RESULT_VALUE));
    const int64_t *value = slice->values;
    for (size_t i = 0; i < slice->count; i++) {
        struct wio_event *event = &slice->events[i];
        switch (slice->shapes[i] & WIO_SHAPE_RESULT_MASK) {
        case WIO_SHAPE_RESULT_VALUE:
            event->result = *value++;
            break;
        case WIO_SHAPE_RESULT_PENDING:
            event->result = WIO_RESULT_PENDING;
            break;
        case WIO_SHAPE_RESULT_FAILED:
            event->result = -1;
            break;
        default:
            event->result = event->size == WIO_NO_SIZE ? 0 : (int64_t)event->size;
            break;
        }
    }
    return WIO_OK;
}

static enum wio_status read_errors(struct wio_events *events, struct slice *slice)
{
    size_t n = count_shapes(slice, WIO_SHAPE_ERROR, WIO_SHAPE_ERROR);
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_ERROR], slice->values, n));
    const int64_t *value = slice->values;
    for (size_t i = 0; i < slice->count; i++) {
        if (slice->shapes[i] & WIO_SHAPE_ERROR) {
            slice->events[i].error = (uint16_t)*value++;
        }
    }
    return WIO_OK;
}

static enum wio_status read_sources(struct wio_events *events,
                                    const struct wio_events_context *context, struct slice *slice)
{
    WIO_TRY(read_by_call(events, slice, WIO_COL_SOURCE, 0, 0));
    for (size_t i = 0; i < slice->count; i++) {
        uint32_t source = (uint32_t)slice->values[i];
        if (source > context->source_count) {
            return unknown(events, "source", source);
        }
        slice->events[i].source = source == 0 ? 0 : source + context->source_base;
    }
    return WIO_OK;
}

static enum wio_status read_flags(struct wio_events *events, struct slice *slice)
{
    WIO_TRY(read_by_call(events, slice, WIO_COL_FLAGS, 0, 0));
    for (size_t i = 0; i < slice->count; i++) {
        slice->events[i].flags = (uint16_t)slice->values[i];
    }
    return WIO_OK;
}

static enum wio_status read_second(struct wio_events *events,
                                   const struct wio_events_context *context, struct slice *slice)
{
    for (unsigned id = WIO_COL_PATH2; id <= WIO_COL_OFFSET2; id++) {
        WIO_TRY(read_by_call(events, slice, id, WIO_SHAPE_SECOND, WIO_SHAPE_SECOND));
        const int64_t *value = slice->values;
        for (size_t i = 0; i < slice->count; i++) {
            if ((slice->shapes[i] & WIO_SHAPE_SECOND) == 0) {
                continue;
            }
            struct wio_event *event = &slice->events[i];
            if (id == WIO_COL_PATH2) {
                WIO_TRY(string_of(events, context, (uint32_t)*value++, &event->path2));
            } else if (id == WIO_COL_FD2) {
                event->fd2 = (int32_t)*value++;
            } else {
                event->offset2 = *value++;
            }
        }
    }
    return WIO_OK;
}

static enum wio_status read_args(struct wio_events *events, struct slice *slice)
{
    for (unsigned k = 0; k < 4; k++) {
        WIO_TRY(read_by_call(events, slice, WIO_COL_ARG0 + k, WIO_SHAPE_ARGS, WIO_SHAPE_ARGS));
        const int64_t *value = slice->values;
        for (size_t i = 0; i < slice->count; i++) {
            if (slice->shapes[i] & WIO_SHAPE_ARGS) {
                slice->events[i].arg[k] = *value++;
            }
        }
    }
    return WIO_OK;
}

/* R-CPU-2 */
static enum wio_status read_cpu(struct wio_events *events, struct slice *slice)
{
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_GAP_CPU], slice->values, slice->count));
    for (size_t i = 0; i < slice->count; i++) {
        struct wio_event *event = &slice->events[i];
        event->gap_cpu_ns = wio_cpu_of_column(slice->values[i], &event->gap_slept);
    }
    WIO_TRY(wio_column_read(&events->columns[WIO_COL_DUR_CPU], slice->values, slice->count));
    for (size_t i = 0; i < slice->count; i++) {
        struct wio_event *event = &slice->events[i];
        event->dur_cpu_ns = wio_cpu_of_column(slice->values[i], &event->dur_slept);
    }
    return WIO_OK;
}

/* In the order of their dependences: R-COL-3, R-COL-4. */
static enum wio_status read_slice(struct wio_events *events,
                                  const struct wio_events_context *context, struct slice *slice)
{
    WIO_TRY(read_calls(events, context, slice));
    if (is_wanted(events, WIO_COL_DURATION)) {
        WIO_TRY(read_times(events, context->shift_ns, slice));
    }
    if (is_wanted(events, WIO_COL_FD)) {
        WIO_TRY(read_fds(events, slice));
    }
    if (is_wanted(events, WIO_COL_PATH)) {
        WIO_TRY(read_paths(events, context, slice));
    }
    if (is_wanted(events, WIO_COL_SIZE)) {
        WIO_TRY(read_sizes(events, slice));
    }
    if (is_wanted(events, WIO_COL_OFFSET)) {
        WIO_TRY(read_offsets(events, slice));
    }
    if (is_wanted(events, WIO_COL_RESULT)) {
        WIO_TRY(read_results(events, slice));
    }
    if (is_wanted(events, WIO_COL_ERROR)) {
        WIO_TRY(read_errors(events, slice));
    }
    if (is_wanted(events, WIO_COL_SOURCE)) {
        WIO_TRY(read_sources(events, context, slice));
    }
    if (is_wanted(events, WIO_COL_FLAGS)) {
        WIO_TRY(read_flags(events, slice));
    }
    if (is_wanted(events, WIO_COL_PATH2)) {
        WIO_TRY(read_second(events, context, slice));
    }
    if (is_wanted(events, WIO_COL_ARG0)) {
        WIO_TRY(read_args(events, slice));
    }
    return is_wanted(events, WIO_COL_GAP_CPU) ? read_cpu(events, slice) : WIO_OK;
}

enum wio_status wio_events_read(struct wio_events *events, const struct wio_events_context *context,
                                struct wio_event *out, size_t max, size_t *count_out)
{
    struct slice slice;
    size_t left = events->head.count - events->done;
    max = max < WIO_SLICE_MAX ? max : WIO_SLICE_MAX;
    slice.events = out;
    slice.count = left < max ? left : max;
    *count_out = slice.count;
    if (slice.count == 0) {
        return WIO_OK;
    }
    WIO_TRY(read_slice(events, context, &slice));
    events->done += (uint32_t)slice.count;
    return WIO_OK;
}

bool wio_events_at_end(const struct wio_events *events)
{
    for (unsigned id = 0; id < WIO_COL_COUNT; id++) {
        if (!wio_column_at_end(&events->columns[id])) {
            return false;
        }
    }
    return events->done == events->head.count;
}
