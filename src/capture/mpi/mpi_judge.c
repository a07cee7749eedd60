/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/mpi/mpi_judge.h"

#include "capture/core/process.h"
#include "capture/files/descriptors.h"
#include "capture/mpi/mpi_io.h"

static bool is_within_mpi(const struct cap_thread *self)
{
    return cap_is_within_mpi(self, (uintptr_t)__builtin_frame_address(0));
}

/* The flags of the event to come, if that has this source (cap_emit_flagged). */
static void mark(struct cap_thread *self, uintptr_t source, enum cap_mpi_io io, uint8_t flags)
{
    self->mpi.source = source;
    self->mpi.io = io;
    self->flags = (uint8_t)((self->flags & ~CAP_MPI_FLAGS) | flags);
}

static uint8_t flags_of_io(const struct cap_thread *self, enum cap_mpi_io io)
{
    return (uint8_t)((is_within_mpi(self) ? WIO_EVENT_CAUSED : 0) |
                     (io == CAP_MPI_IO_SIDE ? WIO_EVENT_MPI : 0));
}

/* With MPI internals every call takes the slow path: each is marked for itself. */
static void mark_caller(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                        const char *path)
{
    struct cap_module module;
    bool is_known = cap_module_find(self, source, &module) && module.is_internal;
    enum cap_mpi_io io =
        is_known && module.does_mpi_io ? cap_mpi_io_judge(call, fd, path) : CAP_MPI_IO_NONE;
    bool is_internal = self->mute > 0 || self->is_internal || is_known;
    if (io != CAP_MPI_IO_NONE) {
        mark(self, source, io, flags_of_io(self, io));
    } else {
        mark(self, is_internal ? source : 0, io, is_internal ? WIO_EVENT_MPI : 0);
    }
}

enum cap_verdict cap_mpi_judge_internal(struct cap_thread *self, uintptr_t source, unsigned call,
                                        int fd, const char *path)
{
    enum cap_mpi_io io = cap_mpi_io_judge(call, fd, path);
    if (io == CAP_MPI_IO_NONE) {
        return CAP_VERDICT_HIDE;
    }
    mark(self, source, io, flags_of_io(self, io));
    if ((self->flags & CAP_MPI_FLAGS) != 0) {
        self->span = 0; /* the program's next call takes the flags away */
    }
    return CAP_VERDICT_RECORD;
}

/* Inside a call of MPI that is not about files, and in threads of the library: MPI-IO that is going
 * on there. Such calls are many, so the module is looked for last. */
static enum cap_verdict judge_hidden(struct cap_thread *self, uintptr_t source, unsigned call,
                                     int fd, const char *path)
{
    struct cap_module module;
    if (CAP_LIKELY(cap_mpi_io_judge(call, fd, path) == CAP_MPI_IO_NONE)) {
        return CAP_VERDICT_HIDE;
    }
    bool does_mpi_io = cap_module_find(self, source, &module) && module.does_mpi_io;
    return does_mpi_io ? cap_mpi_judge_internal(self, source, call, fd, path) : CAP_VERDICT_HIDE;
}

static bool is_on_own_file(int fd)
{
    const struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    return entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0;
}

/* Is it a call by a library that MPI calls back (HDF5 closes its files inside MPI_Finalize)? Not
 * what libraries ask the system for MPI's sake. */
static bool is_called_back(struct cap_thread *self, uintptr_t source, int fd, const char *path)
{
    struct cap_module module;
    if (CAP_LIKELY(source - self->mpi.lo < self->mpi.span)) {
        return false;
    }
    if (path != NULL ? cap_mpi_io_is_of_system(path) : !is_on_own_file(fd)) {
        return false;
    }
    if (!cap_module_find(self, source, &module)) {
        return false;
    }
    if (module.is_internal) {
        self->mpi.span = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        self->mpi.lo = module.lo;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        self->mpi.span = module.hi - module.lo;
    }
    return !module.is_internal;
}

/* Inside a call of MPI that is not about files. */
static enum cap_verdict judge_quiet(struct cap_thread *self, uintptr_t source, unsigned call,
                                    int fd, const char *path)
{
    if (source - self->callers.lo2 < self->callers.span2 ||
        is_called_back(self, source, fd, path)) {
        return CAP_VERDICT_RECORD;
    }
    return judge_hidden(self, source, call, fd, path);
}

/* Inside MPI, but in its file operations: what the program does there is what it calls back. */
static bool is_quiet(const struct cap_thread *self)
{
    return CAP_UNLIKELY(self->callers.outer_frame != 0) &&
           (self->callers.outer_frame & CAP_MPI_FRAME_FILE) == 0 && self->callers.span2 != 0 &&
           is_within_mpi(self);
}

enum cap_verdict cap_mpi_judge(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                               const char *path)
{
    if (cap_process.with_mpi_internals) {
        mark_caller(self, source, call, fd, path);
        return CAP_VERDICT_RECORD;
    }
    if (self->mute != 0) {
        return judge_hidden(self, source, call, fd, path);
    }
    if (is_quiet(self)) {
        return judge_quiet(self, source, call, fd, path);
    }
    if (CAP_UNLIKELY((self->flags & CAP_MPI_FLAGS) != 0) && !is_within_mpi(self)) {
        mark(self, 0, CAP_MPI_IO_NONE, 0);
    }
    return CAP_VERDICT_NONE;
}

void cap_mpi_forget_modules(struct cap_thread *thread)
{
    __atomic_store_n(&thread->mpi.span, 0, __ATOMIC_RELAXED);
}

bool cap_is_by_mpi(uintptr_t source)
{
    struct cap_thread *self = cap_self;
    struct cap_module module;
    if (!self->is_ready || cap_process.is_off ||
        (self->watch != CAP_WATCH_NONE && !cap_may_write(self)) ||
        (self->flags & WIO_EVENT_VFORK) != 0) {
        return false;
    }
    if (self->mute == 0) { /* a muted call of the program's own library is none */
        return true;
    }
    return cap_module_find(self, source, &module) && module.is_internal;
}
