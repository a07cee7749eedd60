/* SPDX-License-Identifier: Apache-2.0 */
/* How large a target's log is, and what transactions may keep, for the size of its device. Pure. */
#ifndef WIO_STORE_NODE_SIZES_H
#define WIO_STORE_NODE_SIZES_H

#include <stdint.h>

struct node_sizes {
    uint64_t log_segment_bytes;
    uint64_t checkpoint_bytes; /* of log that a checkpoint follows */
    uint64_t keep_free_bytes;  /* of the device, for the log: what is promised to files is less */
    uint64_t txn_bytes_max;    /* of one transaction: its record fits into a segment */
};

/* `total_bytes`: of the store or its device, whichever is less. */
struct node_sizes node_sizes_for(uint64_t total_bytes);

#endif
