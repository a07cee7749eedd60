/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose line an operation is: the innermost frame of the program's own code, outside libc, MPI,
 * I/O libraries and language runtimes (ops/code_owner.h), and outside headers of the system, whose
 * templates are compiled into programs.
 *
 *     struct wio_own_frames *own;
 *     if (wio_own_frames_create(trace, &own, &err) != WIO_OK) ...
 *     while (.. each event of a pass) { wio_own_frames_note(own, event->stream, event->source); }
 *     wio_own_frames_find(own, event->stream, event->source, &frame);   // "write_step", "sim.c",
 * 40 wio_own_frames_destroy(own);
 *
 * An operation that the program's own code has called, or that has a stack, says so itself. Where a
 * library has called and the operation has no stack, one of its call site (the same return address)
 * is taken (R-SOURCE-2): the one that is noted most often in the same thread, of equal ones the one
 * that came last; else in any thread; else the last one in the table of sources. Stacks of one call
 * site that differ in the program's own frame make the answer ambiguous, and it says so.
 *
 * Thread safety: one thread per object. Memory: a few words for each source of the trace and for
 * each pair of a thread and a stack, and what libdw keeps per module.
 */
#ifndef WIO_EXPLAIN_OWN_FRAME_H
#define WIO_EXPLAIN_OWN_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/source.h>
#include <whyio/status.h>
#include <whyio/trace.h>

struct wio_own_frames;

enum wio_own_basis {
    WIO_OWN_NONE,   /* there is no such frame, or none is known */
    WIO_OWN_CALLER, /* the program's own code has called */
    WIO_OWN_STACK,  /* of the operation's own stack */
    WIO_OWN_THREAD, /* of another stack of its call site in its thread */
    WIO_OWN_SITE,   /* of another stack of its call site, elsewhere */
};

/* Texts are "" where they are not known, and live as long as the object. */
struct wio_own_frame {
    enum wio_own_basis basis;
    bool is_ambiguous;
    uint32_t source;      /* whose frames say so; of an operation with WIO_OWN_CALLER its own */
    const char *function; /* by debug information, else by the symbol table */
    const char *file;     /* as the compiler wrote it down */
    int line;             /* 0 = not known */
    const char *module;   /* path of the file with the code */
    uint64_t address;     /* in it, of the return */
    const char *library;  /* WIO_OWN_NONE: the outermost library or interpreter, "HDF5" */
    const char *text;     /* for a person: "function (file:line)", "function (module+0x12)",
                             "module+0x12"; WIO_OWN_NONE: "" */
};

/* `trace` must outlive the object, which the caller owns. Opens modules of C++ programs. Fails with
 * WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_own_frames_create(const struct wio_trace *trace,
                                                     struct wio_own_frames **own_out,
                                                     struct wio_error *err);
/* Accepts NULL. */
void wio_own_frames_destroy(struct wio_own_frames *own);

/* Has the trace stacks at all? Without, nothing needs to be noted. */
bool wio_own_frames_has_stacks(const struct wio_own_frames *own);
/* An event of `stream` has `source`. Where memory is short it is not noted. */
void wio_own_frames_note(struct wio_own_frames *own, uint32_t stream, uint32_t source);
/* Notes all events of the trace, where it has stacks. */
WIO_MUST_CHECK enum wio_status wio_own_frames_read(struct wio_own_frames *own,
                                                   struct wio_error *err);

/*
 * The innermost of `count` frames that is the program's own code: the first one that is no template
 * or inline function of a system header, compiled into the program; where all are, the first of
 * them. False: none is the program's own. `sources` opens the modules whose frames are looked at.
 */
bool wio_own_frame_choose(struct wio_sources *sources, const struct wio_frame *frames,
                          uint32_t count, uint32_t *frame_out);

/* False: WIO_OWN_NONE. */
bool wio_own_frames_find(struct wio_own_frames *own, uint32_t stream, uint32_t source,
                         struct wio_own_frame *out);

#endif
