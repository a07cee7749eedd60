/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where libc's streams meet the kernel.
 *
 * Each FILE points to a table of functions (struct _IO_jump_t); its last entries read, write, seek,
 * close and stat the descriptor, and all of libc's stdio - also getc_unlocked when its buffer is
 * empty, dprintf, and the flush at exit - goes through them. glibc checks that a FILE points to one
 * of its own tables, so a FILE cannot get another one, but the tables themselves are ordinary
 * memory that the loader made read-only: the entries are exchanged in place, once, before main.
 *
 * Which words of libc are such entries is not assumed: they are five neighbouring pointers to the
 * functions that libc exports as _IO_file_read, _write, _seek, _close and _stat. A libc where they
 * are not found stays as it is, and the streams' system calls are counted as unseen.
 */
#include "capture/stdio/stdio_tables.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/stdio/stdio_call.h"

/* glibc has seven tables for files and pipes. */
#define TABLES_MAX 16
/* Words from the begin of a table to its first entry here (struct _IO_jump_t: read is the 15th). */
#define WORDS_BEFORE 14

static struct table {
    const void *begin; /* what FILE.vtable points to */
    cap_stdio_close_fn *real_close;
} tables[TABLES_MAX];
static unsigned table_count;

struct cap_stdio_libc cap_stdio_libc;
bool cap_stdio_has_hooks;

cap_stdio_close_fn *cap_stdio_real_close(const FILE *stream)
{
    /* FILE is followed by the pointer to its table (struct _IO_FILE_plus). */
    const void *begin = *(const void *const *)(const void *)(stream + 1);
    for (unsigned i = 0; i < table_count; i++) {
        if (tables[i].begin == begin) {
            return tables[i].real_close;
        }
    }
    return cap_stdio_libc.close;
}

struct relocated {
    uintptr_t address; /* in: an address in libc */
    uintptr_t lo;      /* out: what the loader made read-only after relocation */
    uintptr_t hi;
};

static int find_region(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct relocated *region = arg;
    bool is_it = false;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && region->address - begin < part->p_memsz) {
            is_it = true;
        }
        if (part->p_type == PT_GNU_RELRO) {
            region->lo = begin;
            region->hi = begin + part->p_memsz;
        }
    }
    if (!is_it) {
        region->lo = 0;
        region->hi = 0;
    }
    return is_it;
}

static bool is_entry_group(const uintptr_t *word)
{
    const struct cap_stdio_libc *libc = &cap_stdio_libc;
    return word[CAP_STDIO_READ] == (uintptr_t)libc->read &&
           word[CAP_STDIO_WRITE] == (uintptr_t)libc->write &&
           word[CAP_STDIO_SEEK] == (uintptr_t)libc->seek &&
           word[CAP_STDIO_STAT] == (uintptr_t)libc->stat;
}

static void exchange(uintptr_t *word, cap_function *const hooks[CAP_STDIO_ENTRIES])
{
    struct table *table = &tables[table_count++];
    table->begin = word - WORDS_BEFORE;
    table->real_close = (cap_stdio_close_fn *)word[CAP_STDIO_CLOSE];
    for (unsigned i = 0; i < CAP_STDIO_ENTRIES; i++) {
        word[i] = (uintptr_t)hooks[i];
    }
}

static void exchange_all(const struct relocated *region,
                         cap_function *const hooks[CAP_STDIO_ENTRIES])
{
    const uintptr_t *end = (const uintptr_t *)region->hi - CAP_STDIO_ENTRIES;
    uintptr_t *word = (uintptr_t *)((region->lo + sizeof(*word) - 1) & ~(sizeof(*word) - 1));
    while (word <= end && table_count < TABLES_MAX) {
        if (is_entry_group(word)) {
            exchange(word, hooks);
            word += CAP_STDIO_ENTRIES;
        } else {
            word++;
        }
    }
}

static void find(const char *name, void *place)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(place, &found, sizeof(found));
}

static bool find_functions(void)
{
    struct cap_stdio_libc *libc = &cap_stdio_libc;
    find("_IO_file_read", &libc->read);
    find("_IO_file_write", &libc->write);
    find("_IO_file_seek", &libc->seek);
    find("_IO_file_close", &libc->close);
    find("_IO_file_stat", &libc->stat);
    /* Not "write": another preloaded library may define that, and must not see this one. */
    find("__write", &libc->write_call);
    return libc->read != NULL && libc->write != NULL && libc->seek != NULL && libc->close != NULL &&
           libc->stat != NULL && libc->write_call != NULL;
}

void cap_stdio_exchange(cap_function *const hooks[CAP_STDIO_ENTRIES])
{
    struct relocated region = {0};
    if (!find_functions()) {
        return;
    }
    region.address = (uintptr_t)cap_stdio_libc.read;
    if (dl_iterate_phdr(find_region, &region) == 0 || region.lo == 0) {
        return;
    }
    /* The loader protects whole pages: the last, partial one stays writable (_dl_protect_relro). */
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = region.lo & ~(page - 1);
    size_t bytes = (region.hi & ~(page - 1)) - begin;
    if (mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE) != 0) {
        return;
    }
    exchange_all(&region, hooks);
    (void)mprotect((void *)begin, bytes, PROT_READ);
    cap_stdio_has_hooks = table_count > 0;
}
