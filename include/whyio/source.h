/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a source id of a trace: function, file and line.
 *
 *     struct wio_sources *sources;
 *     if (wio_sources_create(trace, &sources, &err) != WIO_OK) ...
 *     puts(wio_sources_text(sources, event->source));   // "write_block (checkpoint.c:57)"
 *     wio_sources_destroy(sources);
 *
 * The text is
 *   "function (file:line)"   where the module of the frame has debug information, in itself or in
 *                            a separate file (/usr/lib/debug, .gnu_debuglink, build-id);
 *   "module+0x1234"          else: last component of the module's path and the address in it;
 *   "0x1234"                 code that belongs to no file (made while the program ran);
 *   ""                       where the source is unknown.
 * `file` is the last component of the file's name. A frame holds a return address: the line is
 * the one of the call, that is, of the byte before it. Where calls were inlined, function and
 * line are those of the innermost inlined function that is in no header of the system: a template
 * of C++'s library counts for the line that calls it.
 *
 * A module whose build-id is not the recorded one was built anew since: its lines would be wrong,
 * so it counts as one without debug information.
 *
 * Thread safety: one thread per object. Memory: one text per distinct source and what libdw keeps
 * per module. Each id and each module is looked up once.
 */
#ifndef WHYIO_SOURCE_H
#define WHYIO_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

WIO_BEGIN_DECLS

struct wio_sources;

/* `trace` must outlive the object, which the caller owns. Opens no module yet. WIO_ERR_NOMEM is the
 * only error; *sources_out is NULL then. */
WIO_MUST_CHECK enum wio_status wio_sources_create(const struct wio_trace *trace,
                                                  struct wio_sources **sources_out,
                                                  struct wio_error *err);
/* Accepts NULL. */
void wio_sources_destroy(struct wio_sources *sources);

/* Text of the innermost frame; "" for 0 and unknown ids, and where memory is short; never NULL.
 * Valid while `sources` lives. */
const char *wio_sources_text(struct wio_sources *sources, uint32_t source);

/* What is known of one frame; "" and 0 = not known. Texts live as long as `sources`. */
struct wio_source_words {
    const char *function; /* by debug information, else by the symbol table of the module */
    const char *file;     /* as the compiler wrote it down */
    int line;
    const char *text; /* "function (file:line)", "function (module+0x12)", "module+0x12" */
};
/* Not cached: each call adds to the memory of `sources`, and a caller with many operations keeps
 * what it gets. Texts are "" where memory is short, never NULL. */
void wio_sources_words(struct wio_sources *sources, const struct wio_frame *frame,
                       struct wio_source_words *out);

/* Is the frame code of a header of the system alone, such as a template of C++'s library that was
 * compiled into the module? False where nothing is known. Each frame is looked up once. */
bool wio_sources_is_header(struct wio_sources *sources, const struct wio_frame *frame);

/* Texts of the frames of a stack, innermost first; fills up to `max`, returns how many it filled,
 * 64 at most; 0 for unknown ids. Not cached: meant for the few stacks that are shown. The texts
 * live as long as `sources`, and are "" where memory is short. */
uint32_t wio_sources_stack(struct wio_sources *sources, uint32_t source, const char **texts_out,
                           uint32_t max);

WIO_END_DECLS
#endif
