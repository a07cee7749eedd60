/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths are on storage: FORMAT.md R-STREAM-2. Pure, no allocation, signal safe. */
#ifndef WIO_OPS_STORAGE_PATH_H
#define WIO_OPS_STORAGE_PATH_H

#include <stdbool.h>
#include <string.h>

static inline bool wio_path_is_below(const char *path, const char *directory)
{
    return strncmp(path, directory, strlen(directory)) == 0;
}

/* The kernel's own files and devices, by name; what is in /dev/shm is neither. */
static inline bool wio_path_is_special(const char *path)
{
    return wio_path_is_below(path, "/proc/") || wio_path_is_below(path, "/sys/") ||
           (wio_path_is_below(path, "/dev/") && !wio_path_is_below(path, "/dev/shm/"));
}

/* An absolute name that is not special; "pipe:[4711]" and its like are none. */
static inline bool wio_path_is_storage(const char *path)
{
    return path[0] == '/' && !wio_path_is_special(path);
}

#endif
