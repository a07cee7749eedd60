/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One traced operation. The meaning of each field per class of operation is fixed in
 * docs/FORMAT.md#fields; include/whyio/ops.def lists the operations.
 *
 * An event is always borrowed from a cursor (or given to a writer): programs never depend on its
 * size, so that fields may be appended.
 */
#ifndef WHYIO_EVENT_H
#define WHYIO_EVENT_H

#include <stdint.h>

#include <whyio/status.h>

WIO_BEGIN_DECLS

#define WIO_NO_FD INT32_MIN          /* the call takes no descriptor */
#define WIO_NO_OFFSET INT64_MIN      /* the operation has no position (pipe, metadata) */
#define WIO_NO_SIZE UINT64_MAX       /* the operation asks for no bytes */
#define WIO_RESULT_PENDING INT64_MIN /* asynchronous and never collected, or cut off by death */
#define WIO_NO_STRING 0u             /* string id 0 is "none" */

enum wio_event_flags {
    WIO_EVENT_CAUSED = 1 << 0,   /* done by the stdio or MPI call before it, not by the program */
    WIO_EVENT_ASYNC = 1 << 1,    /* t = submission, t + dur = collection */
    WIO_EVENT_STACK = 1 << 2,    /* source is a stack, not a single address */
    WIO_EVENT_RAW = 1 << 3,      /* made through syscall(2) */
    WIO_EVENT_VFORK = 1 << 4,    /* by a child that still shared its parent's memory */
    WIO_EVENT_BUFFERED = 1 << 5, /* stdio call served from its buffer: dur_ns is not measured */
    WIO_EVENT_MPI = 1 << 6,      /* an MPI library's own: side files of MPI-IO; all else
                                  only with --mpi-internals */
    WIO_EVENT_HOLD = 1 << 7,     /* could be held before it (only with --causal=throttle) */
};

struct wio_event {
    uint64_t t_ns; /* begin, since the start of the trace */
    uint64_t dur_ns;
    uint64_t seq;    /* 0, 1, 2 .. per (pid, tid), in order of begin; exec goes on counting */
    uint32_t stream; /* index into the trace's streams */
    uint16_t op;     /* enum wio_op, <whyio/ops.h> */
    uint16_t call;   /* the wrapped symbol: wio_call_name */
    uint16_t flags;  /* enum wio_event_flags */
    uint16_t error;  /* errno of a failed operation, else 0 */
    int32_t fd;
    int32_t fd2;
    uint32_t path; /* string ids of the trace */
    uint32_t path2;
    uint32_t source; /* source id of the trace, 0 = unknown */
    int64_t offset;  /* bytes */
    int64_t offset2; /* bytes */
    uint64_t size;   /* bytes asked for */
    int64_t result;
    int64_t arg[4];
    /* Processor time, ns; 0: not recorded (a measured 0 is stored as 1). Of long spans only. */
    uint64_t gap_cpu_ns; /* between the thread's event before and this one */
    uint64_t dur_cpu_ns; /* of dur_ns */
    /* Not all of the rest was waiting for a processor: it slept, for something that is no event. */
    uint8_t gap_slept;
    uint8_t dur_slept;
};

/* Names of numbers: static texts, never NULL, from any thread. */
const char *wio_op_name(unsigned op);
const char *wio_call_name(unsigned call);
/* What was not recorded: its key in JSON ("static_exec"), and one line for a person. */
const char *wio_unseen_key(unsigned kind);
const char *wio_unseen_text(unsigned kind);
/* What to do for it to be recorded: one line. */
const char *wio_unseen_remedy(unsigned kind);

WIO_END_DECLS
#endif
