/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"
#include "replay/initial/classify.h"

/* read(2) and write(2) transfer at most this at once. */
#define TRANSFER_MAX UINT64_C(0x7ffff000)

static void note_fd(struct rp_plan *plan, int64_t fd)
{
    if (fd >= 0 && fd < RP_FDS_MAX && (uint64_t)fd >= plan->fds) {
        plan->fds = (uint32_t)fd + 1;
    }
}

static bool gives_fd(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return event->error == 0 && (cls == WIO_CLASS_OPEN || cls == WIO_CLASS_DUP ||
                                 event->op == WIO_OP_fcntl || event->op == WIO_OP_uring_open);
}

static void note_bounds(struct rp_plan *plan, const struct wio_event *event)
{
    if (plan->events++ == 0 || event->t_ns < plan->first_ns) {
        plan->first_ns = event->t_ns;
    }
    if (event->size != WIO_NO_SIZE && event->size > plan->max_bytes) {
        plan->max_bytes = event->size < TRANSFER_MAX ? event->size : TRANSFER_MAX;
    }
    note_fd(plan, event->fd);
    note_fd(plan, event->fd2);
    if (gives_fd(event)) {
        note_fd(plan, event->result);
    }
}

/* Waiting in a pipe is no I/O in this sense. */
static void note_activity(struct rp_plan *plan, const struct wio_event *event)
{
    uint8_t kind;
    enum rp_fate fate = rp_classify(&plan->observer, event, &kind);
    if (fate != RP_FATE_SKIP && fate != RP_FATE_CONTROL) {
        rp_pauses_add(&plan->pauses, event);
    }
}

static enum wio_status see_waits(struct rp_plan *plan, const struct wio_event *event)
{
    bool is_known = event->stream < plan->family.stream_count;
    uint32_t image = is_known ? plan->family.streams[event->stream].image : RP_NONE;
    return wio_waits_see(&plan->waits, event, image);
}

/* ---- calls that found a name ---- */

/* The first call found its name there (EEXIST). Another call that made the name may have begun
 * after it and before its end: until then all events are held, so that this one can be observed
 * first. */
#define HELD_MAX 1024u
struct held_events {
    struct wio_event *items;
    uint32_t count;
    uint32_t capacity;
};

static void held_cleanup(struct held_events *held)
{
    free(held->items);
}

static enum wio_status hold(struct held_events *held, const struct wio_event *event)
{
    WIO_TRY(wio_make_room((void **)&held->items, sizeof(*held->items), &held->capacity,
                          held->count + 1));
    held->items[held->count++] = *event;
    return WIO_OK;
}

static enum wio_status observe_one(struct rp_plan *plan, const struct wio_event *event)
{
    return rp_is_internal(event) ? WIO_OK : rp_observe(&plan->observer, event);
}

static bool is_like_first(const struct held_events *held, const struct wio_event *event)
{
    return event->error == EEXIST && event->path == held->items[0].path;
}

/* Observe those that found the same name as the first one, or all others. */
static enum wio_status observe_held(struct rp_plan *plan, const struct held_events *held,
                                    bool found_name)
{
    for (uint32_t i = 0; i < held->count; i++) {
        if (is_like_first(held, &held->items[i]) == found_name) {
            WIO_TRY(observe_one(plan, &held->items[i]));
        }
    }
    return WIO_OK;
}

static enum wio_status release(struct rp_plan *plan, struct held_events *held)
{
    for (uint32_t i = 0; i < held->count; i++) {
        WIO_TRY(observe_one(plan, &held->items[i]));
    }
    held->count = 0;
    return WIO_OK;
}

static bool makes_first(const struct held_events *held, const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    bool makes = cls == WIO_CLASS_MKDIR || cls == WIO_CLASS_MKNOD || cls == WIO_CLASS_SYMLINK ||
                 cls == WIO_CLASS_OPEN;
    return makes && event->error == 0 && event->path == held->items[0].path &&
           event->stream != held->items[0].stream;
}

static bool is_held(const struct held_events *held, const struct wio_event *event)
{
    if (held->count == 0) {
        return event->error == EEXIST && event->dur_ns != 0;
    }
    return held->count < HELD_MAX && event->t_ns < held->items[0].t_ns + held->items[0].dur_ns;
}

static enum wio_status observe(struct rp_plan *plan, struct held_events *held,
                               const struct wio_event *event)
{
    if (held->count != 0 && is_held(held, event) && makes_first(held, event)) {
        WIO_TRY(observe_held(plan, held, false));
        WIO_TRY(observe_one(plan, event));
        WIO_TRY(observe_held(plan, held, true));
        held->count = 0;
        return WIO_OK;
    }
    if (held->count != 0 && !is_held(held, event)) {
        WIO_TRY(release(plan, held));
    }
    return is_held(held, event) ? hold(held, event) : observe_one(plan, event);
}

