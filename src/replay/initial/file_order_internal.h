/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of file_order: what an operation does to a name, and the precedence that
 * follows from it. Private. */
#ifndef WIO_REPLAY_INITIAL_FILE_ORDER_INTERNAL_H
#define WIO_REPLAY_INITIAL_FILE_ORDER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "replay/initial/file_order.h"

/* Things of a name that have an order of their own. */
enum subject { NAME = 0, LENGTH = 1, ENTRIES = 2, MODE = 3 };

/* Of a mode: PRESENT = it permits, ABSENT = it forbids. */
enum presence { UNKNOWN = 0, PRESENT, ABSENT };

/* What an operation did to one of them. Lookups want no order among each other, nor do those that
 * make a file longer, or change entries of a directory; what makes, removes or cuts wants one with
 * all. */
enum access { LOOKS = 0, EXTENDS = 1, CHANGES = 2 };

struct step {
    uint32_t stream;
    uint8_t access;
    uint8_t needs; /* enum presence: how the name was when a change began .. */
    uint8_t after; /* .. and how it was when the operation was over */
    uint64_t seq;
    uint64_t t_ns;
    uint64_t end_ns;
};

/* The last lookup, or the last that made the file longer, of a stream since the last change. */
struct rp_name_use {
    struct step step;
    uint32_t next; /* index + 1 */
};

struct rp_name_state {
    struct step change;     /* the last one; end_ns 0 = none */
    struct step before;     /* the one before it */
    uint32_t uses[CHANGES]; /* by access: index + 1 of the first */
    uint8_t presence;       /* enum presence */
    uint8_t subject;        /* enum subject */
    uint64_t length;        /* as far as it was written */
};

/* The state of one thing of a name, made if it is new; valid until the next call. */
WIO_MUST_CHECK enum wio_status rp_name_state_of(struct rp_file_order *order, const char *name,
                                                size_t bytes, enum subject subject,
                                                struct rp_name_state **state_out);
/* The step follows, in order of time: what it has to come after, and what after it. */
WIO_MUST_CHECK enum wio_status rp_name_meet(struct rp_file_order *order,
                                            struct rp_name_state *state, const struct step *step);

#endif
