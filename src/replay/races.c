/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/races.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "ops/calls.h"
#include "replay/race_kind.h"

#define NONE UINT32_MAX
/* Changes of one file by so many threads are remembered, and a mismatch is compared with so many
 * that come behind it. */
#define LAST_MAX 16u
#define LATER_MAX 64u

struct file_change {
    uint32_t stream;
    uint16_t op;
    uint64_t seq;
    uint64_t t_ns;
    uint64_t end_ns;
};

/* A mismatch, at one of the things that it may have found changed. */
struct race_place {
    uint32_t mismatch;
    uint32_t next;  /* of the same subject, + 1 */
    uint32_t later; /* changes behind it that were compared */
    bool is_race;   /* with the one that is told of */
    uint64_t t_ns;  /* of the operation in the trace; 0 = not read yet */
    uint64_t end_ns;
};

/* A path, in one respect. */
struct subject {
    struct file_change last[LAST_MAX]; /* of different threads */
    uint32_t last_count;
    uint32_t oldest;
    uint32_t first;    /* found + 1 */
    uint64_t end_ns;   /* of the changes so far, the last end .. */
    uint32_t stream;   /* .. and whose it is */
    bool is_ambiguous; /* the last change and one by another thread overlap: what they left is not
                          in the trace */
};

struct race_search {
    struct wio_replay_mismatch *mismatches;
    uint32_t count;
    const struct rp_places *places;
    struct wio_strtab texts;  /* paths of the mismatches, and their directories */
    struct wio_map by_text;   /* text and kind -> subject */
    struct wio_map by_event;  /* stream and seq -> mismatch */
    struct wio_map by_string; /* string of the trace -> its text, and that of its directory */
    struct wio_map raced;     /* text and kind: a race has left it other than in the trace */
    struct subject *subjects; /* at most two of each mismatch */
    uint32_t subject_count;
    struct race_place *found; /* two of each mismatch */
    uint32_t *paths;          /* strings of the trace */
    uint32_t path_count;
    uint32_t path_capacity;
    struct wio_cursor *cursor;
};

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
    free(search->paths);
}

static uint64_t event_key(uint32_t stream, uint64_t seq)
{
    return (uint64_t)stream << 40 | seq;
}

static uint64_t subject_key(uint32_t text, unsigned kind)
{
    return (uint64_t)text * RP_RACE_KINDS + kind;
}

/* Bytes of the directory in a path: 0 where there is none. */
static size_t parent_bytes(const char *path)
{
    const char *end = strrchr(path, '/');
    return path[0] != '/' ? 0 : (size_t)(end - path);
}

/* ---- the two changed places ---- */

static void tell(struct wio_replay_race *race, const struct file_change *step, uint64_t t_ns)
{
    *race = (struct wio_replay_race){
        .stream = step->stream,
        .seq = step->seq,
        .op = step->op,
        .after_ns = (int64_t)(step->t_ns - t_ns),
    };
}

/* Does nothing in the trace say which of the two comes first? */
static bool is_unordered(const struct race_search *search, const struct race_place *found,
                         const struct file_change *step)
{
    const struct rp_places *places = search->places;
    if (step->t_ns < found->end_ns && found->t_ns < step->end_ns) {
        return true;
    }
    if (places == NULL || found->mismatch >= places->rows || step->stream >= places->streams) {
        return false;
    }
    uint64_t at_ns = places->at_ns[(size_t)found->mismatch * places->streams + step->stream];
    return step->t_ns < found->t_ns ? at_ns <= step->t_ns : at_ns > step->t_ns;
}

static void offer(const struct race_search *search, struct race_place *found,
                  const struct file_change *step)
{
    struct wio_replay_mismatch *mismatch = &search->mismatches[found->mismatch];
    struct wio_replay_race *race = &mismatch->race;
    int64_t after_ns = (int64_t)(step->t_ns - found->t_ns);
    bool is_race = is_unordered(search, found, step);
    bool is_nearer = race->stream == NONE || llabs(after_ns) < llabs(race->after_ns);
    if (is_race != found->is_race ? is_race : is_nearer) {
        tell(race, step, found->t_ns);
        found->is_race = is_race;
        mismatch->is_race |= is_race;
    }
}

