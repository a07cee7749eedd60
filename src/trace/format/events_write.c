/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/events.h"

#include "base/cleanup.h"

/* Each fill function writes the values of one column and returns how many there are. */
typedef size_t fill_fn(const struct wio_event *events, size_t count, int64_t *values);

/* R-COL-5 */
static uint8_t shape_of_result(const struct wio_event *event)
{
    uint64_t expected = event->size == WIO_NO_SIZE ? 0 : event->size;
    if ((uint64_t)event->result == expected) {
        return WIO_SHAPE_RESULT_SIZE;
    }
    if (event->result == WIO_RESULT_PENDING) {
        return WIO_SHAPE_RESULT_PENDING;
    }
    return event->result == -1 ? WIO_SHAPE_RESULT_FAILED : WIO_SHAPE_RESULT_VALUE;
}

static bool has_second(const struct wio_event *event)
{
    return event->path2 != 0 || event->fd2 != WIO_NO_FD || event->offset2 != WIO_NO_OFFSET;
}

static bool has_args(const struct wio_event *event)
{
    return (event->arg[0] | event->arg[1] | event->arg[2] | event->arg[3]) != 0;
}

/* R-COL-2 */
static uint8_t shape_of(const struct wio_event *event)
{
    unsigned shape = shape_of_result(event);
    shape |= event->fd != WIO_NO_FD ? WIO_SHAPE_FD : 0u;
    shape |= event->offset != WIO_NO_OFFSET ? WIO_SHAPE_OFFSET : 0u;
    shape |= event->size != WIO_NO_SIZE ? WIO_SHAPE_SIZE : 0u;
    shape |= event->error != 0 ? WIO_SHAPE_ERROR : 0u;
    shape |= has_second(event) ? WIO_SHAPE_SECOND : 0u;
    shape |= has_args(event) ? WIO_SHAPE_ARGS : 0u;
    return (uint8_t)shape;
}

static size_t fill_call(const struct wio_event *events, size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = events[i].call;
    }
    return count;
}

static size_t fill_shape(const struct wio_event *events, size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = shape_of(&events[i]);
    }
    return count;
}

static size_t fill_gap(const struct wio_event *events, size_t count, int64_t *values)
{
    uint64_t end = events[0].t_ns;
    for (size_t i = 0; i < count; i++) {
        values[i] = (int64_t)(events[i].t_ns - end);
        end = events[i].t_ns + events[i].dur_ns;
    }
    return count;
}

static size_t fill_duration(const struct wio_event *events, size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (int64_t)events[i].dur_ns;
    }
    return count;
}

static size_t fill_fd(const struct wio_event *events, size_t count, int64_t *values)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].fd != WIO_NO_FD) {
            values[n++] = events[i].fd;
        }
    }
    return n;
}

static size_t fill_path(const struct wio_event *events, size_t count, int64_t *values)
{
    uint32_t last[WIO_SLOT_COUNT + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        unsigned slot = wio_slot_of_fd(events[i].fd);
        values[i] = (int32_t)(events[i].path - last[slot]);
        last[slot] = events[i].path;
    }
    return count;
}

static size_t fill_offset(const struct wio_event *events, size_t count, int64_t *values)
{
    uint64_t after[WIO_SLOT_COUNT + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wio_event *event = &events[i];
        if (event->offset != WIO_NO_OFFSET) {
            unsigned slot = wio_slot_of_fd(event->fd);
            values[n++] = (int64_t)((uint64_t)event->offset - after[slot]);
            after[slot] = wio_offset_after(event->offset, event->size);
        }
    }
    return n;
}

static size_t fill_error(const struct wio_event *events, size_t count, int64_t *values)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].error != 0) {
            values[n++] = events[i].error;
        }
    }
    return n;
}

static size_t fill_gap_cpu(const struct wio_event *events, size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = wio_cpu_to_column(events[i].gap_cpu_ns, events[i].gap_slept);
    }
    return count;
}

static size_t fill_dur_cpu(const struct wio_event *events, size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = wio_cpu_to_column(events[i].dur_cpu_ns, events[i].dur_slept);
    }
    return count;
}

/* R-COL-3: the columns that are relative to the last value of the same call. */
#define FILL_BY_CALL(name, present, value)                                                         \
    static size_t name(const struct wio_event *events, size_t count, int64_t *values)              \
    {                                                                                              \
        uint64_t last[WIO_SLOT_COUNT] = {0};                                                       \
        size_t n = 0;                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            const struct wio_event *event = &events[i];                                            \
            if (present) {                                                                         \
                unsigned slot = wio_slot_of_call(event->call);                                     \
                values[n++] = (int64_t)((uint64_t)(value)-last[slot]);                             \
                last[slot] = (uint64_t)(value);                                                    \
            }                                                                                      \
        }                                                                                          \
        return n;                                                                                  \
    }

