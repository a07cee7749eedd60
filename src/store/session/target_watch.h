/* SPDX-License-Identifier: Apache-2.0 */
/* What a target's server tells of its work, for the statistics of jobs and for the trace. Private
 * to the folder; of the target's loop. */
#ifndef WIO_STORE_SESSION_TARGET_WATCH_H
#define WIO_STORE_SESSION_TARGET_WATCH_H

#include "store/io.h"
#include "store/server/server.h"
#include "store/session/accounts.h"
#include "store/trace/tracer.h"

struct target_watch {
    struct wio_io *io; /* its clock */
    struct wio_accounts accounts;
    struct wio_tracer *tracer; /* may be NULL; the caller's */
};

/* Its context is a struct target_watch. */
extern const struct wio_server_watch target_watch_ops;

#endif
