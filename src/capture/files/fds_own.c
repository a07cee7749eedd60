/* SPDX-License-Identifier: Apache-2.0 */
/* Our own descriptors, which must look closed to the program and stay open. */
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/files/descriptors.h"

int *const cap_ring_fd_place = &cap_process.ring_fd;

bool cap_fd_is_ours(int fd)
{
    return fd >= 0 && ((fd == cap_process.ring_fd && cap_ring_is(fd)) || cap_pages_is(fd));
}

unsigned cap_fd_ours_within(unsigned first, unsigned last, unsigned ours[CAP_OWN_FDS])
{
    unsigned low = (unsigned)cap_process.ring_fd;
    unsigned high = (unsigned)cap_pages_fd;
    unsigned count = 0;
    if (low > high) {
        unsigned other = low;
        low = high;
        high = other;
    }
    const unsigned both[CAP_OWN_FDS] = {low, high};
    for (unsigned i = 0; i < CAP_OWN_FDS; i++) {
        if (both[i] >= first && both[i] <= last && cap_fd_is_ours((int)both[i])) {
            ours[count++] = both[i];
        }
    }
    return count;
}

void cap_fd_make_room(int fd, int new_fd)
{
    if (!cap_fd_is_ours(new_fd) || raw_fcntl(fd, F_GETFD, 0) < 0) {
        return;
    }
    long moved = raw_fcntl(new_fd, F_DUPFD_CLOEXEC, new_fd + 1);
    if (moved < 0) {
        moved = raw_fcntl(new_fd, F_DUPFD_CLOEXEC, 3);
    }
    if (moved >= 0) {
        int *place = new_fd == cap_pages_fd ? &cap_pages_fd : &cap_process.ring_fd;
        __atomic_store_n(place, (int)moved, __ATOMIC_RELEASE);
    }
}
