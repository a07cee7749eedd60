/* SPDX-License-Identifier: Apache-2.0 */
#include "store/node/sizes.h"

#define MIB (UINT64_C(1) << 20)

/* Segments of the log beside those that a checkpoint has not passed yet. */
enum { SPARE_SEGMENTS = 4 };

struct node_sizes node_sizes_for(uint64_t total_bytes)
{
    struct node_sizes sizes = {64 * MIB, 256 * MIB, 0, 12 * MIB};
    if (total_bytes < 1024 * MIB) {
        sizes = (struct node_sizes){8 * MIB, 16 * MIB, 0, 6 * MIB};
    } else if (total_bytes < 8192 * MIB) {
        sizes = (struct node_sizes){32 * MIB, 64 * MIB, 0, 12 * MIB};
    }
    sizes.keep_free_bytes = sizes.checkpoint_bytes + SPARE_SEGMENTS * sizes.log_segment_bytes;
    return sizes;
}
