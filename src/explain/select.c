/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/select.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/text.h"
#include "ops/calls.h"

#define MAX_RANKS 1000000u
#define NO_PATH UINT32_MAX /* no trace has this string id */

void wio_wanted_fini(struct wio_wanted *wanted)
{
    free(wanted->ranks);
    free(wanted->ops);
    free(wanted->paths);
    free(wanted->pids);
    free(wanted->streams);
    *wanted = (struct wio_wanted){0};
}

static enum wio_status out_of_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory for a filter");
}

/* Room for one more item: grows at powers of two. */
static void *grow(void *items, size_t count, size_t item_bytes)
{
    if ((count & (count + 1)) != 0 && count > 0) {
        return items;
    }
    return reallocarray(items, 2 * count + 2, item_bytes);
}

static enum wio_status add_rank(struct wio_wanted *wanted, int32_t rank, struct wio_error *err)
{
    int32_t *ranks = grow(wanted->ranks, wanted->rank_count, sizeof(*ranks));

    if (ranks == NULL) {
        return out_of_memory(err);
    }
    wanted->ranks = ranks;
    ranks[wanted->rank_count++] = rank;
    return WIO_OK;
}

static enum wio_status bad_ranks(const char *text, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "'%s' is no list of ranks: expected for example 0,4-7 or none", text);
}

/* One rank or range at *text; moves behind it. */
static enum wio_status select_range(struct wio_wanted *wanted, const char **text, const char *whole,
                                    struct wio_error *err)
{
    uint64_t first;
    uint64_t last;

    if (strncmp(*text, "none", 4) == 0) {
        *text += 4;
        return add_rank(wanted, -1, err);
    }
    if (!wio_scan_u64(text, &first)) {
        return bad_ranks(whole, err);
    }
    last = first;
    if (**text == '-') {
        (*text)++;
        if (!wio_scan_u64(text, &last)) {
            return bad_ranks(whole, err);
        }
    }
    if (first > last || last > INT32_MAX || last - first > MAX_RANKS) {
        return bad_ranks(whole, err);
    }
    for (uint64_t rank = first; rank <= last; rank++) {
        WIO_TRY(add_rank(wanted, (int32_t)rank, err));
    }
    return WIO_OK;
}

enum wio_status wio_select_ranks(struct wio_wanted *wanted, const char *text, struct wio_error *err)
{
    const char *at = text;

    for (;;) {
        WIO_TRY(select_range(wanted, &at, text, err));
        if (*at == '\0') {
            return WIO_OK;
        }
        if (*at != ',') {
            return bad_ranks(text, err);
        }
        at++;
    }
}

enum wio_status wio_select_pids(struct wio_wanted *wanted, const char *text, struct wio_error *err)
{
    const char *at = text;
    uint64_t pid;

    for (;;) {
        int32_t *pids = grow(wanted->pids, wanted->pid_count, sizeof(*pids));
        if (pids == NULL) {
            return out_of_memory(err);
        }
        wanted->pids = pids;
        if (!wio_scan_u64(&at, &pid) || pid > INT32_MAX || (*at != ',' && *at != '\0')) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "'%s' is no list of processes: expected for example 4711,4712",
                                 text);
        }
        pids[wanted->pid_count++] = (int32_t)pid;
        if (*at++ == '\0') {
            return WIO_OK;
        }
    }
}

static bool has_pid(const struct wio_wanted *wanted, int32_t pid)
{
    for (size_t i = 0; i < wanted->pid_count; i++) {
        if (wanted->pids[i] == pid) {
            return true;
        }
    }
    return false;
}

enum wio_status wio_select_processes(struct wio_wanted *wanted, const struct wio_trace *trace,
                                     struct wio_error *err)
{
    uint32_t count = wio_trace_stream_count(trace);

    if (wanted->pid_count == 0) {
        return WIO_OK;
    }
    wanted->streams = calloc((size_t)count + 1, sizeof(*wanted->streams));
    if (wanted->streams == NULL) {
        return out_of_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t process = wio_trace_stream(trace, i)->process;
        if (has_pid(wanted, wio_trace_process(trace, process)->pid)) {
            wanted->streams[wanted->stream_count++] = i;
        }
    }
    if (wanted->stream_count == 0) { /* an empty list would let everything through */
        wanted->streams[wanted->stream_count++] = UINT32_MAX;
    }
    return WIO_OK;
}

