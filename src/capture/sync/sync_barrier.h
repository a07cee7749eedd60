/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers: a member's part in a round is arg3 of class BARRIER (R-SYNC-5). */
#ifndef WIO_CAPTURE_SYNC_SYNC_BARRIER_H
#define WIO_CAPTURE_SYNC_SYNC_BARRIER_H

#include <pthread.h>
#include <stdbool.h>

#include "capture/core/attributes.h"

enum cap_part {
    CAP_PART_GIVES = 1, /* the others wait for it */
    CAP_PART_TAKES = 2, /* it waits for them */
    CAP_PART_BOTH = 3,
};

/* It is for several processes: a round of it may be without this one. */
bool cap_barrier_is_shared(const pthread_barrier_t *barrier) CAP_HIDDEN;

#endif
