/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/control_block.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* At most so much memory keeps where threads were at a mismatch. */
#define PLACES_BYTES_MAX (UINT64_C(64) << 20)

/* Longest sleep between two checks of `abort`, ns. */
#define NAP_NS 50000000
#define LOCK_NAP_NS UINT64_C(20000)
/* All threads wait, and none goes on, for so long before a cycle of waits is assumed: a process
 * that is being started is not counted yet. */
#define TANGLE_NS UINT64_C(4000000000)

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static uint32_t rows_of_places(uint32_t streams)
{
    uint64_t rows = streams == 0 ? 0 : PLACES_BYTES_MAX / sizeof(uint64_t) / streams;
    return rows < WIO_REPLAY_MISMATCHES ? (uint32_t)rows : WIO_REPLAY_MISMATCHES;
}

enum wio_status rp_board_create(uint32_t groups, uint32_t ranks, uint32_t streams, uint64_t records,
                                struct rp_board **board_out, struct wio_error *err)
{
    size_t ranks_at = aligned(sizeof(struct rp_board));
    size_t groups_at = ranks_at + aligned((size_t)ranks * sizeof(struct wio_replay_account));
    size_t progress_at = groups_at + aligned((size_t)groups * sizeof(struct rp_group_slot));
    size_t records_at = progress_at + (size_t)streams * sizeof(struct rp_progress);
    if (records > (SIZE_MAX - records_at) / sizeof(struct rp_record)) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "too many events to keep");
    }
    size_t places_at = records_at + (size_t)records * sizeof(struct rp_record);
    uint32_t place_rows = rows_of_places(streams);
    size_t bytes = places_at + (size_t)place_rows * streams * sizeof(uint64_t);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return wio_error_sys(err, NULL, "cannot get %zu bytes of shared memory", bytes);
    }
    struct rp_board *board = memory;
    board->bytes = bytes;
    board->group_count = groups;
    board->rank_count = ranks;
    board->processors = (uint32_t)get_nprocs();
    board->ranks = (void *)((char *)memory + ranks_at);
    board->groups = (void *)((char *)memory + groups_at);
    board->progress = (void *)((char *)memory + progress_at);
    board->stream_count = streams;
    board->crowd = &board->own_crowd;
    atomic_store(&board->own_crowd.far_at_ns, UINT64_MAX);
    board->places = (void *)((char *)memory + places_at);
    board->place_rows = place_rows;
    board->records = records == 0 ? NULL : (void *)((char *)memory + records_at);
    rp_tally_init(&board->tally);
    for (uint32_t i = 0; i < ranks; i++) {
        rp_account_init(&board->ranks[i]);
    }
    *board_out = board;
    return WIO_OK;
}

void rp_board_destroy(struct rp_board *board)
{
    if (board != NULL) {
        (void)munmap(board, board->bytes);
    }
}

/* Held for microseconds. If its holder dies, that is detected: the whole replay then ends. */
static void lock(struct rp_board *board)
{
    while (atomic_exchange_explicit(&board->lock, 1, memory_order_acquire) != 0) {
        if (rp_board_is_aborted(board)) {
            return; /* what is counted now is not shown */
        }
        wio_clock_sleep_ns(LOCK_NAP_NS);
    }
}

static void unlock(struct rp_board *board)
{
    atomic_store_explicit(&board->lock, 0, memory_order_release);
}

void rp_board_fail(struct rp_board *board, const struct wio_error *error)
{
    if (atomic_exchange(&board->has_error, 1) == 0) {
        board->error = *error;
        atomic_store(&board->has_error, 2);
    }
    atomic_store(&board->abort, 1);
    rp_board_set(&board->go, 1);
}

void rp_board_fail_sys(struct rp_board *board, const char *what)
{
    struct wio_error error = WIO_ERROR_INIT;
    (void)wio_error_sys(&error, NULL, "%s", what);
    rp_board_fail(board, &error);
}

/* ---- waiting ---- */

void rp_wait_begin(struct rp_board *board, struct rp_wait *wait)
{
    atomic_fetch_add(&board->crowd->waiting, 1);
    wait->changes = atomic_fetch_add(&board->crowd->changes, 1) + 1;
    wait->since_ns = wio_clock_mono_ns();
}

