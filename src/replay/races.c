/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/races.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"
#include "replay/races_internal.h"

static void search_cleanup(struct race_search *search)
{
    wio_cursor_destroy(search->cursor);
    wio_strtab_fini(&search->texts);
    wio_map_fini(&search->by_text);
    wio_map_fini(&search->by_event);
    wio_map_fini(&search->by_string);
    wio_map_fini(&search->raced);
    free(search->subjects);
    free(search->found);
    free(search->states);
    free(search->paths);
}

/* Bytes of the directory in a path: 0 where there is none. */
static size_t parent_bytes(const char *path)
{
    const char *end = strrchr(path, '/');
    return path[0] != '/' ? 0 : (size_t)(end - path);
}

/* ---- what races leave ---- */

static uint32_t text_of(const struct race_search *search, const char *path, size_t bytes)
{
    return bytes == 0 ? 0 : wio_strtab_find(&search->texts, path, bytes);
}

static bool is_raced(const struct race_search *search, uint32_t text, enum rp_race_kind kind)
{
    return text != 0 && wio_map_get(&search->raced, subject_key(text, kind)) != NULL;
}

/* Has an earlier race changed it, or a name above it? */
static bool follows_race(const struct race_search *search, const char *path, enum rp_race_kind kind)
{
    size_t bytes = strlen(path);
    if (kind != RP_RACE_NONE && is_raced(search, text_of(search, path, bytes), kind)) {
        return true;
    }
    while (bytes != 0) {
        if (is_raced(search, text_of(search, path, bytes), RP_RACE_NAMES)) {
            return true;
        }
        while (bytes != 0 && path[--bytes] != '/') {
        }
    }
    return false;
}

static enum wio_status leave_race(struct race_search *search, const char *path,
                                  enum rp_race_kind kind, unsigned op)
{
    uint32_t text = text_of(search, path, strlen(path));
    uint32_t dir = text_of(search, path, parent_bytes(path));
    enum wio_class cls = wio_op_class(op);
    if (kind == RP_RACE_NONE) {
        return WIO_OK;
    }
    if (text != 0) {
        WIO_TRY(wio_map_put(&search->raced, subject_key(text, kind), 1));
    }
    if (cls == WIO_CLASS_UNLINK || cls == WIO_CLASS_RENAME) {
        kind = RP_RACE_NAMES; /* a directory that was not empty keeps its name */
    }
    if (text != 0) {
        WIO_TRY(wio_map_put(&search->raced, subject_key(text, kind), 1));
    }
    return kind != RP_RACE_NAMES || dir == 0
               ? WIO_OK
               : wio_map_put(&search->raced, subject_key(dir, RP_RACE_ENTRIES), 1);
}

static enum wio_status follow_races(struct race_search *search, const struct wio_trace *trace)
{
    for (uint32_t i = 0; i < search->count; i++) {
        struct wio_replay_mismatch *mismatch = &search->mismatches[i];
        const char *path = wio_trace_string(trace, mismatch->path, NULL);
        enum rp_race_kind kind = rp_race_kind_of(mismatch);
        bool may_follow = !rp_race_is_fault(mismatch);
        mismatch->is_race |= may_follow && follows_race(search, path, kind);
        if (mismatch->is_race) {
            WIO_TRY(leave_race(search, path, kind, mismatch->op));
        }
    }
    return WIO_OK;
}

/* ---- all of it ---- */

static enum wio_status add_subject(struct race_search *search, const char *path, size_t bytes,
                                   enum rp_race_kind kind, uint32_t *subject_out)
{
    uint32_t text;
    *subject_out = NONE;
    if (bytes == 0 || kind == RP_RACE_NONE) {
        return WIO_OK;
    }
    WIO_TRY(wio_strtab_add(&search->texts, path, bytes, &text));
    const uint64_t *known = wio_map_get(&search->by_text, subject_key(text, kind));
    *subject_out = known != NULL ? (uint32_t)*known : search->subject_count++;
    return wio_map_put(&search->by_text, subject_key(text, kind), *subject_out);
}

