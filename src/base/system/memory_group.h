/* SPDX-License-Identifier: Apache-2.0 */
/* The memory group (cgroup) of a process: what the kernel lets it and its relatives have. */
#ifndef WIO_BASE_SYSTEM_MEMORY_GROUP_H
#define WIO_BASE_SYSTEM_MEMORY_GROUP_H

#include <stdint.h>

#define WIO_MEMORY_GROUP_DIR "/sys/fs/cgroup"

struct wio_memory_group {
    uint32_t version; /* of its hierarchy: 1 or 2; 0: there is none with a limit */
    uint64_t limit;   /* bytes: the least of its own and those of the groups above it */
    uint64_t usage;   /* bytes, of the group with that limit .. */
    uint64_t file;    /* .. and of these, pages of files */
};

/*
 * `cgroups`: the text of /proc/PID/cgroup; `root`: where the hierarchies are mounted, below it
 * "memory" for version 1 and "unified" for version 2 on systems that have both. version 0 where no
 * limit is set, or nothing can be read (a container whose groups have other names inside).
 */
struct wio_memory_group wio_memory_group_of(const char *cgroups, const char *root);
/* The same of this process. */
struct wio_memory_group wio_memory_group_own(void);

#endif
