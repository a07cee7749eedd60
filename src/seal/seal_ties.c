/* SPDX-License-Identifier: Apache-2.0 */
/* Which ring continues or begins which: by fork, by exec. By hash, for jobs of many processes. */
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "seal/seal_internal.h"

/* NAME.ring and NAME.ring.sealed are the same ring. */
static uint64_t name_key(const char *name)
{
    static const char end[] = ".sealed";
    size_t bytes = strlen(name);
    size_t end_bytes = sizeof(end) - 1;
    if (bytes > end_bytes && memcmp(name + bytes - end_bytes, end, end_bytes) == 0) {
        bytes -= end_bytes;
    }
    return XXH3_64bits(name, bytes);
}

/* R-STRING-2: only an earlier ring can be the parent, so that no cycle can arise. */
static enum wio_status tie_forks(struct wio_seal *seal)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map names = {0};
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        struct wio_seal_ring *ring = &seal->rings[i];
        const char *name = ring->header.parent_ring;
        const uint64_t *parent = name[0] == '\0' ? NULL : wio_map_get(&names, name_key(name));
        if (parent != NULL) {
            ring->parent = (uint32_t)*parent;
            seal->rings[*parent].has_children = true;
        }
        WIO_TRY(wio_map_put(&names, name_key(ring->name), i));
    }
    return WIO_OK;
}

static uint64_t process_key(const struct wio_ring_header *header)
{
    uint64_t host = XXH3_64bits(header->host, strlen(header->host));
    return host ^ ((uint64_t)(uint32_t)header->pid << 40) ^ header->pid_start;
}

/* From the last to the first: what is known of a process then comes after the ring at hand. */
static enum wio_status tie_execs(struct wio_seal *seal)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map later = {0};
    for (uint32_t i = seal->ring_count; i > 0; i--) {
        struct wio_seal_ring *ring = &seal->rings[i - 1];
        if (ring->header.pid_start == 0) {
            continue;
        }
        uint64_t key = process_key(&ring->header);
        ring->has_successor = wio_map_get(&later, key) != NULL;
        WIO_TRY(wio_map_put(&later, key, 1));
    }
    return WIO_OK;
}

enum wio_status wio_seal_tie(struct wio_seal *seal)
{
    WIO_TRY(tie_forks(seal));
    return tie_execs(seal);
}
