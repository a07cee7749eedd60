/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording static programs by ptrace(2): a process beside the recorder, which threads that are
 * about to become a static program ask to be traced by (ring/trace_request.h). It writes the same
 * rings as the capture library.
 *
 *     struct wio_ptracer tracer;
 *     wio_ptracer_start(&params, &tracer, &err)
 *     ... the environment of the command has WHYIO_TRACER=tracer.address ...
 *     ... its child calls wio_trace_request(tracer.address, WIO_TRACE_EXEC, 0) before its
 *         exec ...
 *     wio_ptracer_stop(&tracer);
 *
 * Tracing is by PTRACE_SEIZE and PTRACE_SYSCALL without PTRACE_O_EXITKILL and without a filter of
 * system calls (seccomp): whatever ends the tracer, what it traces goes on untouched.
 */
#ifndef WIO_TRACER_TRACER_H
#define WIO_TRACER_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "ring/trace_request.h"

struct wio_ptracer_params {
    const char *rings;       /* directory of the rings, absolute */
    const char *capture_lib; /* a program that has it in LD_PRELOAD is left to it */
    bool causal;             /* waiting of threads, too */
};

/* Zero-initialise; the owner stops it. */
struct wio_ptracer {
    int pid;     /* 0 = not running */
    int control; /* the tracer ends where this end of a pipe is closed */
    char address[WIO_TRACER_ADDRESS_BYTES];
    struct tracer_losses *losses; /* memory that the tracer shares */
};

/* What became of the tracer. */
struct wio_ptracer_end {
    bool is_killed; /* before it was told to end: what static programs did afterwards is missing */
    uint32_t no_ring; /* program images whose ring could not be made */
};

/*
 * May this process trace others? Tries it with a child of its own. WIO_ERR_IO where ptrace
 * is forbidden (a container, a security module) or the kernel is older than 5.3.
 */
WIO_MUST_CHECK enum wio_status wio_ptracer_probe(struct wio_error *err);

/* Start the process: a child of the caller, in a process group of its own. Errors: WIO_ERR_IO. From
 * a process with one thread only. */
WIO_MUST_CHECK enum wio_status wio_ptracer_start(const struct wio_ptracer_params *params,
                                                 struct wio_ptracer *tracer_out,
                                                 struct wio_error *err);

/* Let go of all that is still traced, which goes on, and wait for the end of the tracer, which is
 * told in `end_out`, zero where it does not run. */
void wio_ptracer_stop(struct wio_ptracer *tracer, struct wio_ptracer_end *end_out);
/* The same, for WIO_CLEANUP. */
void wio_ptracer_cleanup(struct wio_ptracer *tracer);

#endif
