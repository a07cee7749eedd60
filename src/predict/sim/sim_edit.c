/* SPDX-License-Identifier: Apache-2.0 */
/* What a changed program does otherwise than the recorded one (edits.h): additional operations and
 * exchanges before an event, events with another range, events that do nothing. */
#include "base/cleanup.h"
#include "predict/sim/sim.h"
#include "predict/whatif.h"

#define NS 1e9

/* An additional operation of the thread, as if it were one of its own. */
static enum wio_status begin_added(struct sim *sim, struct sim_thread *thread,
                                   const struct wio_edit *edit, struct wio_error *err)
{
    enum wio_model_method method =
        wio_whatif_method(&sim->params->whatif, (enum wio_model_method)edit->method);
    thread->op.todo = (struct wio_converted){
        .kind = WIO_CONVERT_OP,
        .has_offset = true,
        .path = edit->path,
        .op = {.file = edit->file,
               .offset = edit->offset + edit->size * thread->change.added,
               .size = edit->size,
               .method = method},
    };
    thread->op.is_handed_out = false;
    thread->change.added++;
    thread->op.begin_ns = sim->now_ns;
    if (sim->params->fit != NULL) {
        return sim_fit_added(sim, thread, edit->path);
    }
    return sim_place_begin(sim, thread, thread->id.index, edit->path, &thread->op.todo.op, err);
}

/* Time passes for it, and counts as I/O. */
static void begin_wait(struct sim *sim, struct sim_thread *thread, const struct wio_edit *edit)
{
    thread->account.io_s += edit->seconds;
    thread->account.modelled_s += edit->seconds;
    thread->op.begin_ns = sim->now_ns;
    thread->change.next++;
    sim_wake(sim, thread, sim->now_ns + sim_ns_of(edit->seconds));
}

/* The edit is followed; false where the thread has to wait for that. */
static enum wio_status follow(struct sim *sim, struct sim_thread *thread,
                              const struct wio_edit *edit, bool *go_on, struct wio_error *err)
{
    *go_on = true;
    switch ((enum wio_edit_kind)edit->kind) {
    case WIO_EDIT_SKIP: /* was followed before the event */
        break;
    case WIO_EDIT_WAIT:
        *go_on = false;
        begin_wait(sim, thread, edit);
        return WIO_OK;
    case WIO_EDIT_ADD:
        if (thread->change.added < edit->count) {
            *go_on = false;
            return begin_added(sim, thread, edit, err);
        }
        thread->change.added = 0;
        break;
    case WIO_EDIT_RANGE:
        thread->change.range = edit;
        break;
    case WIO_EDIT_DROP:
        thread->change.drop_end =
            edit->last + 1 > thread->change.drop_end ? edit->last + 1 : thread->change.drop_end;
        break;
    }
    thread->change.next++;
    return WIO_OK;
}

uint64_t sim_edit_skips(struct sim_thread *thread, const struct wio_event *event)
{
    const struct wio_edit_list *list = thread->change.list;
    uint64_t skipped = 0;
    for (uint32_t i = thread->change.next; list != NULL && i < list->count; i++) {
        const struct wio_edit *edit = &list->items[i];
        if (edit->seq != event->seq || edit->kind != WIO_EDIT_SKIP) {
            break;
        }
        if (edit->last > edit->seq && edit->last + 1 > thread->change.skip_end) {
            thread->change.skip_end = edit->last + 1;
        }
        skipped = edit->size > skipped ? edit->size : skipped;
    }
    return event->seq < thread->change.skip_end ? UINT64_MAX : skipped;
}

enum wio_status sim_edit_before(struct sim *sim, struct sim_thread *thread,
                                const struct wio_event *event, bool *go_on, struct wio_error *err)
{
    const struct wio_edit_list *list = thread->change.list;
    if (thread->change.is_busy) { /* comes back from what it did */
        sim_op_span(&thread->account, thread->op.begin_ns, sim->now_ns);
    }
    *go_on = true;
    while (*go_on && list != NULL && thread->change.next < list->count &&
           list->items[thread->change.next].seq <= event->seq) {
        WIO_TRY(follow(sim, thread, &list->items[thread->change.next], go_on, err));
    }
    if (!*go_on) {
        thread->change.is_busy = true;
        return WIO_OK;
    }
    if (thread->change.is_busy) { /* all that follows comes later */
        wio_gap_late(&thread->gap, sim->now_ns);
        thread->change.is_busy = false;
    }
    thread->phase = SIM_BEGIN;
    return WIO_OK;
}

void sim_edit_range(struct sim_thread *thread, const struct wio_event *event)
{
    const struct wio_edit *range = thread->change.range;
    bool moves =
        thread->op.todo.kind == WIO_CONVERT_OP || thread->op.todo.kind == WIO_CONVERT_ASYNC;
    if (range != NULL && range->seq == event->seq && moves) {
        thread->op.todo.has_offset = true;
        thread->op.todo.op.offset = range->offset;
        thread->op.todo.op.size = range->size;
    }
}

bool sim_edit_drops(const struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    if (event->seq >= thread->change.drop_end) {
        return false;
    }
    if (thread->op.todo.kind != WIO_CONVERT_PASS) { /* it was there, and takes no time now */
        sim_op_span(&thread->account, sim->now_ns, sim->now_ns);
        sim_op_traced(&thread->account, event);
        thread->account.traced_io_s += (double)(sim_end_of(event) - event->t_ns) / NS;
    }
    return true;
}
