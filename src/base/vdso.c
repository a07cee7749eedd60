/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's object is an ELF image that lies whole in memory: its dynamic section names symbols,
 * their texts, and a hash table that tells how many there are. */
#include "base/vdso.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

struct image {
    uintptr_t base; /* to be added to the addresses in the image */
    const Elf64_Sym *symbols;
    const char *texts;
    size_t count;
};

/* The table of DT_GNU_HASH: symbols behind the highest bucket's begin, up to the end of its chain.
 */
static size_t count_hashed(const uint32_t *table)
{
    const uint32_t buckets = table[0];
    const uint32_t first = table[1];
    const uint32_t *bucket = table + 4 + 2 * (size_t)table[2]; /* behind 64-bit words of a filter */
    const uint32_t *chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; i++) {
        last = bucket[i] > last ? bucket[i] : last;
    }
    if (last < first) {
        return first;
    }
    while ((chain[last - first] & 1) == 0) {
        last++;
    }
    return (size_t)last + 1;
}

static void read_dynamic(struct image *image, const Elf64_Dyn *entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *at = (const void *)(image->base + entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB) {
            image->symbols = at;
        } else if (entry->d_tag == DT_STRTAB) {
            image->texts = at;
        } else if (entry->d_tag == DT_HASH) {
            image->count = ((const uint32_t *)at)[1];
        } else if (entry->d_tag == DT_GNU_HASH && image->count == 0) {
            image->count = count_hashed(at);
        }
    }
}

static void read_image(struct image *image, uintptr_t start)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)start;
    const Elf64_Phdr *parts = (const Elf64_Phdr *)(start + head->e_phoff);
    const Elf64_Phdr *dynamic = NULL;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        if (parts[i].p_type == PT_LOAD && image->base == 0) {
            image->base = start + parts[i].p_offset - parts[i].p_vaddr;
        } else if (parts[i].p_type == PT_DYNAMIC) {
            dynamic = &parts[i];
        }
    }
    if (dynamic != NULL && image->base != 0) {
        read_dynamic(image, (const Elf64_Dyn *)(start + dynamic->p_offset));
    }
}

static void *find(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->count; i++) {
        const Elf64_Sym *symbol = &image->symbols[i];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            strcmp(image->texts + symbol->st_name, name) == 0) {
            return (void *)(image->base + symbol->st_value);
        }
    }
    return NULL;
}

void *wio_vdso_find(const char *const *names)
{
    struct image image = {0};
    const uintptr_t start = getauxval(AT_SYSINFO_EHDR);
    if (start != 0) {
        read_image(&image, start);
    }
    if (image.symbols == NULL || image.texts == NULL) {
        return NULL;
    }
    for (; *names != NULL; names++) {
        void *found = find(&image, *names);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}
