/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/fork_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/run/deaths.h"

/* Period of the check for dead children and an aborted replay, ms. */
#define LOOK_MS 50

/* In the child. */
static _Noreturn void begin(const struct rp_run *run, int parent,
                            const struct rp_fork_request *request, int channel)
{
    struct rp_start start;
    if (!rp_fork_take(channel, request, run->plan->fds, &start)) {
        rp_board_fail_sys(run->board, "cannot take the descriptors of a process of the replay");
        _exit(1); /* house: allow exit: a process of its own, forked for the replay */
    }
    start.parent = parent;
    rp_process_play(run, request->group, &start);
}

static void fork_one(const struct rp_run *run, int listener, int channel,
                     const struct rp_fork_request *request)
{
    int self = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(listener);
        begin(run, self, request, channel);
    }
    if (pid < 0) {
        rp_board_fail_sys(run->board, "cannot start a process of the replay");
    }
    (void)close(channel);
}

/* False when no process is left that could ask. */
static bool answer(const struct rp_run *run, int listener)
{
    int channel;
    struct rp_fork_request request = {0};
    int got = rp_fork_next(listener, &request, &channel);
    if (got < 0) {
        rp_board_fail_sys(run->board, "the fork server of the replay cannot read a request");
    } else if (got > 0) {
        fork_one(run, listener, channel, &request);
    }
    return got > 0;
}

static _Noreturn void serve(const struct rp_run *run, int listener)
{
    bool is_open = true;
    while (is_open && !rp_board_is_aborted(run->board)) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        if (poll(&ready, 1, LOOK_MS) > 0) {
            is_open = answer(run, listener);
        }
        (void)rp_reap(run);
    }
    (void)close(listener); /* what nothing will answer any more ends, too */
    while (rp_reap(run)) {
        (void)waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOWAIT);
    }
    _exit(0); /* house: allow exit: a process of its own, forked for the replay */
}

static bool is_needed(const struct rp_run *run)
{
    const struct rp_family *family = &run->plan->family;
    for (uint32_t i = 0; i < family->group_count; i++) {
        if (!family->groups[i].is_root && !family->groups[i].is_remote && rp_is_home(run, i)) {
            return true;
        }
    }
    return false;
}

enum wio_status rp_fork_server_start(struct rp_run *run, struct wio_error *err)
{
    int pair[2];
    int coordinator = getpid();
    run->fork_server = -1;
    if (!is_needed(run)) {
        return WIO_OK;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return wio_error_sys(err, NULL, "cannot make a socket for the processes of the replay");
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(pair[0]);
        if (getppid() != coordinator) {
            _exit(1); /* house: allow exit: a process of its own, forked for the replay */
        }
        serve(run, pair[1]);
    }
    (void)close(pair[1]);
    if (pid < 0) {
        (void)close(pair[0]);
        return wio_error_sys(err, NULL, "cannot start the fork server of the replay");
    }
    run->fork_server = pair[0];
    run->fork_server_pid = pid;
    return WIO_OK;
}

void rp_fork_server_leave(struct rp_run *run)
{
    if (run->fork_server >= 0) {
        (void)close(run->fork_server);
        run->fork_server = -1;
    }
}
