/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/memory_group.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/system/cgroups.h"

#define TEXT_MOST (1u << 20)
/* Version 1 says "no limit" as the largest number of whole pages. */
#define NO_LIMIT (UINT64_C(1) << 62)

static const struct {
    const char *limit;
    const char *usage;
    const char *file; /* in memory.stat */
} files[] = {
    [1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache "},
    [2] = {"memory.max", "memory.current", "file "},
};

/* The number behind `key` at the begin of a line; of a file that is a number `key` is "". */
static uint64_t read_number(const struct wio_cgroup *group, const char *name, const char *key,
                            uint64_t fallback)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    uint64_t number;
    const char *line =
        wio_cgroup_read(group, name, &text) && text.size > 0 ? (const char *)text.data : "";
    while (strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        if (line == NULL) {
            return fallback;
        }
        line++;
    }
    line += strlen(key);
    return wio_scan_u64(&line, &number) ? number : fallback; /* "max" is no number */
}

/* The limits of the groups above hold, too. */
static bool look_at(void *context, const struct wio_cgroup *place)
{
    struct wio_memory_group *group = context;
    uint64_t limit = read_number(place, files[place->version].limit, "", NO_LIMIT);
    if (limit < NO_LIMIT && (group->version == 0 || limit < group->limit)) {
        group->version = place->version;
        group->limit = limit;
        group->usage = read_number(place, files[place->version].usage, "", 0);
        group->file = read_number(place, "memory.stat", files[place->version].file, 0);
    }
    return true;
}

struct wio_memory_group wio_memory_group_of(const char *cgroups, const char *root)
{
    struct wio_memory_group group = {0};
    wio_cgroups_each(cgroups, root, "memory", look_at, &group);
    return group;
}

struct wio_memory_group wio_memory_group_own(void)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    if (wio_io_read_file("/proc/self/cgroup", TEXT_MOST, &text, NULL) != WIO_OK || text.size == 0) {
        return (struct wio_memory_group){0};
    }
    return wio_memory_group_of((const char *)text.data, WIO_MEMORY_GROUP_DIR);
}
