/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the bound that goes with a ring: its chunks lie there. FORMAT.md#bound */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "seal/seal_internal.h"

/* Of the ring's boot and user. The boot id is whatever the ring says: no name leads elsewhere. */
static bool make_name(const struct wio_seal_ring *ring, char name[NAME_MAX + 1])
{
    const int length = snprintf(name, NAME_MAX + 1, "%s.%u" WIO_BOUND_ENDING, ring->header.boot_id,
                                (unsigned)ring->owner);
    return length > 0 && length <= NAME_MAX && strchr(name, '/') == NULL;
}

static bool is_at_hand(const struct wio_seal *seal, uint32_t dir, const char *name)
{
    return seal->bound.dir == dir && strcmp(seal->bound.name, name) == 0;
}

/* One that is damaged is no reason not to seal the ring: what is in it is told once. */
static enum wio_status open_bound(struct wio_seal *seal, const struct wio_seal_ring *ring,
                                  const char *name)
{
    char path[PATH_MAX];
    struct wio_error fault = WIO_ERROR_INIT;
    const struct wio_ring_dir *dir = &seal->dirs[ring->dir];
    wio_bound_close(&seal->bound.file);
    (void)snprintf(path, sizeof(path), "%s/%s", dir->path, name);
    enum wio_status status =
        wio_bound_open(&seal->bound.file, dir->fd, name, ring->owner, path, &fault);
    if (status != WIO_OK) {
        wio_bound_close(&seal->bound.file);
    }
    if (status != WIO_OK && status != WIO_END && status != WIO_ERR_NOMEM) {
        wio_seal_fault(seal, &fault);
    }
    seal->bound.dir = ring->dir;
    (void)snprintf(seal->bound.name, sizeof(seal->bound.name), "%s", name);
    return status == WIO_ERR_NOMEM ? status : WIO_OK;
}

/* Rings come in the order of time, and mostly of one host: the last file is kept open. */
enum wio_status wio_seal_bound(struct wio_seal *seal, const struct wio_seal_ring *ring,
                               const struct wio_bound **bound_out, struct wio_error *err)
{
    char name[NAME_MAX + 1];
    *bound_out = NULL;
    if (ring->header.keep != WIO_BOUND_LAST || !make_name(ring, name)) {
        return WIO_OK;
    }
    if (!is_at_hand(seal, ring->dir, name) && open_bound(seal, ring, name) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, ring->path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    *bound_out = seal->bound.file.fd >= 0 ? &seal->bound.file : NULL;
    return WIO_OK;
}

void wio_seal_remove_bounds(const struct wio_ring_dir *dir)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = wio_io_list(dir->fd);
    const struct dirent *entry = NULL;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (wio_text_ends_with(entry->d_name, WIO_BOUND_ENDING) ||
            strstr(entry->d_name, WIO_BOUND_ENDING ".") != NULL) { /* it was being made */
            (void)unlinkat(dir->fd, entry->d_name, 0);
        }
    }
}

void wio_seal_note_bound(struct wio_seal *seal, const struct wio_seal_ring *ring)
{
    const struct wio_ring_header *header = &ring->header;
    struct wio_seal_totals *totals = &seal->totals;
    if (header->keep != WIO_BOUND_FIRST && header->keep != WIO_BOUND_LAST) {
        return;
    }
    if (header->max_bytes > totals->max_bytes) {
        totals->max_bytes = header->max_bytes;
    }
    totals->keeps_last = totals->keeps_last || header->keep == WIO_BOUND_LAST;
    if (header->texts_lost > 0) {
        wio_seal_remark(seal,
                        "definitions of names took as much room as the events may (--max-size), or "
                        "could not be written: "
                        "%llu names of process %d are not known",
                        (unsigned long long)header->texts_lost, header->pid);
    }
}

/* R-META-3 */
enum wio_status wio_seal_put_bound(struct wio_seal *seal, struct wio_error *err)
{
    char text[96];
    const struct wio_seal_totals *totals = &seal->totals;
    if (totals->max_bytes == 0) {
        return WIO_OK;
    }
    (void)snprintf(text, sizeof(text), "max_size %llu\nkeep %s\n",
                   (unsigned long long)totals->max_bytes, totals->keeps_last ? "last" : "first");
    return wio_segment_meta(seal->segment, WIO_SEGMENT_META_BOUND, text, strlen(text), err);
}
