/* SPDX-License-Identifier: Apache-2.0 */
/* Which mapped program or library an address lies in: a table filled from /proc/self/maps. */
#include <string.h>
#include <sys/mman.h>

#include "capture/process.h"
#include "capture/raw.h"

#define MODULES_MAX 1024u
#define MAPS_BUFFER 65536u

/* Append only, so that readers need no lock; emptied as a whole when a library is unloaded. */
static struct cap_module table[MODULES_MAX];
static uint32_t table_count; /* atomic */
static bool has_mpi;         /* an MPI library is mapped: its helpers' calls are its own */

/* One line of the maps. */
struct mapping {
    uintptr_t lo;
    uintptr_t hi;
    uint64_t offset;
    bool is_code;
    const char *path; /* "" for anonymous memory */
};

static bool is_known(uintptr_t lo, uintptr_t hi)
{
    for (uint32_t i = 0; i < table_count; i++) {
        if (table[i].lo == lo && table[i].hi == hi) {
            return true;
        }
    }
    return false;
}

static void write_module(struct cap_thread *self, const struct mapping *map, bool is_internal)
{
    struct wio_slot_text head = {
        .kind = WIO_SLOT_MODULE, .base = is_internal, .lo = map->lo, .hi = map->hi};
    (void)cap_text_record(self, &head, &map->offset, sizeof(map->offset), map->path,
                          strlen(map->path));
}

static void add(struct cap_thread *self, const struct mapping *map)
{
    if (!map->is_code || is_known(map->lo, map->hi)) {
        return;
    }
    if (table_count == MODULES_MAX) {
        __atomic_store_n(&table_count, 0, __ATOMIC_RELEASE);
    }
    bool is_internal =
        cap_module_name_is_mpi(map->path) || (has_mpi && cap_module_name_is_mpi_helper(map->path));
    if (map->path[0] == '/') {
        write_module(self, map, is_internal);
    }
    table[table_count] =
        (struct cap_module){map->lo, map->hi, is_internal, cap_module_name_is_mpi_io(map->path)};
    __atomic_store_n(&table_count, table_count + 1, __ATOMIC_RELEASE);
}

static const char *parse_hex(const char *at, uint64_t *out)
{
    uint64_t value = 0;
    for (;; at++) {
        unsigned digit = (unsigned)(*at >= 'a' ? *at - 'a' + 10 : *at - '0');
        if (digit > 15) {
            break;
        }
        value = value << 4 | digit;
    }
    *out = value;
    return at;
}

/* "lo-hi rwxp offset dev inode   path", ended by NUL. */
static bool parse_line(const char *line, struct mapping *out)
{
    uint64_t lo;
    uint64_t hi;
    const char *at = parse_hex(line, &lo);
    if (*at != '-') {
        return false;
    }
    at = parse_hex(at + 1, &hi);
    if (*at != ' ' || strlen(at) < 7) {
        return false;
    }
    out->lo = lo;
    out->hi = hi;
    out->is_code = at[3] == 'x';
    at = parse_hex(at + 6, &out->offset);
    for (int field = 0; field < 2 && at != NULL; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at == NULL) {
        out->path = "";
        return true;
    }
    out->path = at + strspn(at, " ");
    return true;
}

static void note_mpi(struct cap_thread *self, const struct mapping *map)
{
    (void)self;
    has_mpi = has_mpi || (map->is_code && cap_module_name_is_mpi(map->path));
}

typedef void mapping_fn(struct cap_thread *self, const struct mapping *map);

/* Whole lines of the buffer; returns the bytes that are left over. */
static size_t use_lines(struct cap_thread *self, char *text, size_t used, mapping_fn *use)
{
    char *line = text;
    char *end;
    while ((end = memchr(line, '\n', used - (size_t)(line - text))) != NULL) {
        struct mapping map;
        *end = '\0';
        if (parse_line(line, &map)) {
            use(self, &map);
        }
        line = end + 1;
    }
    size_t left = used - (size_t)(line - text);
    memmove(text, line, left);
    return left;
}

static void read_maps(struct cap_thread *self, char *text, mapping_fn *use)
{
    long fd = raw_openat(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return;
    }
    size_t used = 0;
    long got;
    while ((got = raw_read((int)fd, text + used, MAPS_BUFFER - used)) > 0) {
        used = use_lines(self, text, used + (size_t)got, use);
        if (used == MAPS_BUFFER) {
            used = 0; /* no line is that long */
        }
    }
    (void)raw_close((int)fd);
}

void cap_modules_read(struct cap_thread *self)
{
    uint64_t mask = raw_block_signals();
    uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&cap_image->module_lock, &expected, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        char *text =
            raw_mmap(MAPS_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (text != NULL) {
            if (!has_mpi) {
                read_maps(self, text, note_mpi);
            }
            read_maps(self, text, add);
            (void)raw_munmap(text, MAPS_BUFFER);
        }
        __atomic_store_n(&cap_image->module_lock, 0, __ATOMIC_RELEASE);
    }
    raw_restore_signals(mask);
}

void cap_modules_forget(void)
{
    __atomic_store_n(&table_count, 0, __ATOMIC_RELEASE);
    cap_threads_forget_ranges();
}

static bool look_up(uintptr_t address, struct cap_module *out)
{
    uint32_t count = __atomic_load_n(&table_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (address - table[i].lo < table[i].hi - table[i].lo) {
            *out = table[i];
            return true;
        }
    }
    return false;
}

bool cap_module_find(struct cap_thread *self, uintptr_t address, struct cap_module *out)
{
    if (look_up(address, out)) {
        return true;
    }
    cap_modules_read(self);
    return look_up(address, out);
}
