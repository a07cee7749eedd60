/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an epoll set has had an event since it was last looked at, without a system call: the
 * kernel writes a completion of aio (io_submit(2), IOCB_CMD_POLL) into memory of this process, in
 * the call that makes the event. What happens before that call returns, and before what follows
 * from it, is seen by a look at that memory: docs/adr/0027.
 *
 *     if (wio_bell_has_rung(&bell)) {
 *         lock; wio_bell_answer(&bell, take_all, context); unlock
 *     }
 *
 * Where the kernel gives no such memory (no aio, none left of fs.aio-max-nr, a filter of system
 * calls, Linux before 4.19) it always says that it has rung.
 */
#ifndef WIO_PROBE_BELL_H
#define WIO_PROBE_BELL_H

#include <linux/aio_abi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What io_setup(2) maps: fs/aio.c of Linux, unchanged since 2.6; libaio reads it, too. */
struct wio_bell_ring {
    uint32_t id;
    uint32_t room;
    _Atomic uint32_t head; /* ours */
    _Atomic uint32_t tail; /* the kernel's */
    uint32_t magic;
    uint32_t compat_features;
    uint32_t incompat_features;
    uint32_t header_bytes;
};

struct wio_bell {
    aio_context_t context;      /* 0: none */
    struct wio_bell_ring *ring; /* NULL: none, it always rings */
    int fd;
    _Atomic uint32_t seen; /* the ring's tail when the poll that waits now was submitted */
    bool is_broken;        /* it always rings: `seen` is no tail */
    bool is_armed;         /* a poll was submitted after `seen` */
};

/* For an epoll set, which outlives it. It has rung until it is answered for the first time. */
void wio_bell_init(struct wio_bell *bell, int epoll);
void wio_bell_fini(struct wio_bell *bell);

/* By any thread. False: no event has come since the last answer began. */
static inline bool wio_bell_has_rung(const struct wio_bell *bell)
{
    return bell->ring == NULL || atomic_load_explicit(&bell->ring->tail, memory_order_acquire) !=
                                     atomic_load_explicit(&bell->seen, memory_order_acquire);
}

/* Call `take_all`, which takes all events that are there and says how many, as often as is needed
 * so that each event from now on rings. One thread at a time. */
void wio_bell_answer(struct wio_bell *bell, size_t (*take_all)(void *context), void *context);

#endif
