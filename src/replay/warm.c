/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/warm.h"

void rp_warm_see(struct rp_warm *warm, uint64_t offset, uint64_t bytes, uint64_t dur_ns,
                 uint64_t wrote_end)
{
    uint64_t known = warm->end > wrote_end ? warm->end : wrote_end;
    if (bytes == 0 || offset < known || bytes > UINT64_MAX - offset) {
        return; /* read again, or what the run wrote */
    }
    bool goes_on = offset == warm->end && offset > 0;
    if (!goes_on) {
        warm->is_memory = dur_ns < RP_WARM_LATENCY_NS + bytes / RP_WARM_BYTES_PER_NS;
    }
    warm->end = offset + bytes;
    if (warm->is_memory) {
        warm->memory_bytes += bytes;
    } else {
        warm->device_bytes += bytes;
    }
}
