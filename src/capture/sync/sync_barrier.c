/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers and semaphores. R-SYNC-5, R-SYNC-6
 *
 * The members of one round of a barrier are counted here as they come. A barrier that several
 * processes use has a count of rounds itself.
 */
#include "capture/sync/sync_barrier.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>

#include "capture/sync/sync.h"
#include "capture/sync/sync_object.h"

/* glibc's barrier, whose layout programs have compiled in. */
struct barrier {
    unsigned arrived;      /* in this round and all before it since the last reset */
    unsigned round_begins; /* how many of them belong to rounds that are over */
    unsigned count;
    int is_shared;
    unsigned left;
};

/* .. and its semaphore: a count (the lower half; above it the number of waiters), and whether it is
 * for one process. */
struct semaphore {
    uint64_t count;
    int is_shared;
};

_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "glibc's barrier");
_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "glibc's semaphore");

#define TABLE 1024u
#define LOOKS 16u

/* One barrier's address, and round << 32 | members that have come. Entries stay for ever, so that
 * another barrier in the same place goes on counting. */
static struct {
    uintptr_t address;
    uint64_t word;
} table[TABLE];

static uint64_t *word_of(const void *address)
{
    uint32_t hash = (uint32_t)((uintptr_t)address >> 3) * 0x9e3779b1u;
    for (uint32_t i = 0; i < LOOKS; i++) {
        uint32_t place = ((hash >> 22) + i) % TABLE;
        uintptr_t expected = 0;
        if (__atomic_load_n(&table[place].address, __ATOMIC_RELAXED) == (uintptr_t)address ||
            __atomic_compare_exchange_n(&table[place].address, &expected, (uintptr_t)address, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            expected == (uintptr_t)address) {
            return &table[place].word;
        }
    }
    return NULL;
}

/* The round that the caller is about to join; -1 where it is not known. */
static int64_t join(const struct barrier *barrier)
{
    if (barrier->is_shared != 0) {
        unsigned begins = __atomic_load_n(&barrier->round_begins, __ATOMIC_RELAXED);
        return barrier->count != 0 ? (int64_t)(begins / barrier->count) : -1;
    }
    uint64_t *word = word_of(barrier);
    if (word == NULL) {
        return -1;
    }
    uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
    uint64_t next;
    do {
        bool is_last = (uint32_t)before + 1 >= barrier->count;
        next = is_last ? ((before >> 32) + 1) << 32 : before + 1;
    } while (!__atomic_compare_exchange_n(word, &before, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return (int64_t)(before >> 32);
}

bool cap_barrier_is_shared(const pthread_barrier_t *barrier)
{
    return ((const struct barrier *)(const void *)barrier)->is_shared != 0;
}

CAP_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter_sync(source, WIO_CALL_pthread_barrier_wait);
    if (self == NULL) {
        return CAP_REAL(pthread_barrier_wait)(barrier);
    }
    const struct barrier *inner = (const struct barrier *)(const void *)barrier;
    struct cap_event ev = CAP_EVENT(pthread_barrier_wait, source);
    const int64_t arg[4] = {cap_object_id(barrier, inner->is_shared != 0), join(inner),
                            inner->count, CAP_PART_BOTH};
    cap_state_enter(self, CAP_STATE_BLOCKED);
    ev.begin = cap_begin(self);
    int result = CAP_REAL(pthread_barrier_wait)(barrier);
    ev.end = cap_now();
    cap_state_leave(self);
    ev.result = result;
    cap_emit_wait_ext(self, &ev, arg);
    return result;
}

/* ---- semaphores: each wait and each post counts ------------------------------------------------
 */

static int64_t semaphore_id(const sem_t *semaphore)
{
    const struct semaphore *inner = (const struct semaphore *)(const void *)semaphore;
    return cap_object_id(semaphore, inner->is_shared != 0);
}

struct sem_wait {
    struct cap_thread *self;
    struct cap_event ev;
    int64_t arg[2];
};

static void end_wait(struct sem_wait *wait, int result)
{
    CAP_KEEP_ERRNO;
    wait->ev.end = cap_now();
    cap_state_leave(wait->self);
    wait->ev.result = result;
    wait->ev.error = result < 0 ? errno : 0;
    cap_emit_wait(wait->self, &wait->ev, wait->arg);
}

#define DEFINE_WAIT(symbol, parameters, ...)                                                       \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        const uintptr_t source = CAP_CALLER();                                                     \
        struct sem_wait wait = {.self = cap_enter_sync(source, WIO_CALL_##symbol)};                \
        if (wait.self == NULL) {                                                                   \
            return CAP_REAL(symbol)(__VA_ARGS__);                                                  \
        }                                                                                          \
        wait.ev = CAP_EVENT(symbol, source);                                                       \
        wait.arg[0] = semaphore_id(semaphore);                                                     \
        cap_state_enter(wait.self, CAP_STATE_BLOCKED);                                             \
        wait.ev.begin = cap_begin(wait.self);                                                      \
        int result = CAP_REAL(symbol)(__VA_ARGS__);                                                \
        end_wait(&wait, result);                                                                   \
        return result;                                                                             \
    }

DEFINE_WAIT(sem_wait, (sem_t * semaphore), semaphore)
DEFINE_WAIT(sem_timedwait, (sem_t * semaphore, const struct timespec *until), semaphore, until)
DEFINE_WAIT(sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until),
            semaphore, clock, until)

/* One that finds nothing is no event. */
CAP_EXPORT int sem_trywait(sem_t *semaphore)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter_sync(source, WIO_CALL_sem_trywait);
    struct cap_event ev = CAP_EVENT(sem_trywait, source);
    ev.begin = self != NULL ? cap_begin(self) : 0;
    int result = CAP_REAL(sem_trywait)(semaphore);
    if (self != NULL && result == 0) {
        const int64_t arg[2] = {semaphore_id(semaphore), 0};
        ev.end = cap_now();
        cap_emit_wait(self, &ev, arg);
    }
    return result;
}

CAP_EXPORT int sem_init(sem_t *semaphore, int pshared, unsigned value)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter_sync(source, WIO_CALL_sem_init);
    struct cap_event ev = CAP_EVENT(sem_init, source);
    ev.begin = self != NULL ? cap_begin(self) : 0;
    int result = CAP_REAL(sem_init)(semaphore, pshared, value);
    if (self != NULL && result == 0) {
        const int64_t arg[2] = {semaphore_id(semaphore), value};
        ev.end = cap_now();
        cap_emit_wait(self, &ev, arg);
    }
    return result;
}

