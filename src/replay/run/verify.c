/* SPDX-License-Identifier: Apache-2.0 */
/* After an operation: count it, compare it, keep it. */
#include <fcntl.h>

#include "base/clock.h"
#include "ops/calls.h"
#include "replay/perform/perform.h"

static bool is_out_of_room(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EROFS || error == EMFILE ||
           error == ENFILE;
}

static bool is_direct(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_OPEN && (event->arg[0] & O_DIRECT) != 0;
}

/* The target cannot do what the trace asks: everything after it would only be wrong. */
static void check_target(struct rp_worker *worker, const struct wio_event *event,
                         const struct rp_outcome *out)
{
    bool no_direct = out->error == EINVAL && is_direct(event);
    if (event->error != 0 || out->error == 0 || (!is_out_of_room(out->error) && !no_direct)) {
        return;
    }
    struct wio_error error = WIO_ERROR_INIT;
    const char *root = worker->run->root->path;
    const char *path = rp_path(worker, event);
    const char *name = wio_op_name(event->op);
    if (no_direct) {
        (void)wio_error_set(&error, WIO_ERR_UNSUPPORTED, root, WIO_ERROR_NO_OFFSET,
                            "%s of '%s' with O_DIRECT failed: the target does not support "
                            "direct I/O",
                            name, path);
    } else {
        errno = out->error;
        (void)wio_error_sys(&error, root, "%s of '%s' failed in the target", name, path);
    }
    rp_board_fail(worker->run->board, &error);
}

static void record(struct rp_worker *worker, const struct rp_performed *performed, uint64_t index,
                   int error)
{
    const struct rp_run *run = worker->run;
    if (run->board->records == NULL) {
        return;
    }
    if (index < wio_trace_stream(run->trace, worker->stream)->events) {
        run->board->records[run->record_base[worker->stream] + index] =
            (struct rp_record){performed->begin_ns + 1, performed->end_ns - performed->begin_ns,
                               performed->result, (uint32_t)error, 0};
    }
}

/* Adds a mismatch to the list; of a stat of a file that has another size, the sizes. */
static void add_mismatch(struct rp_board *board, const struct wio_event *event,
                         const struct rp_outcome *out)
{
    struct wio_replay_mismatch mismatch = {.stream = event->stream,
                                           .seq = event->seq,
                                           .op = event->op,
                                           .path = event->path,
                                           .offset = event->offset,
                                           .size = event->size,
                                           .expected = event->result,
                                           .got = out->result,
                                           .expected_error = event->error,
                                           .got_error = (uint16_t)out->error};
    if (out->has_other_size) {
        mismatch.expected = event->arg[2];
        mismatch.got = out->size;
    }
    rp_board_add_mismatch(board, &mismatch);
}

void rp_settle(struct rp_worker *worker, const struct wio_event *event, uint64_t index,
               const struct rp_outcome *out, uint64_t begin_ns)
{
    struct rp_board *board = worker->run->board;
    uint64_t end_ns = wio_clock_mono_ns();
    bool is_mismatch = !rp_is_same(event, out);
    const struct rp_performed performed = {
        event,    begin_ns - board->start_ns, end_ns - board->start_ns, out->result, is_mismatch,
        out->half};
    uint32_t phase = rp_pauses_phase(&worker->run->plan->pauses, event->t_ns);
    rp_tally_add(&worker->tally, phase, &performed);
    record(worker, &performed, index, out->error);
    if (is_mismatch) {
        add_mismatch(board, event, out);
        check_target(worker, event, out);
    }
    if (end_ns > worker->free_ns) {
        worker->free_ns = end_ns;
    }
}
