/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of a thread's state, and the key whose destructor tells the end of a thread. */
#include <limits.h>
#include <pthread.h>

#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/thread_birth.h"
#include "capture/core/thread_table.h"

static pthread_key_t end_key;
static bool has_end_key;

/* ThreadSanitizer takes its own state of a thread down in the last round. */
#if defined(__SANITIZE_THREAD__)
#define LAST_ROUND 1
#else
#define LAST_ROUND PTHREAD_DESTRUCTOR_ITERATIONS
#endif

/*
 * Destructors of thread-specific data run in rounds while any of them sets a value again. Wait for
 * the last round: the program's own destructors may still do I/O before.
 */
static void on_thread_end(void *value)
{
    struct cap_thread *self = cap_self;
    uintptr_t round = (uintptr_t)value;
    if (round < LAST_ROUND && pthread_setspecific(end_key, (void *)(round + 1)) == 0) {
        return;
    }
    if (!self->is_ready) {
        return;
    }
    cap_on_end_thread(self);
    uint64_t mask = raw_block_signals();
    cap_self = &cap_no_thread;
    if (cap_birth_end(self)) {
        cap_thread_give_back(self);
    }
    raw_restore_signals(mask);
}

static bool make_end_key(void)
{
    static uint32_t once;
    uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&once, &expected, 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        has_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
    }
    return has_end_key;
}

static bool begin(struct cap_thread *self)
{
    self->pid = raw_getpid();
    self->tid = raw_gettid();
    self->writer.clock_pid = self->pid;
    self->writer.clock_tid = self->tid;
    self->mute = self->is_internal && !cap_process.with_mpi_internals;
    if (cap_process.stacks == CAP_STACKS_ALWAYS) {
        self->flags |= WIO_EVENT_STACK;
    }
    bool is_first = __atomic_fetch_add(&cap_image->threads_begun, 1, __ATOMIC_RELAXED) == 0;
    if (self->writer.chunk == NULL) {
        self->word = WIO_CHUNK_SLOTS; /* full: the first record attaches a chunk */
    } else {
        cap_clock_record(self, 1);
    }
    self->is_causal = cap_is_causal;
    self->sampled = 0;
    self->cpu.ns = WIO_NO_OFFSET;
    __atomic_store_n(&self->is_ready, 1, __ATOMIC_RELEASE);
    if (is_first) {
        cap_describe_image(self);
    }
    cap_on_begin_thread(self);
    if (make_end_key()) {
        (void)pthread_setspecific(end_key, (void *)(uintptr_t)1);
    }
    return true;
}

bool cap_thread_begin(void)
{
    uint64_t mask = raw_block_signals();
    CAP_KEEP_ERRNO;
    bool is_ready = cap_self->is_ready != 0;
    if (!is_ready && cap_image_begin()) {
        if (cap_self == &cap_no_thread) {
            struct cap_thread *fresh = cap_thread_take();
            cap_self = fresh != NULL ? fresh : &cap_no_thread;
        }
        is_ready = cap_self != &cap_no_thread && begin(cap_self);
    }
    raw_restore_signals(mask);
    return is_ready;
}
