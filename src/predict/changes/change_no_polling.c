/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that looks for a file until another process has made it waits for that instead: of its
 * polls the last one is made, when the file is there. The others, and what the thread does in
 * between, are left away.
 */
#include "base/cleanup.h"
#include "predict/changes/change_work.h"

static bool is_in(const struct wio_change_scope *scope, uint32_t stream)
{
    const struct wio_event event = {.stream = stream};
    struct wio_change_scope streams = {0};
    if (scope != NULL) {
        streams.streams = scope->streams;
        streams.stream_count = scope->stream_count;
    }
    return wio_change_has(&streams, &event);
}

static enum wio_status leave_away(struct wio_change_work *work, const struct wio_plan_poll *poll)
{
    WIO_TRY(wio_edits_add(work->edits, poll->stream,
                          &(struct wio_edit){.kind = WIO_EDIT_SKIP,
                                             .seq = poll->first_seq + 1,
                                             .last = poll->last_seq,
                                             .size = UINT64_MAX}));
    return wio_edits_add(work->edits, poll->stream,
                         &(struct wio_edit){.kind = WIO_EDIT_DROP,
                                            .seq = poll->first_seq,
                                            .last = poll->last_seq - 1});
}

enum wio_status wio_change_no_polling(struct wio_change_work *work)
{
    const struct wio_waits *waits = &work->program->waits;
    for (size_t i = 0; i < waits->poll_count; i++) {
        const struct wio_plan_poll *poll = &waits->polls[i];
        if (poll->edge != UINT32_MAX && poll->first_seq < poll->last_seq &&
            is_in(work->change->scope, poll->stream)) {
            WIO_TRY(leave_away(work, poll));
        }
    }
    return WIO_OK;
}
