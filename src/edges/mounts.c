/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which names mean a file of one machine only. /tmp of two machines are two directories, though
 * their paths, their types and even the numbers of their devices may be the same; so it is the
 * machine (its boot) that tells them apart. Containers of one machine that see one directory share
 * it, whatever their host names are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/system/mounts.h"
#include "edges/paths.h"
#include "trace/read/recorders.h"

struct wio_join_mount {
    char *place;
    uint32_t file_system;
};

struct building {
    struct wio_join_mounts *mounts;
    struct wio_strtab systems; /* boot, device, directory -> number of a file system */
    uint32_t count;
    uint32_t room;
};

/* Types that no other machine sees. What is not named here may be shared: over a network, by a
 * cluster on one disk, or by a program (FUSE). */
static bool is_local(const char *type)
{
    static const char *const types[] = {
        "bcachefs", "btrfs",  "cgroup", "cgroup2", "debugfs", "devpts", "devtmpfs",
        "exfat",    "ext2",   "ext3",   "ext4",    "f2fs",    "jfs",    "hugetlbfs",
        "iso9660",  "mqueue", "ntfs3",  "overlay", "proc",    "ramfs",  "reiserfs",
        "squashfs", "sysfs",  "tmpfs",  "vfat",    "xfs",     "zfs"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(types); i++) {
        if (strcmp(types[i], type) == 0) {
            return true;
        }
    }
    return false;
}

static enum wio_status number_of(struct building *building, const char *boot_id,
                                 const struct wio_mount *mount, uint32_t *number_out)
{
    char text[WIO_MOUNT_TEXT + 128];
    *number_out = 0;
    if (!is_local(mount->type)) {
        return WIO_OK;
    }
    int length = snprintf(text, sizeof(text), "%.40s %u:%u %s", boot_id, mount->major, mount->minor,
                          mount->root);
    return wio_strtab_add(&building->systems, text, (size_t)length, number_out);
}

static enum wio_status add_mount(struct building *building, const char *boot_id,
                                 const struct wio_mount *mount)
{
    struct wio_join_mounts *mounts = building->mounts;
    uint32_t number;
    void *items = mounts->items;
    WIO_TRY(number_of(building, boot_id, mount, &number));
    WIO_TRY(wio_make_room(&items, sizeof(*mounts->items), &building->room, building->count + 1));
    mounts->items = items;
    char *place = strdup(mount->place);
    if (place == NULL) {
        return WIO_ERR_NOMEM;
    }
    mounts->items[building->count++] = (struct wio_join_mount){place, number};
    return WIO_OK;
}

static enum wio_status add_mounts(struct building *building, const struct wio_recorder_info *info)
{
    struct wio_mount mount;
    char *text = strndup(info->mounts, info->mounts_bytes);
    enum wio_status status = text == NULL ? WIO_ERR_NOMEM : WIO_OK;
    const char *next = text;
    while (status == WIO_OK && wio_mount_next(&next, &mount)) {
        status = add_mount(building, info->boot_id, &mount);
    }
    free(text);
    return status;
}

/* The recorder that ran on a host of this name, and knows the machine. */
static bool find_recorder(const struct wio_trace *trace, const char *host,
                          struct wio_recorder_info *info_out)
{
    for (uint32_t i = 0; i < wio_trace_recorder_count(trace); i++) {
        if (wio_trace_recorder(trace, i, info_out) == WIO_OK && info_out->boot_id[0] != '\0' &&
            info_out->mounts_bytes > 0 && info_out->host_bytes == strlen(host) &&
            memcmp(info_out->host, host, info_out->host_bytes) == 0) {
            return true;
        }
    }
    return false;
}

static const char *host_name(const struct wio_trace *trace,
                             const struct wio_infer_process *processes, uint32_t host)
{
    uint32_t i = 0;
    while (i < wio_trace_process_count(trace) && processes[i].host != host) {
        i++;
    }
    return i < wio_trace_process_count(trace) ? wio_trace_process(trace, i)->host : "";
}

/* All hosts in turn; `is_several_out`: they are of more than one machine. */
static enum wio_status build(struct building *building, const struct wio_trace *trace,
                             const struct wio_infer_process *processes, bool *is_several_out)
{
    struct wio_join_mounts *mounts = building->mounts;
    const char *boot_id = NULL;
    *is_several_out = false;
    for (uint32_t host = 0; host < mounts->host_count; host++) {
        struct wio_recorder_info info;
        mounts->first[host] = building->count;
        if (!find_recorder(trace, host_name(trace, processes, host), &info)) {
            continue;
        }
        *is_several_out |= boot_id != NULL && strcmp(boot_id, info.boot_id) != 0;
        boot_id = info.boot_id;
        WIO_TRY(add_mounts(building, &info));
    }
    mounts->first[mounts->host_count] = building->count;
    return WIO_OK;
}

static void free_items(struct wio_join_mounts *mounts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(mounts->items[i].place);
    }
    free(mounts->items);
    free(mounts->first);
    *mounts = (struct wio_join_mounts){0};
}

enum wio_status wio_join_mounts_init(struct wio_join_mounts *mounts, const struct wio_trace *trace,
                                     const struct wio_infer_process *processes, uint32_t hosts)
{
    struct building building = {.mounts = mounts};
    bool is_several;
    if (hosts < 2) {
        return WIO_OK;
    }
    mounts->host_count = hosts;
    mounts->first = calloc((size_t)hosts + 1, sizeof(*mounts->first));
    enum wio_status status =
        mounts->first == NULL ? WIO_ERR_NOMEM : build(&building, trace, processes, &is_several);
    if (status != WIO_OK || !is_several) {
        free_items(mounts, building.count);
    }
    wio_strtab_fini(&building.systems);
    return status;
}

void wio_join_mounts_fini(struct wio_join_mounts *mounts)
{
    free_items(mounts, mounts->first == NULL ? 0 : mounts->first[mounts->host_count]);
}

uint32_t wio_join_mounts_find(const struct wio_join_mounts *mounts, uint32_t host, const char *path)
{
    uint32_t found = 0;
    size_t longest = 0;
    if (mounts->first == NULL || path[0] != '/') {
        return 0;
    }
    for (uint32_t i = mounts->first[host]; i < mounts->first[host + 1]; i++) {
        const struct wio_join_mount *mount = &mounts->items[i];
        size_t length = strlen(mount->place);
        if (length >= longest && wio_mount_covers(mount->place, path)) {
            longest = length;
            found = mount->file_system;
        }
    }
    return found;
}
