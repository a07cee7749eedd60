/* SPDX-License-Identifier: Apache-2.0 */
/* Which mapped program or library an address lies in: a table filled from /proc/self/maps. A child
 * of fork has it from its parent and only says it again in its own ring. */
#include <string.h>
#include <sys/mman.h>

#include "capture/process.h"
#include "capture/raw.h"

#define MODULES_MAX 1024u
#define MAPS_BUFFER 65536u
#define NAMES_BYTES 131072u

struct known {
    struct cap_module module;
    uint64_t offset;  /* in its file */
    const char *path; /* in `names`; "" = none that is to be recorded */
};

/* Append only, so that readers need no lock; emptied as a whole when a library is unloaded. */
static struct known table[MODULES_MAX];
static uint32_t table_count; /* atomic */
static char names[NAMES_BYTES];
static size_t names_used;
static bool has_mpi; /* an MPI library is mapped: its helpers' calls are its own */

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
        if (table[i].module.lo == lo && table[i].module.hi == hi) {
            return true;
        }
    }
    return false;
}

static void write_module(struct cap_thread *self, const struct known *known)
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

static void add(struct cap_thread *self, const struct mapping *map)
{
    if (!map->is_code || is_known(map->lo, map->hi)) {
        return;
    }
    if (table_count == MODULES_MAX || NAMES_BYTES - names_used <= strlen(map->path)) {
        empty();
    }
    bool is_internal =
        cap_module_name_is_mpi(map->path) || (has_mpi && cap_module_name_is_mpi_helper(map->path));
    struct known *known = &table[table_count];
    known->module =
        (struct cap_module){map->lo, map->hi, is_internal, cap_module_name_is_mpi_io(map->path)};
    known->offset = map->offset;
    known->path = keep_name(map->path);
    write_module(self, known);
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

/* Whole lines of the buffer, which stays as it is; returns the bytes behind them. */
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
        *end = '\n';
        line = end + 1;
    }
    return used - (size_t)(line - text);
}

/* All that fits, from the beginning, goes to `use`, then the rest piece by piece. Returns the bytes
 * of the buffer where it held everything, else 0. */
static size_t read_maps(struct cap_thread *self, char *text, mapping_fn *use)
{
    long fd = raw_openat(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    size_t used = 0;
    bool is_whole = true;
    long got;
    while ((got = raw_read((int)fd, text + used, MAPS_BUFFER - used)) > 0) {
        used += (size_t)got;
        if (used == MAPS_BUFFER) {
            size_t left = use_lines(self, text, used, use);
            memmove(text, text + used - left, left);
            used = left < MAPS_BUFFER ? left : 0; /* no line is that long */
            is_whole = false;
        }
    }
    (void)raw_close((int)fd);
    (void)use_lines(self, text, used, use);
    return is_whole ? used : 0;
}

/* Twice over the lines where MPI is not known of: its helpers may be mapped before it. */
static void read_into(struct cap_thread *self, char *text)
{
    size_t used = has_mpi ? 0 : read_maps(self, text, note_mpi);
    if (used > 0) {
        (void)use_lines(self, text, used, add);
    } else {
        (void)read_maps(self, text, add);
    }
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
            read_into(self, text);
            (void)raw_munmap(text, MAPS_BUFFER);
        }
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
    cap_threads_forget_ranges();
}

static bool look_up(uintptr_t address, struct cap_module *out)
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
    if (look_up(address, out)) {
        return true;
    }
    if (address == 0) { /* the return from main, not a call */
        return false;
    }
    cap_modules_read(self);
    return look_up(address, out);
}
