/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that begin as a copy. After a fork the kernel has wiped the child's thread states
 * (process.h), so the child needs no hook: its first event begins its own ring.
 */
#include <pty.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/files/paths.h"
#include "capture/mmap/pages.h"
#include "capture/process/fork.h"
#include "capture/throttle/hold.h"

/* From now on each call takes the slow path, which checks the calling process. */
static void watch_calls(struct cap_thread *self, enum cap_watch watch)
{
    if (self->watch != CAP_WATCH_CLONE) {
        self->watch = (uint8_t)watch;
    }
    self->span = 0;
    self->callers.span2 = 0;
}

static void emit_process(struct cap_thread *self, struct cap_event *ev, int64_t result, int error,
                         int64_t flags)
{
    ev->end = cap_now();
    ev->result = result;
    ev->error = error;
    ev->offset = flags;
    ev->size = result > 0 ? (uint64_t)result : 0; /* arg1: the child's pid ties the two */
    cap_emit(self, ev);
}

static inline pid_t fork_as(unsigned call, uintptr_t source)
{
    pid_t (*real)(void) = (pid_t(*)(void))cap_real(call);
    struct cap_thread *self = cap_enter(source, call);
    cap_fd_share_all(false);
    if (CAP_UNLIKELY(self == NULL)) {
        return real();
    }
    cap_hold_before_fork(self);
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_begin(self);
    pid_t result = real();
    if (result < 0) {
        cap_hold_cancel(self);
    }
    if (result != 0) {
        emit_process(self, &ev, result, result < 0 ? errno : 0, 0);
    } else if (cap_pages_any() || cap_board != NULL) {
        (void)cap_enter(source, call); /* its stores are watched, its waiting is seen, from the
                                          ring's beginning on */
    }
    return result;
}

#define DEFINE_FORK(symbol)                                                                        \
    CAP_EXPORT pid_t symbol(void);                                                                 \
    CAP_EXPORT pid_t symbol(void)                                                                  \
    {                                                                                              \
        return fork_as(WIO_CALL_##symbol, CAP_CALLER());                                           \
    }

DEFINE_FORK(fork)
DEFINE_FORK(__fork)
DEFINE_FORK(_Fork)

#if defined(__x86_64__)

/*
 * vfork's child runs on the caller's stack and returns first: no C frame may be around the system
 * call. So: a call before, the system call with the return address in a register (as libc does it),
 * a call after it in the parent only.
 */
CAP_HIDDEN void cap_vfork_before(unsigned call, uintptr_t source);
CAP_HIDDEN pid_t cap_vfork_after(long result);

__asm__(".text\n"
        ".macro CAP_VFORK name, call\n"
        ".globl \\name\n"
        ".type \\name, @function\n"
        "\\name:\n"
        ".cfi_startproc\n"
        "    movl \\call, %edi\n"
        "    movq (%rsp), %rsi\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call cap_vfork_before\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    .cfi_register %rip, %rdi\n"
        "    movl $58, %eax\n" /* SYS_vfork */
        "    syscall\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_rel_offset %rip, 0\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "    movq %rax, %rdi\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call cap_vfork_after\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "1:  ret\n"
        ".cfi_endproc\n"
        ".size \\name, . - \\name\n"
        ".endm\n");

#define TEXT_OF(number) #number
#define DEFINE_VFORK(symbol, number) __asm__("CAP_VFORK " #symbol ", $" TEXT_OF(number) "\n")

/* The numbers stand for WIO_CALL_vfork and WIO_CALL___vfork, which assembler text cannot name. */
enum { VFORK_PLAIN = 1, VFORK_UNDERSCORES = 2 };
DEFINE_VFORK(vfork, 1);
DEFINE_VFORK(__vfork, 2);

CAP_HIDDEN void cap_vfork_before(unsigned which, uintptr_t source)
{
    unsigned call = which == VFORK_PLAIN ? WIO_CALL_vfork : WIO_CALL___vfork;
    struct cap_thread *self = cap_enter(source, call);
    cap_fd_share_all(true);
    if (self == NULL) {
        self = cap_self;
        if (!self->is_ready) {
            return;
        }
        self->process.pending = CAP_EVENT_OF(WIO_CALL_none, source);
        self->process.pending.begin = cap_now();
    } else {
        self->process.pending = CAP_EVENT_OF(call, source);
        self->process.pending.begin = cap_begin(self);
    }
    watch_calls(self, CAP_WATCH_VFORK);
}

CAP_HIDDEN pid_t cap_vfork_after(long result)
{
    int error = result < 0 ? (int)-result : 0;
    if (cap_self->is_ready) {
        struct cap_event ev = cap_self->process.pending;
        struct cap_thread *self = cap_enter(ev.source, ev.call);
        if (self != NULL && ev.call != WIO_CALL_none) {
            emit_process(self, &ev, error != 0 ? -1 : result, error, 0);
        }
    }
    if (error != 0) {
        errno = error;
        return -1;
    }
    return (pid_t)result;
}

#else

/* POSIX allows vfork to be fork. */
CAP_EXPORT pid_t vfork(void)
{
    return fork_as(WIO_CALL_fork, CAP_CALLER());
}

CAP_EXPORT pid_t __vfork(void);
CAP_EXPORT pid_t __vfork(void)
{
    return fork_as(WIO_CALL_fork, CAP_CALLER());
}

#endif

/* The parent ends inside libc's daemon: say so before. */
CAP_EXPORT int daemon(int nochdir, int noclose)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_daemon);
    if (self == NULL) {
        return CAP_REAL(daemon)(nochdir, noclose);
    }
    cap_fd_share_all(false);
    struct cap_event ev = CAP_EVENT(daemon, source);
    ev.begin = cap_begin(self);
    cap_pages_report_all(source, WIO_CALL_daemon);
    cap_mark_end(WIO_END_EXIT, 0);
    int result = CAP_REAL(daemon)(nochdir, noclose);
    if (self->is_ready) {
        cap_mark_end(WIO_END_NONE, 0); /* still the parent: it failed before the fork */
    }
    int error = result < 0 ? errno : 0;
    cap_cwd_changed();
    cap_fd_clear_range(0, noclose != 0 ? 0 : 2);
    self = cap_enter(source, WIO_CALL_daemon);
    if (self != NULL) {
        emit_process(self, &ev, result, error, 0);
    }
    return result;
}

