/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/control/run_child.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { EXIT_SIGNAL_BASE = 128 };

/* Written by the child. */
struct wio_rerun_shared {
    struct wio_record_result result;
    struct wio_error err;
    enum wio_status status;
    volatile bool is_sealing;
    bool is_done;
};

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

static void passed_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(passed_on); i++) {
        sigaddset(set, passed_on[i]);
    }
}

static void interrupt_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

void wio_rerun_hold_interrupts(sigset_t *before_out)
{
    sigset_t set;
    interrupt_set(&set);
    (void)sigprocmask(SIG_BLOCK, &set, before_out);
}

int wio_rerun_take_interrupt(void)
{
    const struct timespec now = {0};
    sigset_t set;
    interrupt_set(&set);
    int number = sigtimedwait(&set, NULL, &now);
    return number > 0 ? number : 0;
}

void wio_rerun_release_interrupts(const sigset_t *before)
{
    (void)sigprocmask(SIG_SETMASK, before, NULL);
}

/* Behind a launcher that kills us, as if we were the program, the program ends too. */
static void end_with_parent(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        (void)raise(SIGTERM);
    }
}

static void note_sealing(void *arg)
{
    struct wio_rerun_shared *shared = arg;
    shared->is_sealing = true;
}

static _Noreturn void record_in_child(const struct wio_rerun *rerun,
                                      const struct wio_record_params *params, pid_t parent)
{
    struct wio_rerun_shared *shared = rerun->shared;
    struct wio_record_params own = *params;
    own.ended = note_sealing;
    own.ended_arg = shared;
    own.edges_now = true; /* what is held next depends on them */
    if (params->is_part) {
        end_with_parent(parent);
    }
    (void)sigprocmask(SIG_SETMASK, &rerun->original_mask, NULL);
    shared->status = wio_record(&own, &shared->result, &shared->err);
    shared->is_done = true;
    (void)fflush(stderr);
    /* house: allow exit: the parent goes on where the caller thinks it is */
    _exit(0);
}

enum wio_status wio_rerun_start(struct wio_rerun *rerun, const struct wio_record_params *params,
                                const struct wio_rerun_own *own, struct wio_error *err)
{
    *rerun = (struct wio_rerun){.dir = params->dir};
    void *memory = mmap(NULL, sizeof(*rerun->shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return wio_error_sys(err, NULL, "cannot share memory with the recorder");
    }
    rerun->shared = memory;
    *rerun->shared = (struct wio_rerun_shared){.err = WIO_ERROR_INIT};
    sigset_t passed;
    passed_set(&passed);
    (void)sigprocmask(SIG_BLOCK, &passed, &rerun->original_mask);
    (void)fflush(stderr);
    pid_t parent = getpid();
    rerun->pid = fork();
    if (rerun->pid == 0) {
        for (size_t i = 0; i < own->fd_count; i++) {
            (void)close(own->fds[i]);
        }
        rerun->original_mask = own->mask != NULL ? *own->mask : rerun->original_mask;
        record_in_child(rerun, params, parent);
    }
    if (rerun->pid < 0) {
        enum wio_status status = wio_error_sys(err, NULL, "cannot start the recorder");
        (void)munmap(rerun->shared, sizeof(*rerun->shared));
        (void)sigprocmask(SIG_SETMASK, &rerun->original_mask, NULL);
        return status;
    }
    return WIO_OK;
}

static bool is_interrupt(int number)
{
    return number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

/* A signal that a launcher sends to all processes of a failed job must not cut the sealing short; a
 * second SIGINT or SIGQUIT does. */
static bool is_impatient(const struct wio_rerun *rerun, int number)
{
    return (number == SIGINT || number == SIGQUIT) && rerun->interrupt != 0 &&
           rerun->shared->is_sealing;
}

static void pass_on(struct wio_rerun *rerun, const siginfo_t *info)
{
    int number = info->si_signo;
    if (is_impatient(rerun, number)) {
        (void)kill(rerun->pid, SIGKILL);
    } else if (info->si_code <= 0) { /* the terminal's own reach the child by themselves */
        (void)kill(rerun->pid, number);
    }
    rerun->interrupt = is_interrupt(number) ? number : rerun->interrupt;
}

static void take_signals(struct wio_rerun *rerun)
{
    const struct timespec now = {0};
    sigset_t passed;
    siginfo_t info;
    passed_set(&passed);
    while (sigtimedwait(&passed, &info, &now) > 0) {
        pass_on(rerun, &info);
    }
}

bool wio_rerun_goes_on(struct wio_rerun *rerun)
{
    take_signals(rerun);
    siginfo_t ended = {0};
    int result = waitid(P_PID, (id_t)rerun->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? ended.si_pid == 0 : errno == EINTR;
}

/* The child was killed by a signal: one that came before the child blocked it, or a repeated
 * interrupt, which is passed on as SIGKILL. */
static void tell_interrupt(const struct wio_rerun *rerun, struct wio_record_result *result)
{
    result->exit_status = EXIT_SIGNAL_BASE + rerun->interrupt;
    result->is_cut = true;
    if (result->dir[0] == '\0') {
        (void)snprintf(result->dir, sizeof(result->dir), "%s", rerun->dir);
    }
    (void)wio_error_set(&result->seal_error, WIO_ERR_IO, result->dir, WIO_ERROR_NO_OFFSET,
                        "interrupted by signal %d (%s)", rerun->interrupt,
                        sigdescr_np(rerun->interrupt));
}

enum wio_status wio_rerun_finish(struct wio_rerun *rerun, struct wio_record_result *result_out,
                                 struct wio_error *err)
{
    int how = 0;
    siginfo_t ended;
    while (waitid(P_PID, (id_t)rerun->pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    take_signals(rerun); /* one that has just ended it may have come here, too */
    while (waitpid(rerun->pid, &how, 0) < 0 && errno == EINTR) {
    }
    struct wio_rerun_shared *shared = rerun->shared;
    enum wio_status status = shared->status;
    *result_out = shared->result;
    if (!shared->is_done && rerun->interrupt != 0 && WIFSIGNALED(how)) {
        status = WIO_OK;
        tell_interrupt(rerun, result_out);
    } else if (!shared->is_done) {
        status = wio_error_set(err, WIO_ERR_INTERNAL, NULL, WIO_ERROR_NO_OFFSET,
                               "the recorder was killed");
    } else if (status != WIO_OK && err != NULL) {
        *err = shared->err;
    }
    (void)munmap(rerun->shared, sizeof(*rerun->shared));
    (void)sigprocmask(SIG_SETMASK, &rerun->original_mask, NULL);
    return status;
}
