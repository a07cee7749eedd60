/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, read without a lock: an entry never moves, its name is stored last. */
#include "capture/mpi/mpi_object.h"

#include <string.h>
#include <sys/mman.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"

#define OBJECTS 4096u
#define OBJECTS_MOST (OBJECTS / 4 * 3)
#define COUNTS 4096u
#define FREE_AGAIN 1u

struct group_count {
    uint64_t number;
    uint64_t count;
};

static struct cap_mpi_object *table; /* atomic; mapped with the first object */
static struct group_count *counts;
static uint32_t used; /* entries with a name, FREE_AGAIN among them */
static uint32_t lock;

void cap_mpi_lock(uint32_t *word)
{
    unsigned tries = 0;
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) != 0) {
        if (++tries % 64 == 0) {
            raw_yield();
        }
    }
}

uint64_t cap_mpi_mix_text(uint64_t id, const char *text)
{
    for (; *text != '\0'; text++) {
        id = cap_mix(id, (uint8_t)*text);
    }
    return id;
}

/* Handles are numbers of 32 bits or addresses: the upper byte is free. */
static uint64_t name_of(enum cap_mpi_kind kind, cap_mpi_word handle)
{
    return (uint64_t)kind << 56 | (uint64_t)handle;
}

static uint32_t first_place(uint64_t name)
{
    return (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 40) % OBJECTS;
}

static CAP_WARM struct cap_mpi_object *find(uint64_t name)
{
    struct cap_mpi_object *entries = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (entries == NULL) {
        return NULL;
    }
    uint32_t place = first_place(name);
    for (uint32_t i = 0; i < OBJECTS; i++, place = (place + 1) % OBJECTS) {
        uint64_t found = __atomic_load_n(&entries[place].name, __ATOMIC_ACQUIRE);
        if (found == name) {
            return &entries[place];
        }
        if (found == 0) {
            return NULL;
        }
    }
    return NULL;
}

CAP_WARM struct cap_mpi_object *cap_mpi_object_find(enum cap_mpi_kind kind, cap_mpi_word handle)
{
    return find(name_of(kind, handle));
}

/* Called with the lock. */
static bool make_table(void)
{
    if (table != NULL) {
        return true;
    }
    size_t bytes = OBJECTS * sizeof(*table);
    struct cap_mpi_object *fresh =
        raw_mmap(bytes + COUNTS * sizeof(*counts), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == NULL) {
        return false;
    }
    counts = (struct group_count *)(void *)((char *)fresh + bytes);
    __atomic_store_n(&table, fresh, __ATOMIC_RELEASE);
    return true;
}

/* The entry of that name, or one that is free, the first on the way. */
static struct cap_mpi_object *place_for(uint64_t name)
{
    struct cap_mpi_object *found = find(name);
    if (found != NULL) {
        return found;
    }
    uint32_t place = first_place(name);
    while (table[place].name > FREE_AGAIN) {
        place = (place + 1) % OBJECTS;
    }
    if (table[place].name == 0 && used == OBJECTS_MOST) {
        return NULL;
    }
    used += table[place].name == 0;
    return &table[place];
}

static void drop_groups(struct cap_mpi_object *object)
{
    for (unsigned i = 0; i < CAP_MPI_GROUPS; i++) {
        if (object->groups[i].ranks != NULL) {
            (void)raw_munmap(object->groups[i].ranks, object->groups[i].bytes);
        }
    }
}

struct cap_mpi_object *cap_mpi_object_add(enum cap_mpi_kind kind, cap_mpi_word handle,
                                          const struct cap_mpi_object *object)
{
    uint64_t name = name_of(kind, handle);
    cap_mpi_lock(&lock);
    struct cap_mpi_object *entry = make_table() ? place_for(name) : NULL;
    if (entry != NULL) {
        drop_groups(entry);
        __atomic_store_n(&entry->name, FREE_AGAIN, __ATOMIC_RELEASE);
        struct cap_mpi_object fresh = *object;
        fresh.name = FREE_AGAIN; /* never 0 on the way: for others a search would end here */
        *entry = fresh;
        __atomic_store_n(&entry->name, name, __ATOMIC_RELEASE);
    }
    cap_mpi_unlock(&lock);
    if (entry == NULL) {
        cap_unseen(WIO_UNSEEN_MPI_HANDLE);
    }
    return entry;
}

bool cap_mpi_object_take(enum cap_mpi_kind kind, cap_mpi_word handle, struct cap_mpi_object *out)
{
    cap_mpi_lock(&lock);
    struct cap_mpi_object *entry = find(name_of(kind, handle));
    if (entry != NULL) {
        drop_groups(entry);
        memset(entry->groups, 0, sizeof(entry->groups));
        *out = *entry;
        __atomic_store_n(&entry->name, FREE_AGAIN, __ATOMIC_RELEASE);
    }
    cap_mpi_unlock(&lock);
    return entry != NULL;
}

uint64_t cap_mpi_count(uint64_t number)
{
    uint64_t count = 0;
    cap_mpi_lock(&lock);
    uint32_t place = (uint32_t)(number % COUNTS);
    for (uint32_t i = 0; make_table() && i < COUNTS; i++, place = (place + 1) % COUNTS) {
        if (counts[place].number == number || counts[place].number == 0) {
            counts[place].number = number;
            count = counts[place].count++;
            break;
        }
    }
    cap_mpi_unlock(&lock);
    return count;
}
