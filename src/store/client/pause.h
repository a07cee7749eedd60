/* SPDX-License-Identifier: Apache-2.0 */
/* How long a transaction rests before it begins again. */
#ifndef WIO_STORE_CLIENT_PAUSE_H
#define WIO_STORE_CLIENT_PAUSE_H

#include <stdint.h>

#define WIO_PAUSE_DOUBLINGS 7u /* to 128 times as long */

/* Behind a refusal of `attempt` (from 1), of at most first_ns the first time. Grows with the
 * attempts, and differs between transactions, so that two do not meet for ever. Pure. */
static inline uint64_t wio_store_pause_ns(uint64_t client, uint64_t number, uint32_t attempt,
                                          uint64_t first_ns)
{
    uint32_t doublings = attempt - 1 < WIO_PAUSE_DOUBLINGS ? attempt - 1 : WIO_PAUSE_DOUBLINGS;
    uint64_t most = first_ns << doublings;
    uint64_t mixed =
        (client + number * 31 + attempt * UINT64_C(131)) * UINT64_C(0x9e3779b97f4a7c15);
    return most / 2 + (mixed >> 33) % (most / 2 + 1);
}

#endif
