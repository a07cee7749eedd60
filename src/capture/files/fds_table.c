/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the table of descriptors. */
#include <sys/mman.h>

#include "capture/core/raw.h"
#include "capture/files/fds.h"

struct cap_fd *cap_fd_blocks[CAP_FD_BLOCKS];

#define BLOCK_BYTES (CAP_FD_BLOCK * sizeof(struct cap_fd))

_Static_assert(sizeof(struct cap_fd) == 64, "one cache line per descriptor");

struct cap_fd *cap_fd_make_entry(int fd)
{
    unsigned block = (unsigned)fd / CAP_FD_BLOCK;
    if (block >= CAP_FD_BLOCKS) {
        return NULL;
    }
    struct cap_fd *fresh =
        raw_mmap(BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == NULL) {
        return NULL;
    }
    struct cap_fd *expected = NULL;
    if (!__atomic_compare_exchange_n(&cap_fd_blocks[block], &expected, fresh, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        (void)raw_munmap(fresh, BLOCK_BYTES);
    }
    return cap_fd_find(fd);
}

void cap_fd_share_with_guest(int fd)
{
    unsigned block = (unsigned)fd / CAP_FD_BLOCK;
    struct cap_fd *entries =
        block < CAP_FD_BLOCKS ? __atomic_load_n(&cap_fd_blocks[block], __ATOMIC_ACQUIRE) : NULL;
    if (entries != NULL) {
        cap_fd_put_flag(&entries[(unsigned)fd % CAP_FD_BLOCK], CAP_FD_SHARED, true);
    }
}
