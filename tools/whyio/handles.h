/* SPDX-License-Identifier: Apache-2.0 */
/* For WIO_CLEANUP: closes what a command opened, whichever way it leaves. */
#ifndef WHYIO_HANDLES_H
#define WHYIO_HANDLES_H

#include <whyio/trace.h>

static inline void cmd_trace_cleanup(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

#endif
