/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations of futex(2) do. Pure. */
#ifndef WIO_OPS_FUTEX_KINDS_H
#define WIO_OPS_FUTEX_KINDS_H

#include <linux/futex.h>
#include <stdbool.h>

enum wio_futex_kind { WIO_FUTEX_OTHER, WIO_FUTEX_WAITS, WIO_FUTEX_WAKES };

static inline enum wio_futex_kind wio_futex_kind_of(long operation)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return WIO_FUTEX_WAITS;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_UNLOCK_PI:
        return WIO_FUTEX_WAKES;
    default:
        return WIO_FUTEX_OTHER;
    }
}

static inline bool wio_futex_has_second_word(long operation)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

static inline bool wio_futex_has_bits(long operation)
{
    const long command = operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET;
}

#endif
