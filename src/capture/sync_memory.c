/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory that does not come by mmap: objects in it are to be found (sync_object.h). */
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/shm.h>

#include "capture/sync_object.h"

/* Not recorded: it opens and maps a file inside libc. */
CAP_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    mode_t mode = 0;
    unsigned value = 0;
    if ((flags & O_CREAT) != 0) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        value = va_arg(args, unsigned);
        va_end(args);
    }
    sem_t *result = CAP_REAL(sem_open)(name, flags, mode, value);
    cap_object_maps_changed();
    return result;
}

CAP_EXPORT void *shmat(int id, const void *address, int flags)
{
    void *result = CAP_REAL(shmat)(id, address, flags);
    cap_object_maps_changed();
    return result;
}
