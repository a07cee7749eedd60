/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in memory that several processes map at different addresses: what is mapped there tells
 * which one it is. R-SYNC-1. Shared memory is noted in the table of maps where it is mapped; what
 * was mapped before, or by libc for itself, is read from the kernel once, when an object is met
 * that lies in no map that is known.
 */
#include "capture/sync/sync_object.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/sysmacros.h>

#include "capture/core/hash.h"
#include "capture/core/own_fds.h"
#include "capture/core/process.h"
#include "capture/core/program/proc_maps.h"
#include "capture/core/raw.h"
#include "capture/mmap/mmap_place.h"

/* Devices that no file is on. */
#define DEVICE_ANONYMOUS UINT64_MAX  /* inode: a number that no other such map has */
#define DEVICE_SYSV (UINT64_MAX - 1) /* inode: the id of the segment */

/* These live on in a child of fork, as do its maps. */
static uint32_t changes = 1;  /* atomic: maps that came unseen */
static uint32_t changes_read; /* atomic: of them, those that the table has */

void cap_object_maps_changed(void)
{
    (void)__atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
}

/* ---- what is mapped ----------------------------------------------------------------------------
 */

static uint64_t unique(uintptr_t address)
{
    return cap_mix(cap_mix((uint64_t)raw_getpid(), cap_now()), address);
}

/* Each map of it is memory of its own. */
static bool is_zero_device(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 5);
}

void cap_object_mapped(struct cap_map *map, int flags, int fd)
{
    struct stat st = {0};
    const int type = flags & MAP_TYPE;
    if (!cap_is_causal || (type != MAP_SHARED && type != MAP_SHARED_VALIDATE)) {
        return;
    }
    const bool is_anonymous = (flags & MAP_ANONYMOUS) != 0;
    if (!is_anonymous && raw_fstat(fd, &st) != 0) {
        cap_object_maps_changed();
        return;
    }
    const bool is_file = !is_anonymous && !is_zero_device(&st);
    map->kinds |= CAP_MAP_SHARED;
    map->size = cap_whole_pages(map->size);
    map->device = is_file ? st.st_dev : DEVICE_ANONYMOUS;
    map->inode = is_file ? st.st_ino : unique(map->address);
}

static void put(uintptr_t address, size_t size, struct cap_object_file file)
{
    const struct cap_map map = {.address = address,
                                .size = cap_whole_pages(size),
                                .origin = address,
                                .file_size = (int64_t)size,
                                .kinds = CAP_MAP_SHARED,
                                .device = file.device,
                                .inode = file.inode};
    cap_maps_remove(map.address, map.size);
    cap_maps_add(&map);
}

void cap_object_attached(uintptr_t address, int id)
{
    struct shmid_ds segment = {0};
    if (!cap_is_causal) {
        return;
    }
    if (raw_call3(SYS_shmctl, id, IPC_STAT, (long)&segment) != 0) {
        cap_object_maps_changed();
        return;
    }
    put(address, segment.shm_segsz, (struct cap_object_file){DEVICE_SYSV, (uint64_t)id});
}

void cap_object_detach(uintptr_t address)
{
    struct cap_map map;
    if (cap_is_causal && cap_maps_find(address, CAP_MAP_SHARED, &map) &&
        map.device == DEVICE_SYSV && map.origin == address) {
        cap_maps_remove(address, cap_whole_pages((uint64_t)map.file_size));
    }
}

struct cap_object_file cap_object_of_name(const char *name)
{
    static const char place[] = "/dev/shm/sem.";
    char path[CAP_SHORT_TEXT];
    struct stat st = {0};
    name += strspn(name, "/");
    const size_t bytes = strlen(name) + 1;
    if (!cap_is_causal || bytes > sizeof(path) - sizeof(place)) {
        return (struct cap_object_file){0};
    }
    memcpy(path, place, sizeof(place) - 1);
    memcpy(path + sizeof(place) - 1, name, bytes);
    if (raw_call4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0) != 0) {
        return (struct cap_object_file){0};
    }
    return (struct cap_object_file){st.st_dev, st.st_ino};
}

void cap_object_opened(uintptr_t address, struct cap_object_file before, const char *name)
{
    struct cap_map map;
    if (!cap_is_causal || cap_maps_find(address, CAP_MAP_SHARED, &map)) {
        return;
    }
    const struct cap_object_file file = cap_object_of_name(name);
    const bool is_same = before.device == file.device && before.inode == file.inode;
    if (file.inode == 0 || (before.inode != 0 && !is_same)) {
        cap_object_maps_changed(); /* the name is another's by now */
        return;
    }
    put(address, 1, file);
}

