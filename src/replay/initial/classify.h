/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of an operation, by its kind and its paths alone. Pure. */
#ifndef WIO_REPLAY_INITIAL_CLASSIFY_H
#define WIO_REPLAY_INITIAL_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>

#include "replay/initial/initial_state.h"

enum rp_fate {
    RP_FATE_PERFORM,
    RP_FATE_MEMORY,  /* /dev/null and its like: served from memory */
    RP_FATE_REQUEST, /* an asynchronous read, write or flush */
    RP_FATE_SKIP,    /* *kind_out - RP_KIND_SKIP says why */
    RP_FATE_CONTROL  /* processes, threads, working directory */
};

enum rp_fate rp_classify(const struct rp_observer *observer, const struct wio_event *event,
                         uint8_t *kind_out);

/* Of a copy (sendfile, splice) between a file and something that is not replayed: its file's half.
 * Counted as a read or a write. */
enum rp_half {
    RP_WHOLE = 0, /* or none: both are files, both are not, it failed, or it is no copy */
    RP_HALF_READ,
    RP_HALF_WRITTEN
};
enum rp_half rp_half_of(const struct rp_observer *observer, const struct wio_event *event);

/*
 * Did the call fail in a way that another machine, user or moment need not share (EXDEV, EACCES,
 * ENOSPC, EINVAL ..)? Performed, it could succeed and have effect: it is not done. Failures that
 * follow from the names, types and descriptors of the trace itself (ENOENT, EEXIST ..) are done and
 * compared. Pure.
 */
bool rp_is_recorded_error(const struct wio_event *event);

/* Is the event what an MPI library does for itself (FORMAT.md R-MPI-10)? Not where it makes
 * processes or threads. Pure. */
bool rp_is_internal(const struct wio_event *event);

/*
 * Is the event a call of stdio that is performed as the system calls it caused? Those that move
 * data or flush always are. One that opens or closes is if the trace shows what it caused: `caused`
 * is rp_image.caused of its process. Where it does not, the call is performed itself.
 */
bool rp_is_covered(const struct wio_event *event, uint8_t caused);

#endif
