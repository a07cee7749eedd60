/* SPDX-License-Identifier: Apache-2.0 */
/* STRINGS of a segment, each text once in the trace. FORMAT.md#tables. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "trace/read/trace_internal.h"

static enum wio_status add_text(struct wio_trace *trace, const char *text, size_t bytes,
                                uint32_t *id_out)
{
    void *array = trace->strings;
    WIO_TRY(wio_grow(&array, sizeof(*trace->strings), &trace->string_capacity,
                     trace->string_count + 1));
    trace->strings = array;
    trace->strings[trace->string_count] = (struct wio_text){text, bytes};
    *id_out = trace->string_count++;
    return WIO_OK;
}

/* Several segments: the same text has one id in the trace. Equal hashes take the next key. */
static enum wio_status intern(struct wio_trace *trace, const char *text, size_t bytes,
                              uint32_t *id_out)
{
    for (uint64_t key = XXH3_64bits(text, bytes);; key++) {
        const uint64_t *id = wio_map_get(&trace->string_index, key);
        if (id == NULL) {
            WIO_TRY(add_text(trace, text, bytes, id_out));
            return wio_map_put(&trace->string_index, key, *id_out);
        }
        if (trace->strings[*id].bytes == bytes &&
            memcmp(trace->strings[*id].text, text, bytes) == 0) {
            *id_out = (uint32_t)*id;
            return WIO_OK;
        }
    }
}

static enum wio_status add_string(struct wio_trace *trace, struct wio_reader_segment *segment,
                                  const char *text, size_t bytes)
{
    uint32_t id = 0;
    WIO_TRY(wio_reader_charge(segment, sizeof(*trace->strings) + sizeof(*segment->strings)));
    if (trace->segment_count == 1) {
        segment->string_count++;
        return add_text(trace, text, bytes, &id);
    }
    if (bytes > 0) {
        WIO_TRY(intern(trace, text, bytes, &id));
    }
    void *array = segment->strings;
    /* string_count is a count and the capacity at once: it grows by doubling. */
    if ((segment->string_count & (segment->string_count - 1)) == 0 || array == NULL) {
        size_t capacity = segment->string_count == 0 ? 1 : (size_t)segment->string_count * 2;
        array = reallocarray(segment->strings, capacity, sizeof(*segment->strings));
        if (array == NULL) {
            return WIO_ERR_NOMEM;
        }
        segment->strings = array;
    }
    segment->strings[segment->string_count++] = id;
    return WIO_OK;
}

/* R-TABLE-1: ids begin at 1 and rise by 1 over the blocks; R-TABLE-2: NUL behind each text. */
enum wio_status wio_reader_strings(struct wio_trace *trace, struct wio_reader_segment *segment,
                                   struct wio_buf *buf)
{
    uint64_t first = 0;
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &first));
    WIO_TRY(wio_buf_varint(buf, &count));
    if (segment->string_count == 0) {
        WIO_TRY(trace->segment_count == 1 ? WIO_OK : add_string(trace, segment, "", 0));
        segment->string_count = 1;
    }
    if (first != segment->string_count || count > wio_buf_left(buf)) {
        return WIO_ERR_FORMAT;
    }
    while (count-- > 0) {
        const char *text = NULL;
        size_t bytes = 0;
        uint8_t nul = 0;
        WIO_TRY(wio_buf_text(buf, &text, &bytes));
        WIO_TRY(wio_buf_u8(buf, &nul));
        if (nul != 0 || memchr(text, '\0', bytes) != NULL) {
            return WIO_ERR_FORMAT;
        }
        WIO_TRY(add_string(trace, segment, text, bytes));
    }
    return WIO_OK;
}
