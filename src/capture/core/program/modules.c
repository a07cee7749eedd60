/* SPDX-License-Identifier: Apache-2.0 */
/* Which mapped program or library an address lies in: a table filled from /proc/self/maps. A child
 * of fork has it from its parent and only says it again in its own ring. */
#include <string.h>

#include "capture/core/process.h"
#include "capture/core/program/proc_maps.h"
#include "capture/core/raw.h"
#include "capture/core/thread_table.h"
#include "ops/code_owner.h"

#define MODULES_MAX 1024u
#define NAMES_BYTES 131072u
#define LOCK_TRIES 1000000u

struct known_module {
    struct cap_module module;
    uint64_t offset;  /* in its file */
    const char *path; /* in `names`; "" = none that is to be recorded */
};

/* Append only, so that readers need no lock; emptied as a whole when a library is unloaded. */
static struct known_module table[MODULES_MAX];
static uint32_t table_count; /* atomic */
static char names[NAMES_BYTES];
static size_t names_used;
static bool has_mpi; /* an MPI library is mapped: its helpers' calls are its own */

static bool is_known(uintptr_t lo, uintptr_t hi)
{
    for (uint32_t i = 0; i < table_count; i++) {
        if (table[i].module.lo == lo && table[i].module.hi == hi) {
            return true;
        }
    }
    return false;
}

static void write_module(struct cap_thread *self, const struct known_module *known)
{
    struct wio_slot_text head = {.kind = WIO_SLOT_MODULE,
                                 .base = known->module.is_internal,
                                 .lo = known->module.lo,
                                 .hi = known->module.hi};
    if (known->path[0] == '/') {
        (void)cap_text_record(self, &head, &known->offset, sizeof(known->offset), known->path,
                              strlen(known->path));
    }
}

static void empty(void)
{
    __atomic_store_n(&table_count, 0, __ATOMIC_RELEASE);
    names_used = 0;
}

static const char *keep_name(const char *path)
{
    size_t bytes = strlen(path) + 1;
    if (path[0] != '/' || bytes > NAMES_BYTES - names_used) {
        return "";
    }
    char *kept = memcpy(names + names_used, path, bytes);
    names_used += bytes;
    return kept;
}

static void add(void *self, const struct cap_proc_map *map)
{
    if (!map->is_code || is_known(map->lo, map->hi)) {
        return;
    }
    if (table_count == MODULES_MAX || NAMES_BYTES - names_used <= strlen(map->path)) {
        empty();
    }
    bool is_internal =
        cap_module_name_is_mpi(map->path) || (has_mpi && cap_module_name_is_mpi_helper(map->path));
    struct known_module *known = &table[table_count];
    known->module = (struct cap_module){
        .lo = map->lo,
        .hi = map->hi,
        .is_internal = is_internal,
        .does_mpi_io = cap_module_name_is_mpi_io(map->path),
        .is_mpi_binding = cap_module_name_is_mpi_binding(map->path),
        .is_interpreter = cap_module_name_is_interpreter(map->path),
        .kind = (uint8_t)wio_code_owner(map->path).kind,
    };
    known->offset = map->offset;
    known->path = keep_name(map->path);
    write_module(self, known);
    __atomic_store_n(&table_count, table_count + 1, __ATOMIC_RELEASE);
}

static void note_mpi(void *arg, const struct cap_proc_map *map)
{
    (void)arg;
    has_mpi = has_mpi || (map->is_code && cap_module_name_is_mpi(map->path));
}

/* Twice over the maps where MPI is not known of: its helpers may be mapped before it. */
static bool read_code(struct cap_thread *self, char *buffer)
{
    const struct cap_proc_map *maps = (const struct cap_proc_map *)(const void *)buffer;
    uint32_t count;
    if (!cap_proc_maps_code(buffer, &count)) {
        return false;
    }
    for (uint32_t i = 0; i < count && !has_mpi; i++) {
        note_mpi(NULL, &maps[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        add(self, &maps[i]);
    }
    return true;
}

static void read_into(struct cap_thread *self, char *text)
{
    if (read_code(self, text)) {
        return;
    }
    size_t used = has_mpi ? 0 : cap_proc_maps_read(text, note_mpi, NULL);
    if (used > 0) {
        cap_proc_maps_again(text, used, add, self);
    } else {
        (void)cap_proc_maps_read(text, add, self);
    }
}

/* A reader of the maps needs less than a millisecond. A child of vfork that is killed in it leaves
 * the lock taken: the wait has an end. */
static bool take_lock(void)
{
    for (uint32_t tries = 0; tries < LOCK_TRIES; tries++) {
        uint32_t expected = 0;
        if (__atomic_compare_exchange_n(&cap_image->module_lock, &expected, 1, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return true;
        }
        raw_yield();
    }
    return false;
}

void cap_modules_read(struct cap_thread *self)
{
    static _Alignas(struct cap_proc_map) char buffer[CAP_PROC_MAPS_BUFFER]; /* under the lock */
    uint64_t mask = raw_block_signals();
    if (take_lock()) {
        read_into(self, buffer);
        __atomic_store_n(&cap_image->module_lock, 0, __ATOMIC_RELEASE);
    }
    raw_restore_signals(mask);
}

void cap_modules_describe(struct cap_thread *self)
{
    if (table_count == 0) {
        cap_modules_read(self);
        return;
    }
    for (uint32_t i = 0; i < table_count; i++) {
        write_module(self, &table[i]);
    }
}

void cap_modules_forget(void)
{
    empty();
    cap_process.sites &= (uint8_t)~CAP_PENDING_SCRIPT;
    cap_process.has_met_interpreter = false;
    cap_threads_forget_ranges();
}

bool cap_module_look_up(uintptr_t address, struct cap_module *out)
{
    uint32_t count = __atomic_load_n(&table_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        const struct cap_module *module = &table[i].module;
        if (address - module->lo < module->hi - module->lo) {
            *out = *module;
            return true;
        }
    }
    return false;
}

bool cap_module_find(struct cap_thread *self, uintptr_t address, struct cap_module *out)
{
    if (cap_module_look_up(address, out)) {
        return true;
    }
    if (address == 0) { /* the return from main, not a call */
        return false;
    }
    cap_modules_read(self);
    return cap_module_look_up(address, out);
}
