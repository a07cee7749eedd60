/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each path of a trace is, at each moment: by its name (kind.h), by the type that an operation
 * or the FILES table tells, and by what the run makes of it: a file may give way to a fifo of the
 * same name, and the other way round.
 *
 *     rp_kinds_init(&kinds, trace);
 *     ... for each event in order of time: rp_kinds_now, rp_kinds_set ..
 *     rp_kinds_finish(&kinds);
 *     rp_kinds_at(&kinds, string, t_ns)      by any thread
 */
#ifndef WIO_REPLAY_INITIAL_FILE_KIND_H
#define WIO_REPLAY_INITIAL_FILE_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "replay/initial/kind.h"

struct rp_kind_change {
    uint64_t from_ns; /* time of the trace */
    uint32_t string;
    uint8_t kind; /* enum rp_kind */
};

/* Zero-initialise; release with rp_kinds_fini. */
struct rp_kinds {
    const struct wio_trace *trace;
    uint32_t count;                 /* strings of the trace, and one more */
    uint8_t *first;                 /* of each: before its first change */
    uint8_t *now;                   /* .. at the event that was seen last */
    uint8_t *marks;                 /* .. private */
    struct rp_kind_change *changes; /* in order of time; after _finish by string, then time */
    uint32_t change_count;
    uint32_t change_capacity;
    bool is_finished;
};

/* Reads the FILES table, and from the events what the run itself has made of its fifos and sockets.
 * WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status rp_kinds_init(struct rp_kinds *kinds, const struct wio_trace *trace);
void rp_kinds_fini(struct rp_kinds *kinds);

static inline uint8_t rp_kinds_now(const struct rp_kinds *kinds, uint32_t string)
{
    return kinds->now[string < kinds->count ? string : 0];
}

/* A fifo, socket or device at this moment, under a name that a file might have. */
bool rp_kinds_is_special(const struct rp_kinds *kinds, uint32_t string);

/* From from_ns on it is this. */
WIO_MUST_CHECK enum wio_status rp_kinds_set(struct rp_kinds *kinds, uint32_t string, uint8_t kind,
                                            uint64_t from_ns);
/* An operation finds it to be this: if nothing was made of it, it was so from the beginning.
 * `by_name`: not by a descriptor, behind which there may be what had the name before. */
WIO_MUST_CHECK enum wio_status rp_kinds_found(struct rp_kinds *kinds, uint32_t string, uint8_t kind,
                                              uint64_t t_ns, bool by_name);

/* The name was removed. Its kind stays, for descriptors that are open. What is found under the name
 * next is something else (rp_kinds_is_gone). */
void rp_kinds_remove(struct rp_kinds *kinds, uint32_t string);
bool rp_kinds_is_gone(const struct rp_kinds *kinds, uint32_t string);

void rp_kinds_finish(struct rp_kinds *kinds);
/* The kind of a string at this time of the trace; before _finish that of now. */
uint8_t rp_kinds_at(const struct rp_kinds *kinds, uint32_t string, uint64_t t_ns);

#endif
