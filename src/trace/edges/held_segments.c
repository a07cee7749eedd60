/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/edges/held_segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "trace/edges/edge_internal.h"
#include "trace/read/trace_internal.h"

/* Segments are few: each is compared with each. */
enum { LINES_MAX = 1 << 16 };

/* A line of R-EDGE-1, "name length crc", or of R-EDGE-7, "name length crc streams". */
struct segment_line {
    const char *name;
    size_t name_bytes;
    const char *mark; /* length and checksum */
    size_t mark_bytes;
    uint32_t streams; /* UINT32_MAX: not known */
    uint32_t first;   /* stream */
    bool is_taken;
};

struct lines {
    struct segment_line *items;
    uint32_t count;
};

void wio_held_segments_fini(struct wio_held_segments *segments)
{
    free(segments->items);
    *segments = (struct wio_held_segments){0};
}

static void lines_fini(struct lines *lines)
{
    free(lines->items);
}

static void free_text(char **text)
{
    free(*text);
}

static uint32_t count_lines(const char *text)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    return count;
}

/* Where the last but `blanks` words begin: a name may hold blanks, what follows it does not. */
static size_t find_words(const char *at, size_t bytes, unsigned blanks)
{
    while (bytes > 0 && blanks-- > 0) {
        const char *blank = memrchr(at, ' ', bytes);
        bytes = blank != NULL ? (size_t)(blank - at) : 0;
    }
    return bytes;
}

static struct segment_line parse_line(const char *at, size_t bytes, bool is_mark)
{
    uint64_t streams = UINT32_MAX;
    size_t end = is_mark ? find_words(at, bytes, 1) : bytes;
    size_t name = find_words(at, end, 2);
    const char *number = at + end + 1;
    if (is_mark && (end == 0 || !wio_scan_u64(&number, &streams) || streams > UINT32_MAX)) {
        streams = UINT32_MAX;
    }
    return (struct segment_line){.name = at,
                                 .name_bytes = name,
                                 .mark = at + name,
                                 .mark_bytes = end - name,
                                 .streams = (uint32_t)streams};
}

static enum wio_status parse_lines(const char *text, bool is_mark, struct lines *lines)
{
    uint32_t count = count_lines(text);
    if (count > LINES_MAX) {
        return WIO_ERR_UNSUPPORTED;
    }
    lines->items = calloc((size_t)count + 1, sizeof(*lines->items));
    if (lines->items == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        lines->items[lines->count++] = parse_line(text, (size_t)(end - text), is_mark);
    }
    return WIO_OK;
}

static bool has_mark(const struct segment_line *a, const struct segment_line *b)
{
    return a->mark_bytes == b->mark_bytes && memcmp(a->mark, b->mark, a->mark_bytes) == 0;
}

static bool has_name(const struct segment_line *a, const struct segment_line *b)
{
    return a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0;
}

/* The segments of now that it may be, *line_out one of them. */
static uint32_t match(const struct lines *now, const struct segment_line *then, bool by_name,
                      struct segment_line **line_out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < now->count; i++) {
        struct segment_line *line = &now->items[i];
        if (!line->is_taken && has_mark(line, then) && (!by_name || has_name(line, then))) {
            *line_out = count == 0 ? line : *line_out;
            count++;
        }
    }
    return count;
}

static void take(struct segment_line *line, struct segment_line **found)
{
    line->is_taken = true;
    *found = line;
}

/* `is_sure`: the same mark is the same segment. */
static void match_all(const struct lines *now, const struct lines *then, bool is_sure,
                      struct segment_line **found)
{
    struct segment_line *line = NULL;
    for (uint32_t i = 0; i < then->count; i++) {
        if (match(now, &then->items[i], true, &line) > 0) {
            take(line, &found[i]);
        }
    }
    for (uint32_t i = 0; i < then->count; i++) {
        uint32_t count = found[i] == NULL ? match(now, &then->items[i], false, &line) : 0;
        if (count == 1 || (count > 1 && is_sure)) {
            take(line, &found[i]);
        }
    }
}