CAP_EXPORT int forkpty(int *master, char *name, const struct termios *settings,
                       const struct winsize *size)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_forkpty);
    cap_fd_share_all(false);
    if (self == NULL) {
        return CAP_REAL(forkpty)(master, name, settings, size);
    }
    struct cap_event ev = CAP_EVENT(forkpty, source);
    ev.begin = cap_begin(self);
    pid_t result = CAP_REAL(forkpty)(master, name, settings, size);
    if (result == 0) {
        cap_fd_clear_range(0, 2);
    } else {
        if (result > 0) {
            cap_fd_clear(*master);
        }
        emit_process(self, &ev, result, result < 0 ? errno : 0, 0);
    }
    return result;
}

/* Before a clone: what may the child do to our memory? Also for syscall(2). */
void cap_before_clone(struct cap_thread *self, uint64_t flags)
{
    if ((flags & CLONE_VM) == 0) {
        cap_fd_share_all(false);
    } else if ((flags & CLONE_VFORK) != 0) {
        cap_fd_share_all(true);
        watch_calls(self, CAP_WATCH_VFORK);
    } else if ((flags & CLONE_SETTLS) == 0) {
        cap_fd_share_all(false);
        cap_unseen(WIO_UNSEEN_SHARED_CLONE);
        watch_calls(self, CAP_WATCH_CLONE);
    }
}

struct clone_call {
    int (*function)(void *);
    void *stack;
    int flags;
    void *argument;
    pid_t *parent_tid;
    void *tls;
    pid_t *child_tid;
};

static int clone_as(unsigned call, const struct clone_call *c, uintptr_t source)
{
    int (*real)(int (*)(void *), void *, int, void *, ...) =
        (int (*)(int (*)(void *), void *, int, void *, ...))cap_real(call);
    struct cap_thread *self = cap_enter(source, call);
    if (self == NULL) {
        return real(c->function, c->stack, c->flags, c->argument, c->parent_tid, c->tls,
                    c->child_tid);
    }
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_begin(self);
    cap_before_clone(self, (uint64_t)(unsigned)c->flags);
    int result =
        real(c->function, c->stack, c->flags, c->argument, c->parent_tid, c->tls, c->child_tid);
    int error = result < 0 ? errno : 0;
    self = cap_enter(source, call);
    if (self != NULL) {
        emit_process(self, &ev, result, error, c->flags);
    }
    return result;
}

/* The last three arguments are words that are only passed on; libc reads them the same way. */
#define DEFINE_CLONE(symbol)                                                                       \
    CAP_EXPORT int symbol(int (*function)(void *), void *stack, int flags, void *argument, ...);   \
    CAP_EXPORT int symbol(int (*function)(void *), void *stack, int flags, void *argument, ...)    \
    {                                                                                              \
        struct clone_call call = {function, stack, flags, argument, NULL, NULL, NULL};             \
        va_list more;                                                                              \
        va_start(more, argument);                                                                  \
        call.parent_tid = va_arg(more, pid_t *);                                                   \
        call.tls = va_arg(more, void *);                                                           \
        call.child_tid = va_arg(more, pid_t *);                                                    \
        va_end(more);                                                                              \
        return clone_as(WIO_CALL_##symbol, &call, CAP_CALLER());                                   \
    }

DEFINE_CLONE(clone)
DEFINE_CLONE(__clone)
