/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of descriptors: counted, and asked for where other processes may move them. */
#include "capture/core/raw.h"
#include "capture/files/fds.h"

/* What kind of file is it? Asked once, by the first operation that needs a position; a server that
 * is slow to answer is not asked, since that time would be none of the program's. */
static void find_type(int fd, struct cap_fd *entry)
{
    const int64_t type = raw_file_type(fd);
    uint32_t flags = CAP_FD_TYPED;
    if (type >= 0) {
        flags |= S_ISREG(type) ? CAP_FD_REGULAR | CAP_FD_SEEKS : 0;
        flags |= S_ISBLK(type) || S_ISDIR(type) ? CAP_FD_SEEKS : 0;
        cap_fd_put_flag(entry, flags, true);
    }
}

/* Where an operation that has just moved `done` bytes began, by the kernel's own position. */
static int64_t begin_of(int fd, int64_t done)
{
    int64_t pos = raw_lseek(fd, 0, SEEK_CUR);
    return pos >= 0 && pos >= done ? pos - done : WIO_NO_OFFSET;
}

int64_t cap_fd_advance_slow(int fd, int64_t result)
{
    if (cap_fd_is_guest()) {
        cap_fd_share_with_guest(fd);
        return begin_of(fd, result > 0 ? result : 0);
    }
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry == NULL || (entry->flags & CAP_FD_KNOWN) == 0) {
        return WIO_NO_OFFSET;
    }
    if ((entry->flags & CAP_FD_TYPED) == 0) {
        find_type(fd, entry);
    }
    if ((entry->flags & CAP_FD_SEEKS) == 0) {
        return WIO_NO_OFFSET;
    }
    int64_t done = result > 0 ? result : 0;
    if ((entry->flags & (CAP_FD_SHARED | CAP_FD_APPEND)) == 0) {
        return __atomic_fetch_add(&entry->pos, done, __ATOMIC_RELAXED);
    }
    int64_t pos = raw_lseek(fd, 0, SEEK_CUR);
    if (pos < 0) {
        return WIO_NO_OFFSET;
    }
    entry->pos = pos;
    return pos >= done ? pos - done : WIO_NO_OFFSET;
}

void cap_fd_seek(int fd, int64_t pos)
{
    if (cap_fd_is_guest()) {
        cap_fd_share_with_guest(fd);
        return;
    }
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0) {
        __atomic_store_n(&entry->pos, pos, __ATOMIC_RELAXED);
    }
}

int64_t cap_fd_position(int fd)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    uint32_t flags = entry != NULL ? entry->flags : 0;
    bool is_sure = (flags & CAP_FD_SEEKS) != 0 && (flags & (CAP_FD_SHARED | CAP_FD_APPEND)) == 0;
    return is_sure ? __atomic_load_n(&entry->pos, __ATOMIC_RELAXED) : WIO_NO_OFFSET;
}
