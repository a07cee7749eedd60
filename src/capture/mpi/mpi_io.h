/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which system calls of an MPI library are I/O of the program (mpi_io.c). MPI-IO acts on files that
 * the program names in MPI_File_open and MPI_File_delete, and on side files of its own beside them:
 * shared file pointers, locks. All else that an MPI library does is its own business.
 *
 * FORMAT.md R-MPI-10. A descriptor that was opened for either bears CAP_FD_MPI_FILE or
 * CAP_FD_MPI_SIDE, so what is done with it is known for what it is in any thread and any call of
 * MPI. Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_MPI_MPI_IO_H
#define WIO_CAPTURE_MPI_MPI_IO_H

#include "capture/core/capture.h"
#include "capture/files/descriptors.h"

enum cap_mpi_io {
    CAP_MPI_IO_NONE, /* the library's own business */
    CAP_MPI_IO_FILE, /* on a file of the program */
    CAP_MPI_IO_SIDE  /* on a file that MPI-IO keeps beside one */
};

/* The program hands this name to MPI-IO, perhaps with the kind of file system before it
 * ("ufs:/tmp/x"). NULL is none. */
void cap_mpi_io_name(const char *path) CAP_HIDDEN;
/* A call of MPI came by a wrapper, so that names come by, too. */
void cap_mpi_io_trust_names(void) CAP_HIDDEN;
/* What a call by an MPI library is: by its descriptor, or its path where that is not NULL. */
enum cap_mpi_io cap_mpi_io_judge(unsigned call, int fd, const char *path) CAP_HIDDEN;
/* Is it a file that an MPI library, or one that works for it, loads, asks or meets others by? Pure.
 */
bool cap_mpi_io_is_of_system(const char *path) CAP_HIDDEN;
/* The name behind the kind of file system. Pure. */
const char *cap_mpi_io_without_kind(const char *path) CAP_HIDDEN;

/* Has MPI-IO opened this descriptor, of a file of the program? */
static inline bool cap_mpi_io_is_file(int fd)
{
    const struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    return entry != NULL && (entry->flags & CAP_FD_MPI_FILE) != 0;
}

/* A request that is not recorded has this descriptor: count it where MPI-IO opened that. */
static inline void cap_mpi_io_count_hidden(int fd)
{
    if (CAP_UNLIKELY(cap_mpi_io_is_file(fd))) {
        cap_unseen(WIO_UNSEEN_MPI_ASYNC);
    }
}

/* Has an open by MPI-IO given the descriptor? For calls with this return address. */
static inline void cap_mpi_io_opened(const struct cap_thread *self, uintptr_t source, int fd)
{
    if (CAP_UNLIKELY(self->mpi.source == source)) {
        cap_fd_set_mpi(fd, self->mpi.io == CAP_MPI_IO_SIDE);
    }
}

#endif
