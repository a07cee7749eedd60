/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for a file until somebody has made it. */
#include "base/cleanup.h"
#include "causal/match_internal.h"

enum wio_status wio_match_made(struct wio_match *match, uint64_t file, struct wio_point at)
{
    struct wio_match_channel *channel;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_FILE, file, 0, &channel, NULL));
    channel->last = at;
    channel->has_last = true;
    return WIO_OK;
}

static void note_failure(struct wio_match_looker *looker, uint64_t file, uint64_t op)
{
    if (looker->looks == 0 || looker->file != file) {
        *looker = (struct wio_match_looker){.file = file, .first_op = op};
    }
    looker->looks++;
}

enum wio_status wio_match_look(struct wio_match *match, uint64_t file, struct wio_point at,
                               bool found, struct wio_wait_until *wait_out)
{
    *wait_out = (struct wio_wait_until){0};
    if (at.thread >= match->edges->threads) {
        return WIO_ERR_USAGE;
    }
    struct wio_match_looker *looker = &match->lookers[at.thread];
    if (!found) {
        note_failure(looker, file, at.op);
        return WIO_OK;
    }
    bool waited = looker->looks > 0 && looker->file == file;
    struct wio_wait_until wait = {looker->first_op, at.op, looker->looks};
    looker->looks = 0;
    struct wio_match_channel *channel;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_FILE, file, 0, &channel, NULL));
    bool is_own = channel->has_last && channel->last.thread == at.thread;
    if (!waited || is_own) {
        return WIO_OK;
    }
    *wait_out = wait;
    if (!channel->has_last) {
        return WIO_OK; /* made by somebody who was not recorded */
    }
    return wio_edges_add(match->edges, &(struct wio_edge){.from_thread = channel->last.thread,
                                                          .from_op = channel->last.op,
                                                          .to_thread = at.thread,
                                                          .to_op = at.op,
                                                          .class = WIO_EDGE_HARD,
                                                          .evidence = WIO_EVIDENCE_POLL});
}

void wio_match_other(struct wio_match *match, uint32_t thread)
{
    WIO_PRE(thread < match->edges->threads);
    match->lookers[thread].looks = 0;
}
