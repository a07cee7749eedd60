/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/races.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/classify.h"

#define NO_STREAM UINT32_MAX

/* What an operation does to a file, and what another one finds changed. */
enum change { CHANGES_SIZE = 1, CHANGES_NAME = 2 };
enum { CHANGE_KINDS = 2 };

struct last_change {
    uint32_t stream; /* UINT32_MAX = there was none */
    uint64_t seq;
    uint16_t op;
    uint64_t t_ns;
};

/* A mismatch, in its file's list until a later operation changes the file. */
struct open_mismatch {
    uint32_t next; /* + 1 */
    uint64_t t_ns;
};

/* A file that has mismatches: of each kind of change the last one, the last one of another thread
 * than that, and the mismatches that wait for one. */
struct subject {
    struct last_change last[CHANGE_KINDS][2];
    uint32_t waiting[CHANGE_KINDS]; /* + 1 */
};

struct race_search {
    struct wio_replay_mismatch *mismatches;
    uint32_t count;
    struct open_mismatch *pending; /* of each mismatch */
    struct subject *subjects;      /* at most as many */
    uint32_t *paths;               /* of each subject */
    uint32_t subject_count;
    struct wio_map by_event; /* stream and seq -> index of the mismatch */
    struct wio_map by_path;  /* -> index of the subject */
    struct wio_cursor *cursor;
};

static void search_cleanup(struct race_search *search)
{
    wio_cursor_destroy(search->cursor);
    wio_map_fini(&search->by_event);
    wio_map_fini(&search->by_path);
    free(search->pending);
    free(search->subjects);
    free(search->paths);
}

static uint64_t key_of(uint32_t stream, uint64_t seq)
{
    return (uint64_t)stream << 40 | seq;
}

/* ---- what changes what ---- */

static unsigned changes_of_open(const struct wio_event *event)
{
    int flags = wio_open_flags(event);
    unsigned changes = (flags & O_CREAT) != 0 ? CHANGES_NAME : 0;
    return changes | ((flags & O_TRUNC) != 0 ? CHANGES_SIZE : 0);
}

static unsigned changes_of(const struct wio_event *event)
{
    if (event->error != 0) {
        return 0;
    }
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        return changes_of_open(event);
    case WIO_CLASS_WRITE:
    case WIO_CLASS_ASYNC_WRITE:
    case WIO_CLASS_COPY:
    case WIO_CLASS_SIZE:
        return CHANGES_SIZE;
    case WIO_CLASS_RENAME:
        return CHANGES_SIZE | CHANGES_NAME;
    case WIO_CLASS_UNLINK:
    case WIO_CLASS_LINK:
    case WIO_CLASS_SYMLINK:
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
        return CHANGES_NAME;
    default:
        return 0;
    }
}

static bool is_about_names(int error)
{
    return error == ENOENT || error == EEXIST || error == ENOTDIR || error == ENOTEMPTY;
}

/* The kind of change, as an index, that would explain it. */
static unsigned kind_of(const struct wio_replay_mismatch *mismatch)
{
    return is_about_names(mismatch->expected_error) || is_about_names(mismatch->got_error);
}

static bool changes_kind(unsigned changes, unsigned kind)
{
    return (changes & (kind == 0 ? CHANGES_SIZE : CHANGES_NAME)) != 0;
}

/* ---- one event after the other, in order of time ---- */

static void tell(struct wio_replay_race *race, const struct last_change *step, uint64_t t_ns)
{
    *race = (struct wio_replay_race){
        .stream = step->stream,
        .seq = step->seq,
        .op = step->op,
        .after_ns = (int64_t)(step->t_ns - t_ns),
    };
}

static void meet_mismatch(struct race_search *search, uint32_t index, uint64_t t_ns)
{
    struct wio_replay_mismatch *mismatch = &search->mismatches[index];
    const uint64_t *place = wio_map_get(&search->by_path, mismatch->path);
    if (place == NULL) {
        return;
    }
    struct subject *subject = &search->subjects[*place];
    unsigned kind = kind_of(mismatch);
    for (size_t i = 0; i < 2; i++) {
        const struct last_change *step = &subject->last[kind][i];
        if (step->stream != NO_STREAM && step->stream != mismatch->stream) {
            tell(&mismatch->race, step, t_ns);
            break;
        }
    }
    search->pending[index] = (struct open_mismatch){.next = subject->waiting[kind], .t_ns = t_ns};
    subject->waiting[kind] = index + 1;
}

