/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: locks, conditions, barriers, futexes. FORMAT.md#threads. */
#include <errno.h>
#include <linux/futex.h>

#include "causal/threads/sync.h"

/* Signals and wakes not yet taken that are kept per object. */
#define KEPT_MAX 64u

static enum wio_status acquire(struct wio_infer *infer, const struct wio_event *event, int64_t lock,
                               bool shared)
{
    uint32_t object;
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_LOCK, lock, &object));
    return wio_match_acquire(infer->match, object, WIO_EVIDENCE_THREAD,
                             wio_infer_point(infer, event), shared);
}

static enum wio_status release(struct wio_infer *infer, const struct wio_event *event, int64_t lock,
                               bool shared)
{
    uint32_t object;
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_LOCK, lock, &object));
    return wio_match_release(infer->match, object, WIO_EVIDENCE_THREAD,
                             wio_infer_point(infer, event), shared);
}

/* EOWNERDEAD: the owner has let a robust mutex go by its end, behind all that it did. */
static enum wio_status inherit(struct wio_infer *infer, const struct wio_event *event, int64_t lock)
{
    uint32_t object;
    uint32_t owner;
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_LOCK, lock, &object));
    WIO_TRY(wio_match_owner(infer->match, object, &owner));
    if (owner == WIO_INFER_NONE || owner == wio_infer_point(infer, event).thread) {
        return WIO_OK;
    }
    return wio_match_release(infer->match, object, WIO_EVIDENCE_THREAD,
                             (struct wio_point){infer->callers[owner], owner}, false);
}

/* The call that lets the mutex go takes it again at its end: what others wait for lies before it.
 */
static enum wio_status release_to_wait(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_point point = wio_infer_point(infer, event);
    if (event->seq == 0) {
        return WIO_OK;
    }
    point.op--;
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_LOCK, event->arg[1], &object));
    return wio_match_release(infer->match, object, WIO_EVIDENCE_THREAD, point, false);
}

static enum wio_status window_object(struct wio_infer *infer, const struct wio_event *event,
                                     uint32_t *object_out)
{
    return wio_infer_find_object(
        infer,
        (struct wio_infer_object){.kind = WIO_INFER_WINDOW_LOCK, .id = (uint64_t)event->arg[0]},
        object_out);
}

/* FUTEX_WAIT_BITSET and FUTEX_WAKE_BITSET: a wake reaches waits that share a bit with it. */
static uint64_t bits_of(const struct wio_event *event)
{
    bool has_bits = wio_op_class(event->op) == WIO_CLASS_FUTEX_WAIT ||
                    wio_op_class(event->op) == WIO_CLASS_FUTEX_WAKE;
    return has_bits && event->size != WIO_NO_SIZE ? event->size : UINT64_MAX;
}

/* Something that may release other threads: a signal, a wake. `a` = how many, `b` = which. */
static enum wio_status keep_in(struct wio_infer *infer, const struct wio_event *event,
                               struct wio_infer_list *list, uint64_t units, uint64_t which)
{
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    if (units == 0) {
        return WIO_OK;
    }
    node.a = units;
    node.b = which;
    WIO_TRY(wio_infer_append(infer, list, &node));
    if (list->count > KEPT_MAX) {
        wio_infer_drop_first(infer, list);
    }
    return WIO_OK;
}

static enum wio_status keep(struct wio_infer *infer, const struct wio_event *event,
                            enum wio_infer_kind kind, int64_t id, uint64_t units)
{
    uint32_t object;
    WIO_TRY(wio_infer_memory_object(infer, event, kind, id, &object));
    return keep_in(infer, event, &wio_infer_wakes(infer, object, kind)->wakes, units,
                   bits_of(event));
}

/* The first that came while this call waited, is for one of `which` and has units left. False where
 * there is none. */
static bool take(struct wio_infer *infer, const struct wio_event *event,
                 struct wio_infer_list *list, uint64_t which, struct wio_infer_node *node_out)
{
    uint32_t before = WIO_INFER_NONE;
    for (uint32_t i = list->first; i != WIO_INFER_NONE;
         before = i, i = infer->lists.nodes[i].next) {
        struct wio_infer_node *node = &infer->lists.nodes[i];
        if (node->begin_ns < event->t_ns || (node->b & which) == 0) {
            continue;
        }
        *node_out = *node;
        if (node->a != UINT64_MAX && --node->a == 0) {
            wio_infer_drop_behind(infer, list, before);
        }
        return true;
    }
    return false;
}

static enum wio_status end_condition(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_infer_node from;
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_CONDITION, event->arg[0], &object));
    if (!take(infer, event, &wio_infer_wakes(infer, object, WIO_INFER_CONDITION)->wakes, UINT64_MAX,
              &from)) {
        return WIO_OK;
    }
    /* R-SYNC-4: one that hands a lock on, and whose signal it was is chance */
    return wio_infer_after_as(infer, event, &from, object,
                              event->arg[2] == 1 ? WIO_EDGE_MUTEX : WIO_EDGE_HARD);
}

static enum wio_status end_futex(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_infer_node from;
    if (event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_FUTEX, event->arg[0], &object));
    if (take(infer, event, &wio_infer_wakes(infer, object, WIO_INFER_FUTEX)->wakes, bits_of(event),
             &from)) {
        return wio_infer_after(infer, event, &from, object);
    }
    /* R-SYNC-7: moved to another word, whose waker is the second that it waited for */
    if (!take(infer, event, &wio_infer_wakes(infer, object, WIO_INFER_FUTEX)->moved, UINT64_MAX,
              &from)) {
        return WIO_OK;
    }
    uint32_t word = (uint32_t)from.b;
    WIO_TRY(wio_infer_after(infer, event, &from, object));
    return take(infer, event, &wio_infer_wakes(infer, word, WIO_INFER_FUTEX)->wakes, bits_of(event),
                &from)
               ? wio_infer_after(infer, event, &from, word)
               : WIO_OK;
}

