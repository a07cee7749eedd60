/* SPDX-License-Identifier: Apache-2.0 */
/* The process of the tracer: threads that ask to be traced, and one thread here for each of them.
 */
#ifndef WIO_TRACER_SERVE_H
#define WIO_TRACER_SERVE_H

#include "tracer/tracee.h"

struct tracer_server {
    int listener; /* a socket that listens */
    int control;  /* at its end of file everything is let go */
    const char *secret;
    struct tracer_settings settings;
    bool stopping;     /* atomic */
    uint32_t sessions; /* atomic */
};

/* To be called with all signals blocked: unblocks the one that wakes threads here. Returns when the
 * control pipe has been closed and all that was traced has been let go, or after some seconds: then
 * the end of the process lets go of the rest. */
void tracer_serve(struct tracer_server *server);

#endif
