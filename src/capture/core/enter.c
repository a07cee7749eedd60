/* SPDX-License-Identifier: Apache-2.0 */
/* The slow way into a wrapper: first events, new callers, children in our memory, and what features
 * say of a call. */
#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/stack.h"
#include "ops/code_owner.h"

/* A caller range that was seen lately comes to the front. */
static bool use_second_range(struct cap_thread *self, uintptr_t source)
{
    if (source - self->callers.lo2 >= self->callers.span2) {
        return false;
    }
    uintptr_t lo = self->lo;
    uintptr_t span = self->span;
    self->span = 0; /* a handler between these lines must not see a mixed range */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->lo = self->callers.lo2;
    self->callers.lo2 = lo;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->span = self->callers.span2;
    self->callers.span2 = span;
    return true;
}

static void remember_range(struct cap_thread *self, const struct cap_module *module)
{
    uintptr_t lo = self->lo;
    uintptr_t span = self->span;
    self->callers.span2 = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->callers.lo2 = lo;
    self->span = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->lo = module->lo;
    self->callers.span2 = span;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->span = module->hi - module->lo;
}

bool cap_may_write(struct cap_thread *self)
{
    if (self->watch == CAP_WATCH_CLONE) {
        return raw_gettid() == self->tid;
    }
    int pid = raw_getpid();
    if (pid < 0) { /* confined (seccomp): the process is unknown */
        return false;
    }
    if (pid != self->writer.clock_pid) {
        bool is_child = pid != self->pid;
        self->writer.clock_pid = pid;
        self->writer.clock_tid = is_child ? raw_gettid() : self->tid;
        self->flags =
            (uint8_t)(is_child ? self->flags | WIO_EVENT_VFORK : self->flags & ~WIO_EVENT_VFORK);
        cap_clock_record(self, 1);
    }
    if (pid == self->pid) {
        self->watch = CAP_WATCH_NONE;
        cap_on_parent_again(self);
    }
    return true;
}

/* Which of its call sites are new is seen when the event is written: stack.h. */
static bool is_sampled(const struct cap_module *module)
{
    bool is_asked =
        module->kind == WIO_CODE_LIBRARY ||
        (module->kind == WIO_CODE_INTERPRETER && (cap_process.sites & CAP_PENDING_SCRIPT) != 0);
    return is_asked && cap_process.stacks == CAP_STACKS_SAMPLED && !cap_process.is_slow;
}

/* Lines of its program are asked for from its first call on. */
static void meet_interpreter(void)
{
    CAP_KEEP_ERRNO;
    if (!cap_process.has_met_interpreter) {
        cap_process.has_met_interpreter = true;
        cap_process.sites |= cap_on_interpreter() ? CAP_PENDING_SCRIPT : 0;
    }
}

/* Calls of a library come by here; the ranges on the fast path are those of the program. */
static void remember_library(struct cap_thread *self, const struct cap_module *module)
{
    self->callers.library_span = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->callers.library_lo = module->lo;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->callers.library_span = module->hi - module->lo;
}

/* What a feature has to say of the call: where it set flags for single calls, inside its calls, in
 * threads that it mutes. */
static bool is_judged(const struct cap_thread *self)
{
    return self->callers.outer_frame != 0 || self->mute != 0 ||
           (self->flags & CAP_CALL_FLAGS) != 0 || cap_process.with_mpi_internals;
}

/* By its module, which is remembered where nothing is unusual about the thread. */
static bool is_recorded(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                        const char *path)
{
    struct cap_module module;
    if (self->watch == CAP_WATCH_NONE && use_second_range(self, source)) {
        return true;
    }
    if (self->watch == CAP_WATCH_NONE &&
        source - self->callers.library_lo < self->callers.library_span) {
        cap_stack_expect(self);
        return true;
    }
    if (!cap_module_find(self, source, &module)) {
        return true;
    }
    if (module.is_interpreter) {
        meet_interpreter();
    }
    if (is_sampled(&module)) {
        cap_stack_expect(self);
    }
    if (module.is_internal) {
        return module.does_mpi_io &&
               cap_on_internal_call(self, source, call, fd, path) == CAP_VERDICT_RECORD;
    }
    if (self->watch == CAP_WATCH_NONE && !cap_process.is_slow) {
        if (is_sampled(&module)) {
            remember_library(self, &module);
        } else {
            remember_range(self, &module);
        }
    }
    return true;
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
    return source - self->callers.library_lo < self->callers.library_span && self->is_ready != 0 &&
           self->watch == CAP_WATCH_NONE && self->mute == 0 && self->callers.outer_frame == 0;
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
    if (self->watch != CAP_WATCH_NONE && !cap_may_write(self)) {
        return NULL;
    }
    enum cap_verdict verdict =
        is_judged(self) ? cap_on_call(self, source, call, fd, path) : CAP_VERDICT_NONE;
    if (verdict == CAP_VERDICT_HIDE ||
        (verdict == CAP_VERDICT_NONE && !is_recorded(self, source, call, fd, path))) {
        return NULL;
    }
    if (CAP_UNLIKELY(cap_process.is_slow)) {
        cap_on_entered(self, source, call, fd, path); /* all calls come by here then */
    }
    return self;
}
