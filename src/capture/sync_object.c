/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in memory that several processes map at different addresses: what is mapped there tells
 * which one it is. R-SYNC-1. The ranges of shared memory are read from the kernel when the first
 * such object is met, and again after more shared memory came.
 */
#include "capture/sync_object.h"

#include <string.h>
#include <sys/mman.h>

#include "capture/proc_maps.h"
#include "capture/process.h"
#include "capture/raw.h"

#define RANGES_MAX 256u

struct range {
    uintptr_t lo;
    uintptr_t hi;
    uint64_t device;
    uint64_t inode;
    uint64_t offset;
};

/* What guards them is in memory that a fork wipes: a child reads the maps for itself. */
static struct range ranges[RANGES_MAX];
static uint32_t range_count;
static uint32_t changes; /* atomic: of the maps */

void cap_object_maps_changed(void)
{
    (void)__atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
}

/* Each thread has a piece of the ring mapped. */
static bool is_ring(const struct cap_proc_map *map)
{
    return map->inode == cap_process.ring_ino && strstr(map->path, ".ring") != NULL;
}

static void add(void *arg, const struct cap_proc_map *map)
{
    (void)arg;
    if (map->is_shared && map->is_writable && !is_ring(map) && range_count < RANGES_MAX) {
        ranges[range_count++] =
            (struct range){map->lo, map->hi, map->device, map->inode, map->offset};
    }
}

/* One thread at a time; signals are blocked, so it is not interrupted by one that waits for it. */
static void read_again(uint32_t now)
{
    char *text =
        raw_mmap(CAP_PROC_MAPS_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == NULL) {
        return;
    }
    (void)__atomic_fetch_add(&cap_image->object_writes, 1, __ATOMIC_SEQ_CST);
    range_count = 0;
    (void)cap_proc_maps_read(text, add, NULL);
    (void)__atomic_fetch_add(&cap_image->object_writes, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&cap_image->object_changes, now + 1, __ATOMIC_RELEASE);
    (void)raw_munmap(text, CAP_PROC_MAPS_BUFFER);
}

static void refresh(void)
{
    uint32_t now = __atomic_load_n(&changes, __ATOMIC_RELAXED);
    uint32_t nobody = 0;
    if (CAP_LIKELY(__atomic_load_n(&cap_image->object_changes, __ATOMIC_ACQUIRE) == now + 1)) {
        return;
    }
    uint64_t mask = raw_block_signals();
    if (__atomic_compare_exchange_n(&cap_image->object_writer, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        read_again(now);
        __atomic_store_n(&cap_image->object_writer, 0, __ATOMIC_RELEASE);
    } else {
        while (__atomic_load_n(&cap_image->object_writer, __ATOMIC_ACQUIRE) != 0) {
            raw_yield();
        }
    }
    raw_restore_signals(mask);
}

static bool find(uintptr_t address, struct range *out)
{
    uint32_t before;
    bool is_found;
    do {
        before = __atomic_load_n(&cap_image->object_writes, __ATOMIC_ACQUIRE);
        is_found = false;
        for (uint32_t i = 0; i < range_count && i < RANGES_MAX && !is_found; i++) {
            *out = ranges[i];
            is_found = address - out->lo < out->hi - out->lo;
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while ((before & 1) != 0 ||
             __atomic_load_n(&cap_image->object_writes, __ATOMIC_RELAXED) != before);
    return is_found;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

int64_t cap_object_named(uint64_t kind, uint64_t a, uint64_t b)
{
    return (int64_t)(mix(mix(mix(0, kind), a), b) | 1ull << 63);
}

int64_t cap_object_shared(const void *address)
{
    struct range range;
    refresh();
    if (!find((uintptr_t)address, &range)) {
        return (int64_t)(uintptr_t)address;
    }
    uint64_t hash = mix(mix(0, range.device), range.inode);
    hash = mix(hash, range.offset + ((uintptr_t)address - range.lo));
    return (int64_t)(hash | 1ull << 63);
}
