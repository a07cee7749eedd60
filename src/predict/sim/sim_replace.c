/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that take the place of others. A program that cuts a file to nothing and writes it anew, or
 * renames a new file over it, would lose both if the machine stopped before the data is written. So
 * ext4 (auto_da_alloc), XFS and Btrfs begin write-back at the close, or at the rename, and a thread
 * that replaces such a file waits for what is under way of it. That wait is not simulated;
 * docs/MODEL.md#replaced.
 */
#include "base/map.h"
#include "predict/sim/sim.h"

enum wio_status sim_replace_note(struct sim *sim, const struct sim_thread *thread)
{
    struct sim_host *host = &sim->hosts[thread->host];
    const struct wio_converted *todo = &thread->op.todo;
    bool was_there = todo->makes == WIO_CONVERT_FINDS ||
                     (todo->makes == WIO_CONVERT_MAY_MAKE && thread->events.on->was_there);
    return todo->change == WIO_CONVERT_CUTS && todo->op.offset == 0 && was_there
               ? wio_map_put(&host->emptied, sim_place_file(thread, thread->events.on->file), 1)
               : WIO_OK;
}

static bool is_due(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    struct sim_host *host = &sim->hosts[thread->host];
    const struct wio_converted *todo = &thread->op.todo;
    const uint64_t file = sim_place_file(thread, thread->events.on->file);
    if (todo->change == WIO_CONVERT_CLOSES) {
        return wio_map_remove(&host->emptied, file);
    }
    if (todo->change != WIO_CONVERT_RENAMES || event->path2 == event->path) {
        return false;
    }
    bool was_emptied = wio_map_remove(&host->emptied, file);
    return was_emptied || thread->events.on->was_there;
}

enum wio_status sim_replace_begin(struct sim *sim, struct sim_thread *thread,
                                  const struct wio_event *event, bool *has_begun,
                                  struct wio_error *err)
{
    *has_begun = sim->params->model == WIO_MODEL_KERNEL && !thread->op.is_handed_out &&
                 is_due(sim, thread, event);
    if (!*has_begun) {
        return WIO_OK;
    }
    struct wio_model_op op = {
        .file = thread->events.on->file, .method = WIO_MODEL_WRITE_OUT, .is_inside = true};
    thread->op.is_handed_out = true;
    return sim_place_begin(sim, thread, thread->id.index, event->path, &op, err);
}

bool sim_replace_done(struct sim_thread *thread, double cost_s)
{
    if (thread->op.is_handed_out && thread->op.todo.kind != WIO_CONVERT_TIMED) {
        thread->account.io_s += cost_s;
        thread->account.modelled_s += cost_s;
    }
    return thread->op.is_handed_out;
}