static enum wio_status begin_barrier(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    uint64_t size = (uint64_t)event->arg[2];
    struct wio_point point = wio_infer_point(infer, event);
    if (event->arg[2] <= 1) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_BARRIER, event->arg[0], &object));
    /* Without rounds: as many as belong to one, in the order in which they come. */
    uint64_t round = event->arg[1] >= 0 ? (uint64_t)event->arg[1]
                                        : wio_infer_barrier(infer, object)->members++ / size;
    const struct wio_collective_call call = {
        .communicator = object,
        .evidence = WIO_EVIDENCE_THREAD,
        .sequence = round,
        .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
        .rank = point.thread,
        .kind = WIO_COLLECTIVE_ROLES,
        .thread = point.thread,
        .enter_op = point.op,
        .leave_op = point.op,
        .gives = (event->arg[3] & 1) != 0,
        .takes = (event->arg[3] & 2) != 0,
    };
    return wio_infer_collective(infer, &call);
}

static bool is_requeue(int command)
{
    return command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE ||
           command == FUTEX_CMP_REQUEUE_PI;
}

/* The first arg2 of the waiters for arg0 are woken, the others wait for arg3 from now on. */
static enum wio_status requeue(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t from;
    uint32_t to;
    uint64_t all = (uint64_t)event->result;
    uint64_t wanted = event->arg[2] > 0 ? (uint64_t)event->arg[2] : 0;
    uint64_t woken = wanted < all ? wanted : all;
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_FUTEX, event->arg[0], &from));
    WIO_TRY(wio_infer_memory_object(infer, event, WIO_INFER_FUTEX, event->arg[3], &to));
    WIO_TRY(keep_in(infer, event, &wio_infer_wakes(infer, from, WIO_INFER_FUTEX)->wakes, woken,
                    UINT64_MAX));
    return keep_in(infer, event, &wio_infer_wakes(infer, from, WIO_INFER_FUTEX)->moved, all - woken,
                   to);
}

static enum wio_status begin_wake(struct wio_infer *infer, const struct wio_event *event)
{
    int command =
        event->op == WIO_OP_futex_wake ? (int)(event->arg[1] & FUTEX_CMD_MASK) : FUTEX_WAKE;
    if (event->error == 0 && command == FUTEX_UNLOCK_PI) { /* says nothing of those it woke */
        return keep(infer, event, WIO_INFER_FUTEX, event->arg[0], 1);
    }
    if (event->result <= 0) {
        return WIO_OK;
    }
    if (is_requeue(command)) {
        return requeue(infer, event);
    }
    if (command == FUTEX_WAKE_OP) { /* of either word */
        WIO_TRY(keep(infer, event, WIO_INFER_FUTEX, event->arg[3], (uint64_t)event->result));
    }
    return keep(infer, event, WIO_INFER_FUTEX, event->arg[0], (uint64_t)event->result);
}

/* R-SYNC-12 */
enum wio_status wio_infer_sync_begin(struct wio_infer *infer, const struct wio_event *event)
{
    bool is_barrier = event->op == WIO_OP_pthread_barrier_init;
    wio_infer_forget_object(
        infer, wio_infer_memory_name(infer, event, is_barrier ? WIO_INFER_BARRIER : WIO_INFER_LOCK,
                                     event->arg[0]));
    return WIO_OK;
}

enum wio_status wio_infer_thread_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    switch (wio_infer_class(event)) {
    case WIO_CLASS_UNLOCK:
        return release(infer, event, event->arg[0], event->arg[1] == 1);
    case WIO_CLASS_COND_WAIT:
        return release_to_wait(infer, event);
    case WIO_CLASS_COND_SIGNAL:
        return keep(infer, event, WIO_INFER_CONDITION, event->arg[0],
                    event->arg[1] == 1 ? UINT64_MAX : 1);
    case WIO_CLASS_BARRIER:
        return begin_barrier(infer, event);
    case WIO_CLASS_FUTEX_WAKE:
        return begin_wake(infer, event);
    case WIO_CLASS_FUTEX_WAIT:
        return event->op == WIO_OP_semop_zero ? wio_infer_zero_begin(infer, event) : WIO_OK;
    case WIO_CLASS_MPI_UNLOCK:
        WIO_TRY(window_object(infer, event, &object));
        return wio_match_release(infer->match, object, WIO_EVIDENCE_MPI,
                                 wio_infer_point(infer, event), event->arg[1] == 1);
    default:
        return WIO_OK;
    }
}

enum wio_status wio_infer_thread_end(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    switch (wio_infer_class(event)) {
    case WIO_CLASS_MUTEX: /* R-SYNC-3 */
        WIO_TRY(event->error == EOWNERDEAD ? inherit(infer, event, event->arg[0]) : WIO_OK);
        return event->error != 0 && event->error != EOWNERDEAD
                   ? WIO_OK
                   : acquire(infer, event, event->arg[0], event->arg[1] == 1);
    case WIO_CLASS_COND_WAIT: /* R-SYNC-4 */
        WIO_TRY(end_condition(infer, event));
        return acquire(infer, event, event->arg[1], false);
    case WIO_CLASS_FUTEX_WAIT:
        return event->op == WIO_OP_semop_zero ? wio_infer_zero_end(infer, event)
                                              : end_futex(infer, event);
    case WIO_CLASS_MPI_LOCK:
        WIO_TRY(window_object(infer, event, &object));
        return wio_match_acquire(infer->match, object, WIO_EVIDENCE_MPI,
                                 wio_infer_point(infer, event), event->arg[1] == 1);
    default:
        return WIO_OK;
    }
}
