/* SPDX-License-Identifier: Apache-2.0 */
#include "record/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "record/children.h"
#include "ring/trace_request.h"

#define LINGER_NOTICE_NS UINT64_C(3000000000)

enum {
    EXIT_UNREPORTED = 126,  /* of the child: exec failed and so did telling why */
    EXIT_EXEC_FAILED = 127, /* of the child: never seen outside this file */
    EXIT_SIGNAL_BASE = 128,
    TRACE_REFUSED = 1 << 16, /* added to the errno of the tracer in what the child reports */
    WAIT_SLICE_MS = 500      /* between checks of the clock while nothing happens */
};

/* What a program may be told from outside. Stop and continue are left to the terminal: the
 * recorder is in the same process group. */
static const int forwarded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

struct state {
    const struct wio_command *command;
    struct wio_supervision *out;
    pid_t pid; /* of the command */
    sigset_t waited_for;
    sigset_t original_mask;
    struct sigaction original_child;
    /* Children from before: of a shell that started them and then became this process by exec.
     * They are not of the command, and are not waited for. */
    struct wio_children foreign;
    bool is_ended; /* the command itself */
    bool is_noticed;
    uint64_t ended_ns;
};

static void block_signals(struct state *state)
{
    sigemptyset(&state->waited_for);
    sigaddset(&state->waited_for, SIGCHLD);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(forwarded); i++) {
        sigaddset(&state->waited_for, forwarded[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &state->waited_for, &state->original_mask);
    /* Where our parent ignores SIGCHLD the kernel would throw the statuses away. */
    const struct sigaction fallback = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGCHLD, &fallback, &state->original_child);
}

static void unblock_signals(const struct state *state)
{
    (void)sigaction(SIGCHLD, &state->original_child, NULL);
    (void)sigprocmask(SIG_SETMASK, &state->original_mask, NULL);
}

/* In the recorder, for the sealing that follows: signals that a launcher sends to all processes of
 * a failed job must not cut it short; a later SIGINT or SIGQUIT does. */
static void finish_signals(const struct state *state)
{
    const struct timespec now = {0};
    sigset_t impatient;
    (void)sigaction(SIGCHLD, &state->original_child, NULL);
    if (state->command->keeps_signals) {
        return;
    }
    sigemptyset(&impatient);
    sigaddset(&impatient, SIGINT);
    sigaddset(&impatient, SIGQUIT);
    /* The keyboard's signal that ended the command came here too, and was meant for the command. */
    while (sigtimedwait(&impatient, NULL, &now) > 0) {
    }
    (void)sigprocmask(SIG_UNBLOCK, &impatient, NULL);
}

/* In the child: never returns. `report` is a pipe that closes by itself when exec works. */
static _Noreturn void run_command(const struct state *state, int report)
{
    unblock_signals(state);
    const struct wio_command *command = state->command;
    (void)sigaction(SIGXFSZ, &command->file_size_action, NULL);
    const long refused =
        command->tracer != NULL ? wio_trace_request(command->tracer, WIO_TRACE_EXEC, 0) : 0;
    if (refused == 0) {
        (void)execvpe(command->path, command->argv, command->environment);
    }
    int cause = refused == 0 ? errno : (int)-refused + TRACE_REFUSED;
    enum wio_status status = wio_io_write(report, NULL, &cause, sizeof(cause), NULL);
    /* house: allow exit: this is the child that could not become the command */
    _exit(status == WIO_OK ? EXIT_EXEC_FAILED : EXIT_UNREPORTED);
}

/* True and errno of exec where it failed; the pipe just closes where it worked. */
static bool read_report(int reader, int *cause_out)
{
    ssize_t got;
    do {
        got = read(reader, cause_out, sizeof(*cause_out));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(*cause_out);
}

static enum wio_status cannot_run(const char *path, int cause, struct wio_error *err)
{
    if (cause > TRACE_REFUSED) {
        errno = cause - TRACE_REFUSED;
        return wio_error_sys(err, path, "cannot record: it cannot be traced");
    }
    errno = cause;
    return wio_error_sys(err, path, "cannot run");
}

static enum wio_status start_command(struct state *state, struct wio_error *err)
{
    const char *path = state->command->path;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return wio_error_sys(err, path, "cannot start the command");
    }
    WIO_CLEANUP(wio_fd_cleanup) int reader = ends[0];
    WIO_CLEANUP(wio_fd_cleanup) int writer = ends[1];
    state->pid = fork();
    if (state->pid < 0) {
        return wio_error_sys(err, path, "cannot start the command");
    }
    if (state->pid == 0) {
        run_command(state, writer);
    }
    wio_fd_cleanup(&writer);
    int cause = 0;
    if (read_report(reader, &cause)) {
        (void)waitpid(state->pid, NULL, 0);
        return cannot_run(path, cause, err);
    }
    return WIO_OK;
}

