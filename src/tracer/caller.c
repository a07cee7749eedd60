/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/caller.h"

#include "tracer/memory.h"
#include "tracer/tracee.h"

#define WORDS 32u
#define PAGE 4096u
#define IS_CALL (UINT64_C(1) << 63) /* no address of a program has this bit */
#define CODE_BYTES 7u

void tracer_code_add(struct tracer_code *code, uint64_t lo, uint64_t hi)
{
    if (code->count < TRACER_TEXTS && lo < hi) {
        code->texts[code->count].lo = lo;
        code->texts[code->count].hi = hi;
        code->count += 1;
    }
}

/* E8 and a distance, or FF /2 with an operand of 1, 2, 3, 5 or 6 bytes. */
bool tracer_code_is_call(const uint8_t bytes[CODE_BYTES])
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7};
    if (bytes[CODE_BYTES - 5] == 0xe8) {
        return true;
    }
    for (unsigned i = 0; i < sizeof(lengths); i++) {
        const uint8_t *at = bytes + CODE_BYTES - lengths[i];
        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2) {
            return true;
        }
    }
    return false;
}

#if defined(__x86_64__)

static bool is_code(const struct tracer_code *code, uint64_t address)
{
    for (uint32_t i = 0; i < code->count; i++) {
        if (address >= code->texts[i].lo + CODE_BYTES && address < code->texts[i].hi) {
            return true;
        }
    }
    return false;
}

static bool is_behind_call(struct tracer_thread *thread, uint64_t address)
{
    uint64_t *site = &thread->process->code.sites[(address ^ address >> 8) % TRACER_SITES];
    uint8_t bytes[CODE_BYTES];
    if ((*site & ~IS_CALL) != address) {
        const bool is_call =
            tracer_memory_read(thread->tid, address - CODE_BYTES, bytes, CODE_BYTES) &&
            tracer_code_is_call(bytes);
        *site = address | (is_call ? IS_CALL : 0);
    }
    return (*site & IS_CALL) != 0;
}

uint64_t tracer_caller(struct tracer_thread *thread)
{
    uint64_t words[WORDS];
    const uint64_t stack = thread->call.stack;
    const uint64_t in_page =
        (PAGE - stack % PAGE) / sizeof(*words); /* what is behind may not be there */
    const uint64_t count = in_page < WORDS ? in_page : WORDS;
    if (!tracer_memory_read(thread->tid, stack, words, count * sizeof(*words))) {
        return thread->call.source;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (is_code(&thread->process->code, words[i]) && is_behind_call(thread, words[i])) {
            return words[i];
        }
    }
    return thread->call.source;
}

#else

uint64_t tracer_caller(struct tracer_thread *thread)
{
    return thread->call.source;
}

#endif
