/* SPDX-License-Identifier: Apache-2.0 */
/* Which file system is mounted where, by the text of /proc/self/mountinfo. Pure. */
#ifndef WIO_BASE_SYSTEM_MOUNTS_H
#define WIO_BASE_SYSTEM_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#define WIO_MOUNT_TEXT 256

struct wio_mount {
    unsigned major; /* of the device, as stat tells it */
    unsigned minor;
    char root[WIO_MOUNT_TEXT];    /* which directory of the file system that shows */
    char place[WIO_MOUNT_TEXT];   /* where it is mounted */
    char type[WIO_MOUNT_TEXT];    /* "ext4" */
    char source[WIO_MOUNT_TEXT];  /* "/dev/sda1", "server:/export" */
    char options[WIO_MOUNT_TEXT]; /* of the mount: "rw,noatime" .. */
    char super[WIO_MOUNT_TEXT];   /* .. and of the file system: "rw,errors=continue" */
};

/* The next mount of the lines at *mountinfo, which moves on; false at their end. Lines that are
 * none are passed over. */
bool wio_mount_next(const char **mountinfo, struct wio_mount *mount_out);

/* Is the path (absolute, without links) the place, or below it? */
bool wio_mount_covers(const char *place, const char *path);

/* The mount that a path (absolute, without links) is on: of those whose place it begins with the
 * longest, the last of several, which hides the others. What is too long is cut. */
bool wio_mount_find(const char *mountinfo, const char *path, struct wio_mount *mount_out);

#endif
