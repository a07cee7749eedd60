/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose language calls the kernel by itself: no symbol of libc is involved, so their I/O
 * is not seen, however dynamically they are linked. Go marks its programs with a note. */
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "capture/core/process.h"

#define GO_BUILD_ID 4u /* type of the note "Go" */

/* Notes lie one behind the other: sizes of name and content, type, both of them up to 4 bytes. */
static bool has_go_note(const char *notes, size_t size)
{
    while (size >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes, sizeof(note));
        const size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        const size_t all = sizeof(note) + name + (((size_t)note.n_descsz + 3) & ~(size_t)3);
        if (all > size) {
            return false;
        }
        if (note.n_type == GO_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + sizeof(note), "Go\0", 4) == 0) {
            return true;
        }
        notes += all;
        size -= all;
    }
    return false;
}

bool cap_makes_own_calls(void)
{
    const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);
    const size_t count = headers != NULL ? getauxval(AT_PHNUM) : 0;
    uintptr_t base = 0;
    bool is_placed = false; /* without that header the load address is unknown */
    for (size_t i = 0; i < count; i++) {
        if (headers[i].p_type == PT_PHDR) {
            base = (uintptr_t)headers - headers[i].p_vaddr;
            is_placed = true;
        }
    }
    for (size_t i = 0; is_placed && i < count; i++) {
        if (headers[i].p_type == PT_NOTE &&
            has_go_note((const char *)(base + headers[i].p_vaddr), headers[i].p_memsz)) {
            return true;
        }
    }
    return false;
}
