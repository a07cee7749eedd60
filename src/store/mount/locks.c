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
#define SECOND_NS 1000000000L

void mount_locks_init(struct mount_locks *locks)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&locks->answered, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_init(&locks->mutex, NULL);
}

void mount_locks_fini(struct mount_locks *locks)
{
    mount_lock_table_fini(&locks->table);
    (void)pthread_cond_destroy(&locks->answered);
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

/* ---- the table, under the mutex ------------------------------------------------------------ */

static void lock_table(struct mount_locks *locks)
{
    (void)pthread_mutex_lock(&locks->mutex);
}

static void unlock_table(struct mount_locks *locks)
{
    (void)pthread_mutex_unlock(&locks->mutex);
}

/* A copy of the lock that is in the way. */
static bool find_conflict(struct mount_locks *locks, const struct mount_held *wanted,
                          struct mount_held *held_out)
{
    lock_table(locks);
    const struct mount_held *held = mount_lock_table_conflict(&locks->table, wanted);
    if (held != NULL) {
        *held_out = *held;
    }
    unlock_table(locks);
    return held != NULL;
}

static bool has(struct mount_locks *locks, const struct mount_range *range, uint64_t owner)
{
    lock_table(locks);
    const bool has_any = mount_lock_table_has(&locks->table, range, owner);
    unlock_table(locks);
    return has_any;
}

static enum wio_status add(struct mount_locks *locks, const struct mount_held *wanted)
{
    lock_table(locks);
    enum wio_status status = mount_lock_table_add(&locks->table, wanted);
    unlock_table(locks);
    return status;
}

static enum wio_status take_out(struct mount_locks *locks, const struct mount_range *range,
                                uint64_t owner)
{
    lock_table(locks);
    enum wio_status status = mount_lock_table_remove(&locks->table, range, owner);
    unlock_table(locks);
    return status;
}

static enum mount_need need_of(struct mount_locks *locks, const struct mount_range *range,
                               uint64_t *to_out)
{
    lock_table(locks);
    const enum mount_need need = mount_lock_table_need(&locks->table, range, to_out);
    unlock_table(locks);
    return need;
}

/* ---- one thread for each file -------------------------------------------------------------- */

/* How a thread waits for another one that asks the store for the same file. */
enum patience {
    WAITS_AS_ONE,  /* as one of MOUNT_LOCK_WAITS, until its process is interrupted */
    WAITS_ALREADY, /* it is counted as one of them */
    WAITS_ALWAYS   /* what gives back is not given up */
};

static bool is_asked(const struct mount_locks *locks, uint64_t file)
{
    bool is_there = locks->asked_count == MOUNT_THREADS;
    for (unsigned i = 0; i < locks->asked_count; i++) {
        is_there = is_there || locks->asked[i] == file;
    }
    return is_there;
}

/* A while, with the mutex: an interruption of the process wakes nothing. */
static void wait_a_while(struct mount_locks *locks)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PAUSE_MAX_NS;
    if (until.tv_nsec >= SECOND_NS) {
        until.tv_nsec -= SECOND_NS;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&locks->answered, &locks->mutex, &until);
}

static int wait_for_others(struct mount_locks *locks, uint64_t file, enum patience patience)
{
    while (is_asked(locks, file)) {
        if (patience != WAITS_ALWAYS && fuse_interrupted()) {
            return -EINTR;
        }
        wait_a_while(locks);
    }
    return 0;
}

static int wait_as_one(struct mount_locks *locks, uint64_t file)
{
    int code = -ENOLCK;
    if (atomic_fetch_add(&locks->waiting, 1) < MOUNT_LOCK_WAITS) {
        code = wait_for_others(locks, file, WAITS_AS_ONE);
    }
    (void)atomic_fetch_sub(&locks->waiting, 1);
    return code;
}

/* This thread asks the store for locks of the file, until end_asking. */
static int begin_asking(struct mount_locks *locks, uint64_t file, enum patience patience)
{
    int code = 0;
    lock_table(locks);
    if (is_asked(locks, file)) {
        code = patience == WAITS_AS_ONE ? wait_as_one(locks, file)
                                        : wait_for_others(locks, file, patience);
    }
    if (code == 0) {
        locks->asked[locks->asked_count++] = file;
    }
    unlock_table(locks);
    return code;
}

