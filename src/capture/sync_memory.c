/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory that does not come by mmap: objects in it are to be found (sync_object.h). */
#include <sys/shm.h>

#include "capture/sync_object.h"

CAP_EXPORT void *shmat(int id, const void *address, int flags)
{
    void *result = CAP_REAL(shmat)(id, address, flags);
    cap_object_maps_changed();
    return result;
}
