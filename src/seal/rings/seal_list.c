/* SPDX-License-Identifier: Apache-2.0 */
/* Which rings there are, and in which order. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "seal/seal_internal.h"

/* The rings from number `first` on are of one directory. */
static void set_apart(struct wio_seal *seal, uint32_t first, const struct wio_strtab *done,
                      bool is_held)
{
    for (uint32_t i = first; i < seal->ring_count; i++) {
        struct wio_seal_ring *ring = &seal->rings[i];
        if (wio_strtab_find(done, ring->name, strlen(ring->name)) != 0) {
            ring->is_for_strings = true;
        }
        ring->is_live = ring->is_live || (is_held && !ring->is_for_strings);
    }
}

static bool is_ring_name(const char *name)
{
    return wio_text_ends_with(name, ".ring") || wio_text_ends_with(name, WIO_SEALED_ENDING);
}

static enum wio_status cannot_list(const struct wio_ring_dir *dir, struct wio_error *err)
{
    return errno == ENOENT ? WIO_OK /* removed since it was opened */
                           : wio_error_sys(err, dir->path, "cannot read the directory of rings");
}

/* The rings of directory number `dir`. */
static enum wio_status scan_rings(struct wio_seal *seal, uint32_t dir, struct wio_error *err)
{
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab done = {0};
    uint32_t first = seal->ring_count;
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(seal->dirs[dir].fd);
    const struct dirent *entry = NULL;
    if (list == NULL) {
        return cannot_list(&seal->dirs[dir], err);
    }
    while ((errno = 0, entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' && is_ring_name(entry->d_name)) {
            WIO_TRY(wio_seal_add_ring(seal, dir, entry->d_name, err));
        }
    }
    if (errno != 0) {
        return cannot_list(&seal->dirs[dir], err);
    }
    if (wio_seal_read_marks(seal, &seal->dirs[dir], &done) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, seal->dirs[dir].path, WIO_ERROR_NO_OFFSET,
                             "no memory");
    }
    set_apart(seal, first, &done, seal->dirs[dir].is_held);
    return WIO_OK;
}

/* Takes over the directory `dir`. */
static enum wio_status add_directory(struct wio_seal *seal, struct wio_ring_dir dir,
                                     struct wio_error *err)
{
    void *array = seal->dirs;
    if (wio_grow(&array, sizeof(*seal->dirs), &seal->dir_capacity, seal->dir_count + 1) != WIO_OK) {
        enum wio_status status =
            wio_error_set(err, WIO_ERR_NOMEM, dir.path, WIO_ERROR_NO_OFFSET, "no memory");
        wio_ring_dir_close(&dir);
        return status;
    }
    seal->dirs = array;
    seal->dirs[seal->dir_count++] = dir;
    return scan_rings(seal, seal->dir_count - 1, err);
}

/* An entry of raw/ that is no ring: the directory of a recorder, a link to one, or nothing. */
static enum wio_status scan_entry(struct wio_seal *seal, const char *name, struct wio_error *err)
{
    struct wio_error fault = WIO_ERROR_INIT;
    struct wio_ring_dir dir;
    enum wio_status status = wio_ring_dir_enter(&dir, &seal->raw, name, &fault);
    if (status == WIO_END) {
        return WIO_OK;
    }
    if (status == WIO_ERR_UNSUPPORTED) {
        if (seal->is_hiding) { /* it names the target */
            (void)wio_error_set(&fault, status, name, WIO_ERROR_NO_OFFSET,
                                "expected rings, found a link that no recorder of this trace made: "
                                "it is not followed");
        }
        wio_seal_fault(seal, &fault);
        return WIO_OK;
    }
    if (status != WIO_OK) {
        return wio_error_pass(err, &fault);
    }
    wio_ring_dir_lock(&dir, seal->raw.is_locked && dir.is_own);
    seal->is_held = seal->is_held || dir.is_held;
    return add_directory(seal, dir, err);
}

