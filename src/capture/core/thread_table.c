/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/thread_table.h"

#include <sys/mman.h>

#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"

struct cap_thread cap_no_thread;
__thread struct cap_thread *cap_self __attribute__((tls_model("initial-exec"))) = &cap_no_thread;

/* The blocks stay when the image is wiped: their contents are zero then. */
static struct cap_thread *blocks[CAP_THREAD_BLOCKS];
static uint32_t thread_count; /* atomic: handed out so far */

#define BLOCK_BYTES (CAP_THREAD_BLOCK * sizeof(struct cap_thread))
#define THREADS_MAX (CAP_THREAD_BLOCK * CAP_THREAD_BLOCKS)

static struct cap_thread *thread_at(uint32_t index)
{
    return &blocks[index / CAP_THREAD_BLOCK][index % CAP_THREAD_BLOCK];
}

static bool make_block(uint32_t block)
{
    if (__atomic_load_n(&blocks[block], __ATOMIC_ACQUIRE) != NULL) {
        return true;
    }
    struct cap_thread *fresh =
        raw_mmap(BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == NULL) {
        return false;
    }
    if (raw_madvise(fresh, BLOCK_BYTES, MADV_WIPEONFORK) != 0) {
        (void)raw_munmap(fresh, BLOCK_BYTES);
        return false;
    }
    struct cap_thread *expected = NULL;
    if (!__atomic_compare_exchange_n(&blocks[block], &expected, fresh, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        (void)raw_munmap(fresh, BLOCK_BYTES);
    }
    return true;
}

static struct cap_thread *take_free(void)
{
    uint64_t head = __atomic_load_n(&cap_image->free_threads, __ATOMIC_ACQUIRE);
    while ((uint32_t)head != 0) {
        struct cap_thread *thread = thread_at((uint32_t)head - 1);
        uint32_t next_free = __atomic_load_n(&thread->next_free, __ATOMIC_RELAXED);
        uint64_t next = ((head >> 32) + 1) << 32 | next_free;
        if (__atomic_compare_exchange_n(&cap_image->free_threads, &head, next, true,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return thread;
        }
    }
    return NULL;
}

static struct cap_thread *take_new(void)
{
    uint32_t index = __atomic_load_n(&thread_count, __ATOMIC_RELAXED);
    do {
        if (index >= THREADS_MAX || !make_block(index / CAP_THREAD_BLOCK)) {
            return NULL; /* a thread without a state asks with each event: nothing is used up */
        }
    } while (!__atomic_compare_exchange_n(&thread_count, &index, index + 1, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    struct cap_thread *thread = thread_at(index);
    thread->index = index;
    return thread;
}

struct cap_thread *cap_thread_take(void)
{
    struct cap_thread *thread = take_free();
    if (thread == NULL) {
        thread = take_new();
    }
    if (thread == NULL) {
        return NULL;
    }
    thread->state = 0;
    thread->span = 0;
    thread->is_internal = 0;
    CAP_RESET_PARTS(thread);
    return thread;
}

void cap_thread_give_back(struct cap_thread *thread)
{
    thread->is_ready = 0;
    thread->span = 0;
    uint64_t head = __atomic_load_n(&cap_image->free_threads, __ATOMIC_RELAXED);
    uint64_t next;
    do {
        __atomic_store_n(&thread->next_free, (uint32_t)head, __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 | (thread->index + 1);
    } while (!__atomic_compare_exchange_n(&cap_image->free_threads, &head, next, true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

void cap_threads_reset(void)
{
    uint32_t count = __atomic_load_n(&thread_count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
        if (blocks[i / CAP_THREAD_BLOCK] != NULL && thread_at(i) != cap_self) {
            thread_at(i)->index = i;
            cap_thread_give_back(thread_at(i));
        } else if (blocks[i / CAP_THREAD_BLOCK] != NULL) {
            thread_at(i)->index = i;
        }
    }
}

void cap_threads_forget_ranges(void)
{
    uint32_t count = __atomic_load_n(&thread_count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
        if (__atomic_load_n(&blocks[i / CAP_THREAD_BLOCK], __ATOMIC_ACQUIRE) != NULL) {
            __atomic_store_n(&thread_at(i)->span, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&thread_at(i)->callers.span2, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&thread_at(i)->callers.library_span, 0, __ATOMIC_RELAXED);
            cap_on_forget_modules(thread_at(i));
        }
    }
}
