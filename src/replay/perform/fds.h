/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded descriptors -> descriptors of the replay.
 *
 * Each thread has a table of what it opened itself; a process has one of what it inherited. That
 * way two threads may be at different places of the recorded run, where the same number means
 * different files (shared.h has the rest). Tables are reserved at full length and never move, so
 * that a fork may copy them while other threads work.
 */
#ifndef WIO_REPLAY_PERFORM_FDS_H
#define WIO_REPLAY_PERFORM_FDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct rp_fd {
    _Atomic int32_t real; /* descriptor + 1, 0 = closed */
    bool is_cloexec;
    bool is_adopted;  /* opened by the replay because no operation of the trace did */
    uint64_t open_ns; /* of the operation that gave it, in the trace */
};

/* Zero-initialise. */
struct rp_fds {
    struct rp_fd *items;
    uint32_t count;
};

WIO_MUST_CHECK enum wio_status rp_fds_init(struct rp_fds *fds, uint32_t count,
                                           struct wio_error *err);
/* Releases the table; descriptors stay open. */
void rp_fds_fini(struct rp_fds *fds);

static inline int rp_fd_real(const struct rp_fd *fd)
{
    return atomic_load_explicit(&fd->real, memory_order_acquire) - 1;
}

/* The entry of a recorded descriptor, open or not; NULL where the number is out of range. */
static inline struct rp_fd *rp_fds_at(const struct rp_fds *fds, int64_t fd)
{
    return fd >= 0 && fd < (int64_t)fds->count ? &fds->items[fd] : NULL;
}

/* Close what the entry stands for, if anything: 0, or -1 with errno. */
int rp_fd_close(struct rp_fd *fd);
/* Give the entry a descriptor; one that was there is closed. */
void rp_fd_set(struct rp_fd *fd, int real, bool is_cloexec, uint64_t open_ns);

/* Copy open entries of `from` into `to` where they are younger than what is there; those that exec
 * closes only if `with_cloexec`. */
void rp_fds_inherit(struct rp_fds *to, const struct rp_fds *from, bool with_cloexec);

#endif
