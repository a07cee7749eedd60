/* SPDX-License-Identifier: Apache-2.0 */
/* Can run 1 of throttled recording be what the others are measured by? */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "throttle/rules/throttle_internal.h"

static void close_trace(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

static bool is_seated(const struct wio_roster *roster, const struct wio_process_info *process)
{
    for (uint32_t n = 0; n < roster->count; n++) {
        if (wio_roster_is(roster, n, process, roster->nodes[n].tid)) {
            return true;
        }
    }
    return false;
}

/* Over several hosts a pid may be there more than once. On one it shows that there are others. */
static bool is_elsewhere(const struct wio_throttle_session *t, const struct wio_trace *trace,
                         uint32_t i)
{
    const struct wio_process_info *process = wio_trace_process(trace, i);
    bool is_other = !is_seated(&t->roster, process);
    for (uint32_t k = 0; t->director == NULL && k < i && !is_other; k++) {
        const struct wio_process_info *before = wio_trace_process(trace, k);
        is_other = before->pid == process->pid && strcmp(before->host, process->host) != 0;
    }
    return is_other;
}

/* Did the process do nothing but what a child of vfork does, with its parent's place on the board,
 * and become a program that is not recorded, as launchers are? */
static enum wio_status is_only_begun(const struct wio_trace *trace, uint32_t process,
                                     bool *begun_out, struct wio_error *err)
{
    enum wio_status status = WIO_END;
    *begun_out = true;
    for (uint32_t s = 0; s < wio_trace_stream_count(trace) && *begun_out; s++) {
        const struct wio_event *event;
        struct wio_cursor *cursor = NULL;
        const struct wio_filter filter = {.struct_size = sizeof(filter),
                                          .order = WIO_ORDER_STREAM,
                                          .streams = &s,
                                          .stream_count = 1,
                                          .columns = WIO_COLUMN_FLAGS};
        if (wio_trace_stream(trace, s)->process != process) {
            continue;
        }
        WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
        while (*begun_out && (status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
            *begun_out = (event->flags & WIO_EVENT_VFORK) != 0;
        }
        wio_cursor_destroy(cursor);
        if (status != WIO_OK && status != WIO_END) {
            return status;
        }
    }
    return WIO_OK;
}

/* The board is memory of this machine, found by its /proc: processes of other hosts and containers
 * run unheld, and what is found without them is no proof. */
static enum wio_status check_seats(const struct wio_throttle_session *t,
                                   const struct wio_trace *trace, struct wio_error *err)
{
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        const struct wio_process_info *process = wio_trace_process(trace, i);
        bool is_launcher = false;
        if (!is_elsewhere(t, trace, i)) {
            continue;
        }
        if (t->director == NULL) {
            WIO_TRY(is_only_begun(trace, i, &is_launcher, err));
        }
        if (!is_launcher) {
            return wio_error_set(err, WIO_ERR_UNSUPPORTED, t->result->record.dir,
                                 WIO_ERROR_NO_OFFSET,
                                 "expected all processes where they can be held, on this machine "
                                 "and outside of containers, found process %d of host %s elsewhere "
                                 "(--hosts holds there too: whyio record --causal=throttle "
                                 "--hosts -- mpirun .. whyio record -- ./app)",
                                 (int)process->pid, process->host);
        }
    }
    return WIO_OK;
}

/* Can run 1 be what the others are measured by? */
enum wio_status wio_throttle_check_first(struct wio_throttle_session *t, struct wio_error *err)
{
    const struct wio_record_result *record = &t->result->record;
    if (record->seal_error.status != WIO_OK) {
        *err = record->seal_error;
        return err->status;
    }
    if (t->director != NULL && t->roster.count == 0) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, record->dir, WIO_ERROR_NO_OFFSET,
                             "expected recorders behind the launcher that this one directs "
                             "(--hosts -- mpirun .. whyio record -- ./app), found none: "
                             "WHYIO_DIRECTOR has to be in their environment, for Open MPI give "
                             "mpirun -x WHYIO_DIRECTOR (connections that did not prove to be of "
                             "this run: %" PRIu64 ")",
                             wio_director_refused(t->director));
    }
    if (record->totals.dropped > 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, record->dir, WIO_ERROR_NO_OFFSET,
                             "%" PRIu64 " events were dropped: such a run proves no waits",
                             record->totals.dropped);
    }
    if (wio_board_is_overfull(t->board.board)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, record->dir, WIO_ERROR_NO_OFFSET,
                             "more than %u threads cannot be held", WIO_BOARD_NODES);
    }
    WIO_CLEANUP(close_trace) struct wio_trace *trace = NULL;
    WIO_TRY(wio_trace_open(record->dir, &trace, err));
    WIO_TRY(check_seats(t, trace, err));
    return wio_profile_read(trace, &t->roster, &t->profile, err);
}
