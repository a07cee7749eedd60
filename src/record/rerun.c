/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rerun.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

/* Written by the child. */
struct wio_rerun_shared {
    struct wio_record_result result;
    struct wio_error err;
    enum wio_status status;
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

/* Behind a launcher that kills us, as if we were the program, the program ends too. */
static void end_with_parent(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        (void)raise(SIGTERM);
    }
}

static _Noreturn void record_in_child(const struct wio_rerun *rerun,
                                      const struct wio_record_params *params, pid_t parent)
{
    struct wio_rerun_shared *shared = rerun->shared;
    if (params->is_part) {
        end_with_parent(parent);
    }
    (void)sigprocmask(SIG_SETMASK, &rerun->original_mask, NULL);
    shared->status = wio_record(params, &shared->result, &shared->err);
    shared->is_done = true;
    (void)fflush(stderr);
    /* house: allow exit: the parent goes on where the caller thinks it is */
    _exit(0);
}

enum wio_status wio_rerun_start(struct wio_rerun *rerun, const struct wio_record_params *params,
                                int own_fd, struct wio_error *err)
{
    *rerun = (struct wio_rerun){0};
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
        wio_fd_cleanup(&own_fd);
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

bool wio_rerun_goes_on(struct wio_rerun *rerun)
{
    const struct timespec now = {0};
    sigset_t passed;
    siginfo_t info;
    passed_set(&passed);
    int number;
    while ((number = sigtimedwait(&passed, &info, &now)) > 0) {
        rerun->is_interrupted = rerun->is_interrupted || number == SIGHUP || number == SIGINT ||
                                number == SIGQUIT || number == SIGTERM;
        if (info.si_code <= 0) { /* the terminal's own reach the child by themselves */
            (void)kill(rerun->pid, number);
        }
    }
    siginfo_t ended = {0};
    int result = waitid(P_PID, (id_t)rerun->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? ended.si_pid == 0 : errno == EINTR;
}

enum wio_status wio_rerun_finish(struct wio_rerun *rerun, struct wio_record_result *result_out,
                                 struct wio_error *err)
{
    while (waitpid(rerun->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    struct wio_rerun_shared *shared = rerun->shared;
    enum wio_status status = shared->status;
    *result_out = shared->result;
    if (!shared->is_done) {
        status = wio_error_set(err, WIO_ERR_INTERNAL, NULL, WIO_ERROR_NO_OFFSET,
                               "the recorder was killed");
    } else if (status != WIO_OK && err != NULL) {
        *err = shared->err;
    }
    (void)munmap(rerun->shared, sizeof(*rerun->shared));
    (void)sigprocmask(SIG_SETMASK, &rerun->original_mask, NULL);
    return status;
}