static void end_asking(struct mount_locks *locks, uint64_t file)
{
    unsigned i = 0;
    lock_table(locks);
    while (locks->asked[i] != file) {
        i++;
    }
    locks->asked[i] = locks->asked[--locks->asked_count];
    (void)pthread_cond_broadcast(&locks->answered);
    unlock_table(locks);
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
static int restore(struct mount_locks *locks, const struct mount_handle *open,
                   struct mount_range range)
{
    int first = 0;
    while (range.from < range.to) {
        struct mount_range part = range;
        const enum mount_need need = need_of(locks, &range, &part.to);
        const int code = need == MOUNT_NEED_NONE
                             ? unlock_at_store(open, &part)
                             : lock_at_store(open, &part, need == MOUNT_NEED_EXCLUSIVE);
        first = first == 0 ? code : first;
        range.from = part.to;
    }
    return first;
}

/* ---- one try, by the thread that asks for the file ------------------------------------------ */

static int try_lock(struct mount_locks *locks, const struct mount_handle *open,
                    const struct mount_held *wanted)
{
    struct mount_held held;
    if (find_conflict(locks, wanted, &held)) {
        return -EAGAIN;
    }
    int code = lock_at_store(open, &wanted->range, wanted->is_exclusive);
    if (code == 0 && add(locks, wanted) != WIO_OK) {
        code = -ENOLCK;
    }
    if (code != 0) {
        (void)restore(locks, open, wanted->range); /* what was refused may be had in part */
    }
    return code;
}

static int try_once(struct mount_locks *locks, const struct mount_handle *open,
                    const struct mount_held *wanted, enum patience patience)
{
    const uint64_t file = wanted->range.file;
    int code = begin_asking(locks, file, patience);
    if (code == 0) {
        code = try_lock(locks, open, wanted);
        end_asking(locks, file);
    }
    return code;
}

/* Each close(2) gives back all that its process has: mostly that is nothing. */
static int give_back(struct mount_locks *locks, const struct mount_handle *open,
                     const struct mount_range *range, uint64_t owner)
{
    if (!has(locks, range, owner)) {
        return 0;
    }
    int code = begin_asking(locks, range->file, WAITS_ALWAYS);
    if (code == 0) {
        code = take_out(locks, range, owner) == WIO_OK ? restore(locks, open, *range) : -ENOLCK;
        end_asking(locks, range->file);
    }
    return code;
}

static void tell_held(const struct mount_held *held, struct flock *lock)
{
    lock->l_type = held->is_exclusive ? F_WRLCK : F_RDLCK;
    lock->l_start = (off_t)held->range.from;
    lock->l_len = held->range.to < END ? (off_t)(held->range.to - held->range.from) : 0;
    lock->l_pid = held->pid;
    lock->l_whence = SEEK_SET;
}

/* What another client has is found out by having it for a moment. */
static int look_at_store(struct mount_locks *locks, const struct mount_handle *open,
                         const struct mount_held *wanted, struct flock *lock)
{
    int code = begin_asking(locks, wanted->range.file, WAITS_AS_ONE);
    if (code != 0) {
        return code;
    }
    code = lock_at_store(open, &wanted->range, wanted->is_exclusive);
    (void)restore(locks, open, wanted->range);
    end_asking(locks, wanted->range.file);
    if (code == 0) {
        lock->l_type = F_UNLCK;
    } else if (code == -EAGAIN) { /* of another client: which process is not known */
        lock->l_type = F_WRLCK;
        lock->l_pid = 0;
    }
    return code == -EAGAIN ? 0 : code;
}

/* F_GETLK: what the mount itself knows is answered without the store. */
static int look(struct mount_locks *locks, const struct mount_handle *open,
                const struct mount_held *wanted, struct flock *lock)
{
    struct mount_held held;
    if (find_conflict(locks, wanted, &held)) {
        tell_held(&held, lock);
        return 0;
    }
    return look_at_store(locks, open, wanted, lock);
}

/* ---- waiting ------------------------------------------------------------------------------- */

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
        code = try_once(locks, open, wanted, WAITS_ALREADY);
    }
    return code == -EAGAIN ? -EINTR : code;
}

static int take(struct mount_locks *locks, const struct mount_handle *open,
                const struct mount_held *wanted, bool is_waiting)
{
    int code = try_once(locks, open, wanted, WAITS_AS_ONE);
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
    return command == F_GETLK ? look(locks, open, &wanted, lock)
                              : give_back(locks, open, &wanted.range, wanted.owner);
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
        return give_back(locks, open, &wanted.range, wanted.owner);
    }
    int code = take(locks, open, &wanted, false);
    if (code == -EAGAIN) { /* flock(2): to convert a lock, "the existing lock is first removed" */
        const int given = give_back(locks, open, &wanted.range, wanted.owner);
        if (given != 0 || (operation & LOCK_NB) != 0) {
            return given != 0 ? given : code;
        }
        code = take(locks, open, &wanted, true);
    }
    return code;
}