static enum wio_status add_mismatch(struct race_search *search, const struct wio_trace *trace,
                                    uint32_t index)
{
    struct wio_replay_mismatch *mismatch = &search->mismatches[index];
    struct race_place *found = &search->found[(size_t)2 * index];
    size_t bytes;
    const char *path = wio_trace_string(trace, mismatch->path, &bytes);
    enum rp_race_kind kind = rp_race_kind_of(mismatch);
    mismatch->race = (struct wio_replay_race){.stream = NONE};
    mismatch->is_race = false;
    found[0].mismatch = index;
    found[1].mismatch = index;
    found[0].kind = kind;
    found[1].kind = kind;
    found[1].is_parent = true;
    WIO_TRY(add_subject(search, path, bytes, kind, &found[0].later));
    WIO_TRY(add_subject(search, path, kind == RP_RACE_NAMES ? parent_bytes(path) : 0, kind,
                        &found[1].later));
    return wio_map_put(&search->by_event, event_key(mismatch->stream, mismatch->seq), index);
}

/* Strings of the trace that are a subject, or in a directory that is one. */
static enum wio_status find_strings(struct race_search *search, const struct wio_trace *trace)
{
    for (uint32_t string = 1; string <= wio_trace_string_count(trace); string++) {
        size_t bytes;
        const char *path = wio_trace_string(trace, string, &bytes);
        uint64_t own = text_of(search, path, bytes);
        uint64_t dir = text_of(search, path, bytes == 0 ? 0 : parent_bytes(path));
        if (own == 0 && (dir == 0 || subject_of(search, (uint32_t)dir, RP_RACE_ENTRIES) == NULL)) {
            continue;
        }
        WIO_TRY(wio_map_put(&search->by_string, string, dir << 32 | own));
        WIO_TRY(wio_make_room((void **)&search->paths, sizeof(*search->paths),
                              &search->path_capacity, search->path_count + 1));
        search->paths[search->path_count++] = string;
    }
    return WIO_OK;
}

static enum wio_status prepare(struct race_search *search, const struct wio_trace *trace)
{
    size_t room = (size_t)2 * search->count;
    search->subjects = calloc(room, sizeof(*search->subjects));
    search->found = calloc(room, sizeof(*search->found));
    search->states = calloc((size_t)wio_trace_string_count(trace) + 1, 1);
    if (search->subjects == NULL || search->found == NULL || search->states == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < search->count; i++) {
        WIO_TRY(add_mismatch(search, trace, i));
    }
    return find_strings(search, trace);
}

static enum wio_status read_changes(struct race_search *search, const struct wio_trace *trace,
                                    struct wio_error *err)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_TIME,
                                      .paths = search->paths,
                                      .path_count = search->path_count};
    WIO_TRY(wio_cursor_create(trace, &filter, &search->cursor, err));
    const struct wio_event *event;
    enum wio_status status;
    while ((status = wio_cursor_next(search->cursor, &event, err)) == WIO_OK) {
        rp_races_meet(search, event);
    }
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status rp_races_find(const struct wio_trace *trace, struct wio_replay_mismatch *mismatches,
                              uint32_t count, const struct rp_places *places, struct wio_error *err)
{
    WIO_CLEANUP(search_cleanup)
    struct race_search search = {.mismatches = mismatches, .count = count, .places = places};
    if (count == 0) {
        return WIO_OK;
    }
    enum wio_status status = prepare(&search, trace);
    if (status == WIO_OK && search.path_count != 0) {
        WIO_TRY(read_changes(&search, trace, err));
    }
    if (status == WIO_OK) {
        status = follow_races(&search, trace);
    }
    return status == WIO_OK ? WIO_OK
                            : wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                                            "no memory to look for the cause of mismatches");
}