static enum wio_status scan_raw(struct wio_seal *seal, struct wio_error *err)
{
    struct wio_ring_dir dir;
    WIO_TRY(wio_ring_dir_of_raw(&dir, &seal->raw, err));
    WIO_TRY(add_directory(seal, dir, err));
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(seal->dirs[0].fd);
    const struct dirent *entry = NULL;
    if (list == NULL) {
        return cannot_list(&seal->dirs[0], err);
    }
    while ((errno = 0, entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' && !is_ring_name(entry->d_name)) {
            WIO_TRY(scan_entry(seal, entry->d_name, err));
        }
    }
    return errno == 0 ? WIO_OK : cannot_list(&seal->dirs[0], err);
}

static enum wio_status scan_one(struct wio_seal *seal, const char *path, struct wio_error *err)
{
    struct wio_ring_dir dir;
    enum wio_status status = wio_ring_dir_open(&dir, path, err);
    if (status != WIO_OK) {
        return status == WIO_END ? WIO_OK : status;
    }
    return add_directory(seal, dir, err);
}

static int compare_rings(const void *a, const void *b)
{
    const struct wio_seal_ring *left = a;
    const struct wio_seal_ring *right = b;
    if (left->order_ns != right->order_ns) {
        return left->order_ns < right->order_ns ? -1 : 1;
    }
    return strcmp(left->path, right->path);
}

/* Is this ring the first of its boot? Of equal ones that which was first by the wall clock. */
static bool is_earlier(const struct wio_ring_header *a, const struct wio_ring_header *b)
{
    return a->start_mono_ns != b->start_mono_ns ? a->start_mono_ns < b->start_mono_ns
                                                : a->start_unix_ns < b->start_unix_ns;
}

/* boot -> its first ring */
static enum wio_status find_boots(const struct wio_seal *seal, struct wio_strtab *boots,
                                  uint32_t *first)
{
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_ring_header *header = &seal->rings[i].header;
        uint32_t known = boots->count;
        uint32_t id = 0;
        WIO_TRY(wio_strtab_add(boots, header->boot_id, strlen(header->boot_id), &id));
        bool is_new = id > known || (id == 0 && first[0] == UINT32_MAX);
        if (is_new || is_earlier(header, &seal->rings[first[id]].header)) {
            first[id] = i;
        }
    }
    return WIO_OK;
}

static uint64_t order_of(const struct wio_ring_header *header, const struct wio_ring_header *first)
{
    uint64_t since_ns = header->start_mono_ns - first->start_mono_ns;
    return since_ns > UINT64_MAX - first->start_unix_ns ? UINT64_MAX
                                                        : first->start_unix_ns + since_ns;
}

/* Of one boot the monotonic clock tells the order, so that a parent is before its children whatever
 * the wall clock did; boots are set against each other by the wall clock of their first rings. */
static enum wio_status set_order(struct wio_seal *seal)
{
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab boots = {0};
    uint32_t *first = calloc((size_t)seal->ring_count + 1, sizeof(*first));
    if (first == NULL) {
        return WIO_ERR_NOMEM;
    }
    first[0] = UINT32_MAX;
    enum wio_status status = find_boots(seal, &boots, first);
    for (uint32_t i = 0; status == WIO_OK && i < seal->ring_count; i++) {
        struct wio_seal_ring *ring = &seal->rings[i];
        const char *boot = ring->header.boot_id;
        uint32_t id = wio_strtab_find(&boots, boot, strlen(boot));
        ring->order_ns = order_of(&ring->header, &seal->rings[first[id]].header);
    }
    free(first);
    return status;
}

enum wio_status wio_seal_find(struct wio_seal *seal, const char *dir, const char *ring_dir,
                              struct wio_error *err)
{
    if (ring_dir != NULL) {
        WIO_TRY(scan_one(seal, ring_dir, err));
    } else if (seal->raw.fd >= 0) {
        WIO_TRY(scan_raw(seal, err));
    }
    if (set_order(seal) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, dir, WIO_ERROR_NO_OFFSET, "no memory");
    }
    if (seal->ring_count > 1) {
        qsort(seal->rings, seal->ring_count, sizeof(*seal->rings), compare_rings);
    }
    if (wio_seal_judge_owners(seal) != WIO_OK || wio_seal_tie(seal) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, dir, WIO_ERROR_NO_OFFSET, "no memory");
    }
    return WIO_OK;
}
