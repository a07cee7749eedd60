/* SPDX-License-Identifier: Apache-2.0 */
/* Taking away rings that are sealed, and the directories that they leave empty. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "seal/seal_internal.h"

/* R-RING-5: what a ring that stays refers to stays too, under a name that says it is sealed. */
static void mark_needed(const struct wio_seal *seal, bool *needed)
{
    for (uint32_t i = seal->ring_count; i > 0; i--) {
        const struct wio_seal_ring *ring = &seal->rings[i - 1];
        if ((ring->is_skipped || needed[i - 1]) && ring->parent != UINT32_MAX) {
            needed[ring->parent] = true;
        }
    }
}

/* False: the ring is still there as one that is to be sealed. */
static bool take_away(const struct wio_seal *seal, const struct wio_seal_ring *ring, bool is_needed)
{
    char sealed[NAME_MAX + sizeof(WIO_SEALED_ENDING)];
    int dir = seal->dirs[ring->dir].fd;
    if (!is_needed) {
        return unlinkat(dir, ring->name, 0) == 0 || errno == ENOENT;
    }
    if (wio_text_ends_with(ring->name, WIO_SEALED_ENDING)) {
        return true;
    }
    (void)snprintf(sealed, sizeof(sealed), "%s" WIO_SEALED_ENDING, ring->name);
    return renameat(dir, ring->name, dir, sealed) == 0 || errno == ENOENT;
}

/* Directories that have no ring left, but for those that a recorder holds, and raw/ itself. */
static void remove_directories(const struct wio_seal *seal, bool is_recorder)
{
    for (uint32_t i = seal->dir_count; i > 0; i--) {
        const struct wio_ring_dir *dir = &seal->dirs[i - 1];
        bool is_ours = dir->is_own || is_recorder;
        if (is_ours && !dir->is_held && wio_seal_unmark(dir) && !is_recorder) {
            wio_ring_dir_remove(&seal->raw, dir);
        }
    }
    if (!is_recorder && seal->raw.fd >= 0) {
        (void)unlinkat(seal->raw.dir, "raw", AT_REMOVEDIR);
    }
}

/* False: `is_gone` says no of a ring that has no mark, and would be sealed once more. */
static bool is_settled(const struct wio_seal *seal, const struct wio_seal_ring *ring, bool is_gone)
{
    return is_gone || seal->dirs[ring->dir].is_marked || ring->is_for_strings;
}

/* R-RING-5, R-RING-6. As long as nothing has gone, a ring that stays without a mark ends it. */
static enum wio_seal_left take_all(const struct wio_seal *seal, const bool *needed)
{
    bool has_taken = false;
    bool is_clear = true;
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &seal->rings[i];
        if (ring->is_skipped) {
            wio_seal_adopt(seal, ring);
            continue;
        }
        bool is_gone = take_away(seal, ring, needed[i]);
        has_taken = has_taken || is_gone;
        is_clear = is_clear && is_settled(seal, ring, is_gone);
        if (!is_clear && !has_taken) {
            return WIO_SEAL_LEFT_ALL;
        }
    }
    return is_clear ? WIO_SEAL_LEFT_NONE : WIO_SEAL_LEFT_SOME;
}

enum wio_seal_left wio_seal_remove(struct wio_seal *seal, bool is_recorder)
{
    bool is_marked = true;
    bool *needed = calloc((size_t)seal->ring_count + 1, sizeof(*needed));
    for (uint32_t i = 0; needed == NULL && i < seal->dir_count; i++) {
        is_marked = is_marked && seal->dirs[i].is_marked;
    }
    if (needed == NULL) { /* the rings stay, and the next command takes them away */
        return is_marked ? WIO_SEAL_LEFT_NONE : WIO_SEAL_LEFT_ALL;
    }
    mark_needed(seal, needed);
    enum wio_seal_left left = take_all(seal, needed);
    free(needed);
    wio_seal_remove_refused(seal);
    remove_directories(seal, is_recorder);
    return left;
}
