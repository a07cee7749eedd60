/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is at each path when the run has just ended, and the symbolic links on the way to it, so
 * that replay can build the tree. FORMAT.md#files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "seal/lov.h"
#include "seal/seal_internal.h"
#include "trace/format/file_type.h"

struct look {
    struct wio_seal *seal;
    struct wio_map seen;        /* paths id -> 1: each path is looked at once */
    struct wio_map filesystems; /* st_dev -> string id of the segment */
    uint32_t *targets;          /* paths ids: where links lead */
    uint32_t target_count;
    uint32_t target_capacity;
};

static void look_fini(struct look *look)
{
    wio_map_fini(&look->seen);
    wio_map_fini(&look->filesystems);
    free(look->targets);
}

static const char *filesystem_name(unsigned long magic)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } names[] = {
        {0xef53, "ext4"},        {0x01021994, "tmpfs"},     {0x58465342, "xfs"},
        {0x9123683e, "btrfs"},   {0x6969, "nfs"},           {0x794c7630, "overlay"},
        {0x0bd00bd0, "lustre"},  {0x9fa0, "proc"},          {0x62656572, "sysfs"},
        {0x65735546, "fuse"},    {0x47504653, "gpfs"},      {0x2fc12fc1, "zfs"},
        {0xf2f52010, "f2fs"},    {0x4d44, "vfat"},          {0x73717368, "squashfs"},
        {0x19830326, "beegfs"},  {0x00c36400, "ceph"},      {0x01021997, "9p"},
        {0x1cd1, "devpts"},      {0x958458f6, "hugetlbfs"}, {0x50495045, "pipefs"},
        {0x5346544e, "ntfs"},    {0xff534d42, "cifs"},      {0x27e0eb, "cgroup"},
        {0x63677270, "cgroup2"}, {0x64626720, "debugfs"},   {0x20030528, "orangefs"},
        {0x2011bab0, "exfat"},   {0x858458f6, "ramfs"},     {0xca451a4e, "bcachefs"},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(names); i++) {
        if (names[i].magic == magic) {
            return names[i].name;
        }
    }
    return NULL;
}

static enum wio_status find_filesystem(struct look *look, const char *path, const struct stat *st,
                                       uint32_t *fs_out)
{
    struct statfs fs;
    char text[32];
    const uint64_t *known = wio_map_get(&look->filesystems, st->st_dev);
    *fs_out = known == NULL ? 0 : (uint32_t)*known;
    /* Through a link one would land on another file system. */
    if (known != NULL || S_ISLNK(st->st_mode) || statfs(path, &fs) != 0) {
        return WIO_OK;
    }
    const char *name = filesystem_name((unsigned long)fs.f_type & 0xffffffffu);
    if (name == NULL) {
        (void)snprintf(text, sizeof(text), "0x%lx", (unsigned long)fs.f_type & 0xffffffffu);
        name = text;
    }
    WIO_TRY(wio_strtab_add(&look->seal->segment->strings, name, strlen(name), fs_out));
    return wio_map_put(&look->filesystems, st->st_dev, *fs_out);
}

static enum wio_status add_target(struct look *look, const char *path, size_t bytes)
{
    uint32_t id = 0;
    void *array = look->targets;
    WIO_TRY(wio_strtab_add(&look->seal->paths, path, bytes, &id));
    WIO_TRY(
        wio_grow(&array, sizeof(*look->targets), &look->target_capacity, look->target_count + 1));
    look->targets = array;
    look->targets[look->target_count++] = id;
    return WIO_OK;
}

/* The link's text into the segment, and what it leads to onto the list of targets. */
static enum wio_status follow(struct look *look, const char *path, uint32_t *target_out)
{
    struct wio_seal *seal = look->seal;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob next = {0};
    WIO_CLEANUP(wio_blob_fini) struct wio_blob hidden = {0};
    char text[4096];
    ssize_t bytes = readlink(path, text, sizeof(text));
    if (bytes <= 0 || (size_t)bytes == sizeof(text)) {
        return WIO_OK;
    }
    if (text[0] != '/') {
        const char *slash = strrchr(path, '/');
        WIO_TRY(wio_blob_put(&next, path, (size_t)(slash - path) + 1));
    }
    WIO_TRY(wio_blob_put(&next, text, (size_t)bytes));
    WIO_TRY(wio_blob_reserve(&next, 2));
    next.size = wio_path_normalise((char *)next.data, next.size, NULL, NULL);
    WIO_TRY(add_target(look, (const char *)next.data, next.size));
    if (!seal->is_hiding) {
        return wio_strtab_add(&seal->segment->strings, text, (size_t)bytes, target_out);
    }
    WIO_TRY(wio_path_anonymise(seal->key, text, (size_t)bytes, &hidden));
    return wio_strtab_add(&seal->segment->strings, (const char *)hidden.data, hidden.size,
                          target_out);
}

