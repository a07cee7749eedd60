/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/deaths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static struct rp_group_slot *slot_of(const struct rp_run *run, pid_t pid, uint32_t *group_out)
{
    for (uint32_t i = 0; i < run->board->group_count; i++) {
        if (rp_is_home(run, i) && atomic_load(&run->board->groups[i].pid) == pid) {
            *group_out = i;
            return &run->board->groups[i];
        }
    }
    return NULL;
}

static bool is_well(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* `which`: the subject of the message. */
static void fail(const struct rp_run *run, int status, const char *which, const char *detail)
{
    struct wio_error error = WIO_ERROR_INIT;
    if (WIFSIGNALED(status)) {
        (void)wio_error_set(&error, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                            "%s (%s) was killed by signal %d (%s)", which, detail, WTERMSIG(status),
                            sigdescr_np(WTERMSIG(status)));
    } else {
        (void)wio_error_set(&error, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                            "%s (%s) ended with status %d", which, detail, WEXITSTATUS(status));
    }
    rp_board_fail(run->board, &error);
}

static void check_death(const struct rp_run *run, pid_t pid, int status)
{
    uint32_t group;
    char which[64];
    struct rp_group_slot *slot = slot_of(run, pid, &group);
    if (slot == NULL) {
        return;
    }
    atomic_store(&slot->pid, 0); /* the number may soon be reused */
    if (is_well(status)) {
        return;
    }
    uint32_t image = run->plan->family.groups[group].head;
    const struct wio_process_info *process = wio_trace_process(run->trace, image);
    (void)snprintf(which, sizeof(which), "the process that replays %d", process->pid);
    fail(run, status, which, process->exe);
}

bool rp_reap(const struct rp_run *run)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == run->fork_server_pid && !is_well(status)) {
            fail(run, status, "the process that forks the others", "fork server");
        } else {
            check_death(run, pid, status);
        }
    }
    return pid == 0 || errno != ECHILD;
}