static struct subject *subject_of(const struct race_search *search, uint32_t text, unsigned kind)
{
    const uint64_t *place = wio_map_get(&search->by_text, subject_key(text, kind));
    return place == NULL ? NULL : &search->subjects[*place];
}

static void remember(struct subject *subject, const struct file_change *step)
{
    for (uint32_t i = 0; i < subject->last_count; i++) {
        if (subject->last[i].stream == step->stream) {
            subject->last[i] = *step;
            return;
        }
    }
    uint32_t place = subject->last_count;
    if (place == LAST_MAX) {
        place = subject->oldest;
        subject->oldest = (subject->oldest + 1) % LAST_MAX;
    } else {
        subject->last_count++;
    }
    subject->last[place] = *step;
}

/* Mismatches that this change is behind. */
static void meet_change(struct race_search *search, struct subject *subject,
                        const struct file_change *step)
{
    uint32_t *link = &subject->first;
    while (*link != 0) {
        struct race_place *found = &search->found[*link - 1];
        if (found->t_ns != 0 && search->mismatches[found->mismatch].stream != step->stream) {
            offer(search, found, step);
            found->later++;
        }
        if (found->later == LATER_MAX) {
            *link = found->next;
        } else {
            link = &found->next;
        }
    }
    remember(subject, step);
    subject->is_ambiguous = step->t_ns < subject->end_ns && step->stream != subject->stream;
    if (step->end_ns > subject->end_ns) {
        subject->end_ns = step->end_ns;
        subject->stream = step->stream;
    }
}

static void meet_path(struct race_search *search, uint32_t string, unsigned changes,
                      const struct file_change *step)
{
    const uint64_t *texts = wio_map_get(&search->by_string, string);
    if (texts == NULL) {
        return;
    }
    for (unsigned kind = 0; kind < RP_RACE_KINDS; kind++) {
        uint32_t text = kind == RP_RACE_ENTRIES ? (uint32_t)(*texts >> 32) : (uint32_t)*texts;
        bool is_changed =
            (changes & RP_RACE_IN(kind == RP_RACE_ENTRIES ? (unsigned)RP_RACE_NAMES : kind)) != 0;
        struct subject *subject = text == 0 || !is_changed ? NULL : subject_of(search, text, kind);
        if (subject != NULL) {
            meet_change(search, subject, step);
        }
    }
}

/* Changes that the mismatch is behind. */
static void meet_mismatch(struct race_search *search, uint32_t index, const struct wio_event *event)
{
    for (uint32_t i = 2 * index; i < 2 * index + 2; i++) {
        struct race_place *found = &search->found[i];
        uint32_t place = found->later; /* its subject, until now */
        found->later = 0;
        if (place == NONE) {
            continue;
        }
        struct subject *subject = &search->subjects[place];
        found->t_ns = event->t_ns;
        found->end_ns = event->t_ns + event->dur_ns + 1;
        found->next = subject->first;
        subject->first = i + 1;
        search->mismatches[index].is_race |= subject->is_ambiguous;
        for (uint32_t k = 0; k < subject->last_count; k++) {
            if (subject->last[k].stream != event->stream) {
                offer(search, found, &subject->last[k]);
            }
        }
    }
}

static void meet(struct race_search *search, const struct wio_event *event)
{
    const uint64_t *index = wio_map_get(&search->by_event, event_key(event->stream, event->seq));
    if (index != NULL) {
        meet_mismatch(search, (uint32_t)*index, event);
    }
    const struct file_change step = {event->stream, event->op, event->seq, event->t_ns,
                                     event->t_ns + event->dur_ns + 1};
    bool has_two;
    unsigned changes = rp_race_changes(event, &has_two);
    if (changes != 0) {
        meet_path(search, event->path, changes, &step);
    }
    if (changes != 0 && has_two) {
        meet_path(search, event->path2, changes, &step);
    }
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
        mismatch->is_race = mismatch->is_race || follows_race(search, path, kind);
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
    if (search->subjects == NULL || search->found == NULL) {
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
        meet(search, event);
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