/* Where Lustre has put the stripes of a file. R-FILE-1 */
static enum wio_status add_layout(struct look *look, const char *path, const struct stat *st,
                                  struct wio_file_info *file)
{
    struct wio_strtab *strings = &look->seal->segment->strings;
    char text[WIO_LOV_TEXT];

    if (!S_ISREG(st->st_mode) || strcmp(wio_strtab_get(strings, file->fs, NULL), "lustre") != 0) {
        return WIO_OK;
    }
    wio_lov_of_file(path, !look->seal->is_hiding, text);
    return text[0] == '\0' ? WIO_OK : wio_strtab_add(strings, text, strlen(text), &file->target);
}

static enum wio_status look_at(struct look *look, const char *path, bool only_links,
                               struct wio_file_info *file_out, bool *wanted_out)
{
    struct stat st;
    *file_out = (struct wio_file_info){.type = WIO_FILE_NONE};
    *wanted_out = !only_links;
    if (lstat(path, &st) != 0) {
        return WIO_OK;
    }
    *wanted_out = !only_links || S_ISLNK(st.st_mode);
    file_out->type = wio_file_type_of_mode(st.st_mode);
    file_out->mode = st.st_mode & 07777;
    file_out->size = (uint64_t)st.st_size;
    if (!*wanted_out) {
        return WIO_OK;
    }
    WIO_TRY(find_filesystem(look, path, &st, &file_out->fs));
    WIO_TRY(add_layout(look, path, &st, file_out));
    return S_ISLNK(st.st_mode) ? follow(look, path, &file_out->target) : WIO_OK;
}

static enum wio_status add_file(struct look *look, const char *path, size_t bytes, bool only_links,
                                struct wio_error *err)
{
    struct wio_seal *seal = look->seal;
    struct wio_file_info file;
    bool is_wanted = false;
    uint32_t key = 0;
    enum wio_status status = wio_strtab_add(&seal->paths, path, bytes, &key);
    if (status == WIO_OK && wio_map_get(&look->seen, key) != NULL) {
        return WIO_OK;
    }
    status = status == WIO_OK ? wio_map_put(&look->seen, key, 1) : status;
    status = status == WIO_OK ? look_at(look, path, only_links, &file, &is_wanted) : status;
    if (status == WIO_OK && is_wanted) {
        status = wio_seal_path_text(seal, path, bytes, &file.path);
    }
    if (status != WIO_OK) {
        return wio_segment_fail(seal->segment, status, err);
    }
    return is_wanted ? wio_segment_file(seal->segment, &file, err) : WIO_OK;
}

/* Each directory above the path, from the top: only those that are links get a row. */
static enum wio_status add_parents(struct look *look, char *path, struct wio_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        enum wio_status status = add_file(look, path, strlen(path), true, err);
        *slash = '/';
        WIO_TRY(status);
    }
    return WIO_OK;
}

static bool is_used(const struct wio_seal *seal, uint32_t path)
{
    if (path >= seal->path_capacity || seal->path_ids[path] == 0) {
        return false;
    }
    uint32_t id = seal->path_ids[path];
    return id < seal->segment->uses_capacity && seal->segment->uses[id] != 0;
}

typedef enum wio_status visit_fn(struct look *look, char *path, struct wio_error *err);

static enum wio_status visit_itself(struct look *look, char *path, struct wio_error *err)
{
    return add_file(look, path, strlen(path), false, err);
}

/* `visit` with a copy of the path that it may change. */
static enum wio_status visit_path(struct look *look, uint32_t id, visit_fn *visit,
                                  struct wio_error *err)
{
    char copy[4096];
    size_t bytes = 0;
    const char *text = wio_strtab_get(&look->seal->paths, id, &bytes);
    if (text[0] != '/' || bytes >= sizeof(copy)) {
        return WIO_OK;
    }
    memcpy(copy, text, bytes + 1);
    return visit(look, copy, err);
}

/* Paths that events name have a row whatever is there; directories above them only if they are
 * links; where a link leads has a row again, and so on: each once, so it ends. */
enum wio_status wio_seal_files(struct wio_seal *seal, struct wio_error *err)
{
    WIO_CLEANUP(look_fini) struct look look = {.seal = seal};
    static visit_fn *const visits[] = {visit_itself, add_parents};
    uint32_t count = seal->paths.count;
    for (size_t pass = 0; pass < WIO_ARRAY_SIZE(visits); pass++) {
        for (uint32_t path = 1; path <= count; path++) {
            if (is_used(seal, path)) {
                WIO_TRY(visit_path(&look, path, visits[pass], err));
            }
        }
    }
    for (uint32_t i = 0; i < look.target_count; i++) {
        WIO_TRY(visit_path(&look, look.targets[i], visit_itself, err));
        WIO_TRY(visit_path(&look, look.targets[i], add_parents, err));
    }
    return WIO_OK;
}
