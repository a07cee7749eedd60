/* SPDX-License-Identifier: Apache-2.0 */
/* A member's part in a round of a barrier: arg3 of class BARRIER (R-SYNC-5). */
#ifndef WIO_CAPTURE_SYNC_BARRIER_H
#define WIO_CAPTURE_SYNC_BARRIER_H

enum cap_part {
    CAP_PART_GIVES = 1, /* the others wait for it */
    CAP_PART_TAKES = 2, /* it waits for them */
    CAP_PART_BOTH = 3,
};

#endif
