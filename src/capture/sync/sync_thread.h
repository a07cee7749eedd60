/* SPDX-License-Identifier: Apache-2.0 */
/* What the state of a thread has of its synchronisation, and what the image has: features.def. */
#ifndef WIO_CAPTURE_SYNC_SYNC_THREAD_H
#define WIO_CAPTURE_SYNC_SYNC_THREAD_H

#include <stdint.h>

/* A lock that a thread holds: sync_held.h. */
struct cap_held {
    uintptr_t lock; /* 0 = none */
    uint64_t begin; /* ticks when it was taken */
    uintptr_t source;
    uint32_t call;
    uint32_t use; /* CAP_HELD_*; 0 = taken once, its event is still to be written */
};

#define CAP_HELD_MAX 8u

struct cap_sync_thread {
    uint32_t held_count;
    struct cap_held held[CAP_HELD_MAX];
    struct cap_team *team; /* of OpenMP, NULL = none: sync_gomp.c */
};

#define CAP_WAITERS 256u

struct cap_sync_image {
    uint32_t waiters[CAP_WAITERS]; /* atomic: sync_held.h */
    /* sync_object.c: a fork in the middle of it leaves nothing half done in the child. Atomic: a
     * thread reads the maps. */
    uint32_t object_writer;
};

#endif
