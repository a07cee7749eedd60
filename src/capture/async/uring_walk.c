/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the new entries of a ring's two sides. */
#include <string.h>

#include "capture/async/uring.h"

struct io_uring_sqe cap_uring_entry(const struct cap_uring *ring, unsigned position)
{
    struct io_uring_sqe sqe;
    unsigned place = position & (ring->sq_entries - 1);
    if (ring->sq_array != NULL) {
        place = ring->sq_array[place] & (ring->sq_entries - 1);
    }
    memcpy(&sqe, ring->sqes + (size_t)place * ring->sqe_bytes, sizeof(sqe));
    return sqe;
}

unsigned cap_uring_tail_of(const struct cap_uring *ring, unsigned submit)
{
    unsigned tail = __atomic_load_n(ring->sq_tail, __ATOMIC_ACQUIRE);
    bool is_part = (ring->flags & IORING_SETUP_SQPOLL) == 0 && submit < tail - ring->sq_seen;
    return is_part ? ring->sq_seen + submit : tail;
}

struct cap_uring_batch cap_uring_before_submit(struct cap_thread *self, const struct cap_event *ev,
                                               struct cap_uring *ring, unsigned tail)
{
    struct cap_uring_batch batch = {NULL, 0, 0};
    struct cap_event at = *ev;
    at.end = at.begin;
    at.fd = ring->fd;
    if (!cap_uring_take(&ring->sq_busy)) {
        return batch;
    }
    ring->is_hidden = false; /* of a library that MPI had called back when it was made */
    batch.ring = ring;
    batch.first = ring->sq_seen;
    batch.count = tail - ring->sq_seen;
    if ((int)batch.count < 0) { /* another thread has been here since the tail was looked at */
        batch.count = 0;
    }
    if (batch.count > ring->sq_entries) { /* a polled ring went round without a call */
        cap_unseen(WIO_UNSEEN_LOST_COMPLETION);
        batch.first = tail - ring->sq_entries;
        batch.count = ring->sq_entries;
    }
    for (unsigned i = 0; i < batch.count; i++) {
        struct io_uring_sqe sqe = cap_uring_entry(ring, batch.first + i);
        struct cap_request request = cap_uring_request(self, ring, &sqe);
        cap_submit(self, &at, &request);
    }
    ring->sq_seen = batch.first + batch.count;
    cap_uring_release(&ring->sq_busy);
    return batch;
}

/* How many of a batch the kernel took. A polled ring takes them all, some time; and a call that
 * took as many needs no other: where several threads enter at once they take each other's. */
static unsigned taken_of(const struct cap_uring_batch *batch, long result)
{
    const struct cap_uring *ring = batch->ring;
    if ((ring->flags & IORING_SETUP_SQPOLL) != 0 || result >= (long)batch->count) {
        return batch->count;
    }
    unsigned taken = __atomic_load_n(ring->sq_head, __ATOMIC_ACQUIRE) - batch->first;
    return taken < batch->count ? taken : batch->count;
}

void cap_uring_after_submit(struct cap_thread *self, const struct cap_event *ev,
                            const struct cap_uring_batch *batch, long result)
{
    struct cap_uring *ring = batch->ring;
    if (ring == NULL) {
        return;
    }
    unsigned taken = taken_of(batch, result);
    for (unsigned i = taken; i < batch->count; i++) {
        struct io_uring_sqe sqe = cap_uring_entry(ring, batch->first + i);
        cap_complete(self, cap_uring_key(ring, sqe.user_data), result < 0 ? result : -EAGAIN,
                     ev->end);
    }
    if (taken < batch->count && ring->sq_seen == batch->first + batch->count) {
        ring->sq_seen = batch->first + taken;
    }
}

static unsigned tail_of(const struct cap_uring *ring)
{
    return __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE);
}

/* Requests that the kernel may have taken, as positions of completions: each has one at most, but
 * those that are armed once for many. */
static unsigned submitted_of(const struct cap_uring *ring)
{
    bool is_polled = (ring->flags & IORING_SETUP_SQPOLL) != 0;
    return __atomic_load_n(is_polled ? ring->sq_tail : &ring->sq_seen, __ATOMIC_ACQUIRE);
}

/* May the place of `seen` have been written over while it was read? Only where the program has
 * taken that completion, and as many more can have come as the ring has places: the kernel fills
 * any number of places before its tail says so, but has no end of a request that it was not
 * given. That says nothing where ends are left out, or one request has many. */
static bool is_overwritten(const struct cap_uring *ring, unsigned seen)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    unsigned room = ring->cq_entries;
    unsigned filled = tail_of(ring) - seen;
    unsigned head = __atomic_load_n(ring->cq_head, __ATOMIC_ACQUIRE);
    int submitted = (int)(submitted_of(ring) - seen);
    if (filled > room || (int)(head - seen) <= 0) {
        return filled > room;
    }
    bool is_bound = !ring->has_skips && submitted >= (int)filled;
    return is_bound ? submitted > (int)room : filled == room;
}

void cap_uring_reap(struct cap_thread *self, struct cap_uring *ring)
{
    if (!cap_uring_take(&ring->cq_busy)) {
        return;
    }
    unsigned seen = ring->cq_seen;
    unsigned tail = tail_of(ring);
    /* Not the end of the call: another thread may have submitted what has ended since. */
    uint64_t ticks = cap_now();
    for (; seen != tail; seen++) {
        struct io_uring_cqe cqe;
        unsigned place = seen & (ring->cq_entries - 1);
        memcpy(&cqe, ring->cqes + (size_t)place * ring->cqe_bytes, sizeof(cqe));
        if (is_overwritten(ring, seen)) {
            cap_unseen(WIO_UNSEEN_LOST_COMPLETION);
            continue;
        }
        if ((cqe.flags & IORING_CQE_F_NOTIF) == 0) { /* the second end of a zero-copy send */
            cap_complete(self, cap_uring_key(ring, cqe.user_data), cqe.res, ticks);
        }
    }
    ring->cq_seen = seen;
    cap_uring_release(&ring->cq_busy);
}
