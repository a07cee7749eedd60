/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of descriptors: path, kind and position of each.  Signal safe, thread
 * safe, no lock: fds.c.
 */
#ifndef WIO_CAPTURE_FILES_DESCRIPTORS_H
#define WIO_CAPTURE_FILES_DESCRIPTORS_H

#include "capture/core/own_fds.h"
#include "capture/core/state.h"

enum cap_fd_flags {
    CAP_FD_KNOWN = 1,      /* path is right */
    CAP_FD_TYPED = 2,      /* SEEKS, REGULAR are right */
    CAP_FD_SEEKS = 4,      /* has a position */
    CAP_FD_REGULAR = 8,    /* a regular file */
    CAP_FD_SHARED = 16,    /* others may move the position: ask the kernel after each operation */
    CAP_FD_APPEND = 32,    /* opened with O_APPEND */
    CAP_FD_CLOEXEC = 64,   /* not inherited over exec */
    CAP_FD_MPI_SIDE = 128, /* opened by MPI-IO for itself: mpi_io.c */
    CAP_FD_BOUND = 256,    /* a socket whose address is recorded */
    CAP_FD_MPI_FILE = 512, /* opened by MPI-IO for the program */
};

/* What is known of one descriptor; a cache line each, so that threads do not disturb each other. */
struct cap_fd {
    uint32_t path;
    uint32_t flags;  /* enum cap_fd_flags */
    int64_t pos;     /* of the next read or write, where SEEKS and not SHARED */
    int64_t process; /* of pidfd_open: its pid; 0 = it is none */
    uint64_t reserved[5];
};

#define CAP_FD_BLOCK 1024u
#define CAP_FD_BLOCKS 1024u
extern struct cap_fd *cap_fd_blocks[CAP_FD_BLOCKS] CAP_HIDDEN;

/* The entry of a descriptor, or NULL where there is none yet. None for a child of vfork: it has
 * descriptors of its own, the table in the memory that it uses is its parent's. */
static inline struct cap_fd *cap_fd_find_of(const struct cap_thread *self, int fd)
{
    unsigned block = (unsigned)fd / CAP_FD_BLOCK;
    if (CAP_UNLIKELY(block >= CAP_FD_BLOCKS || (self->flags & WIO_EVENT_VFORK) != 0)) {
        return NULL;
    }
    struct cap_fd *entries = __atomic_load_n(&cap_fd_blocks[block], __ATOMIC_ACQUIRE);
    return CAP_LIKELY(entries != NULL) ? &entries[(unsigned)fd % CAP_FD_BLOCK] : NULL;
}

static inline struct cap_fd *cap_fd_find(int fd)
{
    return cap_fd_find_of(cap_self, fd);
}

/* Learn an unknown descriptor's path from /proc/self/fd; 0 where it is not open. */
uint32_t cap_fd_learn(struct cap_thread *self, int fd) CAP_HIDDEN;

/* Path id of a descriptor. */
static inline uint32_t cap_fd_path(struct cap_thread *self, int fd)
{
    const struct cap_fd *entry = cap_fd_find_of(self, fd);
    if (CAP_LIKELY(entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0)) {
        return entry->path;
    }
    return cap_fd_learn(self, fd);
}

/* The process that a descriptor of pidfd_open stands for; 0 where that is not known. */
int64_t cap_fd_process(int fd) CAP_HIDDEN;

/* A descriptor was made by an open: `path` id, `open_flags` as in open(2). Position 0. */
void cap_fd_set(int fd, uint32_t path, int open_flags) CAP_HIDDEN;
/* MPI-IO has opened a file of the program in this process. */
extern bool cap_fds_have_mpi CAP_HIDDEN;
/* The open was made by MPI-IO: of the program's file, or of one of its own beside it. */
void cap_fd_set_mpi(int fd, bool is_side) CAP_HIDDEN;
/* It was closed, or became something that was not seen. Call before the real close. */
void cap_fd_clear(int fd) CAP_HIDDEN;
void cap_fd_clear_range(unsigned first, unsigned last) CAP_HIDDEN;
/* new_fd is a duplicate of old_fd; both share a position from now on. */
void cap_fd_dup(struct cap_thread *self, int old_fd, int new_fd, bool is_cloexec) CAP_HIDDEN;
void cap_fd_set_cloexec(int fd, bool is_cloexec) CAP_HIDDEN;
void cap_fd_set_append(int fd, bool is_append) CAP_HIDDEN;
/* Before a fork (all) or a spawn or vfork (those without CLOEXEC): positions become shared. */
void cap_fd_share_all(bool only_inherited) CAP_HIDDEN;

/*
 * A read or write of `result` bytes at the position happened: moves the position and returns the
 * offset of its first byte (WIO_NO_OFFSET where the descriptor has none). A failed or empty one
 * gives the position where it would have begun.
 */
int64_t cap_fd_advance_slow(int fd, int64_t result) CAP_HIDDEN;

static inline int64_t cap_fd_advance(int fd, int64_t result)
{
    struct cap_fd *entry = cap_fd_find(fd);
    if (CAP_LIKELY(entry != NULL && (entry->flags & (CAP_FD_SEEKS | CAP_FD_SHARED |
                                                     CAP_FD_APPEND)) == CAP_FD_SEEKS)) {
        return result > 0 ? __atomic_fetch_add(&entry->pos, result, __ATOMIC_RELAXED) : entry->pos;
    }
    return cap_fd_advance_slow(fd, result);
}

/* The position is now `pos` (lseek, fseek). */
void cap_fd_seek(int fd, int64_t pos) CAP_HIDDEN;
/* The position as known without a system call, else WIO_NO_OFFSET. */
int64_t cap_fd_position(int fd) CAP_HIDDEN;
/* True where it is one of capture's own descriptors: the program must find it closed (EBADF). */
bool cap_fd_is_ours(int fd) CAP_HIDDEN;
/* Our own descriptors in [first, last], rising; returns how many. */
unsigned cap_fd_ours_within(unsigned first, unsigned last, unsigned ours[CAP_OWN_FDS]) CAP_HIDDEN;
/* The same, a few instructions for all other descriptors. */
static inline bool cap_fd_is_ours_maybe(int fd)
{
    return CAP_UNLIKELY(fd == cap_own_fds[CAP_OWN_RING].fd ||
                        fd == cap_own_fds[CAP_OWN_FEATURE].fd) &&
           cap_fd_is_ours(fd);
}
/* The program is about to put a duplicate of fd at new_fd: get ours out of the way. Not where fd is
 * closed: the call will fail, and ours would stay behind. */
void cap_fd_make_room(int fd, int new_fd) CAP_HIDDEN;
/* Descriptors went to another process with this message: it shares their positions. */
struct msghdr;
void cap_fd_share_sent(const struct msghdr *message) CAP_HIDDEN;

#endif