static enum wio_status unknown_op(const char *name, struct wio_error *err)
{
    unsigned nearest = WIO_OP_unknown;
    unsigned least = 3;

    for (unsigned op = 1; op < WIO_OP_COUNT; op++) {
        unsigned distance = wio_text_distance(name, wio_op_name(op));
        if (distance < least) {
            least = distance;
            nearest = op;
        }
    }
    if (nearest != WIO_OP_unknown) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "'%s' is no operation, did you mean '%s'?", name,
                             wio_op_name(nearest));
    }
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "'%s' is no operation",
                         name);
}

static enum wio_status add_op(struct wio_wanted *wanted, const char *name, size_t bytes,
                              struct wio_error *err)
{
    char text[64] = "";
    uint16_t *ops;
    enum wio_op op;

    memcpy(text, name, bytes < sizeof(text) ? bytes : sizeof(text) - 1);
    op = wio_op_find(text);
    if (op == WIO_OP_unknown) {
        return unknown_op(text, err);
    }
    ops = grow(wanted->ops, wanted->op_count, sizeof(*ops));
    if (ops == NULL) {
        return out_of_memory(err);
    }
    wanted->ops = ops;
    ops[wanted->op_count++] = (uint16_t)op;
    return WIO_OK;
}

enum wio_status wio_select_ops(struct wio_wanted *wanted, const char *text, struct wio_error *err)
{
    for (;;) {
        size_t bytes = strcspn(text, ",");
        WIO_TRY(add_op(wanted, text, bytes, err));
        if (text[bytes] == '\0') {
            return WIO_OK;
        }
        text += bytes + 1;
    }
}

/* Is `path` equal to `pattern` from `path` on, or below it? */
static bool is_at_or_below(const char *path, const char *pattern, size_t bytes)
{
    return strncmp(path, pattern, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/');
}

static bool is_match(const char *path, const char *pattern, size_t bytes)
{
    if (strpbrk(pattern, "*?[") != NULL) {
        return fnmatch(pattern, path, 0) == 0;
    }
    if (pattern[0] == '\0') {
        return false;
    }
    if (is_at_or_below(path, pattern, bytes)) {
        return true;
    }
    for (const char *at = path; pattern[0] != '/' && (at = strchr(at, '/')) != NULL;) {
        at++;
        if (is_at_or_below(at, pattern, bytes)) {
            return true;
        }
    }
    return false;
}

static enum wio_status add_path(struct wio_wanted *wanted, uint32_t path, struct wio_error *err)
{
    uint32_t *paths = grow(wanted->paths, wanted->path_count, sizeof(*paths));

    if (paths == NULL) {
        return out_of_memory(err);
    }
    wanted->paths = paths;
    paths[wanted->path_count++] = path;
    return WIO_OK;
}

enum wio_status wio_select_paths(struct wio_wanted *wanted, const struct wio_trace *trace,
                                 const char *pattern, struct wio_error *err)
{
    size_t bytes = strlen(pattern);

    while (bytes > 1 && pattern[bytes - 1] == '/') {
        bytes--;
    }
    if (bytes == 1 && pattern[0] == '/') {
        bytes = 0; /* everything is below / */
    }
    for (uint32_t id = 1; id <= wio_trace_string_count(trace); id++) {
        if (is_match(wio_trace_string(trace, id, NULL), pattern, bytes)) {
            WIO_TRY(add_path(wanted, id, err));
        }
    }
    /* an empty list would let everything through */
    return wanted->path_count > 0 ? WIO_OK : add_path(wanted, NO_PATH, err);
}

void wio_wanted_apply(const struct wio_wanted *wanted, struct wio_filter *filter)
{
    filter->ranks = wanted->ranks;
    filter->rank_count = wanted->rank_count;
    filter->ops = wanted->ops;
    filter->op_count = wanted->op_count;
    filter->paths = wanted->paths;
    filter->path_count = wanted->path_count;
    filter->streams = wanted->streams;
    filter->stream_count = wanted->stream_count;
}
