/* SPDX-License-Identifier: Apache-2.0 */
/* The slow way into a wrapper: first events, new callers, MPI libraries, children in our memory. */
#include "capture/exec.h"
#include "capture/hold.h"
#include "capture/process.h"
#include "capture/raw.h"

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
    if (pid < 0) { /* confined: nobody knows who this is */
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

/* With MPI internals every call takes the slow path: each is marked for itself. */
static struct cap_thread *mark_caller(struct cap_thread *self, uintptr_t source)
{
    struct cap_module module;
    bool is_internal = self->mute > 0 || self->is_internal ||
                       (cap_module_find(self, source, &module) && module.is_internal);
    self->flags =
        (uint8_t)(is_internal ? self->flags | WIO_EVENT_MPI : self->flags & ~WIO_EVENT_MPI);
    return self;
}

/* Inside MPI, but in its file operations: what the program does there is what it calls back. */
static bool is_quiet(const struct cap_thread *self)
{
    return CAP_UNLIKELY(self->mpi_frame != 0) && (self->mpi_frame & CAP_MPI_FRAME_FILE) == 0 &&
           self->span2 != 0 && cap_is_within_mpi(self, (uintptr_t)__builtin_frame_address(0));
}

static struct cap_thread *judge_caller(struct cap_thread *self, uintptr_t source, unsigned call,
                                       int fd, const char *path)
{
    struct cap_module module;
    if (is_quiet(self)) {
        return source - self->lo2 < self->span2 ? self : NULL;
    }
    if (self->watch == CAP_WATCH_NONE && use_second_range(self, source)) {
        return self;
    }
    if (!cap_module_find(self, source, &module)) {
        return self;
    }
    if (module.is_internal) {
        return module.does_mpi_io && cap_mpi_io_is_program(call, fd, path) ? self : NULL;
    }
    if (self->watch == CAP_WATCH_NONE && cap_board == NULL) {
        remember_range(self, &module);
    }
    return self;
}

/* A new thread of a confined process has nowhere to write, one without a clock writes nothing. */
static void count_confined(void)
{
    struct wio_ring_header *header = cap_process.header;
    if (cap_is_confined && header != NULL) {
        (void)__atomic_fetch_add(&header->dropped, 1, __ATOMIC_RELAXED);
    }
}

struct cap_thread *cap_enter_slow(uintptr_t source, unsigned call, int fd, const char *path)
{
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
        found = mark_caller(self, source);
    } else if (self->mute == 0) {
        found = judge_caller(self, source, call, fd, path);
    }
    if (CAP_UNLIKELY(cap_board != NULL) && found != NULL) {
        cap_hold_call(found, source, call, fd, path); /* all calls come by here then */
    }
    return found;
}
