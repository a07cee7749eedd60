/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of causes that transactions lose time by, and what would change each: one of the two cures
 * of Carnival's Transaction Analysis. "Server contention may be alleviated by an alternative file
 * layout scheme, while data access conflicts may be alleviated by changing the access granularity
 * used by the application."
 */
#ifndef WIO_EXPLAIN_ABORTS_CURE_H
#define WIO_EXPLAIN_ABORTS_CURE_H

#include "explain/aborts/aborts.h"
#include "explain/aborts/candidates.h"

/* The kinds of conflict come first, with their numbers. */
enum wio_loss {
    WIO_LOSS_DATA = WIO_CONFLICT_DATA,
    WIO_LOSS_FALSE = WIO_CONFLICT_FALSE,
    WIO_LOSS_SIZE = WIO_CONFLICT_SIZE,
    WIO_LOSS_QUEUED = WIO_CONFLICT_QUEUED,
    WIO_LOSS_PREPARED = WIO_CONFLICT_PREPARED,
    WIO_LOSS_DEAD = WIO_CONFLICT_DEAD,
    WIO_LOSS_DEADLOCK = WIO_CONFLICTS,
    WIO_LOSS_THINK,   /* the blocker's client had no request at a server */
    WIO_LOSS_BUSY,    /* a server turned it away, or it queued to be admitted */
    WIO_LOSS_STORAGE, /* log and storage of a server */
    WIO_LOSS_SERVED,  /* being worked on */
    WIO_LOSSES
};

struct wio_loss_words {
    const char *kind;  /* "data_conflict" */
    const char *title; /* "transactions use the same bytes" */
    const char *cure;  /* "granularity", "layout" */
    const char *change;
    bool is_general;             /* it says where time is, and no cause */
    bool has_candidate;          /* the change can be tried: */
    enum wio_candidate_id tried; /* by this */
};

/* Texts are static. */
const struct wio_loss_words *wio_loss_words(enum wio_loss loss);

/* Seconds of a pair by kind, which add up to lane_s: think time and deadlocks are taken off the
 * others. */
void wio_losses_of(const struct wio_exact_pair *pair, double seconds_out[WIO_LOSSES]);
/* That with most of the seconds; of equal ones the first. */
enum wio_loss wio_loss_most(const double seconds[WIO_LOSSES]);
/* Of a pair. */
enum wio_loss wio_loss_of(const struct wio_exact_pair *pair);

#endif
