/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/memory_group.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"

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

/* A hierarchy and the place of a group in it. */
struct group_place {
    const char *root;
    const char *group; /* "/a/b" */
    size_t length;
    uint32_t version;
};

/* The file `name` of the group; an empty text where it cannot be read. */
static void read_file(const struct group_place *place, const char *name, struct wio_blob *text)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s%.*s/%s", place->root, (int)place->length, place->group,
                     name);
    if (n < 0 || (size_t)n >= sizeof(path) ||
        wio_io_read_file(path, TEXT_MOST, text, NULL) != WIO_OK) {
        wio_blob_clear(text);
    }
}

/* The number behind `key` at the begin of a line; of a file that is a number `key` is "". */
static uint64_t read_number(const struct group_place *place, const char *name, const char *key,
                            uint64_t fallback)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    uint64_t number;
    read_file(place, name, &text);
    const char *line = text.size > 0 ? (const char *)text.data : "";
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

static void look_at(const struct group_place *place, struct wio_memory_group *group)
{
    uint64_t limit = read_number(place, files[place->version].limit, "", NO_LIMIT);
    if (limit >= NO_LIMIT || (group->version != 0 && limit >= group->limit)) {
        return;
    }
    group->version = place->version;
    group->limit = limit;
    group->usage = read_number(place, files[place->version].usage, "", 0);
    group->file = read_number(place, "memory.stat", files[place->version].file, 0);
}

/* The limits of the groups above hold, too. */
static void look_up(struct group_place place, struct wio_memory_group *group)
{
    for (;;) {
        look_at(&place, group);
        if (place.length == 0) {
            return;
        }
        while (place.length > 0 && place.group[--place.length] != '/') {
        }
    }
}

/* Is "memory" among "cpu,memory"? */
static bool has_memory(const char *names, size_t length)
{
    static const char name[] = "memory";
    const char *end = names + length;
    while (names < end) {
        size_t one = strcspn(names, ",:");
        if (one == sizeof(name) - 1 && memcmp(names, name, one) == 0) {
            return true;
        }
        names += one + 1;
    }
    return false;
}

/* "NUMBER:CONTROLLERS:GROUP", without controllers in version 2. */
static void look_at_line(const char *line, size_t length, const char *root,
                         struct wio_memory_group *group)
{
    char below[PATH_MAX];
    const char *names = memchr(line, ':', length);
    const char *path =
        names == NULL ? NULL : memchr(names + 1, ':', length - (size_t)(names + 1 - line));
    if (path == NULL) {
        return;
    }
    size_t names_length = (size_t)(path - names) - 1;
    struct group_place place = {below, path + 1, length - (size_t)(path + 1 - line), 2};
    place.length = place.length == 1 ? 0 : place.length; /* "/" */
    if (names_length > 0) {
        place.version = 1;
        (void)snprintf(below, sizeof(below), "%s/memory", root);
        if (has_memory(names + 1, names_length)) {
            look_up(place, group);
        }
        return;
    }
    (void)snprintf(below, sizeof(below), "%s", root);
    look_up(place, group);
    (void)snprintf(below, sizeof(below), "%s/unified", root);
    look_up(place, group);
}

struct wio_memory_group wio_memory_group_of(const char *cgroups, const char *root)
{
    struct wio_memory_group group = {0};
    while (*cgroups != '\0') {
        size_t length = strcspn(cgroups, "\n");
        look_at_line(cgroups, length, root, &group);
        cgroups += length + (cgroups[length] == '\n');
    }
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
