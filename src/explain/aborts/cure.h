/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would change it: the two cures of Carnival's Transaction Analysis. "Server contention may be
 * alleviated by an alternative file layout scheme, while data access conflicts may be alleviated by
 * changing the access granularity used by the application."
 */
#ifndef WIO_EXPLAIN_ABORTS_CURE_H
#define WIO_EXPLAIN_ABORTS_CURE_H

#include "explain/aborts/aborts.h"

enum wio_cure { WIO_CURE_GRANULARITY, WIO_CURE_LAYOUT };

/* Of the kind of conflict that a pair has most of. */
enum wio_cure wio_cure_of(const struct wio_exact_pair *pair);
/* The kind itself; of equal ones the first. */
enum wio_conflict wio_cure_conflict(const struct wio_exact_pair *pair);
/* "granularity", "layout" */
const char *wio_cure_name(enum wio_cure cure);
/* What to do, a sentence without a full stop. Static. */
const char *wio_cure_text(const struct wio_exact_pair *pair);

#endif
