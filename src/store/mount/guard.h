/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that outlives the mount's and frees the mount point when that one ends without doing so
 * itself (SIGKILL, a crash). libfuse's auto_unmount does this for user 0 alone: its fusermount3
 * (3.14) takes the EACCES that the kernel has for user 0 as "still in use", and leaves another
 * user's mount point behind (ENOTCONN). The guard runs in a session of its own, so that what ends
 * the mount's process group leaves it, and holds no descriptor of the mount.
 */
#ifndef WIO_MOUNT_GUARD_H
#define WIO_MOUNT_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include <whyio/status.h>

struct mount_guard {
    pid_t process;
    int alive; /* the guard reads its end: when this process ends, all ends */
};

/* Before anything is mounted, and before the process has threads. `point` is absolute and has no
 * links (realpath(3)), here and below; it is kept by the guard as it is. WIO_ERR_IO: no process. */
WIO_MUST_CHECK enum wio_status mount_guard_begin(struct mount_guard *guard, const char *point,
                                                 struct wio_error *err);
/* It is unmounted, or never was mounted: the guard ends without a look at it. */
void mount_guard_end(struct mount_guard *guard);

/* Frees a mount point of a store whose process has ended: where a look at it is ENOTCONN, and
 * /proc/self/mountinfo has it as fuse.whyio (names of up to 255 bytes). Waits for that. False: it
 * is as it was. */
bool mount_guard_free(const char *point);

#endif
