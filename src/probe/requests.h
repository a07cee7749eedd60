/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread ids on their way to the resolver: many may ask, one takes. What is asked for already is
 * not queued again (but for ids that share a place of the filter, which is harmless). Where the
 * queue is full a request is counted and forgotten: the next look asks again.
 */
#ifndef WIO_PROBE_REQUESTS_H
#define WIO_PROBE_REQUESTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WIO_REQUESTS_MOST 4096u

struct wio_requests {
    _Atomic uint32_t asked[WIO_REQUESTS_MOST]; /* filter, by id */
    pthread_mutex_t lock;
    pthread_cond_t more; /* something came, or the end */
    pthread_cond_t idle; /* nothing is left, or the end */
    uint32_t ids[WIO_REQUESTS_MOST];
    uint32_t first;
    uint32_t count;
    bool is_busy; /* one was taken and is not done */
    bool is_ended;
    uint64_t dropped;
};

void wio_requests_init(struct wio_requests *requests);
void wio_requests_fini(struct wio_requests *requests);

/* Any thread; takes a lock for some nanoseconds where the id is not asked for already. */
void wio_requests_ask(struct wio_requests *requests, uint32_t tid);
/* Waits for one; false: the end. The one before is done with this call. */
bool wio_requests_take(struct wio_requests *requests, uint32_t *tid_out);
/* Wait until all that was asked for before is done. */
void wio_requests_settle(struct wio_requests *requests);
void wio_requests_end(struct wio_requests *requests);
uint64_t wio_requests_dropped(struct wio_requests *requests);

#endif
