/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory that does not come by mmap: objects in it are to be found (sync_object.h). */
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "capture/core/raw.h"
#include "capture/sync/sync_object.h"

CAP_EXPORT void *shmat(int id, const void *address, int flags)
{
    void *result = CAP_REAL(shmat)(id, address, flags);
    if (result != MAP_FAILED) {
        cap_object_attached((uintptr_t)result, id);
    }
    return result;
}

CAP_EXPORT int shmdt(const void *address)
{
    cap_object_detach((uintptr_t)address);
    return CAP_REAL(shmdt)(address);
}

/* The last one unmaps its page, inside libc. */
CAP_EXPORT int sem_close(sem_t *semaphore)
{
    int result = CAP_REAL(sem_close)(semaphore);
    if (result == 0) {
        cap_object_closed((uintptr_t)semaphore);
    }
    return result;
}