FILL_BY_CALL(fill_size, event->size != WIO_NO_SIZE, event->size)
FILL_BY_CALL(fill_result, shape_of_result(event) == WIO_SHAPE_RESULT_VALUE, event->result)
FILL_BY_CALL(fill_source, true, event->source)
FILL_BY_CALL(fill_flags, true, event->flags)
FILL_BY_CALL(fill_path2, has_second(event), event->path2)
FILL_BY_CALL(fill_fd2, has_second(event), (int64_t)event->fd2)
FILL_BY_CALL(fill_offset2, has_second(event), event->offset2)
FILL_BY_CALL(fill_arg0, has_args(event), event->arg[0])
FILL_BY_CALL(fill_arg1, has_args(event), event->arg[1])
FILL_BY_CALL(fill_arg2, has_args(event), event->arg[2])
FILL_BY_CALL(fill_arg3, has_args(event), event->arg[3])

static fill_fn *const fills[WIO_COL_COUNT] = {
    [WIO_COL_CALL] = fill_call,       [WIO_COL_SHAPE] = fill_shape,
    [WIO_COL_GAP] = fill_gap,         [WIO_COL_DURATION] = fill_duration,
    [WIO_COL_FD] = fill_fd,           [WIO_COL_PATH] = fill_path,
    [WIO_COL_OFFSET] = fill_offset,   [WIO_COL_SIZE] = fill_size,
    [WIO_COL_RESULT] = fill_result,   [WIO_COL_ERROR] = fill_error,
    [WIO_COL_SOURCE] = fill_source,   [WIO_COL_FLAGS] = fill_flags,
    [WIO_COL_PATH2] = fill_path2,     [WIO_COL_FD2] = fill_fd2,
    [WIO_COL_OFFSET2] = fill_offset2, [WIO_COL_ARG0] = fill_arg0,
    [WIO_COL_ARG1] = fill_arg1,       [WIO_COL_ARG2] = fill_arg2,
    [WIO_COL_ARG3] = fill_arg3,       [WIO_COL_GAP_CPU] = fill_gap_cpu,
    [WIO_COL_DUR_CPU] = fill_dur_cpu,
};

static enum wio_status put_head(const struct wio_events_head *head, struct wio_blob *out)
{
    WIO_TRY(wio_blob_varint(out, head->stream));
    WIO_TRY(wio_blob_varint(out, head->count));
    WIO_TRY(wio_blob_varint(out, head->first_seq));
    WIO_TRY(wio_blob_varint(out, head->first_ns));
    WIO_TRY(wio_blob_varint(out, head->last_ns));
    return wio_blob_varint(out, head->dropped);
}

/* Working memory of the columns of one block. */
struct encoder {
    struct wio_pack *pack; /* borrowed */
    struct wio_blob raw;
    struct wio_blob packed;
};

static void encoder_fini(struct encoder *encoder)
{
    wio_blob_fini(&encoder->raw);
    wio_blob_fini(&encoder->packed);
}

static enum wio_status put_column(struct encoder *encoder, unsigned id, const int64_t *values,
                                  size_t count, struct wio_blob *out)
{
    struct wio_blob *raw = &encoder->raw;
    struct wio_blob *packed = &encoder->packed;
    uint8_t encoding = 0;
    int is_packed = 0;
    wio_blob_clear(raw);
    wio_blob_clear(packed);
    WIO_TRY(wio_column_encode(values, count, raw, &encoding));
    if (encoding == WIO_ENCODING_CONST && values[0] == 0) {
        return WIO_OK; /* R-COL-6: a missing column is zeros */
    }
    WIO_TRY(wio_pack_put(encoder->pack, raw->data, raw->size, packed, &is_packed));
    WIO_TRY(wio_blob_u8(out, (uint8_t)id));
    WIO_TRY(wio_blob_u8(out, is_packed ? encoding | WIO_ENCODING_ZSTD : encoding));
    WIO_TRY(wio_blob_varint(out, packed->size));
    if (is_packed) {
        WIO_TRY(wio_blob_varint(out, raw->size));
    }
    return wio_blob_put(out, packed->data, packed->size);
}

enum wio_status wio_events_encode(const struct wio_event *events,
                                  const struct wio_events_head *head, int64_t *scratch,
                                  struct wio_pack *pack, struct wio_blob *out)
{
    WIO_CLEANUP(encoder_fini) struct encoder encoder = {.pack = pack};
    WIO_TRY(put_head(head, out));
    for (unsigned id = 1; id < WIO_COL_COUNT; id++) {
        size_t count = fills[id](events, head->count, scratch);
        if (count > 0) {
            WIO_TRY(put_column(&encoder, id, scratch, count, out));
        }
    }
    return WIO_OK;
}
