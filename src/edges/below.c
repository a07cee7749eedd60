/* SPDX-License-Identifier: Apache-2.0 */
/* What lies below a directory that gets another name: paths sorted by their text. */
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "edges/paths.h"

#define PATH_ROOM 4096u

static int by_text(const void *a, const void *b, void *arg)
{
    const struct wio_trace *const *context = arg;
    const struct wio_trace *trace = *context;
    return strcmp(wio_trace_string(trace, *(const uint32_t *)a, NULL),
                  wio_trace_string(trace, *(const uint32_t *)b, NULL));
}

static void make(struct wio_join_below *below, const struct wio_trace *trace)
{
    uint32_t strings = wio_trace_string_count(trace);
    below->is_made = true;
    below->sorted = calloc((size_t)strings + 1, sizeof(*below->sorted));
    for (uint32_t s = 1; s < strings && below->sorted != NULL; s++) {
        if (wio_trace_string(trace, s, NULL)[0] == '/') {
            below->sorted[below->count++] = s;
        }
    }
    if (below->sorted != NULL && below->count > 0) {
        qsort_r(below->sorted, below->count, sizeof(*below->sorted), by_text, &trace);
    }
}

void wio_join_below_fini(struct wio_join_below *below)
{
    free(below->sorted);
    *below = (struct wio_join_below){0};
}

/* The first path whose text is not before this one. */
static uint32_t find(const struct wio_join_below *below, const struct wio_trace *trace,
                     const char *text)
{
    return (uint32_t)WIO_FIRST(i, 0, below->count,
                               strcmp(wio_trace_string(trace, below->sorted[i], NULL), text) >= 0);
}

/* The string that `rest` behind the directory `to` is. */
static uint32_t find_moved(const struct wio_join_below *below, const struct wio_trace *trace,
                           uint32_t to, const char *rest)
{
    char text[PATH_ROOM];
    size_t bytes;
    const char *directory = wio_trace_string(trace, to, &bytes);
    if (bytes == 0 || bytes + strlen(rest) >= PATH_ROOM) {
        return WIO_NO_STRING;
    }
    memcpy(text, directory, bytes);
    memcpy(text + bytes, rest, strlen(rest) + 1);
    uint32_t at = find(below, trace, text);
    bool is_there =
        at < below->count && strcmp(wio_trace_string(trace, below->sorted[at], NULL), text) == 0;
    return is_there ? below->sorted[at] : WIO_NO_STRING;
}

uint32_t wio_join_below_find(struct wio_join_below *below, const struct wio_trace *trace,
                             uint32_t directory, uint32_t to, size_t i, uint32_t *moved_out)
{
    char prefix[PATH_ROOM];
    size_t bytes;
    const char *text = wio_trace_string(trace, directory, &bytes);
    *moved_out = WIO_NO_STRING;
    if (text[0] != '/' || bytes + 1 >= PATH_ROOM) {
        return WIO_NO_STRING;
    }
    if (!below->is_made) {
        make(below, trace);
    }
    memcpy(prefix, text, bytes);
    memcpy(prefix + bytes, "/", 2);
    if (i == 0 || below->directory != directory) {
        below->directory = directory;
        below->first = find(below, trace, prefix);
    }
    size_t at = below->first + i;
    if (at >= below->count) {
        return WIO_NO_STRING;
    }
    const char *found = wio_trace_string(trace, below->sorted[at], NULL);
    if (strncmp(found, prefix, bytes + 1) != 0) {
        return WIO_NO_STRING;
    }
    *moved_out = find_moved(below, trace, to, found + bytes);
    return below->sorted[at];
}
