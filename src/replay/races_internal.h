/* SPDX-License-Identifier: Apache-2.0 */
/* The search for races of mismatches: what is known while the changes of their files are read. */
#ifndef WIO_REPLAY_RACES_INTERNAL_H
#define WIO_REPLAY_RACES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/trace.h>

#include "base/map.h"
#include "replay/race_kind.h"
#include "replay/races.h"

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
    uint64_t begin_ns; /* from then on it may have been read: t_ns, or the open of a directory */
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

/* A thread has opened a directory: libc reads many entries at once, earlier than they are given. */
struct race_listing {
    uint32_t stream;
    uint64_t t_ns;
};

/* A path, in one respect. */
struct subject {
    struct file_change last[LAST_MAX]; /* of different threads */
    uint32_t last_count;
    uint32_t oldest;
    uint32_t first;                         /* found + 1 */
    uint64_t end_ns;                        /* of the changes so far, the last end .. */
    uint32_t stream;                        /* .. and whose it is */
    struct race_listing listings[LAST_MAX]; /* of the entries */
    uint32_t listing_count;
    struct file_change maybe; /* the last open that would have made it, had it not been there */
    bool is_mixed; /* the last two changes overlap of any entries: which of them a listing in pieces
                      has is not known */
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

static inline uint64_t event_key(uint32_t stream, uint64_t seq)
{
    return (uint64_t)stream << 40 | seq;
}

static inline uint64_t subject_key(uint32_t text, unsigned kind)
{
    return (uint64_t)text * RP_RACE_KINDS + kind;
}

static inline struct subject *subject_of(const struct race_search *search, uint32_t text,
                                         unsigned kind)
{
    const uint64_t *place = wio_map_get(&search->by_text, subject_key(text, kind));
    return place == NULL ? NULL : &search->subjects[*place];
}

/* The next event of the trace, in order of time: a change of a file that mismatches are about, a
 * mismatch, or both. Single thread. */
void rp_races_meet(struct race_search *search, const struct wio_event *event);

#endif
