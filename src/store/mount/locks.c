/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mount/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/mount/mount_internal.h"

#include <fuse_lowlevel.h>

/* No lock of fcntl(2) goes further, and there the byte of flock(2) is. */
#define END (UINT64_C(1) << 61)
#define PAUSE_MIN_NS 1000000L
#define PAUSE_MAX_NS 50000000L

void mount_locks_init(struct mount_locks *locks)
{
    (void)pthread_mutex_init(&locks->mutex, NULL);
}

void mount_locks_fini(struct mount_locks *locks)
{
    mount_lock_table_fini(&locks->table);
    (void)pthread_mutex_destroy(&locks->mutex);
}

static struct mount_handle *handle_of(const struct fuse_file_info *info)
{
    return (struct mount_handle *)(uintptr_t)info->fh; /* NOLINT(performance-no-int-to-ptr) */
}

/* What a file was not opened for is EBADF, as of fcntl(2). */
static int answer(enum wio_status status, const struct wio_error *err)
{
    const int code = mount_answer(status, err);
    return code == -EACCES ? -EBADF : code;
}

/* ---- what the store has for the mount ------------------------------------------------------ */

static int lock_at_store(const struct mount_handle *open, const struct mount_range *range,
                         bool is_exclusive)
{
    struct wio_error err = WIO_ERROR_INIT;
    return answer(
        wio_store_lock(open->file, range->from, range->to - range->from, is_exclusive, false, &err),
        &err);
}

static int unlock_at_store(const struct mount_handle *open, const struct mount_range *range)
{
    struct wio_error err = WIO_ERROR_INIT;
    return answer(wio_store_unlock(open->file, range->from, range->to - range->from, &err), &err);
}

/* The store is to have of the range what the table says: no more than it has already. */
static int restore(const struct mount_locks *locks, const struct mount_handle *open,
                   struct mount_range range)
{
    int first = 0;
    while (range.from < range.to) {
        struct mount_range part = range;
        const enum mount_need need = mount_lock_table_need(&locks->table, &range, &part.to);
        const int code = need == MOUNT_NEED_NONE
                             ? unlock_at_store(open, &part)
                             : lock_at_store(open, &part, need == MOUNT_NEED_EXCLUSIVE);
        first = first == 0 ? code : first;
        range.from = part.to;
    }
    return first;
}

/* ---- one try, under the mutex -------------------------------------------------------------- */

static int try_lock(struct mount_locks *locks, const struct mount_handle *open,
                    const struct mount_held *wanted)
{
    if (mount_lock_table_conflict(&locks->table, wanted) != NULL) {
        return -EAGAIN;
    }
    int code = lock_at_store(open, &wanted->range, wanted->is_exclusive);
    if (code == 0 && mount_lock_table_add(&locks->table, wanted) != WIO_OK) {
        code = -ENOLCK;
    }
    if (code != 0) {
        (void)restore(locks, open, wanted->range); /* what was refused may be had in part */
    }
    return code;
}

/* Each close(2) gives back all that its process has: mostly that is nothing. */
static int give_back(struct mount_locks *locks, const struct mount_handle *open,
                     const struct mount_range *range, uint64_t owner)
{
    if (!mount_lock_table_has(&locks->table, range, owner)) {
        return 0;
    }
    if (mount_lock_table_remove(&locks->table, range, owner) != WIO_OK) {
        return -ENOLCK;
    }
    return restore(locks, open, *range);
}

static int look(struct mount_locks *locks, const struct mount_handle *open,
                const struct mount_held *wanted, struct flock *lock)
{
    const struct mount_held *held = mount_lock_table_conflict(&locks->table, wanted);
    if (held != NULL) {
        lock->l_type = held->is_exclusive ? F_WRLCK : F_RDLCK;
        lock->l_start = (off_t)held->range.from;
        lock->l_len = held->range.to < END ? (off_t)(held->range.to - held->range.from) : 0;
        lock->l_pid = held->pid;
        lock->l_whence = SEEK_SET;
        return 0;
    }
    const int code = lock_at_store(open, &wanted->range, wanted->is_exclusive);
    (void)restore(locks, open, wanted->range);
    if (code == 0) {
        lock->l_type = F_UNLCK;
    } else if (code == -EAGAIN) { /* of another client: which process is not known */
        lock->l_type = F_WRLCK;
        lock->l_pid = 0;
    }
    return code == -EAGAIN ? 0 : code;
}

