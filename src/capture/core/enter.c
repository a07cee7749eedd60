/* SPDX-License-Identifier: Apache-2.0 */
/* The slow way into a wrapper: first events, new callers, MPI libraries, children in our memory. */
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/stack.h"
#include "capture/mpi/mpi_io.h"
#include "capture/process/exec.h"
#include "capture/throttle/hold.h"
#include "ops/code_owner.h"

/* A caller range that was seen lately comes to the front. */
static bool use_second_range(struct cap_thread *self, uintptr_t source)
{
    if (source - self->lo2 >= self->span2) {
        return false;
    }
    uintptr_t lo = self->lo;
    uintptr_t span = self->span;
    self->span = 0; /* a handler between these lines must not see a mixed range */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->lo = self->lo2;
    self->lo2 = lo;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->span = self->span2;
    self->span2 = span;
    return true;
}

static void remember_range(struct cap_thread *self, const struct cap_module *module)
{
    uintptr_t lo = self->lo;
    uintptr_t span = self->span;
    self->span2 = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->lo2 = lo;
    self->span = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->lo = module->lo;
    self->span2 = span;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->span = module->hi - module->lo;
}

/* The caller may be a child that runs in this thread's memory. */
static bool may_write(struct cap_thread *self)
{
    if (self->watch == CAP_WATCH_CLONE) {
        return raw_gettid() == self->tid;
    }
    int pid = raw_getpid();
    if (pid < 0) { /* confined (seccomp): the process is unknown */
        return false;
    }
    if (pid != self->clock_pid) {
        bool is_child = pid != self->pid;
        self->clock_pid = pid;
        self->clock_tid = is_child ? raw_gettid() : self->tid;
        self->flags =
            (uint8_t)(is_child ? self->flags | WIO_EVENT_VFORK : self->flags & ~WIO_EVENT_VFORK);
        cap_clock_record(self, 1);
    }
    if (pid == self->pid) {
        self->watch = CAP_WATCH_NONE;
        cap_exec_tidy(self);
    }
    return true;
}

static bool is_within_mpi(const struct cap_thread *self)
{
    return cap_is_within_mpi(self, (uintptr_t)__builtin_frame_address(0));
}

/* The flags of the event to come, if that has this source (cap_emit_flagged). */
static void mark(struct cap_thread *self, uintptr_t source, enum cap_mpi_io io, uint8_t flags)
{
    self->mpi_source = source;
    self->mpi_io = io;
    self->flags = (uint8_t)((self->flags & ~CAP_MPI_FLAGS) | flags);
}

static uint8_t flags_of_io(const struct cap_thread *self, enum cap_mpi_io io)
{
    return (uint8_t)((is_within_mpi(self) ? WIO_EVENT_CAUSED : 0) |
                     (io == CAP_MPI_IO_SIDE ? WIO_EVENT_MPI : 0));
}

/* With MPI internals every call takes the slow path: each is marked for itself. */
static struct cap_thread *mark_caller(struct cap_thread *self, uintptr_t source, unsigned call,
                                      int fd, const char *path)
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
    return self;
}

/* By an MPI library: NULL where it is the library's own business. */
static struct cap_thread *judge_mpi(struct cap_thread *self, uintptr_t source, unsigned call,
                                    int fd, const char *path)
{
    enum cap_mpi_io io = cap_mpi_io_judge(call, fd, path);
    if (io == CAP_MPI_IO_NONE) {
        return NULL;
    }
    mark(self, source, io, flags_of_io(self, io));
    if ((self->flags & CAP_MPI_FLAGS) != 0) {
        self->span = 0; /* the program's next call takes the flags away */
    }
    return self;
}

/* Inside a call of MPI that is not about files, and in threads of the library: MPI-IO that is going
 * on there. Such calls are many, so the module is looked for last. */
static struct cap_thread *judge_hidden(struct cap_thread *self, uintptr_t source, unsigned call,
                                       int fd, const char *path)
{
    struct cap_module module;
    if (CAP_LIKELY(cap_mpi_io_judge(call, fd, path) == CAP_MPI_IO_NONE)) {
        return NULL;
    }
    bool does_mpi_io = cap_module_find(self, source, &module) && module.does_mpi_io;
    return does_mpi_io ? judge_mpi(self, source, call, fd, path) : NULL;
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
    if (CAP_LIKELY(source - self->mpi_lo < self->mpi_span)) {
        return false;
    }
    if (path != NULL ? cap_mpi_io_is_of_system(path) : !is_on_own_file(fd)) {
        return false;
    }
    if (!cap_module_find(self, source, &module)) {
        return false;
    }
    if (module.is_internal) {
        self->mpi_span = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        self->mpi_lo = module.lo;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        self->mpi_span = module.hi - module.lo;
    }
    return !module.is_internal;
}

