/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that asks the store once a second whether it is there, by a connection of its own. When
 * it was not there WATCH_TRIES times in a row, `thread` gets SIGTERM.
 */
#ifndef WIO_MOUNT_WATCH_H
#define WIO_MOUNT_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <whyio/store.h>

struct mount_watch {
    pthread_t self;
    pthread_t thread; /* whose loop a signal ends */
    struct wio_store *store;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool is_ending;
    atomic_bool is_lost;
    struct wio_error why; /* is_lost */
};

/* By the thread that gets the signal; the caller ends it. */
WIO_MUST_CHECK enum wio_status mount_watch_begin(struct mount_watch *watch,
                                                 const struct wio_store_params *connect,
                                                 struct wio_error *err);
/* Waits for the answer to the last question, 5 s at most. */
void mount_watch_end(struct mount_watch *watch);

#endif
