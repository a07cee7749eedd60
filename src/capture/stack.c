/* SPDX-License-Identifier: Apache-2.0 */
/* Full stacks (record --stacks), by the unwind tables that every program carries. */
#include "capture/stack.h"

#include <stdbool.h>
#include <string.h>
#include <unwind.h>

#include "capture/process.h"

#define DEPTH_MAX 64u
#define KNOWN (sizeof(((struct cap_thread *)NULL)->stacks) / sizeof(uint64_t))

struct walk {
    uintptr_t source; /* frames before this one are our own */
    uintptr_t frames[DEPTH_MAX];
    unsigned count;
};

static __thread bool is_walking __attribute__((tls_model("initial-exec")));

bool cap_is_walking(void)
{
    return is_walking;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (address == 0 || walk->count == DEPTH_MAX) {
        return _URC_END_OF_STACK;
    }
    if (walk->count > 0 || address == walk->source) {
        walk->frames[walk->count++] = address;
    }
    return _URC_NO_REASON;
}

static uint64_t hash_of(const struct walk *walk)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (unsigned i = 0; i < walk->count; i++) {
        hash = (hash ^ walk->frames[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Ids come from the hash, so that every thread names the same stack alike without a shared table:
 * the 32 bits are unique enough for the few thousand stacks of a program. */
uint32_t cap_stack(struct cap_thread *self, uintptr_t source)
{
    CAP_KEEP_ERRNO;
    struct walk walk = {.source = source};
    is_walking = true;
    (void)_Unwind_Backtrace(on_frame, &walk);
    is_walking = false;
    if (walk.count == 0) {
        return 0;
    }
    uint64_t hash = hash_of(&walk);
    uint32_t id = (uint32_t)(hash >> 32) | 1;
    uint64_t *known = &self->stacks[hash % KNOWN];
    if (*known != hash) {
        struct wio_slot_text head = {.kind = WIO_SLOT_STACK, .id = id};
        if (!cap_text_record(self, &head, walk.frames, walk.count * sizeof(walk.frames[0]), NULL,
                             0)) {
            return 0;
        }
        *known = hash;
    }
    return id;
}
