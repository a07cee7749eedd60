/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/limits.h"

uint64_t wio_hint_of_queue(const struct wio_admit *shard, const struct wio_arrival *arrival,
                           enum wio_admit_reason reason)
{
    (void)shard;
    (void)reason;
    return arrival->wait_ns + arrival->cost_ns;
}
