/* SPDX-License-Identifier: Apache-2.0 */
/* What synchronisation is about: the id of a lock, semaphore, word .. in events (R-SYNC-1). */
#ifndef WIO_CAPTURE_SYNC_SYNC_OBJECT_H
#define WIO_CAPTURE_SYNC_SYNC_OBJECT_H

#include "capture/core/capture.h"
#include "capture/mmap/mmap_table.h"

/* The same in all processes that map the memory; the address where the memory is private. */
int64_t cap_object_shared(const void *address) CAP_HIDDEN;

/* What is no memory, but the same in all processes of the host by these numbers. */
int64_t cap_object_named(uint64_t kind, uint64_t a, uint64_t b) CAP_HIDDEN;

/* `is_shared`: it was made for use between processes. Else its address is its id. */
static inline int64_t cap_object_id(const void *address, bool is_shared)
{
    return CAP_UNLIKELY(is_shared) ? cap_object_shared(address) : (int64_t)(uintptr_t)address;
}

/* Shared memory came in a way that does not tell what it is: the kernel is asked about it when an
 * object in it is met. */
void cap_object_maps_changed(void) CAP_HIDDEN;

/* A new map by mmap with these flags: where it is shared, and synchronisation is recorded, it gets
 * its kind, device and inode. */
void cap_object_mapped(struct cap_map *map, int flags, int fd) CAP_HIDDEN;
/* The same for a segment of System V that is attached now. */
void cap_object_attached(uintptr_t address, int id) CAP_HIDDEN;
/* Before shmdt. */
void cap_object_detach(uintptr_t address) CAP_HIDDEN;

/* sem_open maps the file of a named semaphore inside libc. Which one that is, before and after. */
struct cap_object_file {
    uint64_t device;
    uint64_t inode; /* 0 = none */
};
struct cap_object_file cap_object_of_name(const char *name) CAP_HIDDEN;
void cap_object_opened(uintptr_t address, struct cap_object_file before,
                       const char *name) CAP_HIDDEN;
/* After sem_close, which may have unmapped the semaphore. */
void cap_object_closed(uintptr_t address) CAP_HIDDEN;

#endif
