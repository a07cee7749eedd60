/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of files, and the mismatches that they explain. */
#include <errno.h>
#include <stdlib.h>

#include "ops/calls.h"
#include "replay/races_internal.h"

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
    if (step->t_ns < found->end_ns && found->begin_ns < step->end_ns) {
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

static bool explains(const struct race_place *found, const struct file_change *step,
                     enum rp_race_side side)
{
    return rp_race_explains(found->kind, &step->change, side, found->in_trace, found->in_replay);
}

/* One that would explain it from the other side is told, and is no race. */
static void offer(const struct race_search *search, struct race_place *found,
                  const struct file_change *step)
{
    struct wio_replay_mismatch *mismatch = &search->mismatches[found->mismatch];
    struct wio_replay_race *race = &mismatch->race;
    enum rp_race_side side = side_of(found, step);
    if (!explains(found, step, RP_RACE_OVERLAPS)) {
        return;
    }
    int64_t after_ns = (int64_t)(step->t_ns - found->t_ns);
    bool is_race = explains(found, step, side) && is_unordered(search, found, step, side);
    bool is_nearer = race->stream == NONE || llabs(after_ns) < llabs(race->after_ns);
    if (is_race != found->is_race ? is_race : is_nearer) {
        tell(race, step, found->t_ns);
        found->is_race = is_race;
        mismatch->is_race |= is_race;
    }
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
    subject->is_mixed = step->t_ns < subject->end_ns && step->stream != subject->stream;
    if (step->end_ns > subject->end_ns) {
        subject->end_ns = step->end_ns;
        subject->stream = step->stream;
    }
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

static void see_open(const struct race_search *search, const struct wio_event *event)
{
    const uint64_t *texts = wio_map_get(&search->by_string, event->path);
    uint32_t text = texts == NULL ? 0 : (uint32_t)*texts;
    struct subject *subject = text == 0 ? NULL : subject_of(search, text, RP_RACE_ENTRIES);
    if (subject == NULL || event->error != 0) {
        return;
    }
    uint32_t i = 0;
    while (i < subject->listing_count && subject->listings[i].stream != event->stream) {
        i++;
    }
    if (i < LAST_MAX) {
        subject->listings[i] = (struct race_listing){event->stream, event->t_ns};
        subject->listing_count = i == subject->listing_count ? i + 1 : subject->listing_count;
    }
}

static uint64_t listed_since(const struct subject *subject, const struct wio_event *event)
{
    for (uint32_t i = 0; i < subject->listing_count; i++) {
        if (subject->listings[i].stream == event->stream) {
            return subject->listings[i].t_ns;
        }
    }
    return event->t_ns;
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
        bool is_listed = wio_op_class(event->op) == WIO_CLASS_READDIR;
        found->begin_ns = is_listed ? listed_since(subject, event) : event->t_ns;
        found->end_ns = event->t_ns + event->dur_ns + 1;
        found->next = subject->first;
        subject->first = i + 1;
        set_states(&search->mismatches[index], event, found);
        bool is_same = found->in_trace != RP_RACE_UNKNOWN && found->in_trace == found->in_replay;
        search->mismatches[index].is_race |=
            (is_listed ? subject->is_mixed : subject->is_ambiguous) && !is_same;
        for (uint32_t k = 0; k < subject->last_count; k++) {
            if (subject->last[k].stream != event->stream) {
                offer(search, found, &subject->last[k]);
            }
        }
    }
}

void rp_races_meet(struct race_search *search, const struct wio_event *event)
{
    const uint64_t *index = wio_map_get(&search->by_event, event_key(event->stream, event->seq));
    if (index != NULL) {
        meet_mismatch(search, (uint32_t)*index, event);
    }
    if (wio_op_class(event->op) == WIO_CLASS_OPEN) {
        see_open(search, event);
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
