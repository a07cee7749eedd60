/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the table of descriptors share: fds.c, fds_position.c, fds_share.c,
 * fds_table.c. Signal safe, thread safe. */
#ifndef WIO_CAPTURE_FILES_FDS_H
#define WIO_CAPTURE_FILES_FDS_H

#include "capture/core/capture.h"
#include "capture/files/descriptors.h"

/* A child of vfork has descriptors of its own, but our memory: it must not change the table. */
static inline bool cap_fd_is_guest(void)
{
    return (cap_self->flags & WIO_EVENT_VFORK) != 0;
}

static inline void cap_fd_put_flag(struct cap_fd *entry, uint32_t flag, bool is_on)
{
    if (is_on) {
        (void)__atomic_fetch_or(&entry->flags, flag, __ATOMIC_RELAXED);
    } else {
        (void)__atomic_fetch_and(&entry->flags, ~flag, __ATOMIC_RELAXED);
    }
}

/* The entry, made where it is not there; NULL where there is no memory or no such descriptor. */
struct cap_fd *cap_fd_make_entry(int fd) CAP_HIDDEN;

static inline struct cap_fd *cap_fd_entry(int fd)
{
    struct cap_fd *entry = cap_fd_find(fd);
    return entry != NULL ? entry : cap_fd_make_entry(fd);
}

/* A child of vfork may move the position of a descriptor that is its parent's too. What stands at
 * this number in the parent may be another one by now: then it is asked for once too often. */
void cap_fd_share_with_guest(int fd) CAP_HIDDEN;

#endif
