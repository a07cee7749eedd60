/* SPDX-License-Identifier: Apache-2.0 */
/* A target on a thread and an event loop of its own. Calls come from the thread that began it. */
#ifndef WIO_STORE_SERVE_TARGET_THREAD_H
#define WIO_STORE_SERVE_TARGET_THREAD_H

#include "store/link/address.h"
#include "store/node/node_target.h"

struct target_thread;

struct target_thread_config {
    const char *dir;                       /* there already */
    const char *address;                   /* where it listens */
    struct node_target_config node;        /* but for `failed`, `context` and `tracer` */
    const struct wio_tracer_config *trace; /* but for `address`. Used at the begin. A ring is
                                              flushed where the target fails */
    bool is_temporary;                     /* at its end nothing has to be durable */
    /* From its thread: it serves nothing any more, target_thread_error says why. Or it has come to
     * rest after target_thread_stop. */
    void (*changed)(void *context);
    void *context;
};

/* Waits until it has recovered and listens. The caller waits for its end, and destroys it. */
WIO_MUST_CHECK enum wio_status target_thread_start(const struct target_thread_config *config,
                                                   struct target_thread **thread_out,
                                                   struct wio_error *err);
const char *target_thread_address(const struct target_thread *thread);
/* Where all targets are. Copied. */
void target_thread_set_addresses(struct target_thread *thread, const char *const *addresses);
/* WIO_OK: nothing has failed. */
enum wio_status target_thread_error(struct target_thread *thread, struct wio_error *err);
/*
 * Hold its thread between two events, until it is released: for a look, or a change, from another
 * thread. By one thread at a time. False: it has ended, or is about to.
 */
bool target_thread_hold(struct target_thread *thread);
/* The target of a thread that is held; NULL: it is not held. */
struct node_target *target_thread_held(struct target_thread *thread);
void target_thread_release(struct target_thread *thread);
/* wio_tracer_flush of its tracer, while the thread is held. WIO_ERR_BUSY: it has ended. */
WIO_MUST_CHECK enum wio_status target_thread_flush(struct target_thread *thread,
                                                   struct wio_error *err);
/* Of the target in its store. */
unsigned target_thread_index(const struct target_thread *thread);
/* End it: what was done becomes durable. */
void target_thread_stop(struct target_thread *thread);
/* Waits for its end; what has failed, if anything has. */
WIO_MUST_CHECK enum wio_status target_thread_wait(struct target_thread *thread,
                                                  struct wio_error *err);
/* Behind target_thread_wait. NULL is allowed. */
void target_thread_destroy(struct target_thread *thread);

#endif
