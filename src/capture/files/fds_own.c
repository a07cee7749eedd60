/* SPDX-License-Identifier: Apache-2.0 */
/* Our own descriptors, which must look closed to the program and stay open. */
#include "capture/core/own_fds.h"
#include "capture/core/raw.h"
#include "capture/files/descriptors.h"

/* Which of them it is; CAP_OWN_FDS: none. */
static unsigned place_of(int fd)
{
    unsigned place = 0;
    while (place < CAP_OWN_FDS && (fd != cap_own_fds[place].fd || !cap_own_is(place, fd))) {
        place++;
    }
    return place;
}

bool cap_fd_is_ours(int fd)
{
    return place_of(fd) < CAP_OWN_FDS;
}

unsigned cap_fd_ours_within(unsigned first, unsigned last, unsigned ours[CAP_OWN_FDS])
{
    unsigned low = (unsigned)cap_own_fds[CAP_OWN_RING].fd;
    unsigned high = (unsigned)cap_own_fds[CAP_OWN_FEATURE].fd;
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
    const unsigned place = place_of(new_fd);
    if (place == CAP_OWN_FDS || raw_fcntl(fd, F_GETFD, 0) < 0) {
        return;
    }
    long moved = raw_fcntl(new_fd, F_DUPFD_CLOEXEC, new_fd + 1);
    if (moved < 0) {
        moved = raw_fcntl(new_fd, F_DUPFD_CLOEXEC, 3);
    }
    if (moved >= 0) {
        __atomic_store_n(&cap_own_fds[place].fd, (int)moved, __ATOMIC_RELEASE);
    }
}