static void offer(struct race_search *search, uint32_t index, const struct last_change *step)
{
    struct wio_replay_race *race = &search->mismatches[index].race;
    uint64_t t_ns = search->pending[index].t_ns;
    bool is_nearer = race->stream == NO_STREAM || step->t_ns - t_ns < (uint64_t)-race->after_ns;
    if (is_nearer) {
        tell(race, step, t_ns);
    }
}

/* Those of its own thread go on waiting. */
static void meet_change(struct race_search *search, uint32_t path, unsigned kind,
                        const struct last_change *step)
{
    const uint64_t *place = wio_map_get(&search->by_path, path);
    if (place == NULL) {
        return;
    }
    struct subject *subject = &search->subjects[*place];
    uint32_t *link = &subject->waiting[kind];
    while (*link != 0) {
        uint32_t index = *link - 1;
        if (search->mismatches[index].stream == step->stream) {
            link = &search->pending[index].next;
            continue;
        }
        offer(search, index, step);
        *link = search->pending[index].next;
    }
    if (subject->last[kind][0].stream != step->stream) {
        subject->last[kind][1] = subject->last[kind][0];
    }
    subject->last[kind][0] = *step;
}

static void meet(struct race_search *search, const struct wio_event *event)
{
    const uint64_t *index = wio_map_get(&search->by_event, key_of(event->stream, event->seq));
    if (index != NULL) {
        meet_mismatch(search, (uint32_t)*index, event->t_ns);
    }
    unsigned changes = changes_of(event);
    enum wio_class cls = wio_op_class(event->op);
    bool has_two = cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK;
    const struct last_change step = {event->stream, event->seq, event->op, event->t_ns};
    for (unsigned kind = 0; kind < CHANGE_KINDS; kind++) {
        if (!changes_kind(changes, kind)) {
            continue;
        }
        meet_change(search, event->path, kind, &step);
        if (has_two) {
            meet_change(search, event->path2, kind, &step);
        }
    }
}

/* ---- all of it ---- */

static enum wio_status add_subject(struct race_search *search, uint32_t path)
{
    if (path == WIO_NO_STRING || wio_map_get(&search->by_path, path) != NULL) {
        return WIO_OK;
    }
    uint32_t place = search->subject_count++;
    search->paths[place] = path;
    for (unsigned kind = 0; kind < CHANGE_KINDS; kind++) {
        search->subjects[place].last[kind][0].stream = NO_STREAM;
        search->subjects[place].last[kind][1].stream = NO_STREAM;
    }
    return wio_map_put(&search->by_path, path, place);
}

static enum wio_status prepare(struct race_search *search)
{
    size_t room = (size_t)search->count + 1;
    search->pending = calloc(room, sizeof(*search->pending));
    search->subjects = calloc(room, sizeof(*search->subjects));
    search->paths = calloc(room, sizeof(*search->paths));
    if (search->pending == NULL || search->subjects == NULL || search->paths == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < search->count; i++) {
        struct wio_replay_mismatch *mismatch = &search->mismatches[i];
        mismatch->race = (struct wio_replay_race){.stream = NO_STREAM};
        WIO_TRY(add_subject(search, mismatch->path));
        WIO_TRY(wio_map_put(&search->by_event, key_of(mismatch->stream, mismatch->seq), i));
    }
    return WIO_OK;
}

enum wio_status rp_races_find(const struct wio_trace *trace, struct wio_replay_mismatch *mismatches,
                              uint32_t count, struct wio_error *err)
{
    WIO_CLEANUP(search_cleanup)
    struct race_search search = {.mismatches = mismatches, .count = count};
    if (prepare(&search) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory to look for the cause of mismatches");
    }
    if (search.subject_count == 0) {
        return WIO_OK;
    }
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_TIME,
                                      .paths = search.paths,
                                      .path_count = search.subject_count};
    WIO_TRY(wio_cursor_create(trace, &filter, &search.cursor, err));
    const struct wio_event *event;
    enum wio_status status;
    while ((status = wio_cursor_next(search.cursor, &event, err)) == WIO_OK) {
        meet(&search, event);
    }
    return status == WIO_END ? WIO_OK : status;
}
