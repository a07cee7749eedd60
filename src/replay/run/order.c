/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order that the data itself needs. Modes think and afap drop the waits of the program, but a
 * file cannot be read before it was written: such an operation would not be the same I/O. An
 * operation waits for those that the plan names (file_order.h). Where it failed nevertheless,
 * without effect, it is tried again while a thread is at an earlier moment of the trace. Nearly all
 * of these waits are for earlier moments, so no cycle can arise; of operations that overlapped in
 * the trace, they may be: those end as rp_wait_is_hopeless says.
 */
#include <unistd.h>

#include "base/clock.h"
#include "ops/calls.h"
#include "replay/perform/perform.h"
#include "replay/run/task_pool.h"
#include "replay/wait/sync_table.h"

#define NAP_MIN_NS 20000u
#define NAP_MAX_NS 1000000u
/* A nap is this part of the wait so far: what comes soon is found soon. */
#define NAP_PART 4u
/* A wrong trace may hold streams that never come. */
#define PATIENCE_NS UINT64_C(30000000000)
/* Locks are got in any order: a thread that may have one waits no longer than this for a thread
 * that waits for a lock itself, and not for ever where that one waits for others. */
#define LOCK_PATIENCE_NS UINT64_C(50000000)
#define LOCKED_PATIENCE_NS UINT64_C(2000000000)

static bool is_too_short(const struct wio_event *event, const struct rp_outcome *out)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_READ:
        return out->result < event->result;
    case WIO_CLASS_COPY:
        return out->result == 0 && event->result > 0;
    case WIO_CLASS_STAT: /* another size */
        return out->has_other_size;
    default:
        return false;
    }
}

static bool is_only_look(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return cls == WIO_CLASS_STAT || cls == WIO_CLASS_ACCESS;
}

/* Could another thread, once it is as far, make this what it was? */
static bool is_early(const struct wio_event *event, const struct rp_outcome *out)
{
    if (out->did != RP_DID_PERFORM || event->result == WIO_RESULT_PENDING) {
        return false;
    }
    if (event->error != 0) {
        return event->error == ENOENT && out->error == 0 && is_only_look(event);
    }
    switch (out->error) {
    case 0:
        return is_too_short(event, out);
    case ENOENT:
    case ENOTDIR:
    case ENOTEMPTY:
    case EEXIST:
        return true;
    default:
        return false;
    }
}

/* A read that gave too little has moved the position. */
static void undo(struct rp_worker *worker, const struct wio_event *event,
                 const struct rp_outcome *out)
{
    if ((event->op == WIO_OP_read || event->op == WIO_OP_readv) && out->result > 0) {
        struct rp_fd *entry = rp_fd_find(worker, event, event->fd);
        if (entry != NULL && !entry->is_adopted) {
            (void)lseek(rp_fd_real(entry), (off_t)-out->result, SEEK_CUR);
        }
    }
}

/* ---- the order of the plan ---- */

uint32_t rp_order_first(const struct rp_plan *plan, uint32_t stream)
{
    return stream < plan->order.stream_count ? plan->order.first[stream] : 0;
}

static bool is_past(const struct rp_board *board, const struct rp_precedence *item)
{
    return item->other >= board->stream_count ||
           atomic_load_explicit(&board->progress[item->other].at_ns, memory_order_acquire) >
               item->other_ns;
}

/* Since when has the other thread waited for a lock, as seen at `now`? */
static uint64_t locked_since(const struct rp_worker *worker, uint32_t other, uint64_t since,
                             uint64_t now)
{
    bool is_at_lock = rp_gate_is_at_lock(worker->run->gate, other);
    return !is_at_lock ? 0 : since == 0 ? now : since;
}

/* Of a thread that may have a lock. */
static bool is_enough(const struct rp_worker *worker, uint64_t begin, uint64_t since, uint64_t now)
{
    bool may_lock = worker->causal.locks != 0 || worker->causal.may_lock;
    return may_lock &&
           (now - begin >= LOCKED_PATIENCE_NS || (since != 0 && now - since >= LOCK_PATIENCE_NS));
}

static void await(struct rp_worker *worker, const struct rp_precedence *item)
{
    struct rp_board *board = worker->run->board;
    struct rp_wait wait;
    uint64_t begin = wio_clock_mono_ns();
    uint64_t now = begin;
    uint64_t since = 0;
    rp_wait_begin(board, &wait);
    while (!is_past(board, item) && !rp_board_is_aborted(board) &&
           !rp_wait_is_hopeless(board, &wait) && now - begin < PATIENCE_NS &&
           !is_enough(worker, begin, since, now)) {
        since = rp_is_causal(worker->run) ? locked_since(worker, item->other, since, now) : 0;
        uint64_t nap = (now - begin) / NAP_PART;
        nap = nap < NAP_MIN_NS ? NAP_MIN_NS : nap;
        wio_clock_sleep_ns(nap < NAP_MAX_NS ? nap : NAP_MAX_NS);
        now = wio_clock_mono_ns();
    }
    rp_wait_end(board);
}

/* Turns that any thread may take are in no order of the trace. */
static bool has_turns(const struct rp_run *run)
{
    return run->pools != NULL && run->pools->turns.pool_count != 0;
}

void rp_order_await(struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_file_order *order = &worker->run->plan->order;
    if (order->count == 0 || has_turns(worker->run)) {
        return;
    }
    uint32_t end = worker->stream < order->stream_count ? order->first[worker->stream + 1] : 0;
    while (worker->precedence < end && order->items[worker->precedence].seq <= event->seq) {
        const struct rp_precedence *item = &order->items[worker->precedence++];
        if (item->seq == event->seq && !is_past(worker->run->board, item)) {
            await(worker, item);
        }
    }
}

/* ---- what is too early nevertheless ---- */

uint64_t rp_perform_in_order(struct rp_worker *worker, const struct wio_event *event,
                             uint64_t begin, struct rp_outcome *out)
{
    struct rp_board *board = worker->run->board;
    struct rp_wait wait;
    uint64_t end = begin + PATIENCE_NS;
    uint64_t nap = NAP_MIN_NS;
    bool is_last = false;
    rp_perform(worker, event, out);
    if (!is_early(event, out)) {
        return begin;
    }
    rp_wait_begin(board, &wait);
    while (is_early(event, out) && !is_last && begin < end && !rp_board_is_aborted(board)) {
        /* asked before the last try */
        is_last = !rp_board_is_behind(board, event->t_ns) || rp_wait_is_hopeless(board, &wait);
        if (!is_last) {
            wio_clock_sleep_ns(nap);
            nap = nap * 2 < NAP_MAX_NS ? nap * 2 : NAP_MAX_NS;
        }
        undo(worker, event, out);
        *out = (struct rp_outcome){0};
        begin = wio_clock_mono_ns();
        rp_perform(worker, event, out);
    }
    rp_wait_end(board);
    return begin;
}
