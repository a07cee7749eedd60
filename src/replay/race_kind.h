/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation changes of a file, and which such change explains a mismatch. Pure. */
#ifndef WIO_REPLAY_RACE_KIND_H
#define WIO_REPLAY_RACE_KIND_H

#include <stdbool.h>

#include <whyio/event.h>

#include "replay/replay.h"

enum rp_race_kind { RP_RACE_SIZE = 0, RP_RACE_NAMES, RP_RACE_ENTRIES, RP_RACE_MODE, RP_RACE_NONE };
#define RP_RACE_KINDS 4u /* without RP_RACE_NONE */
#define RP_RACE_IN(kind) (1u << (kind))

/* What an operation that worked changes of one of its paths. */
struct rp_race_change {
    unsigned kinds; /* RP_RACE_IN; names stand for the entries of their directories, too */
    uint32_t name;  /* string of the trace */
    bool makes;     /* the name */
    bool may_make;  /* O_CREAT without O_EXCL: only where it was not there */
    bool removes;
    bool moves; /* a rename: another file, of another length, or none */
    bool cuts;  /* sets the length to `end` */
    bool extends;
    uint64_t end; /* bytes that the file has then at least; UINT64_MAX = not known */
    int64_t mode;
};

/* What the event changes of its path, or of its second one; false: nothing. */
bool rp_race_change_of(const struct wio_event *event, bool is_second,
                       struct rp_race_change *change);

/* May the two leave another state where they come in the other order? Both are of this kind. */
bool rp_race_conflict(enum rp_race_kind kind, const struct rp_race_change *a,
                      const struct rp_race_change *b);

/* What an operation has found: a name or none, entries or none, a longer file than in the other
 * run or a shorter one. */
enum rp_race_state { RP_RACE_UNKNOWN = 0, RP_RACE_LESS, RP_RACE_MORE };

/* By the error of the operation (0: it worked); `is_parent`: of the directory of its path. Lengths
 * and modes are RP_RACE_UNKNOWN. */
enum rp_race_state rp_race_state_of(enum rp_race_kind kind, const struct wio_event *event,
                                    int error, bool is_parent);

/* Where the change is, seen from the mismatch, in the trace. */
enum rp_race_side { RP_RACE_BEFORE, RP_RACE_AFTER, RP_RACE_OVERLAPS };

/* Would the operation have found this instead of that if the two had come in the other order? */
bool rp_race_explains(enum rp_race_kind kind, const struct rp_race_change *change,
                      enum rp_race_side side, enum rp_race_state in_trace,
                      enum rp_race_state in_replay);

/* The kind of change that would explain it; RP_RACE_NONE: errors of the target (EIO, EFBIG, ..), or
 * results that do not depend on what others do. A length is only that where both worked. */
enum rp_race_kind rp_race_kind_of(const struct wio_replay_mismatch *mismatch);

/* Has the storage failed, or refused what it cannot do? Such a mismatch follows from no race. */
bool rp_race_is_fault(const struct wio_replay_mismatch *mismatch);

#endif
