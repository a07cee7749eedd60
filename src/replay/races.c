/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/races.h"

#include <errno.h>
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
    struct rp_race_change change;
};

/* A mismatch, at one of the things that it may have found changed. */
struct race_place {
    uint32_t mismatch;
    uint32_t next;     /* of the same subject, + 1 */
    uint32_t later;    /* changes behind it that were compared */
    bool is_race;      /* with the one that is told of */
    bool is_parent;    /* the directory of its path */
    uint8_t in_trace;  /* enum rp_race_state: what it found there .. */
    uint8_t in_replay; /* .. and here */
    enum rp_race_kind kind;
    uint64_t t_ns; /* of the operation in the trace; 0 = not read yet */
    uint64_t end_ns;
};

/* A path, in one respect. */
struct subject {
    struct file_change last[LAST_MAX]; /* of different threads */
    uint32_t last_count;
    uint32_t oldest;
    uint32_t first;           /* found + 1 */
    struct file_change maybe; /* the last open that would have made it, had it not been there */
    bool is_ambiguous; /* the last change and one by another thread overlap, and may have left
                          another state in another order: the trace does not tell which */
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
    uint8_t *states;          /* of each string of the trace: enum rp_race_state, so far */
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
    free(search->states);
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

static enum rp_race_side side_of(const struct race_place *found, const struct file_change *step)
{
    if (step->t_ns < found->end_ns && found->t_ns < step->end_ns) {
        return RP_RACE_OVERLAPS;
    }
    return step->t_ns < found->t_ns ? RP_RACE_BEFORE : RP_RACE_AFTER;
}

/* Does nothing in the trace say which of the two comes first? */
static bool is_unordered(const struct race_search *search, const struct race_place *found,
                         const struct file_change *step, enum rp_race_side side)
{
    const struct rp_places *places = search->places;
    if (side == RP_RACE_OVERLAPS) {
        return true;
    }
    if (places == NULL || found->mismatch >= places->rows || step->stream >= places->streams ||
        (places->is_absent != NULL && places->is_absent[step->stream])) {
        return false;
    }
    uint64_t at_ns = places->at_ns[(size_t)found->mismatch * places->streams + step->stream];
    return side == RP_RACE_BEFORE ? at_ns <= step->t_ns : at_ns > step->t_ns;
}

static void offer(const struct race_search *search, struct race_place *found,
                  const struct file_change *step)
{
    struct wio_replay_mismatch *mismatch = &search->mismatches[found->mismatch];
    struct wio_replay_race *race = &mismatch->race;
    enum rp_race_side side = side_of(found, step);
    if (!rp_race_explains(found->kind, &step->change, side, found->in_trace, found->in_replay)) {
        return;
    }
    int64_t after_ns = (int64_t)(step->t_ns - found->t_ns);
    bool is_race = is_unordered(search, found, step, side);
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

/* Does it overlap with a change by another thread that would leave another state? */
static bool conflicts(const struct subject *subject, enum rp_race_kind kind,
                      const struct file_change *step)
{
    for (uint32_t i = 0; i <= subject->last_count; i++) {
        const struct file_change *other =
            i == subject->last_count ? &subject->maybe : &subject->last[i];
        if (other->end_ns > step->t_ns && other->stream != step->stream &&
            rp_race_conflict(kind, &other->change, &step->change)) {
            return true;
        }
    }
    return false;
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
}

/* An open that has found the file there changes nothing, unless it came behind a removal. */
static void meet_step(struct race_search *search, struct subject *subject, enum rp_race_kind kind,
                      const struct file_change *step)
{
    uint8_t *state = &search->states[step->change.name];
    bool is_name = kind == RP_RACE_NAMES || kind == RP_RACE_ENTRIES;
    bool is_conflict = conflicts(subject, kind, step);
    bool is_there = is_name && step->change.may_make && *state == RP_RACE_MORE && !is_conflict;
    if (is_there) {
        subject->maybe = step->end_ns > subject->maybe.end_ns ? *step : subject->maybe;
        return;
    }
    meet_change(search, subject, step);
    subject->is_ambiguous = is_conflict;
}

static void meet_path(struct race_search *search, const struct file_change *step)
{
    unsigned changes = step->change.kinds;
    const uint64_t *texts = wio_map_get(&search->by_string, step->change.name);
    bool is_unsure = false;
    if (texts == NULL) {
        return;
    }
    for (unsigned kind = 0; kind < RP_RACE_KINDS; kind++) {
        uint32_t text = kind == RP_RACE_ENTRIES ? (uint32_t)(*texts >> 32) : (uint32_t)*texts;
        bool is_changed =
            (changes & RP_RACE_IN(kind == RP_RACE_ENTRIES ? (unsigned)RP_RACE_NAMES : kind)) != 0;
        struct subject *subject = text == 0 || !is_changed ? NULL : subject_of(search, text, kind);
        if (subject != NULL) {
            meet_step(search, subject, (enum rp_race_kind)kind, step);
            is_unsure |= subject->is_ambiguous;
        }
    }
    if ((changes & RP_RACE_IN(RP_RACE_NAMES)) != 0) {
        search->states[step->change.name] = is_unsure              ? RP_RACE_UNKNOWN
                                            : step->change.removes ? RP_RACE_LESS
                                                                   : RP_RACE_MORE;
    }
}

/* Is the name there, by what an event has found that changes none? Data of a file whose name is
 * gone tells nothing. */
static void see_name(struct race_search *search, const struct wio_event *event)
{
    uint8_t *state = &search->states[event->path];
    if (event->error == 0 && *state == RP_RACE_UNKNOWN) {
        *state = RP_RACE_MORE;
    } else if (event->error == ENOENT || event->error == EEXIST) {
        enum rp_race_state seen = rp_race_state_of(RP_RACE_NAMES, event, event->error, false);
        *state = seen == RP_RACE_UNKNOWN ? *state : (uint8_t)seen;
    }
}

/* What it has found in the trace and in the replay. */
static void set_states(const struct wio_replay_mismatch *mismatch, const struct wio_event *event,
                       struct race_place *found)
{
    found->in_trace =
        (uint8_t)rp_race_state_of(found->kind, event, mismatch->expected_error, found->is_parent);
    found->in_replay =
        (uint8_t)rp_race_state_of(found->kind, event, mismatch->got_error, found->is_parent);
    if (found->kind == RP_RACE_SIZE && mismatch->expected != mismatch->got) {
        bool is_shorter = mismatch->got < mismatch->expected;
        found->in_trace = is_shorter ? RP_RACE_MORE : RP_RACE_LESS;
        found->in_replay = is_shorter ? RP_RACE_LESS : RP_RACE_MORE;
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
        set_states(&search->mismatches[index], event, found);
        bool is_same = found->in_trace != RP_RACE_UNKNOWN && found->in_trace == found->in_replay;
        search->mismatches[index].is_race |= subject->is_ambiguous && !is_same;
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
    struct file_change step = {
        event->stream, event->op, event->seq, event->t_ns, event->t_ns + event->dur_ns + 1, {0}};
    bool is_changed = rp_race_change_of(event, false, &step.change);
    if (is_changed) {
        meet_path(search, &step);
    }
    if (!is_changed || (step.change.kinds & RP_RACE_IN(RP_RACE_NAMES)) == 0) {
        see_name(search, event);
    }
    if (rp_race_change_of(event, true, &step.change)) {
        meet_path(search, &step);
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
