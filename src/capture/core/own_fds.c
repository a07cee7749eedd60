/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/own_fds.h"

#include "capture/core/raw.h"

struct cap_own_fd cap_own_fds[CAP_OWN_FDS] = {{.fd = -1}, {.fd = -1}};

void cap_own_set(unsigned place, int fd)
{
    struct stat st = {0};
    if (raw_fstat(fd, &st) == 0) {
        cap_own_fds[place].device = st.st_dev;
        cap_own_fds[place].inode = st.st_ino;
    }
    __atomic_store_n(&cap_own_fds[place].fd, fd, __ATOMIC_RELEASE);
}

bool cap_own_is(unsigned place, int fd)
{
    const struct cap_own_fd *own = &cap_own_fds[place];
    struct stat st = {0};
    return fd >= 0 && raw_fstat(fd, &st) == 0 && st.st_dev == own->device &&
           st.st_ino == own->inode;
}
