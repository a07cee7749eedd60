/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that one thread opened and another one used: the only order between threads that a
 * replay must keep in every mode, since the descriptor does not exist before.
 *
 * A *share* is one life of a descriptor number in a process image: from the operation that gave it
 * to the one that closed it. Only lives that cross threads are kept; the rest of a process'
 * descriptors belong to the thread that opened them.
 */
#ifndef WIO_REPLAY_INITIAL_SHARED_H
#define WIO_REPLAY_INITIAL_SHARED_H

#include <stdint.h>

#include <whyio/event.h>

#include "base/map.h"
#include "replay/initial/process_tree.h"

struct rp_share {
    uint32_t image;
    int32_t fd;
    uint32_t opener;   /* stream */
    uint64_t open_ns;  /* begin of the operation that gave it */
    uint64_t close_ns; /* of the one that took it; UINT64_MAX = none */
    uint64_t uses;     /* between them, by any thread */
};

struct rp_life {
    uint32_t opener;
    uint32_t share; /* RP_NONE while only its opener uses it */
    uint64_t open_ns;
    uint64_t uses;
};

/* Zero-initialise. */
struct rp_shared {
    const struct rp_family *family;
    struct rp_share *items; /* after _finish sorted by image, fd, open_ns */
    uint32_t count;
    uint32_t capacity;
    struct wio_map open; /* (image, fd) -> index into lives */
    struct rp_life *lives;
    uint32_t life_count;
    uint32_t life_capacity;
    uint32_t life_free; /* chain of unused lives through `share`, RP_NONE */
    uint32_t *first;    /* per image: its first share; image_count + 1 of them */
};

WIO_MUST_CHECK enum wio_status rp_shared_init(struct rp_shared *shared,
                                              const struct rp_family *family);
void rp_shared_fini(struct rp_shared *shared);
/* Each event in order of time. */
WIO_MUST_CHECK enum wio_status rp_shared_see(struct rp_shared *shared,
                                             const struct wio_event *event);
WIO_MUST_CHECK enum wio_status rp_shared_finish(struct rp_shared *shared);

/* The share of descriptor `fd` at time t_ns (its opening and closing included), RP_NONE. */
uint32_t rp_shared_find(const struct rp_shared *shared, uint32_t image, int32_t fd, uint64_t t_ns);

/* What an operation does to descriptors, -1 = none: the one it gives, the one it takes, up to two
 * that it uses. Pure. */
struct rp_fd_effect {
    int64_t gives;
    int64_t takes;
    int64_t uses[2];
};
void rp_fd_effect_of(const struct wio_event *event, struct rp_fd_effect *effect_out);

#endif
