/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/file_kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

enum mark { CHANGES = 1, IS_GONE = 2 };

/* Paths that were no files when the run was sealed. */
struct specials {
    uint32_t *paths;
    size_t count;
};

static void specials_fini(struct specials *specials)
{
    free(specials->paths);
}

void rp_kinds_fini(struct rp_kinds *kinds)
{
    free(kinds->first);
    free(kinds->now);
    free(kinds->marks);
    free(kinds->changes);
    *kinds = (struct rp_kinds){0};
}

static uint8_t kind_by_name(const struct rp_kinds *kinds, uint32_t string)
{
    return rp_kind_of_path(wio_trace_string(kinds->trace, string, NULL));
}

static enum wio_status read_table(struct rp_kinds *kinds, struct specials *specials)
{
    uint32_t files = wio_trace_file_count(kinds->trace);
    specials->paths = calloc((size_t)files + 1, sizeof(*specials->paths));
    if (specials->paths == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < files; i++) {
        const struct wio_file_info *file = wio_trace_file(kinds->trace, i);
        uint8_t kind = rp_kind_of_type(file->type);
        if (kind != RP_KIND_FILE && file->path < kinds->count &&
            kinds->first[file->path] == RP_KIND_FILE) {
            kinds->first[file->path] = kind;
            specials->paths[specials->count++] = file->path;
        }
    }
    return WIO_OK;
}

static size_t find_makers(uint16_t ops[WIO_OP_COUNT])
{
    size_t count = 0;
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        enum wio_class class = wio_op_class(op);
        if (class == WIO_CLASS_MKNOD || class == WIO_CLASS_RENAME || class == WIO_CLASS_LINK) {
            ops[count++] = (uint16_t)op;
        }
    }
    return count;
}

/* The table tells what was there at the end: of what the run has made, nothing about before. */
static enum wio_status forget_made(struct rp_kinds *kinds, const struct specials *specials)
{
    uint16_t ops[WIO_OP_COUNT];
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .ops = ops,
                                      .op_count = find_makers(ops),
                                      .paths = specials->paths,
                                      .path_count = specials->count};
    enum wio_status status = wio_cursor_create(kinds->trace, &filter, &cursor, NULL);
    while (status == WIO_OK && (status = wio_cursor_next(cursor, &event, NULL)) == WIO_OK) {
        bool is_made = wio_op_class(event->op) == WIO_CLASS_MKNOD;
        uint32_t path = is_made ? event->path : event->path2;
        if (event->error == 0 && path < kinds->count) {
            kinds->first[path] = kind_by_name(kinds, path);
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_ERR_NOMEM ? status : WIO_OK; /* the event pass meets other faults */
}

enum wio_status rp_kinds_init(struct rp_kinds *kinds, const struct wio_trace *trace)
{
    struct specials specials WIO_CLEANUP(specials_fini) = {0};
    kinds->trace = trace;
    kinds->count = wio_trace_string_count(trace) + 1;
    kinds->first = calloc(kinds->count, 1);
    kinds->now = calloc(kinds->count, 1);
    kinds->marks = calloc(kinds->count, 1);
    if (kinds->first == NULL || kinds->now == NULL || kinds->marks == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < kinds->count; i++) {
        kinds->first[i] = kind_by_name(kinds, i);
    }
    WIO_TRY(read_table(kinds, &specials));
    if (specials.count > 0) {
        WIO_TRY(forget_made(kinds, &specials));
    }
    memcpy(kinds->now, kinds->first, kinds->count);
    return WIO_OK;
}

/* ---- one event after the other ---- */

bool rp_kinds_is_special(const struct rp_kinds *kinds, uint32_t string)
{
    return string < kinds->count && kinds->now[string] >= RP_KIND_SKIP &&
           kind_by_name(kinds, string) == RP_KIND_FILE;
}

enum wio_status rp_kinds_set(struct rp_kinds *kinds, uint32_t string, uint8_t kind,
                             uint64_t from_ns)
{
    if (string >= kinds->count || kind_by_name(kinds, string) != RP_KIND_FILE) {
        return WIO_OK;
    }
    kinds->marks[string] &= (uint8_t)~IS_GONE;
    if (kinds->now[string] == kind) {
        return WIO_OK;
    }
    void *changes = kinds->changes;
    WIO_TRY(wio_make_room(&changes, sizeof(*kinds->changes), &kinds->change_capacity,
                          kinds->change_count + 1));
    kinds->changes = changes;
    kinds->changes[kinds->change_count++] = (struct rp_kind_change){from_ns, string, kind};
    kinds->marks[string] |= CHANGES;
    kinds->now[string] = kind;
    return WIO_OK;
}

enum wio_status rp_kinds_found(struct rp_kinds *kinds, uint32_t string, uint8_t kind, uint64_t t_ns,
                               bool by_name)
{
    if (string >= kinds->count || (kinds->marks[string] != 0 && !by_name)) {
        return WIO_OK;
    }
    if (kinds->marks[string] != 0 || kind == RP_KIND_FILE) {
        return rp_kinds_set(kinds, string, kind, t_ns);
    }
    kinds->first[string] = kind;
    kinds->now[string] = kind;
    return WIO_OK;
}

void rp_kinds_remove(struct rp_kinds *kinds, uint32_t string)
{
    if (string < kinds->count) {
        kinds->marks[string] |= IS_GONE;
    }
}

bool rp_kinds_is_gone(const struct rp_kinds *kinds, uint32_t string)
{
    return string < kinds->count && (kinds->marks[string] & IS_GONE) != 0;
}

/* ---- afterwards ---- */

static int by_string_and_time(const void *a, const void *b)
{
    const struct rp_kind_change *x = a;
    const struct rp_kind_change *y = b;
    if (x->string != y->string) {
        return x->string < y->string ? -1 : 1;
    }
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void rp_kinds_finish(struct rp_kinds *kinds)
{
    if (kinds->change_count > 0) {
        qsort(kinds->changes, kinds->change_count, sizeof(*kinds->changes), by_string_and_time);
    }
    kinds->is_finished = true;
}

uint8_t rp_kinds_at(const struct rp_kinds *kinds, uint32_t string, uint64_t t_ns)
{
    string = string < kinds->count ? string : 0;
    if (!kinds->is_finished) {
        return kinds->now[string];
    }
    if ((kinds->marks[string] & CHANGES) == 0) {
        return kinds->first[string];
    }
    const struct rp_kind_change wanted = {.from_ns = t_ns, .string = string};
    size_t later =
        WIO_FIRST(i, 0, kinds->change_count, by_string_and_time(&kinds->changes[i], &wanted) > 0);
    bool has_changed = later > 0 && kinds->changes[later - 1].string == string;
    return has_changed ? kinds->changes[later - 1].kind : kinds->first[string];
}
