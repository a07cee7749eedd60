/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open files of a mount. The time of what was written goes to the catalogue when it is asked
 * for, or at close(2), not with each write: until then the file is "dirty". A time that is set
 * before that (futimens(3)) takes the place of it.
 */
#ifndef WIO_MOUNT_HANDLES_H
#define WIO_MOUNT_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <whyio/store.h>

struct mount_handle {
    struct wio_store_file *file; /* owned */
    uint64_t number;
    atomic_bool is_dirty;
    struct mount_handle *next;
    struct mount_handle *before;
};

struct mount_handles {
    pthread_mutex_t lock;
    struct mount_handle *first;
};

/* Takes over `file`; NULL: no memory, it is closed. */
struct mount_handle *mount_handles_add(struct mount_handles *files, struct wio_store_file *file);
void mount_handles_remove(struct mount_handles *files, struct mount_handle *open);
/* Whether the file was dirty under any of its open files; it is clean from now on. */
bool mount_handles_clean(struct mount_handles *files, uint64_t number);

#endif
