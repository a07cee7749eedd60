/* SPDX-License-Identifier: Apache-2.0 */
/* A replay as a trace of its own: the recorded operations with the replay's times and results. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops/calls.h"
#include "replay/control_block.h"
#include "replay/replay.h"
#include "schedule/copy.h"

struct own_times {
    const struct rp_board *board;
    uint64_t *next; /* of each stream: place of its next event in the records */
    uint64_t *end;
};

/* Bytes; of other operations the result is a descriptor or an address, by which later ones are
 * told. */
static bool is_amount(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
    case WIO_CLASS_DUP:
    case WIO_CLASS_FCNTL:
    case WIO_CLASS_MAP:
    case WIO_CLASS_ASYNC_META:
        return false;
    default:
        return true;
    }
}

/* Only what was performed. */
static bool change(void *arg, struct wio_event *event)
{
    struct own_times *times = arg;
    uint64_t place = times->next[event->stream]++;
    if (place >= times->end[event->stream] || times->board->records[place].begin_ns == 0) {
        return false;
    }
    const struct rp_record *record = &times->board->records[place];
    bool keeps_result = event->error == 0 && record->error == 0 && !is_amount(event);
    event->t_ns = record->begin_ns - 1;
    event->dur_ns = record->dur_ns;
    event->error = (uint16_t)record->error;
    event->result = keeps_result ? event->result : record->result;
    return true;
}

enum wio_status wio_replay_write_trace(const struct wio_trace *trace,
                                       const struct wio_replay_result *result, const char *dir,
                                       struct wio_error *err)
{
    char name[PATH_MAX];
    uint32_t streams = wio_trace_stream_count(trace);
    struct own_times times = {.board = result->events};
    if (times.board == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "the replay has not kept its events");
    }
    (void)snprintf(name, sizeof(name), "%s/replay.seg", dir);
    times.next = calloc((size_t)streams + 1, sizeof(*times.next));
    times.end = calloc((size_t)streams + 1, sizeof(*times.end));
    enum wio_status status = WIO_ERR_NOMEM;
    if (times.next != NULL && times.end != NULL) {
        uint64_t at = 0;
        for (uint32_t i = 0; i < streams; i++) {
            times.next[i] = at;
            at += wio_trace_stream(trace, i)->events;
            times.end[i] = at;
        }
        status = wio_trace_copy(trace, name, change, &times, err);
    }
    free(times.next);
    free(times.end);
    return status;
}
