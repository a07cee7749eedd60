/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DIR/raw and the directories of rings below it, by descriptor: no link is followed but those that
 * a recorder of this trace made (trace/format/trust.h), and what is opened once stays what it was.
 *
 * Locks: flock(2) on raw/ is held while rings are sealed into DIR and taken away, flock(2) on a
 * directory of rings while its recorder is at work. Both have modes that let only their owner open
 * them, so no other user can lock them. Where an older recorder made them with other modes, a lock
 * is waited for at most WIO_RAW_WAIT_MS; then rings are sealed into memory, without it.
 */
#ifndef WIO_SEAL_RINGS_RAW_H
#define WIO_SEAL_RINGS_RAW_H

#include <stdbool.h>
#include <sys/types.h>

#include <whyio/status.h>

/* Local directories of rings, to which raw/<name> is a link, are called so. */
#define WIO_LOCAL_RINGS_PREFIX "whyio-rings-"

enum {
    WIO_RAW_MODE = 0711, /* of raw/: entered, but not opened */
    WIO_RAW_WAIT_MS = 10000
};

struct wio_raw {
    int dir;        /* DIR */
    int fd;         /* DIR/raw, -1 where there is none */
    char *path;     /* of DIR/raw, for messages */
    bool is_own;    /* DIR and raw/ belong to this user: may be written and cleared */
    bool is_locked; /* by wio_raw_lock, or the file system has no locks */
};

/* Not open: what wio_raw_close accepts, too. */
#define WIO_RAW_INIT                                                                               \
    {                                                                                              \
        .dir = -1, .fd = -1                                                                        \
    }

/* Open DIR and DIR/raw. No raw/ is no error (fd -1), nor is a file of that name; a link is: what is
 * behind it is not touched. Close also what failed. */
WIO_MUST_CHECK enum wio_status wio_raw_open(struct wio_raw *raw_out, const char *dir,
                                            struct wio_error *err);
/* The same of a directory that is open (`at`, which stays the caller's; -1: by its path). */
WIO_MUST_CHECK enum wio_status wio_raw_open_at(struct wio_raw *raw_out, int at, const char *dir,
                                               struct wio_error *err);
/* Lock raw/ if it is this user's; false: it is not, or another process held it all the time. A
 * raw/ that was removed before the lock was got is not there any more: raw->fd becomes -1. */
bool wio_raw_lock(struct wio_raw *raw);
/* Look again after wio_raw_lock has found raw/ gone: another one may be there by now. */
WIO_MUST_CHECK enum wio_status wio_raw_reopen(struct wio_raw *raw, struct wio_error *err);
void wio_raw_close(struct wio_raw *raw);

struct wio_ring_dir {
    int fd;
    char *name; /* of its entry in raw/; "" is raw/ itself, or a directory that was named */
    char *path; /* for messages */
    uid_t owner;
    bool is_link;   /* the entry is a link to it */
    bool is_own;    /* may be cleared */
    bool is_held;   /* a recorder is at work in it */
    bool is_marked; /* seal_clear.c: its rings are named in a WIO_SEALED_AS */
};

/* raw/ itself as a directory of rings: a descriptor of its own. */
WIO_MUST_CHECK enum wio_status
wio_ring_dir_of_raw(struct wio_ring_dir *out, const struct wio_raw *raw, struct wio_error *err);
/* The entry `name` of raw/. WIO_END: it is no directory, or a link to one that is not there.
 * WIO_ERR_UNSUPPORTED: a link that no recorder of this trace made; it is not followed. */
WIO_MUST_CHECK enum wio_status wio_ring_dir_enter(struct wio_ring_dir *out,
                                                  const struct wio_raw *raw, const char *name,
                                                  struct wio_error *err);
/* The directory at `path`, which the caller made. */
WIO_MUST_CHECK enum wio_status wio_ring_dir_open(struct wio_ring_dir *out, const char *path,
                                                 struct wio_error *err);
/* Lock it until it is closed, or find that a recorder does: is_held. `is_alone`: exclusively. */
void wio_ring_dir_lock(struct wio_ring_dir *dir, bool is_alone);
void wio_ring_dir_close(struct wio_ring_dir *dir);

/* Remove the local directory of rings at `path`, which is empty but for WIO_RINGS_OF; true: it is
 * not there any more. */
bool wio_ring_dir_remove_local(const char *path);
/* Remove the files in it but for WIO_RINGS_OF, whatever they are; directories stay. */
void wio_ring_dir_empty(const struct wio_ring_dir *dir);
/* Remove the directory that the entry of raw/ is, or leads to, and the link. The directory is empty
 * but for WIO_RINGS_OF. What cannot be removed stays. */
void wio_ring_dir_remove(const struct wio_raw *raw, const struct wio_ring_dir *dir);

#endif
