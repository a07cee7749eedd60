/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each operation of a trace tells about the tree as it was before the run.
 *
 * An open without O_CREAT that succeeded: the file existed. ENOENT: it did not. stat: type, mode
 * and, until the run writes to the file, its size. A short read, SEEK_END, the position of an
 * append: its size. readdir: a name. Reads: ranges that must hold data. What no operation tells
 * comes from the FILES table, the state of each path when the trace was sealed.
 */
#ifndef WIO_REPLAY_INITIAL_INITIAL_STATE_H
#define WIO_REPLAY_INITIAL_INITIAL_STATE_H

#include <stdint.h>

#include <whyio/event.h>
#include <whyio/trace.h>

#include "base/map.h"
#include "replay/initial/file_kind.h"
#include "replay/initial/namespace.h"

struct rp_seen {
    uint64_t epoch; /* of the space, + 1; 0 = never looked up */
    uint32_t node;
};

/* Zero-initialise, then rp_observer_init; release with rp_observer_fini. */
struct rp_observer {
    const struct wio_trace *trace;
    struct rp_space space;
    struct rp_kinds kinds; /* of each string of the trace */
    uint32_t string_count;
    struct rp_seen *followed; /* lookups remembered, per string */
    struct rp_seen *plain;
    struct wio_map met_file; /* nodes looked up where a name above them had to be a file */
    struct wio_map odd;      /* events that failed by a name, though the names do not tell why */
};

WIO_MUST_CHECK enum wio_status rp_observer_init(struct rp_observer *observer,
                                                const struct wio_trace *trace);
void rp_observer_fini(struct rp_observer *observer);

/* The next event in order of time. */
WIO_MUST_CHECK enum wio_status rp_observe(struct rp_observer *observer,
                                          const struct wio_event *event);

/* After the last one: fill what is unknown from the FILES table. */
WIO_MUST_CHECK enum wio_status rp_observer_finish(struct rp_observer *observer);

static inline uint64_t rp_odd_key(const struct wio_event *event)
{
    return (uint64_t)event->stream << 40 | event->seq;
}

/* Did it fail in a way that its names in the trace do not explain? */
static inline bool rp_observer_is_odd(const struct rp_observer *observer,
                                      const struct wio_event *event)
{
    return wio_map_get(&observer->odd, rp_odd_key(event)) != NULL;
}

/* The kind of a string of the trace (a path) at this time of it. */
static inline uint8_t rp_observer_kind(const struct rp_observer *observer, uint32_t string,
                                       uint64_t t_ns)
{
    return rp_kinds_at(&observer->kinds, string, t_ns);
}

#endif
