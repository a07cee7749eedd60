/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another thread holds the thread of an event loop between two of its events, looks at what that
 * thread alone may touch otherwise, and lets it go. One holds at a time: the callers see to it.
 */
#ifndef WIO_STORE_SERVE_LOOP_HOLD_H
#define WIO_STORE_SERVE_LOOP_HOLD_H

#include <pthread.h>
#include <stdbool.h>

struct wio_net;

struct loop_hold {
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    bool is_wanted;
    bool is_held;
    bool has_ended;
};

void loop_hold_init(struct loop_hold *hold);
void loop_hold_fini(struct loop_hold *hold);

/* On the loop's thread, when it was woken: stays as long as it is held. */
void loop_hold_here(struct loop_hold *hold);
/* On the loop's thread: it is held no more, and what waits for it goes on. */
void loop_hold_end(struct loop_hold *hold);

/* On another thread. False: the loop has ended; to be released all the same. */
bool loop_hold_begin(struct loop_hold *hold, struct wio_net *net);
bool loop_hold_is_held(struct loop_hold *hold);
void loop_hold_release(struct loop_hold *hold);

#endif