/* False: it is not known how many streams each has had. */
static bool know_streams(const struct lines *then, struct segment_line *const *found)
{
    for (uint32_t i = 0; i < then->count; i++) {
        struct segment_line *line = &then->items[i];
        if (line->streams == UINT32_MAX && found[i] != NULL) {
            line->streams = found[i]->streams;
        }
        if (line->streams == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

static enum wio_status fill(const struct lines *then, struct segment_line *const *found,
                            struct wio_held_segments *segments)
{
    uint64_t first = 0;
    segments->items = calloc((size_t)then->count + 1, sizeof(*segments->items));
    if (segments->items == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < then->count; i++) {
        uint32_t count = then->items[i].streams;
        bool is_there = found[i] != NULL && found[i]->streams == count;
        if (first + count > UINT32_MAX) {
            return WIO_ERR_FORMAT;
        }
        segments->items[segments->count++] = (struct wio_held_segment){
            (uint32_t)first, count, is_there ? found[i]->first : UINT32_MAX};
        first += count;
    }
    segments->streams = (uint32_t)first;
    return WIO_OK;
}

static enum wio_status match_lines(const struct lines *now, const struct lines *then, bool is_sure,
                                   struct wio_held_segments *segments)
{
    struct segment_line **found = calloc((size_t)then->count + 1, sizeof(struct segment_line *));
    if (found == NULL) {
        return WIO_ERR_NOMEM;
    }
    match_all(now, then, is_sure, found);
    enum wio_status status = WIO_OK;
    if (know_streams(then, found)) {
        status = fill(then, found, segments);
    } else {
        segments->streams = UINT32_MAX; /* any, and none is found */
    }
    free(found);
    return status;
}

/* The segments of the trace, a line for each; their streams are those of the segments themselves,
 * whatever the text says. */
static enum wio_status list_now(const struct wio_trace *trace, const char *text, bool is_mark,
                                struct lines *now)
{
    uint32_t first = 0;
    WIO_TRY(parse_lines(text, is_mark, now));
    if (now->count != trace->segment_count) {
        return WIO_ERR_FORMAT;
    }
    for (uint32_t i = 0; i < now->count; i++) {
        now->items[i].streams = trace->segments[i].stream_count;
        now->items[i].first = first;
        first += now->items[i].streams;
    }
    return WIO_OK;
}

enum wio_status wio_held_segments_match(const struct wio_trace *trace, const char *lines,
                                        const char *marks, struct wio_held_segments *segments_out,
                                        struct wio_error *err)
{
    WIO_CLEANUP(free_text) char *text = NULL;
    WIO_CLEANUP(lines_fini) struct lines now = {0};
    WIO_CLEANUP(lines_fini) struct lines then = {0};
    bool is_mark = marks != NULL;
    const char *before = is_mark ? marks : lines != NULL ? lines : "";
    WIO_TRY(is_mark ? wio_edge_marks_text(trace, &text, err)
                    : wio_edge_segments_text(trace, &text, err));
    enum wio_status status = list_now(trace, text, is_mark, &now);
    status = status == WIO_OK ? parse_lines(before, is_mark, &then) : status;
    status = status == WIO_OK ? match_lines(&now, &then, is_mark, segments_out) : status;
    return status == WIO_OK ? WIO_OK
                            : wio_error_set(err, status, trace->path, WIO_ERROR_NO_OFFSET,
                                            status == WIO_ERR_NOMEM
                                                ? "no memory for edges that were found by holding"
                                                : "expected at most 65536 segments with fewer than "
                                                  "2^32 streams in the file of held edges");
}

/* The last segment that begins at or before the stream: those without streams begin where the next
 * does. */
bool wio_held_segments_find(const struct wio_held_segments *segments, uint32_t stream,
                            uint32_t *stream_out)
{
    size_t behind = WIO_FIRST(i, 0, segments->count, segments->items[i].first > stream);
    const struct wio_held_segment *segment = behind > 0 ? &segments->items[behind - 1] : NULL;
    if (segment == NULL || stream - segment->first >= segment->count ||
        segment->now == UINT32_MAX) {
        return false;
    }
    *stream_out = segment->now + (stream - segment->first);
    return true;
}
