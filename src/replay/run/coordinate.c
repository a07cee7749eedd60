/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/coordinate.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "replay/launcher/exchange.h"
#include "replay/run/deaths.h"
#include "replay/run/fork_server.h"

#define LOOK_NS 50000000
/* .. and while all threads wait for each other. */
#define LOOK_CLOSELY_NS 5000000
/* From "go" to time zero: long enough that every root is awake. */
#define START_NS UINT64_C(2000000)

/* ---- signals ---- */

static void stop_set(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGHUP);
}

enum wio_status rp_signals_hold(struct rp_signals *signals, struct wio_error *err)
{
    sigset_t held;
    int subreaper = 0;
    stop_set(&held);
    (void)sigaddset(&held, SIGCHLD);
    (void)prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    signals->was_subreaper = subreaper != 0;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1UL) != 0) {
        return wio_error_sys(err, NULL, "cannot become the reaper of the replay's processes");
    }
    if (sigprocmask(SIG_BLOCK, &held, &signals->before) != 0) {
        return wio_error_sys(err, NULL, "cannot hold back signals");
    }
    return WIO_OK;
}

void rp_signals_release(struct rp_signals *signals)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, signals->was_subreaper ? 1UL : 0UL);
    (void)sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

bool rp_signals_is_stop(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

int rp_signals_take_stop(void)
{
    sigset_t set;
    const struct timespec none = {0, 0};
    stop_set(&set);
    int signal = sigtimedwait(&set, NULL, &none);
    return signal > 0 ? signal : 0;
}

/* Sleep until a child has died, a signal came, or a moment has passed. */
static void nap(bool is_still)
{
    sigset_t set;
    const struct timespec moment = {0, is_still ? LOOK_CLOSELY_NS : LOOK_NS};
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigtimedwait(&set, NULL, &moment);
}

/* ---- children ---- */

static void kill_all(const struct rp_run *run)
{
    for (uint32_t i = 0; i < run->board->group_count; i++) {
        pid_t pid = atomic_load(&run->board->groups[i].pid);
        if (pid > 0 && rp_is_home(run, i)) {
            (void)kill(pid, SIGKILL);
        }
    }
}

/* Threads that wait for each other would do so for ever. */
static void look_for_knot(const struct rp_run *run, struct rp_stuck *stuck)
{
    if (run->gate == NULL || run->link != NULL || rp_board_is_aborted(run->board)) {
        return;
    }
    if (!rp_gate_is_stuck(run->gate, stuck)) {
        (void)rp_gate_untie(run->gate, stuck);
        return;
    }
    struct wio_error error = WIO_ERROR_INIT;
    (void)wio_error_set(&error, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                        "the replay cannot go on: all threads have waited for each other for "
                        "%u seconds",
                        (unsigned)(RP_STUCK_NS / 1000000000));
    rp_gate_name_waits(run->gate, &error);
    rp_board_fail(run->board, &error);
}

static void look_for_signal(const struct rp_run *run, struct rp_watch *watch)
{
    int signal = rp_signals_take_stop();
    if (signal == 0) {
        return;
    }
    struct wio_error error = WIO_ERROR_INIT;
    watch->signal = signal;
    (void)wio_error_set(&error, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                        "interrupted by signal %d (%s)", signal, sigdescr_np(signal));
    if (run->link != NULL) { /* a launcher that ends one rank ends them all */
        run->link->is_lost = true;
    }
    rp_board_fail(run->board, &error);
}

/* Is there anything left to do: children of our own, or other ranks? */
static bool go_on(const struct rp_run *run, struct rp_exchange *exchange)
{
    bool has_children = rp_reap(run);
    if (run->link == NULL || run->link->is_lost) {
        return has_children;
    }
    return rp_exchange_turn(exchange, !has_children) || has_children;
}

/* ---- the run ---- */

static enum wio_status start_root(struct rp_run *run, uint32_t group, struct wio_error *err)
{
    int coordinator = getpid();
    struct rp_start start = {.parent = coordinator, .server = run->fork_server, .is_root = true};
    WIO_TRY(rp_fds_init(&start.inherited, run->plan->fds, err));
    atomic_store(&run->board->groups[group].state, RP_GROUP_STARTED);
    pid_t pid = fork();
    if (pid == 0) {
        rp_process_play(run, group, &start);
    }
    rp_fds_fini(&start.inherited);
    if (pid < 0) {
        return wio_error_sys(err, NULL, "cannot start a process of the replay");
    }
    atomic_store(&run->board->groups[group].pid, pid);
    return WIO_OK;
}

static enum wio_status start_roots(struct rp_run *run, uint32_t *count_out, struct wio_error *err)
{
    const struct rp_family *family = &run->plan->family;
    WIO_TRY(rp_fork_server_start(run, err));
    for (uint32_t i = 0; i < family->group_count; i++) {
        bool is_root = family->groups[i].is_root || family->groups[i].is_remote;
        if (is_root && rp_is_home(run, i)) {
            WIO_TRY(start_root(run, i, err));
            (*count_out)++;
        }
    }
    return WIO_OK;
}

static void start_clock(struct rp_run *run, uint32_t roots, struct rp_watch *watch,
                        struct rp_exchange *exchange)
{
    struct wio_error error = WIO_ERROR_INIT;
    const struct timespec moment = {0, 200000};
    while (atomic_load(&run->board->ready) < roots && !rp_board_is_aborted(run->board)) {
        (void)rp_reap(run);
        look_for_signal(run, watch);
        (void)nanosleep(&moment, NULL);
    }
    run->board->start_ns = wio_clock_mono_ns() + START_NS;
    if (run->link != NULL && rp_exchange_start(exchange, run, &error) != WIO_OK) {
        run->link->is_lost = true;
        rp_board_fail(run->board, &error);
    }
    rp_board_set(&run->board->go, 1);
}

enum wio_status rp_coordinate(struct rp_run *run, struct rp_watch *watch, struct wio_error *err)
{
    struct rp_board *board = run->board;
    uint32_t roots = 0;
    struct rp_stuck stuck = {0};
    struct rp_exchange exchange = {0};
    struct wio_error error = WIO_ERROR_INIT;
    if (start_roots(run, &roots, &error) != WIO_OK) {
        rp_board_fail(board, &error);
    }
    rp_fork_server_leave(run);
    start_clock(run, roots, watch, &exchange);
    while (go_on(run, &exchange)) {
        if (rp_board_is_aborted(board)) {
            kill_all(run);
        }
        look_for_signal(run, watch);
        look_for_knot(run, &stuck);
        if (watch->progress != NULL) {
            watch->progress(watch->progress_arg, atomic_load(&board->done), run->plan->events,
                            "operations");
        }
        if (run->link == NULL || run->link->is_lost) {
            nap(stuck.since_ns != 0);
        } else {
            rp_exchange_nap(&exchange);
        }
    }
    if (atomic_load(&board->has_error) == 0) {
        return WIO_OK;
    }
    if (err != NULL) {
        *err = board->error;
    }
    return board->error.status;
}