void cap_object_closed(uintptr_t address)
{
    const uintptr_t page = address & ~(uintptr_t)(cap_whole_pages(1) - 1);
    if (cap_is_causal && raw_call3(SYS_msync, (long)page, 1, MS_ASYNC) == -ENOMEM) {
        cap_maps_remove(page, cap_whole_pages(1));
    }
}

/* ---- asking the kernel -------------------------------------------------------------------------
 */

/* Each thread has a piece of the ring mapped. */
static bool is_ring(const struct cap_proc_map *line)
{
    return line->inode == cap_own_fds[CAP_OWN_RING].inode && strstr(line->path, ".ring") != NULL;
}

static struct cap_map map_of(const struct cap_proc_map *line)
{
    const bool is_sysv = strncmp(line->path, "/SYSV", 5) == 0;
    return (struct cap_map){
        .address = line->lo,
        .size = line->hi - line->lo,
        .offset = (int64_t)line->offset,
        .origin = line->lo,
        .file_size = (int64_t)(line->hi - line->lo),
        .kinds = CAP_MAP_SHARED,
        .device =
            is_sysv ? DEVICE_SYSV : makedev((unsigned)(line->device >> 32), (unsigned)line->device),
        .inode = line->inode};
}

/* What of the line no map covers that is known. */
static void add(void *arg, const struct cap_proc_map *line)
{
    struct cap_map map = map_of(line);
    struct cap_map known;
    (void)arg;
    if (!line->is_shared || is_ring(line)) {
        return;
    }
    while (cap_maps_first(map.address, map.size, CAP_MAP_SHARED, &known)) {
        struct cap_map before = map;
        before.size = known.address > map.address ? known.address - map.address : 0;
        cap_maps_add(&before);
        const uintptr_t end = known.address + known.size;
        if (end >= line->hi) {
            return;
        }
        map.offset += (int64_t)(end - map.address);
        map.address = end;
        map.size = line->hi - end;
    }
    cap_maps_add(&map);
}

struct object_search {
    uintptr_t address;
    struct cap_map *out;
    bool is_found;
};

static void look(void *arg, const struct cap_proc_map *line)
{
    struct object_search *search = arg;
    if (line->is_shared && !is_ring(line) && search->address - line->lo < line->hi - line->lo) {
        *search->out = map_of(line);
        search->is_found = true;
    }
}

static void read_maps(cap_proc_map_fn *use, void *arg)
{
    char *text =
        raw_mmap(CAP_PROC_MAPS_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text != NULL) {
        (void)cap_proc_maps_read(text, use, arg);
        (void)raw_munmap(text, CAP_PROC_MAPS_BUFFER);
    }
}

/* One thread at a time; signals are blocked, so it is not interrupted by one that waits for it.
 * What says so is in memory that a fork wipes. */
static void refresh(uint32_t now)
{
    uint32_t expected = 0;
    uint64_t mask = raw_block_signals();
    if (__atomic_compare_exchange_n(&cap_image->sync.object_writer, &expected, 1, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        read_maps(add, NULL);
        __atomic_store_n(&changes_read, now, __ATOMIC_RELEASE);
        __atomic_store_n(&cap_image->sync.object_writer, 0, __ATOMIC_RELEASE);
    } else {
        while (__atomic_load_n(&cap_image->sync.object_writer, __ATOMIC_ACQUIRE) != 0) {
            raw_yield();
        }
    }
    raw_restore_signals(mask);
}

static bool find(uintptr_t address, struct cap_map *out)
{
    if (cap_maps_find(address, CAP_MAP_SHARED, out)) {
        return true;
    }
    const uint32_t now = __atomic_load_n(&changes, __ATOMIC_RELAXED);
    if (CAP_UNLIKELY(__atomic_load_n(&changes_read, __ATOMIC_ACQUIRE) != now)) {
        refresh(now);
        if (cap_maps_find(address, CAP_MAP_SHARED, out)) {
            return true;
        }
    }
    if (CAP_LIKELY(!cap_places_have_lost_shared())) {
        return false;
    }
    struct object_search search = {.address = address, .out = out};
    read_maps(look, &search);
    return search.is_found;
}

/* ---- ids ---------------------------------------------------------------------------------------
 */

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
    struct cap_map map;
    if (!find((uintptr_t)address, &map)) {
        return (int64_t)(uintptr_t)address;
    }
    uint64_t hash = mix(mix(0, map.device), map.inode);
    hash = mix(hash, (uint64_t)map.offset + ((uintptr_t)address - map.address));
    return (int64_t)(hash | 1ull << 63);
}
