/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the core calls its features for, and what these call each other for where the caller is not
 * to know the called one: each function here calls, one after the other, those that the table
 * features.def names. scripts/gen_features.py makes them of it, as direct calls. The core
 * includes nothing of a feature; a feature is added by a line of the table.
 *
 * All run in the calling thread. `self` is its state, with signals blocked where that is said.
 */
#ifndef WIO_CAPTURE_CORE_FEATURES_H
#define WIO_CAPTURE_CORE_FEATURES_H

#include "capture/core/capture.h"

/* ---- the process --------------------------------------------------------------------------- */

/* First of all, once: the environment is as it was given, but for a WHYIO_TRACE that cannot be
 * used, which is empty (activate.h). Also where nothing will be recorded. */
void cap_on_inherit(void) CAP_HIDDEN;
/* The process is a launcher, and is not recorded. */
void cap_on_leave(void) CAP_HIDDEN;
/* The process is recorded: its memory is there (cap_image), options are read from the environment.
 * Once, with signals blocked. */
void cap_on_configure(void) CAP_HIDDEN;
/* The library is loaded, and the thread that loads it ready. */
void cap_on_load(void) CAP_HIDDEN;
/* The image, perhaps a forked child's, has its ring, and no event yet. */
void cap_on_begin_image(void) CAP_HIDDEN;
/* The process ends by itself; its ring is marked so. */
void cap_on_end_process(void) CAP_HIDDEN;

/* ---- threads ------------------------------------------------------------------------------- */

/* The thread is ready, and has no event yet. Signals are blocked. */
void cap_on_begin_thread(struct cap_thread *self) CAP_HIDDEN;
/* The thread ends; it may make a last event. */
void cap_on_end_thread(struct cap_thread *self) CAP_HIDDEN;
/* A child of vfork is gone, its parent runs again. */
void cap_on_parent_again(struct cap_thread *self) CAP_HIDDEN;
/* A library was unloaded: forget which modules lie where. Called for each thread, by another one.
 */
void cap_on_forget_modules(struct cap_thread *thread) CAP_HIDDEN;

/* ---- calls --------------------------------------------------------------------------------- */

enum cap_verdict {
    CAP_VERDICT_NONE, /* nothing to say of it */
    CAP_VERDICT_RECORD,
    CAP_VERDICT_HIDE,
};

/* A call from `source` of a thread about which something is unusual: it is muted, inside a call of
 * a feature (outer_frame), or has flags of a single call. The first verdict counts; without one the
 * caller's module decides. */
enum cap_verdict cap_on_call(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                             const char *path) CAP_HIDDEN;
/* A call by an MPI library, of its part that may act on the program's files. */
enum cap_verdict cap_on_internal_call(struct cap_thread *self, uintptr_t source, unsigned call,
                                      int fd, const char *path) CAP_HIDDEN;
/* The call will be made, and recorded. Only where a feature asked for it when it was configured
 * (cap_process.is_slow). */
void cap_on_entered(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                    const char *path) CAP_HIDDEN;

/* ---- interpreted programs -------------------------------------------------------------------- */

/* An interpreter calls: are lines of its program known? */
bool cap_on_interpreter(void) CAP_HIDDEN;
/* Where in the program the calling thread is, as a number that no other place has; 0: nowhere. */
uint64_t cap_on_script_place(void) CAP_HIDDEN;
/* That place as frames of a call stack, the innermost first: how many of `room`. */
unsigned cap_on_script_frames(struct cap_thread *self, uintptr_t *frames, unsigned room) CAP_HIDDEN;

/* ---- what features tell each other ---------------------------------------------------------- */

struct cap_map;

/* A call from `source` has opened a descriptor. */
void cap_on_opened(struct cap_thread *self, uintptr_t source, int fd) CAP_HIDDEN;
/* The program is about to call ioctl. */
void cap_on_ioctl(uintptr_t source, unsigned long request, const void *argument) CAP_HIDDEN;
/* Memory was mapped, of `fd` where `flags` say so: what is to be known of it is put into `map`. */
void cap_on_mapped(struct cap_map *map, int flags, int fd) CAP_HIDDEN;
/* An MPI library is about to close files of the program. */
void cap_on_internal_close(void) CAP_HIDDEN;

/* ---- events -------------------------------------------------------------------------------- */

/* Of a thread with CAP_CALL_FLAGS: the flags that this event gets. Each function is given what the
 * one before it gave. */
uint8_t cap_on_event_flags(struct cap_thread *self, const struct cap_event *ev,
                           uint8_t flags) CAP_HIDDEN;
/* Before an event of a thread with CAP_PENDING_EVENTS: write what is pending. */
void cap_on_event(struct cap_thread *self) CAP_HIDDEN;

#endif
