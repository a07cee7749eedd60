/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; an entry that goes away is filled from behind, so that no
 * marks remain and a search ends soon. */
#include "capture/mpi/mpi_request.h"

#include <sys/mman.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/mpi/mpi_object.h"

#define FIRST_CAPACITY 256u
#define MOST_CAPACITY (1u << 22)

static struct cap_mpi_request *table;
static uint32_t capacity; /* a power of two */
static uint32_t used;
static uint32_t lock;

static uint32_t first_place(cap_mpi_word handle)
{
    return (uint32_t)((uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (capacity - 1);
}

/* The place of the handle, or the free one where it would go. */
static uint32_t place_of(cap_mpi_word handle)
{
    uint32_t place = first_place(handle);
    while (table[place].handle != 0 && table[place].handle != handle) {
        place = (place + 1) & (capacity - 1);
    }
    return place;
}

static struct cap_mpi_request *make(uint32_t entries)
{
    return raw_mmap(entries * sizeof(struct cap_mpi_request), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Room for one more: at most half of the table is used. */
static bool make_room(void)
{
    if (used < capacity / 2) {
        return true;
    }
    uint32_t old_capacity = capacity;
    uint32_t entries = old_capacity == 0 ? FIRST_CAPACITY : old_capacity * 2;
    struct cap_mpi_request *old = table;
    struct cap_mpi_request *fresh = entries <= MOST_CAPACITY ? make(entries) : NULL;
    if (fresh == NULL) {
        return false;
    }
    table = fresh;
    capacity = entries;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].handle != 0) {
            table[place_of(old[i].handle)] = old[i];
        }
    }
    if (old != NULL) {
        (void)raw_munmap(old, old_capacity * sizeof(*old));
    }
    return true;
}

/* Close the gap: what stands behind it and would be found sooner moves up. */
static void remove_at(uint32_t gap)
{
    uint32_t place = gap;
    used--;
    for (;;) {
        place = (place + 1) & (capacity - 1);
        if (table[place].handle == 0) {
            break;
        }
        uint32_t distance = (place - first_place(table[place].handle)) & (capacity - 1);
        if (distance >= ((place - gap) & (capacity - 1))) {
            table[gap] = table[place];
            gap = place;
        }
    }
    table[gap].handle = 0;
}

void cap_mpi_request_add(const struct cap_mpi_request *request)
{
    cap_mpi_lock(&lock);
    bool has_room = make_room();
    if (has_room) {
        uint32_t place = place_of(request->handle);
        used += table[place].handle == 0;
        table[place] = *request;
    }
    cap_mpi_unlock(&lock);
    if (!has_room) {
        cap_unseen(WIO_UNSEEN_MPI_HANDLE);
    }
}

/* With the lock held; NULL where it is not there. */
static struct cap_mpi_request *find(cap_mpi_word handle)
{
    if (capacity == 0 || handle == 0) {
        return NULL;
    }
    struct cap_mpi_request *entry = &table[place_of(handle)];
    return entry->handle == handle ? entry : NULL;
}

bool cap_mpi_request_find(cap_mpi_word handle, struct cap_mpi_request *out)
{
    cap_mpi_lock(&lock);
    const struct cap_mpi_request *entry = find(handle);
    if (entry != NULL) {
        *out = *entry;
    }
    cap_mpi_unlock(&lock);
    return entry != NULL;
}

void cap_mpi_request_complete(const struct cap_mpi_request *request)
{
    cap_mpi_lock(&lock);
    struct cap_mpi_request *entry = find(request->handle);
    if (entry != NULL && entry->key == request->key && entry->is_persistent) {
        entry->key = 0;
        entry->is_cancelled = false;
        entry->is_done = false;
    } else if (entry != NULL && entry->key == request->key) {
        remove_at((uint32_t)(entry - table));
    }
    cap_mpi_unlock(&lock);
}

void cap_mpi_request_forget(cap_mpi_word handle)
{
    cap_mpi_lock(&lock);
    const struct cap_mpi_request *entry = find(handle);
    if (entry != NULL) {
        remove_at((uint32_t)(entry - table));
    }
    cap_mpi_unlock(&lock);
}

bool cap_mpi_request_is_over(cap_mpi_word handle)
{
    if (cap_mpi_abi.handle_bytes == 4) { /* MPICH: of the kind "built in" */
        return (uint32_t)handle >> 30 == 1;
    }
    return handle == cap_mpi_abi.request_empty;
}
