/* SPDX-License-Identifier: Apache-2.0 */
/* What synchronisation is about: the id of a lock, semaphore, word .. in events (R-SYNC-1). */
#ifndef WIO_CAPTURE_SYNC_OBJECT_H
#define WIO_CAPTURE_SYNC_OBJECT_H

#include "capture/capture.h"

/* The same in all processes that map the memory; the address where that is nobody else's. */
int64_t cap_object_shared(const void *address) CAP_HIDDEN;

/* What is no memory, but the same in all processes of the host by these numbers. */
int64_t cap_object_named(uint64_t kind, uint64_t a, uint64_t b) CAP_HIDDEN;

/* `is_shared`: it was made for use between processes. Else nobody asks where it lies. */
static inline int64_t cap_object_id(const void *address, bool is_shared)
{
    return CAP_UNLIKELY(is_shared) ? cap_object_shared(address) : (int64_t)(uintptr_t)address;
}

/* Shared memory was mapped or unmapped: what was known of it is to be asked for anew. */
void cap_object_maps_changed(void) CAP_HIDDEN;

#endif
