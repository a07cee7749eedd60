/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors whose position other processes may move: children, and receivers of SCM_RIGHTS. */
#include <string.h>
#include <sys/socket.h>

#include "capture/files/fds.h"

/* The kernel has read the control data, so we can. */
void cap_fd_share_sent(const struct msghdr *message)
{
    struct msghdr *at = (struct msghdr *)(uintptr_t)message;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(at); part != NULL; part = CMSG_NXTHDR(at, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= part->cmsg_len; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
            struct cap_fd *entry = fd >= 0 && !cap_fd_is_guest() ? cap_fd_find(fd) : NULL;
            if (entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0) {
                cap_fd_put_flag(entry, CAP_FD_SHARED, true);
            }
        }
    }
}

static void share_block(struct cap_fd *entries, bool only_inherited)
{
    for (unsigned i = 0; i < CAP_FD_BLOCK; i++) {
        uint32_t flags = entries[i].flags;
        if ((flags & CAP_FD_KNOWN) != 0 && (flags & CAP_FD_SHARED) == 0 &&
            !(only_inherited && (flags & CAP_FD_CLOEXEC) != 0)) {
            cap_fd_put_flag(&entries[i], CAP_FD_SHARED, true);
        }
    }
}

void cap_fd_share_all(bool only_inherited)
{
    for (unsigned block = 0; block < CAP_FD_BLOCKS; block++) {
        if (cap_fd_blocks[block] != NULL) {
            share_block(cap_fd_blocks[block], only_inherited);
        }
    }
}
