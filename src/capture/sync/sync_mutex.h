/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mutex tells by itself. The layout is glibc's <bits/struct_mutex.h>, fixed by the static
 * initialisers; what the values mean is nptl's (pthreadP.h, lowlevellock.h), unchanged since 2005.
 * Were it otherwise, a few events too many or too few were written.
 */
#ifndef WIO_CAPTURE_SYNC_SYNC_MUTEX_H
#define WIO_CAPTURE_SYNC_SYNC_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#define CAP_MUTEX_OWNED 0x30   /* robust, priority inheritance: the word holds the owner */
#define CAP_MUTEX_CEILING 0x40 /* .. a priority in the high bits */
#define CAP_MUTEX_SHARED 0x80

static inline bool cap_mutex_is_shared(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & CAP_MUTEX_SHARED) != 0;
}

static inline bool cap_rwlock_is_shared(const pthread_rwlock_t *lock)
{
    return lock->__data.__shared != 0;
}

/* By its owner: a thread waits for it in the kernel, in this process or another, perhaps after a
 * condition was signalled. */
static inline bool cap_mutex_is_contended(const pthread_mutex_t *mutex)
{
    unsigned word = (unsigned)mutex->__data.__lock;
    unsigned kind = (unsigned)mutex->__data.__kind;
    if (__builtin_expect((kind & (CAP_MUTEX_OWNED | CAP_MUTEX_CEILING)) == 0, 1)) {
        return word > 1;
    }
    return (kind & CAP_MUTEX_OWNED) != 0 ? word >> 31 != 0 : (word & 0x7ffff) > 1;
}

#endif
