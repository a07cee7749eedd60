/* SPDX-License-Identifier: Apache-2.0 */
/* Critical sections and locks of OpenMP as gcc compiles it (libgomp). */
#include "capture/sync/sync_lock.h"

/* A call that took longer has waited: some microseconds in ticks of either clock. */
#define WAITED 16384u

/* ---- critical: without a try -------------------------------------------------------------------
 */

/* The locks of nameless sections are libgomp's own: these stand for them. */
static char nameless_critical;
static char atomics;

static struct cap_lock lock_of(void *place, unsigned call, uintptr_t source)
{
    return CAP_LOCK_OF(place, call, source, (int64_t)(uintptr_t)place, false);
}

struct section {
    struct cap_thread *self; /* NULL: not recorded */
    uint64_t begin;
};

static void begin(struct section *section, const struct cap_lock *lock)
{
    section->self = cap_enter_sync(lock->source, lock->call);
    if (section->self != NULL) {
        (void)__atomic_fetch_add(cap_waiters_of(lock->address), 1, __ATOMIC_SEQ_CST);
        cap_state_enter(section->self, CAP_STATE_IN_LOCK);
        section->begin = cap_now();
    }
}

/* Whether it was free is seen by how long it took. */
static void end(const struct section *section, const struct cap_lock *lock)
{
    CAP_KEEP_ERRNO;
    struct cap_thread *self = section->self;
    if (self == NULL) {
        return;
    }
    cap_state_leave(self);
    (void)__atomic_fetch_sub(cap_waiters_of(lock->address), 1, __ATOMIC_SEQ_CST);
    struct cap_event ev = CAP_EVENT_OF(lock->call, lock->source);
    ev.begin = section->begin;
    ev.end = cap_now();
    if (ev.end - ev.begin <= WAITED) {
        cap_held_push(self, lock->address, lock->call, lock->source);
        return;
    }
    const int64_t arg[2] = {lock->id, 0};
    ev.result = 0;
    cap_emit_wait(self, &ev, arg);
    cap_held_push_written(self, lock->address, lock->call, lock->source);
}

/* `place` is the address that stands for the lock. */
#define DEFINE_START(symbol, place, parameters, ...)                                               \
    CAP_EXPORT void symbol parameters;                                                             \
    CAP_EXPORT void symbol parameters                                                              \
    {                                                                                              \
        const struct cap_lock lock = lock_of((void *)(place), WIO_CALL_##symbol, CAP_CALLER());    \
        struct section section;                                                                    \
        begin(&section, &lock);                                                                    \
        CAP_REAL(symbol)(__VA_ARGS__);                                                             \
        end(&section, &lock);                                                                      \
    }

#define DEFINE_END(symbol, place, parameters, ...)                                                 \
    CAP_EXPORT void symbol parameters;                                                             \
    static int real_##symbol(void *name)                                                           \
    {                                                                                              \
        (void)name;                                                                                \
        CAP_REAL(symbol)(__VA_ARGS__);                                                             \
        return 0;                                                                                  \
    }                                                                                              \
    CAP_EXPORT void symbol parameters                                                              \
    {                                                                                              \
        const struct cap_lock lock = lock_of((void *)(place), WIO_CALL_##symbol, CAP_CALLER());    \
        (void)cap_unlock_any(&lock, real_##symbol);                                                \
    }

DEFINE_START(GOMP_critical_start, &nameless_critical, (void), )
DEFINE_START(GOMP_critical_name_start, name, (void **name), name)
DEFINE_START(GOMP_atomic_start, &atomics, (void), )
DEFINE_END(GOMP_critical_end, &nameless_critical, (void), )
DEFINE_END(GOMP_critical_name_end, name, (void **name), (void **)name)
DEFINE_END(GOMP_atomic_end, &atomics, (void), )

/* ---- locks -------------------------------------------------------------------------------------
 */

typedef int omp_lock; /* one word: only its address counts here */

CAP_EXPORT void omp_set_lock(omp_lock *lock);
CAP_EXPORT int omp_test_lock(omp_lock *lock);
CAP_EXPORT void omp_unset_lock(omp_lock *lock);

static int try_lock(void *lock)
{
    return CAP_REAL(omp_test_lock)(lock) != 0 ? 0 : EBUSY;
}

static int leave_lock(void *lock)
{
    CAP_REAL(omp_unset_lock)(lock);
    return 0;
}

CAP_EXPORT void omp_set_lock(omp_lock *omp)
{
    const struct cap_lock lock = lock_of(omp, WIO_CALL_omp_set_lock, CAP_CALLER());
    int result = cap_lock_try(omp, try_lock);
    struct cap_lock_wait wait;
    if (result == 0) {
        cap_held_push(cap_self, omp, lock.call, lock.source);
        return;
    }
    if (cap_lock_wait_begin(&wait, &lock, try_lock, &result)) {
        return;
    }
    CAP_REAL(omp_set_lock)(omp);
    cap_lock_wait_end(&wait, &lock, 0);
}

CAP_EXPORT int omp_test_lock(omp_lock *omp)
{
    const struct cap_lock lock = lock_of(omp, WIO_CALL_omp_test_lock, CAP_CALLER());
    return cap_lock_tried(&lock, try_lock, cap_lock_try(omp, try_lock)) == 0;
}

CAP_EXPORT void omp_unset_lock(omp_lock *omp)
{
    const struct cap_lock lock = lock_of(omp, WIO_CALL_omp_unset_lock, CAP_CALLER());
    (void)cap_unlock_any(&lock, leave_lock);
}
