/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device: requests under write-back, served one after the other at the device's bandwidth. The
 * pages of a request become clean together, when all of it is written; so the counters fall in
 * steps. A device may have a buffer of its own that takes data faster while there is room in it.
 */
#ifndef WIO_MODEL_KERNEL_QUEUE_H
#define WIO_MODEL_KERNEL_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "model/kernel/slices.h"

/* Seconds per page on the medium and into the device's own buffer of so many pages, which may be
 * 0. Where there are slices (seconds; 0: none) it is a limit instead, which lets what the medium
 * takes in a slice pass at once, at the speed of the buffer. */
struct wio_queue_device {
    double page_s;
    double burst_page_s;
    double burst_pages;
    double slice_s;
};

/* One waiting. Pages count as under write-back with it; those of them that have data are written.
 */
struct wio_queue_request {
    uint64_t end;      /* pages ever submitted with it */
    uint64_t data_end; /* and those with data */
};

/* A write past the queue. A limit that counts by slices lets its requests pass one by one. */
struct wio_queue_write {
    double medium_s; /* seconds on the medium */
    double fast_s;   /* where all of it passes such a limit at once; 0: as fast as the buffer */
    double request_pages; /* the longest request; HUGE_VAL: one */
};

struct wio_queue {
    struct wio_alloc alloc;
    struct wio_queue_device device;
    double buffered;    /* pages in the device's buffer at ... */
    double buffered_at; /* ... this time, seconds; from then on it empties to the medium */
    struct wio_slices slices;
    struct wio_queue_request *requests; /* a ring of those waiting */
    size_t room;                        /* of the ring, a power of 2; 0 before the first request */
    size_t head;                        /* index of the request being served, modulo room */
    size_t waiting;                     /* requests */
    uint64_t submitted;                 /* pages ever */
    uint64_t completed;                 /* pages ever */
    uint64_t asked;                     /* pages ever submitted with data */
    uint64_t written;                   /* pages ever completed with data */
    uint64_t granted;                   /* pages ever with data up to which requests may end */
    double free_s;                      /* when all that took the device are served */
    double head_done_s; /* when the request being served is written; HUGE_VAL without one */
};

void wio_queue_init(struct wio_queue *queue, const struct wio_alloc *alloc,
                    const struct wio_queue_device *device);
void wio_queue_fini(struct wio_queue *queue);

/* Append a request at time `now`; of its pages so many have `data` to write, the others count only
 * until those are written. Small requests are merged with the one before, so that there are few of
 * them however scattered the pages are. */
WIO_MUST_CHECK enum wio_status wio_queue_submit(struct wio_queue *queue, uint64_t pages,
                                                uint64_t data, double now);
/* The request being served is written. There must be one. */
void wio_queue_complete(struct wio_queue *queue);
/* Requests up to so many pages ever, with data, may end from `now` on. One that is served before it
 * may end is held (head_done_s is HUGE_VAL) and ends when it may. Without a call all may. */
void wio_queue_grant(struct wio_queue *queue, uint64_t pages, double now);
/* Takes the device for so many seconds, at `now` or after those that took it before; the queue
 * waits. Returns when this turn begins. */
double wio_queue_take(struct wio_queue *queue, double seconds, double now);
/* The same for a write, which takes less time where there is room in the device's buffer. When the
 * device has it. */
double wio_queue_pass(struct wio_queue *queue, const struct wio_queue_write *write, double now);
/* The same for metadata: a limit that counts by slices lets it pass in front of others, which wait
 * for it later. */
double wio_queue_owe(struct wio_queue *queue, double seconds, double now);

/* Pages under write-back. */
static inline uint64_t wio_queue_pages(const struct wio_queue *queue)
{
    return queue->submitted - queue->completed;
}

#endif
