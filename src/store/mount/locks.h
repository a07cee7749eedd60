/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of fcntl(2) and flock(2) in a mount. All processes of a mount are one client of the store,
 * whose locks do not conflict: so which of them has which bytes is kept here, and the store has for
 * the mount what its processes have together. Against other mounts and clients the store decides.
 *
 * A lock of the store is a lease of the mount: it ends when a target has not heard of the mount for
 * two seconds, without a word to the process. flock(2) has a byte of its own far behind all data,
 * so that the two kinds of locks do not see each other, as on other file systems of Linux.
 */
#ifndef WIO_MOUNT_LOCKS_H
#define WIO_MOUNT_LOCKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/mount/lock_table.h"

/* Threads of a mount, and how many of them may wait for locks: the others serve what gives them
 * back. */
enum { MOUNT_THREADS = 64, MOUNT_LOCK_WAITS = 48 };

/* The store is asked by one thread for each file, so that it has what the table says. The mutex is
 * not held meanwhile: a store that does not answer stops no thread that asks nothing of it, but for
 * those that give back locks of the same file, which wait for the one that asks. */
struct mount_locks {
    pthread_mutex_t mutex;         /* of the table, and of .. */
    uint64_t asked[MOUNT_THREADS]; /* files for whose locks the store is asked now */
    unsigned asked_count;
    pthread_cond_t answered; /* they are fewer */
    struct mount_lock_table table;
    atomic_uint waiting;
};

void mount_locks_init(struct mount_locks *locks);
void mount_locks_fini(struct mount_locks *locks);

#endif