/* ---- waiting ------------------------------------------------------------------------------- */

static int try_once(struct mount_locks *locks, const struct mount_handle *open,
                    const struct mount_held *wanted)
{
    (void)pthread_mutex_lock(&locks->mutex);
    const int code = try_lock(locks, open, wanted);
    (void)pthread_mutex_unlock(&locks->mutex);
    return code;
}

/* Until it is free, the process is interrupted, or the mount ends. */
static int wait_for(struct mount_locks *locks, const struct mount_handle *open,
                    const struct mount_held *wanted)
{
    struct fuse_session *session = fuse_get_session(fuse_get_context()->fuse);
    struct timespec pause = {0, PAUSE_MIN_NS};
    int code = -EAGAIN;
    while (code == -EAGAIN && !fuse_interrupted() && !fuse_session_exited(session)) {
        (void)nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec * 2 < PAUSE_MAX_NS ? pause.tv_nsec * 2 : PAUSE_MAX_NS;
        code = try_once(locks, open, wanted);
    }
    return code == -EAGAIN ? -EINTR : code;
}

static int take(struct mount_locks *locks, const struct mount_handle *open,
                const struct mount_held *wanted, bool is_waiting)
{
    int code = try_once(locks, open, wanted);
    if (code != -EAGAIN || !is_waiting) {
        return code;
    }
    code = -ENOLCK;
    if (atomic_fetch_add(&locks->waiting, 1) < MOUNT_LOCK_WAITS) {
        code = wait_for(locks, open, wanted);
    }
    (void)atomic_fetch_sub(&locks->waiting, 1);
    return code;
}

/* ---- requests ------------------------------------------------------------------------------ */

int mount_lock(const char *path, struct fuse_file_info *info, int command, struct flock *lock)
{
    struct mount_locks *locks = &mount_this()->locks;
    const struct mount_handle *open = handle_of(info);
    const uint64_t from = (uint64_t)lock->l_start;
    const uint64_t to = lock->l_len == 0 ? END : from + (uint64_t)lock->l_len;
    (void)path;
    if (from >= END) {
        return lock->l_type == F_UNLCK ? 0 : -EOVERFLOW;
    }
    const struct mount_held wanted = {.range = {open->number, from, to < END ? to : END},
                                      .owner = info->lock_owner,
                                      .pid = fuse_get_context()->pid,
                                      .is_exclusive = lock->l_type == F_WRLCK};
    if (command != F_GETLK && lock->l_type != F_UNLCK) {
        return take(locks, open, &wanted, command == F_SETLKW);
    }
    (void)pthread_mutex_lock(&locks->mutex);
    const int code = command == F_GETLK ? look(locks, open, &wanted, lock)
                                        : give_back(locks, open, &wanted.range, wanted.owner);
    (void)pthread_mutex_unlock(&locks->mutex);
    return code;
}

static int give_back_locked(struct mount_locks *locks, const struct mount_handle *open,
                            const struct mount_held *what)
{
    (void)pthread_mutex_lock(&locks->mutex);
    const int code = give_back(locks, open, &what->range, what->owner);
    (void)pthread_mutex_unlock(&locks->mutex);
    return code;
}

int mount_flock(const char *path, struct fuse_file_info *info, int operation)
{
    struct mount_locks *locks = &mount_this()->locks;
    const struct mount_handle *open = handle_of(info);
    const struct mount_held wanted = {.range = {open->number, END, END + 1},
                                      .owner = info->lock_owner,
                                      .is_exclusive = (operation & LOCK_EX) != 0};
    (void)path;
    if ((operation & LOCK_UN) != 0) {
        return give_back_locked(locks, open, &wanted);
    }
    int code = take(locks, open, &wanted, false);
    if (code == -EAGAIN) { /* flock(2): to convert a lock, "the existing lock is first removed" */
        const int given = give_back_locked(locks, open, &wanted);
        if (given != 0 || (operation & LOCK_NB) != 0) {
            return given != 0 ? given : code;
        }
        code = take(locks, open, &wanted, true);
    }
    return code;
}
