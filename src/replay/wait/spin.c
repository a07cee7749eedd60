/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/wait/spin.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* One turn while other machines take part, ns: messages take longer, too. */
#define FAR_NAP_NS UINT64_C(20000)
/* Period of the check for other work, ns. */
#define ASK_NS UINT64_C(1000000)
/* Consecutive checks that must find other work: a short demand is no reason to sleep. */
#define SEEN 2u
/* Time without spinning then, ns; doubled each time a check finds other work again, up to .. */
#define PAUSE_NS UINT64_C(10000000)
#define PAUSE_DOUBLED 4u

static uint32_t load_of(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* ---- other work ---- */

/* Tasks of the machine that run or could, 0 = not known: "0.20 0.18 0.12 1/80 11206". */
static uint32_t count_ready(void)
{
    char text[64];
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *end = strchr(text, '/');
    while (end != NULL && end > text && end[-1] != ' ') {
        end--;
    }
    return end == NULL ? 0 : (uint32_t)strtoul(end, NULL, 10);
}

static bool others_want(const struct rp_board *board)
{
    const struct rp_crowd *crowd = board->crowd;
    uint32_t resting = load_of(&crowd->sleeping) + load_of(&crowd->asleep);
    uint32_t threads = load_of(&crowd->threads);
    uint32_t own = threads > resting ? threads - resting : 0;
    return count_ready() > (own > board->processors ? own : board->processors);
}

static void ask(struct rp_board *board, uint64_t now_ns)
{
    struct rp_crowd *crowd = board->crowd;
    if (!others_want(board)) {
        atomic_store_explicit(&crowd->seen_others, 0, memory_order_relaxed);
        return;
    }
    uint32_t seen = atomic_fetch_add(&crowd->seen_others, 1) + 1;
    if (seen >= SEEN) {
        uint32_t doubled = seen - SEEN < PAUSE_DOUBLED ? seen - SEEN : PAUSE_DOUBLED;
        atomic_store(&crowd->pause_end_ns, now_ns + (PAUSE_NS << doubled));
    }
}

/* Is spinning paused, because other work was found? */
static bool is_pause(const struct rp_board *board, uint64_t now_ns)
{
    return now_ns < atomic_load_explicit(&board->crowd->pause_end_ns, memory_order_relaxed);
}

bool rp_look_is_free(struct rp_board *board, uint64_t now_ns)
{
    struct rp_crowd *crowd = board->crowd;
    uint64_t asked_ns = atomic_load_explicit(&crowd->asked_ns, memory_order_relaxed);
    bool is_time = now_ns >= asked_ns + ASK_NS && !is_pause(board, now_ns);
    if (is_time && atomic_compare_exchange_strong(&crowd->asked_ns, &asked_ns, now_ns)) {
        ask(board, now_ns);
    }
    return !is_pause(board, now_ns);
}

/* ---- spinning ---- */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void rp_look_turn(const struct rp_board *board, uint32_t cpus)
{
    /* All threads count: one that was woken is not counted as awake before it has a CPU. */
    bool is_alone = !board->has_waits || load_of(&board->crowd->threads) <= cpus;
    if (load_of(&board->crowd->is_far) != 0) {
        wio_clock_sleep_ns(FAR_NAP_NS);
    } else if (is_alone) {
        relax();
    } else {
        (void)sched_yield();
    }
}

bool rp_look_begin(struct rp_board *board, uint32_t cpus)
{
    if (!rp_look_is_free(board, wio_clock_mono_ns())) {
        return false;
    }
    if (atomic_fetch_add(&board->crowd->looking, 1) < cpus) {
        return true;
    }
    atomic_fetch_sub(&board->crowd->looking, 1);
    return false;
}

bool rp_look_on(struct rp_board *board, uint32_t cpus)
{
    if (!rp_look_is_free(board, wio_clock_mono_ns())) {
        return false;
    }
    rp_look_turn(board, cpus);
    return true;
}

void rp_look_end(struct rp_board *board)
{
    atomic_fetch_sub(&board->crowd->looking, 1);
}