/*
 * The command has its descriptors now. What we still hold of them would keep pipes, sockets of the
 * launcher and locks open beyond its life: all that it inherited is not close-on-exec, all of ours
 * is. Standard error stays, for messages.
 */
static void let_go_of_descriptors(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)dup2(null, STDOUT_FILENO);
        (void)close(null);
    }
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        int flags = fcntl(fd, F_GETFD);
        if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) {
            (void)close(fd);
        }
    }
}

static int exit_status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? EXIT_SIGNAL_BASE + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}

/* Children that are of the command. Where /proc does not tell, all are taken for that. */
static bool has_own_children(const struct state *state, struct wio_lingering *running_out)
{
    WIO_CLEANUP(wio_children_fini) struct wio_children now = {0};
    *running_out = (struct wio_lingering){0};
    if (!wio_children_read(&now)) {
        return true;
    }
    for (size_t i = 0; i < now.count; i++) {
        if (wio_children_has(&state->foreign, now.pids[i])) {
            continue;
        }
        running_out->pid = running_out->count == 0 ? now.pids[i] : running_out->pid;
        running_out->count += 1;
    }
    return running_out->count > 0;
}

/* Everything that has ended by now. *left_out: there are descendants of the command still. */
static enum wio_status reap(struct state *state, bool *left_out)
{
    for (;;) {
        int wait_status = 0;
        pid_t pid = waitpid(-1, &wait_status, WNOHANG);
        if (pid < 0 && errno == EINTR) {
            continue;
        }
        if (pid <= 0) {
            struct wio_lingering running;
            *left_out =
                pid == 0 && (state->foreign.count == 0 || has_own_children(state, &running));
            return WIO_OK;
        }
        uint64_t now_ns = wio_clock_mono_ns();
        if (pid == state->pid && !state->is_ended) {
            state->is_ended = true;
            state->ended_ns = now_ns;
            state->out->exit_status = exit_status_of(wait_status);
        }
        WIO_TRY(wio_ends_add(&state->out->ends, pid, wait_status, now_ns));
    }
}

static void notice_lingering(struct state *state)
{
    const struct wio_command *command = state->command;
    if (!state->is_ended || state->is_noticed || command->lingering == NULL ||
        wio_clock_mono_ns() - state->ended_ns < LINGER_NOTICE_NS) {
        return;
    }
    state->is_noticed = true;
    struct wio_lingering running;
    if (has_own_children(state, &running) && running.count > 0) {
        wio_children_name(running.pid, running.name, sizeof(running.name));
        command->lingering(command->lingering_arg, &running);
    }
}

/* A signal that arrived here. */
static void handle_signal(struct state *state, const siginfo_t *info)
{
    int signal = info->si_signo;
    if (state->is_ended) {
        state->out->is_cut =
            signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
        return;
    }
    /* The terminal's own (si_code SI_KERNEL) reach the whole process group anyway. */
    if (info->si_code <= 0) {
        (void)kill(state->pid, signal);
    }
}

static enum wio_status wait_for_all(struct state *state)
{
    const struct timespec slice = {.tv_nsec = WAIT_SLICE_MS * 1000000L};
    bool has_children = true;
    WIO_TRY(reap(state, &has_children));
    while (has_children && !state->out->is_cut) {
        siginfo_t info;
        int signal = sigtimedwait(&state->waited_for, &info, &slice);
        if (signal > 0 && signal != SIGCHLD) {
            handle_signal(state, &info);
        }
        notice_lingering(state);
        WIO_TRY(reap(state, &has_children));
    }
    state->out->is_cut = state->out->is_cut && has_children;
    return WIO_OK;
}

enum wio_status wio_supervise(const struct wio_command *command, struct wio_supervision *out,
                              struct wio_error *err)
{
    *out = (struct wio_supervision){0};
    struct state state = {.command = command, .out = out};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
        return wio_error_sys(err, NULL, "cannot become the reaper of orphans");
    }
    (void)wio_children_read(&state.foreign);
    block_signals(&state);
    enum wio_status status = start_command(&state, err);
    if (status == WIO_OK) {
        let_go_of_descriptors();
        status = wait_for_all(&state);
    }
    finish_signals(&state);
    wio_children_fini(&state.foreign);
    return status;
}
