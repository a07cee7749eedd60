/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/requests.h"

void wio_requests_init(struct wio_requests *requests)
{
    *requests = (struct wio_requests){.first = 0};
    (void)pthread_mutex_init(&requests->lock, NULL);
    (void)pthread_cond_init(&requests->more, NULL);
    (void)pthread_cond_init(&requests->idle, NULL);
}

void wio_requests_fini(struct wio_requests *requests)
{
    (void)pthread_cond_destroy(&requests->idle);
    (void)pthread_cond_destroy(&requests->more);
    (void)pthread_mutex_destroy(&requests->lock);
}

static _Atomic uint32_t *place_of(struct wio_requests *requests, uint32_t tid)
{
    return &requests->asked[tid % WIO_REQUESTS_MOST];
}

void wio_requests_ask(struct wio_requests *requests, uint32_t tid)
{
    if (atomic_exchange_explicit(place_of(requests, tid), tid, memory_order_relaxed) == tid) {
        return;
    }
    (void)pthread_mutex_lock(&requests->lock);
    if (requests->count < WIO_REQUESTS_MOST && !requests->is_ended) {
        requests->ids[(requests->first + requests->count++) % WIO_REQUESTS_MOST] = tid;
        (void)pthread_cond_signal(&requests->more);
    } else {
        requests->dropped++;
        atomic_store_explicit(place_of(requests, tid), 0, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&requests->lock);
}

bool wio_requests_take(struct wio_requests *requests, uint32_t *tid_out)
{
    (void)pthread_mutex_lock(&requests->lock);
    requests->is_busy = false;
    while (requests->count == 0 && !requests->is_ended) {
        (void)pthread_cond_broadcast(&requests->idle);
        (void)pthread_cond_wait(&requests->more, &requests->lock);
    }
    const bool is_there = !requests->is_ended;
    if (is_there) {
        *tid_out = requests->ids[requests->first];
        requests->first = (requests->first + 1) % WIO_REQUESTS_MOST;
        requests->count--;
        requests->is_busy = true;
        /* From here on it may be asked for again: what is found may be older than that. */
        atomic_store_explicit(place_of(requests, *tid_out), 0, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&requests->lock);
    return is_there;
}

void wio_requests_settle(struct wio_requests *requests)
{
    (void)pthread_mutex_lock(&requests->lock);
    while ((requests->count > 0 || requests->is_busy) && !requests->is_ended) {
        (void)pthread_cond_wait(&requests->idle, &requests->lock);
    }
    (void)pthread_mutex_unlock(&requests->lock);
}

void wio_requests_end(struct wio_requests *requests)
{
    (void)pthread_mutex_lock(&requests->lock);
    requests->is_ended = true;
    (void)pthread_cond_broadcast(&requests->more);
    (void)pthread_cond_broadcast(&requests->idle);
    (void)pthread_mutex_unlock(&requests->lock);
}

uint64_t wio_requests_dropped(struct wio_requests *requests)
{
    (void)pthread_mutex_lock(&requests->lock);
    const uint64_t dropped = requests->dropped;
    (void)pthread_mutex_unlock(&requests->lock);
    return dropped;
}
