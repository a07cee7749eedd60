/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/control/quiescence.h"

/* Changes of a node's word after which it is sure to have polled at least once. */
enum { POLLS_ENOUGH = 6 };
/* The most that a node which naps and runs gets for its naps between two samples, which are less
 * than that apart on an idle machine. */
#define NAPS_NS UINT64_C(4000000)

static uint32_t state_of(const struct wio_watch *watch)
{
    return WIO_BOARD_STATE(watch->word);
}

bool wio_watch_read(struct wio_watch *watch)
{
    uint64_t word = wio_board_word(watch->node);
    uint32_t asked = wio_board_asked(watch->node);
    bool is_news = asked != watch->asked ||
                   (word != watch->word && !(wio_board_is_quiet(WIO_BOARD_STATE(word)) &&
                                             wio_board_is_quiet(state_of(watch))));
    watch->word = word;
    watch->asked = asked;
    return is_news;
}

void wio_watch_restart(struct wio_watch *watch)
{
    watch->own_ns = 0;
    watch->first_changes = WIO_BOARD_CHANGES(watch->word);
    watch->looked_ns = 0;
}

void wio_watch_begin_phase(struct wio_watch *watch)
{
    wio_watch_restart(watch);
    watch->phase_ns = 0;
}

/* A node asleep at both samples slept all the time in between, unless it ran: then it may have
 * waited for a processor between two sleeps, as the recorder may have between the samples. */
static uint64_t own_time(uint64_t passed_ns, uint64_t ran_ns, bool slept)
{
    if (!slept || (ran_ns > 0 && passed_ns > NAPS_NS)) {
        return ran_ns + (slept ? NAPS_NS : 0);
    }
    return passed_ns;
}

bool wio_watch_look(struct wio_watch *watch, uint64_t now_ns)
{
    struct wio_task_state task;
    if (watch->far != NULL) {
        task = watch->far->task;
        now_ns = watch->far->now_ns;
    } else {
        wio_task_look(watch->node->pid, watch->node->tid, &task);
    }
    bool slept = watch->task.is_asleep && task.is_asleep;
    uint64_t ran_ns = task.run_ns - watch->task.run_ns;
    if (watch->looked_ns != 0) {
        uint64_t own_ns = own_time(now_ns - watch->looked_ns, ran_ns, slept);
        watch->own_ns += own_ns;
        watch->phase_ns += own_ns;
    }
    watch->is_steady = slept && ran_ns == 0 && !task.is_timed;
    watch->task = task;
    watch->looked_ns = now_ns;
    return task.is_there;
}

void wio_watch_mark(struct wio_watch *watch)
{
    watch->mark_own_ns = watch->own_ns;
    watch->mark_looked_ns = watch->looked_ns;
}

bool wio_watch_has_looked(const struct wio_watch *watch)
{
    uint32_t state = state_of(watch);
    bool is_awake = watch->own_ns - watch->mark_own_ns >= WIO_WATCH_SPIN_NS;
    return state == WIO_BOARD_EXITED || state == WIO_BOARD_AT_IO || is_awake ||
           (watch->is_steady && watch->looked_ns != watch->mark_looked_ns);
}

bool wio_watch_is_held(const struct wio_watch *watch)
{
    return state_of(watch) == WIO_BOARD_AT_IO &&
           watch->asked > __atomic_load_n(&watch->node->granted, __ATOMIC_SEQ_CST);
}

bool wio_watch_has_exited(const struct wio_watch *watch)
{
    return state_of(watch) == WIO_BOARD_EXITED;
}

bool wio_watch_waits(const struct wio_watch *watch)
{
    uint32_t state = state_of(watch);
    return state == WIO_BOARD_IN_MPI || state == WIO_BOARD_BLOCKED || state == WIO_BOARD_IN_LOCK;
}

bool wio_watch_is_still(const struct wio_watch *watch)
{
    uint64_t polls = WIO_BOARD_CHANGES(watch->word) - watch->first_changes;
    switch (state_of(watch)) {
    case WIO_BOARD_EXITED:
        return true;
    case WIO_BOARD_AT_IO:
        return wio_watch_is_held(watch);
    case WIO_BOARD_IN_MPI:
    case WIO_BOARD_BLOCKED:
    case WIO_BOARD_IN_LOCK:
        return watch->is_steady || watch->own_ns >= WIO_WATCH_SPIN_NS;
    case WIO_BOARD_STARTING: /* asleep, because others start it */
        return watch->own_ns >= watch->patience_ns;
    case WIO_BOARD_POLLING:
        return watch->is_steady || watch->own_ns >= watch->patience_ns ||
               (polls >= POLLS_ENOUGH && watch->own_ns >= WIO_WATCH_SPIN_NS);
    default:
        return watch->is_steady || watch->own_ns >= watch->patience_ns;
    }
}

/* A node in a call that waits is blocked after its patience, with some own time since the last
 * release in which to leave the call; a computing node needs its whole patience since then. */
bool wio_watch_is_blocked(const struct wio_watch *watch)
{
    if (wio_watch_waits(watch)) {
        return watch->phase_ns >= watch->call_patience_ns && watch->own_ns >= WIO_WATCH_SPIN_NS;
    }
    return watch->own_ns >= watch->patience_ns;
}
