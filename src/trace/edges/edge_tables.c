/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a file of edges: meta, objects, clocks. FORMAT.md#edges. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/edges/edge_internal.h"

/* R-DAMAGE-3, for this file too. */
enum wio_status wio_edge_charge(struct wio_edge_file *file, uint64_t bytes)
{
    file->table_bytes += bytes;
    return file->table_bytes <= WIO_BLOCK_MAX_BYTES + 256 * file->file.size ? WIO_OK
                                                                            : WIO_ERR_UNSUPPORTED;
}

/* A text that is ended by NUL, so that it can be handed out where it lies. */
static enum wio_status get_text(struct wio_buf *buf, const char **text_out)
{
    size_t bytes = 0;
    uint8_t nul = 0;
    WIO_TRY(wio_buf_text(buf, text_out, &bytes));
    WIO_TRY(wio_buf_u8(buf, &nul));
    return nul == 0 && memchr(*text_out, '\0', bytes) == NULL ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status parse_objects(struct wio_edge_file *file, struct wio_buf *buf)
{
    uint64_t first = 0;
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &first));
    WIO_TRY(wio_buf_varint(buf, &count));
    if (first != file->object_count || count > wio_buf_left(buf)) { /* R-EDGE-2 */
        return WIO_ERR_FORMAT;
    }
    while (count-- > 0) {
        const char *text = NULL;
        WIO_TRY(get_text(buf, &text));
        WIO_TRY(wio_edge_charge(file, sizeof(*file->objects)));
        void *array = file->objects;
        WIO_TRY(wio_grow(&array, sizeof(*file->objects), &file->object_capacity,
                         file->object_count + 1));
        file->objects = array;
        file->objects[file->object_count++] = text;
    }
    return wio_buf_left(buf) == 0 ? WIO_OK : WIO_ERR_FORMAT;
}

/* R-EDGE-6: from this rate on a clock would stand still, or run backwards. */
#define RATE_LEAST (-(INT64_C(1) << 40))

static enum wio_status parse_clocks(struct wio_edge_file *file, struct wio_buf *buf)
{
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    while (count-- > 0) {
        struct wio_clock_row row;
        WIO_TRY(get_text(buf, &row.host));
        WIO_TRY(wio_buf_svarint(buf, &row.offset_ns));
        WIO_TRY(wio_buf_svarint(buf, &row.rate));
        WIO_TRY(wio_buf_varint(buf, &row.uncertainty_ns));
        if (row.rate <= RATE_LEAST) {
            return WIO_ERR_FORMAT;
        }
        WIO_TRY(wio_edge_charge(file, sizeof(row)));
        void *array = file->clocks;
        WIO_TRY(wio_grow(&array, sizeof(row), &file->clock_capacity, file->clock_count + 1));
        file->clocks = array;
        file->clocks[file->clock_count++] = row;
    }
    return wio_buf_left(buf) == 0 ? WIO_OK : WIO_ERR_FORMAT;
}

static uint64_t number_of(const char *text, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && text[i] >= '0' && text[i] <= '9'; i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    return value;
}

/* The next of several decimals; 0 where there is none. */
static uint64_t next_number(const char *text, size_t bytes, size_t *at)
{
    uint64_t value = number_of(text + *at, bytes - *at);
    while (*at < bytes && text[*at] != ' ') {
        (*at)++;
    }
    *at += *at < bytes ? 1 : 0;
    return value;
}

/* Those that are implied are some of all. */
static bool next_totals(const char *text, size_t bytes, size_t *at,
                        struct wio_edge_totals *totals_out)
{
    totals_out->all = next_number(text, bytes, at);
    totals_out->implied = next_number(text, bytes, at);
    return totals_out->implied <= totals_out->all;
}

static enum wio_status parse_totals(struct wio_edge_file *file, const char *text, size_t bytes)
{
    struct wio_edge_info *info = &file->info;
    bool is_sound = true;
    size_t at = 0;
    info->edges = 0;
    for (unsigned i = 0; i < WIO_EDGE_CLASS_COUNT; i++) {
        is_sound &= next_totals(text, bytes, &at, &info->by_class[i]);
        info->edges += i == WIO_EDGE_COLLECTIVE ? 0 : info->by_class[i].all;
    }
    for (unsigned i = 0; i < WIO_EVIDENCE_COUNT; i++) {
        is_sound &= next_totals(text, bytes, &at, &info->by_evidence[i]);
    }
    info->collectives = info->by_class[WIO_EDGE_COLLECTIVE].all;
    info->members = next_number(text, bytes, &at);
    info->waits = next_number(text, bytes, &at);
    return is_sound ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status take_meta(struct wio_edge_file *file, uint64_t key, const char *text,
                                 size_t bytes)
{
    uint64_t *const numbers[] = {
        [WIO_EDGES_META_SENDS] = &file->info.unmatched_sends,
        [WIO_EDGES_META_RECEIVES] = &file->info.unmatched_receives,
        [WIO_EDGES_META_READ_BYTES] = &file->info.unmatched_read_bytes,
        [WIO_EDGES_META_COLLECTIVES] = &file->info.unmatched_collectives,
    };
    char **const texts[] = {
        [WIO_EDGES_META_SEGMENTS] = &file->segments,
        [WIO_EDGES_META_NOTES] = &file->notes,
        [WIO_EDGES_META_HELD] = &file->held,
        [WIO_EDGES_META_MARKS] = &file->marks,
    };
    if (key < WIO_ARRAY_SIZE(texts) && texts[key] != NULL) {
        free(*texts[key]);
        *texts[key] = strndup(text, bytes);
        return *texts[key] == NULL ? WIO_ERR_NOMEM : WIO_OK;
    }
    file->is_only = file->is_only || (key == WIO_EDGES_META_ONLY && bytes == 1 && *text == '1');
    if (key < WIO_ARRAY_SIZE(numbers) && numbers[key] != NULL) {
        *numbers[key] = number_of(text, bytes);
    }
    return key == WIO_EDGES_META_TOTALS ? parse_totals(file, text, bytes) : WIO_OK;
}

static enum wio_status parse_meta(struct wio_edge_file *file, struct wio_buf *buf)
{
    while (wio_buf_left(buf) > 0) {
        uint64_t key = 0;
        const char *text = NULL;
        size_t bytes = 0;
        WIO_TRY(wio_buf_varint(buf, &key));
        WIO_TRY(wio_buf_text(buf, &text, &bytes));
        WIO_TRY(wio_edge_charge(file, bytes));
        WIO_TRY(take_meta(file, key, text, bytes));
    }
    return WIO_OK;
}

enum wio_status wio_edge_table(struct wio_edge_file *file, uint64_t kind, struct wio_buf *buf)
{
    switch (kind) {
    case WIO_BLOCK_EDGES_META:
        return parse_meta(file, buf);
    case WIO_BLOCK_OBJECTS:
        return parse_objects(file, buf);
    case WIO_BLOCK_CLOCKS:
        return parse_clocks(file, buf);
    default:
        return WIO_OK; /* R-SEG-1: kinds to come */
    }
}
