/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls are recorded that an MPI library makes, or another one inside a call of MPI: its
 * MPI-IO on the program's files (mpi_io.h), and what it calls back. Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_MPI_MPI_JUDGE_H
#define WIO_CAPTURE_MPI_MPI_JUDGE_H

#include "capture/core/features.h"
#include "capture/core/process.h"

/* Flags of calls by an MPI library: of events whose source is `mpi_source` alone. */
#define CAP_MPI_FLAGS (WIO_EVENT_CAUSED | WIO_EVENT_MPI)

/* In `outer_frame`: file operations inside are the program's. */
#define CAP_MPI_FRAME_FILE 1u

/* Is the thread inside a call of MPI? Not where that was left by a jump or an exception: then the
 * stack frame is above. */
static inline bool cap_is_within_mpi(const struct cap_thread *self, uintptr_t frame)
{
    return self->callers.outer_frame != 0 &&
           frame < (self->callers.outer_frame & ~(uintptr_t)CAP_MPI_FRAME_FILE);
}

/* cap_on_call, cap_on_internal_call */
enum cap_verdict cap_mpi_judge(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                               const char *path) CAP_HIDDEN;
enum cap_verdict cap_mpi_judge_internal(struct cap_thread *self, uintptr_t source, unsigned call,
                                        int fd, const char *path) CAP_HIDDEN;
/* cap_on_event_flags */
static inline uint8_t cap_mpi_event_flags(const struct cap_thread *self, const struct cap_event *ev,
                                          uint8_t flags)
{
    if (ev->source != self->mpi.source && !self->is_internal) { /* another call is under way */
        flags &= (uint8_t) ~(cap_process.with_mpi_internals ? WIO_EVENT_CAUSED : CAP_MPI_FLAGS);
    }
    return flags;
}
/* cap_on_forget_modules */
void cap_mpi_forget_modules(struct cap_thread *thread) CAP_HIDDEN;

/* Is a call that cap_enter gave NULL for, and that returns to `source`, an MPI library's, or made
 * by another library inside a call of MPI? False in a child that shares memory, and where nothing
 * is recorded at all. */
bool cap_is_by_mpi(uintptr_t source) CAP_HIDDEN;

#endif