/* Inside a call of MPI that is not about files. */
static struct cap_thread *judge_quiet(struct cap_thread *self, uintptr_t source, unsigned call,
                                      int fd, const char *path)
{
    if (source - self->lo2 < self->span2 || is_called_back(self, source, fd, path)) {
        return self;
    }
    return judge_hidden(self, source, call, fd, path);
}

/* Inside MPI, but in its file operations: what the program does there is what it calls back. */
static bool is_quiet(const struct cap_thread *self)
{
    return CAP_UNLIKELY(self->mpi_frame != 0) && (self->mpi_frame & CAP_MPI_FRAME_FILE) == 0 &&
           self->span2 != 0 && is_within_mpi(self);
}

/* Which of its call sites are new is seen when the event is written: stack.h. */
static bool is_sampled(const struct cap_module *module)
{
    return module->kind == WIO_CODE_LIBRARY && cap_process.stacks == CAP_STACKS_SAMPLED &&
           cap_board == NULL;
}

/* Calls of a library come by here; the ranges on the fast path are those of the program. */
static void remember_library(struct cap_thread *self, const struct cap_module *module)
{
    self->library_span = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->library_lo = module->lo;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->library_span = module->hi - module->lo;
}

static struct cap_thread *judge_caller(struct cap_thread *self, uintptr_t source, unsigned call,
                                       int fd, const char *path)
{
    struct cap_module module;
    if (is_quiet(self)) {
        return judge_quiet(self, source, call, fd, path);
    }
    if (CAP_UNLIKELY((self->flags & CAP_MPI_FLAGS) != 0) && !is_within_mpi(self)) {
        mark(self, 0, CAP_MPI_IO_NONE, 0);
    }
    if (self->watch == CAP_WATCH_NONE && use_second_range(self, source)) {
        return self;
    }
    if (self->watch == CAP_WATCH_NONE && source - self->library_lo < self->library_span) {
        cap_stack_expect(self);
        return self;
    }
    if (!cap_module_find(self, source, &module)) {
        return self;
    }
    if (is_sampled(&module)) {
        cap_stack_expect(self);
    }
    if (module.is_internal) {
        return module.does_mpi_io ? judge_mpi(self, source, call, fd, path) : NULL;
    }
    if (self->watch == CAP_WATCH_NONE && cap_board == NULL) {
        if (is_sampled(&module)) {
            remember_library(self, &module);
        } else {
            remember_range(self, &module);
        }
    }
    return self;
}

bool cap_is_by_mpi(uintptr_t source)
{
    struct cap_thread *self = cap_self;
    struct cap_module module;
    if (!self->is_ready || cap_process.is_off ||
        (self->watch != CAP_WATCH_NONE && !may_write(self)) ||
        (self->flags & WIO_EVENT_VFORK) != 0) {
        return false;
    }
    if (self->mute == 0) { /* a muted call of the program's own library is none */
        return true;
    }
    return cap_module_find(self, source, &module) && module.is_internal;
}

/* A new thread of a confined process has nowhere to write, one without a clock writes nothing. */
static void count_confined(void)
{
    struct wio_ring_header *header = cap_process.header;
    if (cap_is_confined && header != NULL) {
        (void)__atomic_fetch_add(&header->dropped, 1, __ATOMIC_RELAXED);
    }
}

/* A library that has called before, and nothing unusual about the thread. */
static bool is_known_library(const struct cap_thread *self, uintptr_t source)
{
    return source - self->library_lo < self->library_span && self->is_ready != 0 &&
           self->watch == CAP_WATCH_NONE && self->mute == 0 && self->mpi_frame == 0;
}

struct cap_thread *cap_enter_slow(uintptr_t source, unsigned call, int fd, const char *path)
{
    if (is_known_library(cap_self, source)) {
        cap_stack_expect(cap_self);
        return cap_self;
    }
    if (!cap_configure()) {
        count_confined();
        return NULL;
    }
    if (!cap_self->is_ready && !cap_thread_begin()) {
        count_confined();
        return NULL;
    }
    struct cap_thread *self = cap_self;
    if (self->watch != CAP_WATCH_NONE && !may_write(self)) {
        return NULL;
    }
    struct cap_thread *found = NULL;
    if (cap_process.with_mpi_internals) {
        found = mark_caller(self, source, call, fd, path);
    } else if (self->mute == 0) {
        found = judge_caller(self, source, call, fd, path);
    } else {
        found = judge_hidden(self, source, call, fd, path);
    }
    if (CAP_UNLIKELY(cap_board != NULL) && found != NULL) {
        cap_hold_call(found, source, call, fd, path); /* all calls come by here then */
    }
    return found;
}