/* ---- one pass over the trace ---- */

static enum wio_status see(struct rp_plan *plan, struct held_events *held,
                           const struct wio_event *event)
{
    note_bounds(plan, event);
    note_activity(plan, event);
    WIO_TRY(rp_family_see(&plan->family, event));
    WIO_TRY(rp_shared_see(&plan->shared, event));
    WIO_TRY(see_waits(plan, event));
    return observe(plan, held, event);
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

/* Rules tell of their limits only that one is passed; there is one such limit. */
static enum wio_status see_failed(const struct rp_plan *plan, const struct wio_event *event,
                                  enum wio_status status, struct wio_error *err)
{
    if (status != WIO_ERR_UNSUPPORTED) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the plan of the replay");
    }
    return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                         "%s of '%s' at %.9f s by thread %d: expected fewer renames of directories "
                         "with names below them, the names cannot be followed any more",
                         wio_op_name(event->op), wio_trace_string(plan->trace, event->path, NULL),
                         (double)event->t_ns / 1e9,
                         (int)wio_trace_stream(plan->trace, event->stream)->tid);
}

static enum wio_status read_all(struct rp_plan *plan, struct wio_error *err)
{
    struct wio_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    struct held_events held WIO_CLEANUP(held_cleanup) = {0};
    const struct wio_event *event;
    enum wio_status status;
    WIO_TRY(wio_cursor_create(plan->trace, NULL, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        enum wio_status seen = see(plan, &held, event);
        if (seen != WIO_OK) {
            return see_failed(plan, event, seen, err);
        }
    }
    return status == WIO_END ? release(plan, &held) : status;
}

static enum wio_status init(struct rp_plan *plan)
{
    WIO_TRY(rp_observer_init(&plan->observer, plan->trace));
    WIO_TRY(rp_family_init(&plan->family, plan->trace));
    return rp_shared_init(&plan->shared, &plan->family);
}

static enum wio_status finish(struct rp_plan *plan)
{
    rp_pauses_finish(&plan->pauses);
    WIO_TRY(rp_family_finish(&plan->family));
    WIO_TRY(rp_shared_finish(&plan->shared));
    WIO_TRY(wio_waits_finish(&plan->waits));
    return rp_observer_finish(&plan->observer);
}

static void plan_cleanup(struct rp_plan **plan)
{
    rp_plan_destroy(*plan);
}

enum wio_status rp_plan_create(const struct wio_trace *trace, bool with_waits,
                               struct rp_plan **plan_out, struct wio_error *err)
{
    struct rp_plan *plan WIO_CLEANUP(plan_cleanup) = calloc(1, sizeof(*plan));
    enum wio_status status = WIO_ERR_NOMEM;
    if (plan != NULL) {
        plan->trace = trace;
        status = init(plan);
    }
    if (status == WIO_OK) {
        WIO_TRY(wio_waits_init(&plan->waits, trace, with_waits, err));
        WIO_TRY(read_all(plan, err));
        status = finish(plan);
    }
    if (status != WIO_OK) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the plan of the replay");
    }
    WIO_TRY(wio_waits_check(&plan->waits, err));
    *plan_out = plan;
    plan = NULL;
    return WIO_OK;
}

static enum wio_status see_order(struct rp_plan *plan, const struct wio_event *event)
{
    uint8_t kind;
    enum rp_fate fate = rp_classify(&plan->observer, event, &kind);
    if (fate == RP_FATE_SKIP || fate == RP_FATE_CONTROL || rp_is_internal(event)) {
        return WIO_OK;
    }
    return rp_file_order_see(&plan->order, event, wio_trace_string(plan->trace, event->path, NULL),
                             wio_trace_string(plan->trace, event->path2, NULL));
}

enum wio_status rp_plan_order(struct rp_plan *plan, bool is_needed_only, struct wio_error *err)
{
    struct wio_cursor *cursor WIO_CLEANUP(cursor_cleanup) = NULL;
    const struct wio_event *event;
    enum wio_status status;
    uint32_t streams = wio_trace_stream_count(plan->trace);
    if (streams < 2) {
        return WIO_OK;
    }
    plan->order.is_needed_only = is_needed_only;
    WIO_TRY(wio_cursor_create(plan->trace, NULL, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        status = see_order(plan, event);
        if (status != WIO_OK) {
            break;
        }
    }
    if (status == WIO_END) {
        status = rp_file_order_finish(&plan->order, streams);
    }
    return status != WIO_ERR_NOMEM ? status
                                   : wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                                                   "no memory for the order of a replay");
}

void rp_plan_destroy(struct rp_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    rp_observer_fini(&plan->observer);
    rp_family_fini(&plan->family);
    rp_shared_fini(&plan->shared);
    wio_waits_fini(&plan->waits);
    rp_file_order_fini(&plan->order);
    free(plan);
}
