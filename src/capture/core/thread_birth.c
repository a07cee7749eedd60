/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/thread_birth.h"

#include <limits.h>
#include <linux/futex.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/thread_table.h"

/* cap_thread.birth. SETTLED is 0: a fork wipes it, and the child has no maker. */
enum birth {
    SETTLED, /* there is no maker, or it has what it wants */
    CALLED,  /* the real call is under way */
    READING, /* the maker reads the program's variable */
    AWAITED, /* .. and the thread waits for that */
    ARRIVED, /* the thread is there, the maker has not looked */
    ENDED    /* .. and has ended since */
};

void cap_birth_begin(struct cap_thread *fresh)
{
    __atomic_store_n(&fresh->birth.state, CALLED, __ATOMIC_RELAXED);
}

static uint64_t read_place(struct cap_thread *fresh, const pthread_t *place)
{
    uint64_t token = (uint64_t)*place;
    if (__atomic_exchange_n(&fresh->birth.state, SETTLED, __ATOMIC_ACQ_REL) == AWAITED) {
        (void)raw_call3(SYS_futex, (long)&fresh->birth.state, FUTEX_WAKE_PRIVATE, INT_MAX);
    }
    return token;
}

uint64_t cap_birth_token(struct cap_thread *fresh, const pthread_t *place)
{
    uint32_t expected = CALLED;
    if (__atomic_compare_exchange_n(&fresh->birth.state, &expected, READING, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return read_place(fresh, place);
    }
    uint64_t token = fresh->birth.token;
    if (__atomic_exchange_n(&fresh->birth.state, SETTLED, __ATOMIC_ACQ_REL) == ENDED) {
        cap_thread_give_back(fresh);
    }
    return token;
}

void cap_birth_arrive(struct cap_thread *self)
{
    uint32_t state = CALLED;
    if (__atomic_compare_exchange_n(&self->birth.state, &state, ARRIVED, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        return;
    }
    while (state != SETTLED) {
        if (state == AWAITED ||
            __atomic_compare_exchange_n(&self->birth.state, &state, AWAITED, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            (void)raw_call4(SYS_futex, (long)&self->birth.state, FUTEX_WAIT_PRIVATE, AWAITED, 0);
        }
        state = __atomic_load_n(&self->birth.state, __ATOMIC_ACQUIRE);
    }
}

bool cap_birth_end(struct cap_thread *self)
{
    uint32_t state = ARRIVED;
    return !__atomic_compare_exchange_n(&self->birth.state, &state, ENDED, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE);
}