void rp_wait_end(struct rp_board *board)
{
    atomic_fetch_sub(&board->crowd->waiting, 1);
    atomic_fetch_add(&board->crowd->changes, 1);
}

bool rp_wait_is_hopeless(struct rp_board *board, struct rp_wait *wait)
{
    uint64_t changes = atomic_load(&board->crowd->changes);
    uint64_t now = wio_clock_mono_ns();
    if (atomic_load(&board->crowd->is_far) != 0) {
        return atomic_load(&board->is_tangled) != 0;
    }
    if (atomic_load(&board->crowd->waiting) < atomic_load(&board->crowd->threads) ||
        changes != wait->changes) {
        wait->changes = changes;
        wait->since_ns = now;
        return false;
    }
    if (now - wait->since_ns > TANGLE_NS) {
        atomic_store(&board->is_tangled, 1);
    }
    return atomic_load(&board->is_tangled) != 0;
}

static void nap(_Atomic uint32_t *word, uint32_t value)
{
    const struct timespec moment = {0, NAP_NS};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &moment, NULL, 0);
}

bool rp_board_sleep(const struct rp_board *board, _Atomic uint32_t *word, uint32_t value)
{
    uint32_t now = atomic_load_explicit(word, memory_order_acquire);
    while (now < value && !rp_board_is_aborted(board)) {
        nap(word, now);
        now = atomic_load_explicit(word, memory_order_acquire);
    }
    return !rp_board_is_aborted(board);
}

static bool is_over(struct rp_board *board, struct rp_wait *wait, uint64_t end_ns)
{
    return rp_wait_is_hopeless(board, wait) ||
           (end_ns != UINT64_MAX && wio_clock_mono_ns() >= end_ns);
}

bool rp_board_wait_for(struct rp_board *board, _Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct rp_wait wait;
    uint32_t now = atomic_load_explicit(word, memory_order_acquire);
    if (now >= value) {
        return !rp_board_is_aborted(board);
    }
    uint64_t end_ns = ns == UINT64_MAX ? UINT64_MAX : wio_clock_mono_ns() + ns;
    rp_wait_begin(board, &wait);
    while (now < value && !rp_board_is_aborted(board) && !is_over(board, &wait, end_ns)) {
        nap(word, now);
        now = atomic_load_explicit(word, memory_order_acquire);
    }
    rp_wait_end(board);
    return !rp_board_is_aborted(board);
}

bool rp_board_wait(struct rp_board *board, _Atomic uint32_t *word, uint32_t value)
{
    return rp_board_wait_for(board, word, value, UINT64_MAX);
}

void rp_board_set(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool rp_board_is_behind(const struct rp_board *board, uint64_t t_ns)
{
    if (atomic_load(&board->crowd->far_at_ns) < t_ns) {
        return true;
    }
    for (uint32_t i = 0; i < board->stream_count; i++) {
        if (atomic_load_explicit(&board->progress[i].at_ns, memory_order_acquire) < t_ns) {
            return true;
        }
    }
    return false;
}

void rp_board_add_mismatch(struct rp_board *board, const struct wio_replay_mismatch *mismatch)
{
    uint32_t at = atomic_fetch_add(&board->mismatch_count, 1);
    if (at >= WIO_REPLAY_MISMATCHES) {
        if (at > UINT32_MAX / 2) { /* the true number is in the tally */
            atomic_store(&board->mismatch_count, WIO_REPLAY_MISMATCHES);
        }
        return;
    }
    board->mismatches[at] = *mismatch;
    uint64_t *row = &board->places[(size_t)at * board->stream_count];
    for (uint32_t i = 0; at < board->place_rows && i < board->stream_count; i++) {
        row[i] = atomic_load_explicit(&board->progress[i].at_ns, memory_order_acquire);
    }
}

void rp_board_add_tally(struct rp_board *board, const struct rp_tally *tally, uint32_t rank)
{
    lock(board);
    rp_tally_merge(&board->tally, tally);
    if (rank < board->rank_count) {
        rp_account_merge(&board->ranks[rank], &tally->total);
    }
    unlock(board);
}
