/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/script/script.h"

#include <string.h>

#include "base/mix.h"
#include "capture/core/hash.h"
#include "capture/core/process.h"
#include "capture/script/python.h"
#include "ops/code_owner.h"

/* Frames that are looked at: modules between the program's own code and a call are few. */
#define DEPTH 32u
/* Functions of programs that are known, and what they are named at most: the stack may be a signal
 * handler's. */
#define FUNCTIONS_MAX 4096u
#define NAME_BYTES 512u
/* Addresses of lines: of no process of Linux. */
#define LINES_BASE (UINT64_C(1) << 62)
#define LINES_BITS 20u

/* Whose code a code object is, by its address and its file's: low bits: enum wio_code_kind. */
static uint64_t kinds[1024];

/* Functions by the hash of their names; the index is that of their lines. Only added to. */
static struct {
    uint64_t hash; /* 0: free */
    int32_t pid;   /* whose ring has the MODULE record */
} functions[FUNCTIONS_MAX];

/* ---- names --------------------------------------------------------------------------------- */

/* "python:FUNCTION:FILE"; 0: what it is named is not known. */
static size_t name_of(const struct cap_python_frame *frame, char name[NAME_BYTES])
{
    static const char prefix[] = WIO_CODE_PYTHON;
    const struct cap_python_text function = cap_python_function(frame);
    const struct cap_python_text file = cap_python_file(frame);
    size_t used = sizeof(prefix) - 1;
    if (function.data == NULL || file.data == NULL ||
        used + function.bytes + file.bytes + 2 > NAME_BYTES ||
        memchr(function.data, ':', function.bytes) != NULL) {
        return 0;
    }
    memcpy(name, prefix, used);
    memcpy(name + used, function.data, function.bytes);
    used += function.bytes;
    name[used++] = ':';
    memcpy(name + used, file.data, file.bytes);
    used += file.bytes;
    name[used] = '\0';
    return used;
}

/* Of a code object. Another one may come to be at its address; it has hardly its names there, too.
 */
static uint64_t tag_of(const struct cap_python_frame *frame)
{
    uint64_t tag = cap_hash_step((uintptr_t)frame->code, (uintptr_t)frame->file);
    return cap_hash_step(tag, (uintptr_t)frame->name ^ (uint64_t)frame->first_line << 40);
}

static bool is_own(const struct cap_python_frame *frame)
{
    uint64_t tag = tag_of(frame) & ~UINT64_C(3);
    uint64_t *known = &kinds[tag >> 20 & 1023];
    uint64_t found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if ((found & ~UINT64_C(3)) != tag) {
        char name[NAME_BYTES];
        bool own = name_of(frame, name) != 0 && wio_code_owner(name).kind == WIO_CODE_OWN;
        found = tag | (own ? WIO_CODE_OWN : WIO_CODE_LIBRARY);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return (found & 3) == WIO_CODE_OWN;
}

/* Those up to the program's own; 0: none is. */
static unsigned own_frames(struct cap_python_frame frames[DEPTH])
{
    unsigned count = cap_python_frames(frames, DEPTH);
    for (unsigned i = 0; i < count; i++) {
        if (is_own(&frames[i])) {
            return i + 1;
        }
    }
    return 0;
}

/* ---- addresses ----------------------------------------------------------------------------- */

/* Index of the function's place, which may be taken for it now. FUNCTIONS_MAX: there is no room. */
static unsigned find_function(uint64_t hash)
{
    for (unsigned i = 0; i < 64; i++) {
        unsigned at = ((unsigned)(hash >> 20) + i) % FUNCTIONS_MAX;
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&functions[at].hash, &found, hash, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            found == hash) {
            return at;
        }
    }
    return FUNCTIONS_MAX;
}

/* Twice by two threads at the same time does no harm. */
static bool describe(struct cap_thread *self, unsigned at, const char *name, size_t bytes)
{
    const uint64_t lo = LINES_BASE + ((uint64_t)at << LINES_BITS);
    const struct wio_slot_text head = {
        .kind = WIO_SLOT_MODULE, .lo = lo, .hi = lo + (UINT64_C(1) << LINES_BITS)};
    const uint64_t offset = 0;
    if (__atomic_load_n(&functions[at].pid, __ATOMIC_ACQUIRE) == self->pid) {
        return true;
    }
    if (!cap_text_record(self, &head, &offset, sizeof(offset), name, bytes)) {
        return false;
    }
    __atomic_store_n(&functions[at].pid, self->pid, __ATOMIC_RELEASE);
    return true;
}

/* 0: not known. */
static uintptr_t address_of(struct cap_thread *self, const struct cap_python_frame *frame)
{
    char name[NAME_BYTES];
    size_t bytes = name_of(frame, name);
    unsigned line = bytes > 0 ? cap_python_line(frame) : 0;
    unsigned at =
        line > 0 ? find_function(wio_mix_text(WIO_MIX_TEXT, name, bytes) | 1) : FUNCTIONS_MAX;
    if (at == FUNCTIONS_MAX || line >= 1u << LINES_BITS || !describe(self, at, name, bytes)) {
        return 0;
    }
    return LINES_BASE + ((uintptr_t)at << LINES_BITS) + line;
}

/* ---- hooks --------------------------------------------------------------------------------- */

bool cap_script_found(void)
{
    return cap_python_find();
}

uint64_t cap_script_place(void)
{
    struct cap_python_frame frames[DEPTH];
    unsigned count = own_frames(frames);
    uint64_t place = count;
    for (unsigned i = 0; i < count; i++) {
        place = cap_hash_step(place, (uintptr_t)frames[i].instruction);
        place = cap_hash_step(place, tag_of(&frames[i]));
    }
    return place;
}

unsigned cap_script_frames(struct cap_thread *self, uintptr_t *frames, unsigned room)
{
    struct cap_python_frame found[DEPTH];
    unsigned count = own_frames(found);
    unsigned used = 0;
    for (unsigned i = 0; i < count && used < room; i++) {
        uintptr_t address = address_of(self, &found[i]);
        if (address != 0) {
            frames[used++] = address;
        }
    }
    return used;
}