/* The value of a named one tells whether a wait had to wait; its first opener is found later. That
 * it opens and maps a file is inside libc. */
static void end_open(struct cap_thread *self, struct cap_event *ev, const sem_t *semaphore)
{
    const struct semaphore *inner = (const struct semaphore *)(const void *)semaphore;
    uint32_t value = (uint32_t)__atomic_load_n(&inner->count, __ATOMIC_RELAXED);
    const int64_t arg[4] = {semaphore_id(semaphore), value, 1, 0};
    ev->end = cap_now();
    ev->result = (int64_t)(uintptr_t)semaphore;
    cap_emit_wait_ext(self, ev, arg);
}

CAP_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    const uintptr_t source = CAP_CALLER();
    mode_t mode = 0;
    unsigned value = 0;
    if ((flags & O_CREAT) != 0) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        value = va_arg(args, unsigned);
        va_end(args);
    }
    struct cap_thread *self = cap_enter_sync(source, WIO_CALL_sem_open);
    struct cap_event ev = CAP_EVENT(sem_open, source);
    ev.begin = self != NULL ? cap_begin(self) : 0;
    const struct cap_object_file before = cap_object_of_name(name);
    sem_t *result = CAP_REAL(sem_open)(name, flags, mode, value);
    if (result != SEM_FAILED) {
        cap_object_opened((uintptr_t)result, before, name);
    }
    if (self != NULL && result != SEM_FAILED) {
        end_open(self, &ev, result);
    }
    return result;
}

CAP_EXPORT int sem_post(sem_t *semaphore)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter_sync(source, WIO_CALL_sem_post);
    if (self == NULL) {
        return CAP_REAL(sem_post)(semaphore);
    }
    /* Afterwards it may be gone, with the thread that waited. */
    const int64_t arg[2] = {semaphore_id(semaphore), 0};
    struct cap_event ev = CAP_EVENT(sem_post, source);
    ev.begin = cap_begin(self);
    int result = CAP_REAL(sem_post)(semaphore);
    ev.end = cap_now();
    ev.result = result;
    ev.error = result < 0 ? errno : 0;
    cap_emit_wait(self, &ev, arg);
    return result;
}
