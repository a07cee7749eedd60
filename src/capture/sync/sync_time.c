/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for descriptors and time, where the call changes its arguments or gives an error number;
 * waiting for signals. The plain ones are generated. R-SYNC-9 */
#include <signal.h>
#include <sys/select.h>

#include "capture/sync/sync.h"

/* ---- select: the kernel leaves in the time limit what was left of it ---------------------------
 */

static uint64_t ns_of_timeval(const struct timeval *time)
{
    return time != NULL ? (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u
                        : WIO_NO_SIZE;
}

#define DEFINE_SELECT(symbol)                                                                      \
    CAP_EXPORT int symbol(int count, fd_set *reads, fd_set *writes, fd_set *others,                \
                          struct timeval *limit);                                                  \
    CAP_EXPORT int symbol(int count, fd_set *reads, fd_set *writes, fd_set *others,                \
                          struct timeval *limit)                                                   \
    {                                                                                              \
        const uintptr_t source = CAP_CALLER();                                                     \
        struct cap_thread *self = cap_enter_sync(source, WIO_CALL_##symbol);                       \
        if (self == NULL) {                                                                        \
            return CAP_REAL(symbol)(count, reads, writes, others, limit);                          \
        }                                                                                          \
        struct cap_event ev = CAP_EVENT(symbol, source);                                           \
        ev.size = ns_of_timeval(limit);                                                            \
        cap_state_enter(self, CAP_WAIT_OF(limit));                                                 \
        ev.begin = cap_begin(self);                                                                \
        int result = CAP_REAL(symbol)(count, reads, writes, others, limit);                        \
        ev.end = cap_now();                                                                        \
        cap_state_leave(self);                                                                     \
        ev.result = result;                                                                        \
        ev.error = result < 0 ? errno : 0;                                                         \
        cap_emit(self, &ev);                                                                       \
        return result;                                                                             \
    }

DEFINE_SELECT(select)
DEFINE_SELECT(__select)

/* ---- sleeping until a moment -------------------------------------------------------------------
 */

static uint64_t ns_between(const struct timespec *now, const struct timespec *until)
{
    int64_t ns =
        (int64_t)(until->tv_sec - now->tv_sec) * 1000000000 + until->tv_nsec - now->tv_nsec;
    return ns > 0 ? (uint64_t)ns : 0;
}

CAP_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                               struct timespec *left)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter_sync(source, WIO_CALL_clock_nanosleep);
    if (self == NULL) {
        return CAP_REAL(clock_nanosleep)(clock, flags, time, left);
    }
    struct cap_event ev = CAP_EVENT(clock_nanosleep, source);
    struct timespec now = {0};
    bool is_moment =
        (flags & TIMER_ABSTIME) != 0 && raw_call3(SYS_clock_gettime, clock, (long)&now, 0) == 0;
    cap_state_enter(self, CAP_STATE_SLEEPING);
    ev.begin = cap_begin(self);
    int result = CAP_REAL(clock_nanosleep)(clock, flags, time, left);
    ev.end = cap_now();
    cap_state_leave(self);
    ev.result = result;
    ev.error = result;
    ev.size = is_moment && result != EFAULT ? ns_between(&now, time) : cap_ns_of(time, result);
    cap_emit(self, &ev);
    return result;
}

/* ---- signals -----------------------------------------------------------------------------------
 */

struct signal_wait {
    struct cap_thread *self;
    struct cap_event ev;
    siginfo_t info; /* stands in where the program wants none */
};

static bool begin(struct signal_wait *wait, unsigned call, uintptr_t source)
{
    wait->self = cap_enter_sync(source, call);
    if (wait->self == NULL) {
        return false;
    }
    wait->ev = CAP_EVENT_OF(call, source);
    wait->info = (siginfo_t){0};
    cap_state_enter(wait->self, CAP_STATE_BLOCKED);
    wait->ev.begin = cap_begin(wait->self);
    return true;
}

/* si_pid means the sender where a process sent it, or the child that has ended. */
static int64_t sender_of(const siginfo_t *info)
{
    bool is_end =
        info->si_signo == SIGCHLD &&
        (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED);
    bool is_sent =
        info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
    return is_end || is_sent ? info->si_pid : 0;
}

static void end(struct signal_wait *wait, const siginfo_t *info, int result, int error)
{
    CAP_KEEP_ERRNO;
    wait->ev.end = cap_now();
    cap_state_leave(wait->self);
    wait->ev.result = result;
    wait->ev.error = error;
    const int64_t arg[2] = {error == 0 ? sender_of(info) : 0, error == 0 ? info->si_signo : 0};
    cap_emit_wait(wait->self, &wait->ev, arg);
}

CAP_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    struct signal_wait wait;
    if (!begin(&wait, WIO_CALL_sigtimedwait, CAP_CALLER())) {
        return CAP_REAL(sigtimedwait)(set, info, limit);
    }
    siginfo_t *place = info != NULL ? info : &wait.info;
    int result = CAP_REAL(sigtimedwait)(set, place, limit);
    end(&wait, place, result, result < 0 ? errno : 0);
    return result;
}

CAP_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    struct signal_wait wait;
    if (!begin(&wait, WIO_CALL_sigwaitinfo, CAP_CALLER())) {
        return CAP_REAL(sigwaitinfo)(set, info);
    }
    siginfo_t *place = info != NULL ? info : &wait.info;
    int result = CAP_REAL(sigwaitinfo)(set, place);
    end(&wait, place, result, result < 0 ? errno : 0);
    return result;
}

/* The same as sigwaitinfo (in libc too), which also tells the sender. An interruption by a handler
 * is not passed on. */
CAP_EXPORT int sigwait(const sigset_t *set, int *signal)
{
    struct signal_wait wait;
    if (!begin(&wait, WIO_CALL_sigwait, CAP_CALLER())) {
        return CAP_REAL(sigwait)(set, signal);
    }
    CAP_KEEP_ERRNO;
    int result;
    do {
        result = CAP_REAL(sigwaitinfo)(set, &wait.info);
    } while (result < 0 && errno == EINTR);
    int error = result < 0 ? errno : 0;
    end(&wait, &wait.info, error, error);
    if (error == 0) {
        *signal = result;
    }
    return error;
}

/* The header gives the name sigpause to another symbol: ours have names of their own, and labels.
 */
#define DEFINE_PAUSE(symbol, parameters, types, ...)                                               \
    CAP_EXPORT int cap_##symbol parameters __asm__(#symbol);                                       \
    CAP_EXPORT int cap_##symbol parameters                                                         \
    {                                                                                              \
        int(*real) types = (int(*) types)cap_real(WIO_CALL_##symbol);                              \
        struct signal_wait wait;                                                                   \
        if (!begin(&wait, WIO_CALL_##symbol, CAP_CALLER())) {                                      \
            return real(__VA_ARGS__);                                                              \
        }                                                                                          \
        int result = real(__VA_ARGS__);                                                            \
        end(&wait, &wait.info, result, result < 0 ? errno : 0);                                    \
        return result;                                                                             \
    }

DEFINE_PAUSE(sigpause, (int set), (int), set)
DEFINE_PAUSE(__sigpause, (int signal_or_set, int is_signal), (int, int), signal_or_set, is_signal)
DEFINE_PAUSE(__xpg_sigpause, (int signal), (int), signal)
