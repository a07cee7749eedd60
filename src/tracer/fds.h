/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors of one traced process: what each is named, and where it stands. */
#ifndef WIO_TRACER_FDS_H
#define WIO_TRACER_FDS_H

#include <stdbool.h>
#include <stdint.h>

enum tracer_fd_flags {
    TRACER_FD_KNOWN = 1,
    TRACER_FD_TYPED = 2,  /* SEEKS is right */
    TRACER_FD_SEEKS = 4,  /* has a position */
    TRACER_FD_SHARED = 8, /* others may move the position: the kernel is asked */
    TRACER_FD_APPEND = 16,
};

struct tracer_fd {
    uint32_t path; /* string of the image's ring */
    uint32_t flags;
    int64_t pos; /* of the next read or write, where SEEKS and not SHARED */
};

/* Zero-initialise. */
struct tracer_fds {
    struct tracer_fd *items; /* by number */
    uint32_t capacity;
};

struct tracer_thread;

void tracer_fds_fini(struct tracer_fds *fds);
void tracer_fds_copy(struct tracer_fds *out, struct tracer_fds *from);

/* The string of its name; WIO_NO_STRING where it is not open. */
uint32_t tracer_fd_path(struct tracer_thread *thread, int fd);
/* Its name anew: the number has become another file. */
uint32_t tracer_fd_learn(struct tracer_thread *thread, int fd);
/* Made by an open with these flags; stands at 0. */
void tracer_fd_set(struct tracer_thread *thread, int fd, uint32_t path, int open_flags);
void tracer_fd_clear(struct tracer_thread *thread, int fd);
void tracer_fd_clear_range(struct tracer_thread *thread, uint64_t first, uint64_t last);
void tracer_fd_dup(struct tracer_thread *thread, int old_fd, int new_fd);
void tracer_fd_set_append(struct tracer_thread *thread, int fd, bool is_append);
/* A read or write of `result` bytes at the position has happened: the offset of its first byte,
 * WIO_NO_OFFSET where the descriptor has no position. */
int64_t tracer_fd_advance(struct tracer_thread *thread, int fd, int64_t result);
void tracer_fd_seek(struct tracer_thread *thread, int fd, int64_t pos);

#endif
