/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of an MPI library: which of their requests are on a file of the program. */
#include "capture/async/uring_hidden.h"

#include <fcntl.h>

#include "capture/core/address.h"
#include "capture/files/descriptors.h"
#include "capture/mpi/mpi_io.h"
#include "capture/mpi/mpi_judge.h"

#ifndef IORING_ENTER_REGISTERED_RING
#define IORING_ENTER_REGISTERED_RING (1U << 4)
#endif

/* ---- which file a request is on ----------------------------------------------------------------
 */

/* A place that no registration was seen for may hold any file. */
static bool is_registered_of_program(const struct cap_uring *ring, unsigned place)
{
    if (ring == NULL || place >= ring->file_count) {
        return cap_fds_have_mpi;
    }
    return ring->files[place].is_mpi;
}

static bool is_fd_of_program(const struct cap_uring *ring, bool is_fixed, int fd)
{
    return is_fixed ? is_registered_of_program(ring, (unsigned)fd) : cap_mpi_io_is_file(fd);
}

static bool is_path_of_program(uint64_t address)
{
    return cap_is_mapped(address) &&
           cap_mpi_io_judge(WIO_CALL_openat, -1, (const char *)(uintptr_t)address) ==
               CAP_MPI_IO_FILE;
}

static void set_place(struct cap_uring *ring, uint32_t file_index, bool is_mpi)
{
    if (ring != NULL && file_index != 0 && file_index <= ring->file_count) {
        ring->files[file_index - 1] =
            (struct cap_uring_file){.fd = -1, .path = WIO_NO_STRING, .is_mpi = is_mpi};
    }
}

static bool closes_of_program(struct cap_uring *ring, const struct io_uring_sqe *sqe)
{
    if (sqe->file_index != 0) {
        bool is_mpi = is_registered_of_program(ring, sqe->file_index - 1);
        set_place(ring, sqe->file_index, false);
        return is_mpi;
    }
    bool is_mpi = cap_mpi_io_is_file(sqe->fd);
    cap_fd_clear(sqe->fd);
    return is_mpi;
}

static bool is_of_program(struct cap_uring *ring, const struct io_uring_sqe *sqe)
{
    bool is_mpi = false;
    switch (sqe->opcode) {
    case IORING_OP_OPENAT:
    case IORING_OP_OPENAT2:
        is_mpi = is_path_of_program(sqe->addr);
        set_place(ring, sqe->file_index, is_mpi);
        return is_mpi;
    case IORING_OP_STATX:
    case IORING_OP_UNLINKAT:
    case IORING_OP_MKDIRAT:
        return is_path_of_program(sqe->addr);
    case IORING_OP_RENAMEAT:
    case IORING_OP_LINKAT:
    case IORING_OP_SYMLINKAT:
        return is_path_of_program(sqe->addr) || is_path_of_program(sqe->addr2);
    case IORING_OP_CLOSE:
        return closes_of_program(ring, sqe);
    case IORING_OP_FILES_UPDATE:
        if (ring != NULL && sqe->off != IORING_FILE_INDEX_ALLOC && cap_is_mapped(sqe->addr)) {
            cap_uring_update_files(cap_self, ring, (unsigned)sqe->off,
                                   (const int *)(uintptr_t)sqe->addr, sqe->len);
        }
        return false;
    case IORING_OP_SPLICE:
    case IORING_OP_TEE:
        is_mpi = is_fd_of_program(ring, (sqe->splice_flags & SPLICE_F_FD_IN_FIXED) != 0,
                                  sqe->splice_fd_in);
        break;
    default:
        break;
    }
    return is_mpi || is_fd_of_program(ring, (sqe->flags & IOSQE_FIXED_FILE) != 0, sqe->fd);
}

static void count_one(struct cap_uring *ring, const struct io_uring_sqe *sqe)
{
    if (is_of_program(ring, sqe)) {
        cap_unseen(WIO_UNSEEN_MPI_ASYNC);
    }
}

void cap_uring_hidden_count(struct cap_uring *ring, unsigned tail)
{
    if (!cap_uring_take(&ring->sq_busy)) {
        return; /* another thread looks at the same entries */
    }
    unsigned first = ring->sq_seen;
    unsigned count = (int)(tail - first) < 0 ? 0 : tail - first;
    if (count > ring->sq_entries) { /* a polled ring went round without a call */
        cap_unseen_more(WIO_UNSEEN_MPI_ASYNC, cap_fds_have_mpi ? count - ring->sq_entries : 0);
        first = tail - ring->sq_entries;
        count = ring->sq_entries;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct io_uring_sqe sqe = cap_uring_entry(ring, first + i);
        count_one(ring, &sqe);
    }
    ring->sq_seen = first + count;
    cap_uring_release(&ring->sq_busy);
}

/* ---- the calls --------------------------------------------------------------------------------
 */

void cap_uring_hidden_opened(uintptr_t source, long fd, const struct io_uring_params *params)
{
    if (fd >= 0 && cap_is_by_mpi(source)) {
        cap_fd_clear((int)fd);
        cap_uring_opened((int)fd, params);
        cap_uring_hide((int)fd);
    }
}

struct cap_uring *cap_uring_hidden_library(uintptr_t source, const struct cap_lib_uring *library)
{
    struct cap_uring *ring = cap_is_by_mpi(source) ? cap_uring_of_library(library) : NULL;
    if (ring != NULL) {
        ring->is_hidden = true;
    }
    return ring;
}

void cap_uring_hidden_registered(uintptr_t source, const struct cap_uring_registration *what,
                                 long result)
{
    struct cap_uring *ring = cap_uring_find((int)what->fd);
    if (ring != NULL && result >= 0 && cap_is_by_mpi(source)) {
        cap_uring_registered(cap_self, ring, what->operation, what->arg, what->count);
    }
}

/* What is in a ring that is not known may be on any file. */
void cap_uring_hidden_enter(uintptr_t source, unsigned fd, unsigned submit, unsigned flags)
{
    if (submit == 0 || !cap_is_by_mpi(source)) {
        return;
    }
    struct cap_uring *ring = (flags & IORING_ENTER_REGISTERED_RING) != 0
                                 ? cap_uring_find_registered(fd)
                                 : cap_uring_find((int)fd);
    if (ring != NULL) {
        cap_uring_hidden_count(ring, cap_uring_tail_of(ring, submit));
    } else if (cap_fds_have_mpi) {
        cap_unseen_more(WIO_UNSEEN_MPI_ASYNC, submit);
    }
}

/* The entries themselves: older liburings put their numbers into the ring when they submit. */
void cap_uring_hidden_submit(uintptr_t source, const struct cap_lib_uring *library)
{
    struct cap_uring *ring = cap_uring_hidden_library(source, library);
    const unsigned shift = (library->flags & IORING_SETUP_SQE128) != 0;
    const bool is_counted = ring != NULL || cap_is_by_mpi(source); /* no room for the ring */
    for (unsigned i = library->sq.sqe_head; is_counted && i != library->sq.sqe_tail; i++) {
        count_one(ring, &library->sq.sqes[(i & *library->sq.mask) << shift]);
    }
    if (ring != NULL) {
        ring->sq_seen = library->sq.sqe_tail;
    }
}
