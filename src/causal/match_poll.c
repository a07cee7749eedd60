/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for a file until somebody has made it. */
#include "base/cleanup.h"
#include "causal/match_internal.h"

static enum wio_status file_of(struct wio_match *match, uint32_t file,
                               struct wio_match_file **file_out)
{
    WIO_TRY(wio_causal_room(&match->edges->alloc, (void **)&match->files, &match->file_room,
                            (size_t)file + 1, sizeof(*match->files)));
    *file_out = &match->files[file];
    return WIO_OK;
}

enum wio_status wio_match_made(struct wio_match *match, uint32_t file, struct wio_point at,
                               bool surely)
{
    struct wio_match_file *found;
    WIO_TRY(file_of(match, file, &found));
    if (!found->is_there || surely) {
        *found = (struct wio_match_file){at.op, at.thread, true, true};
    }
    return WIO_OK;
}

void wio_match_gone(struct wio_match *match, uint32_t file)
{
    if (file < match->file_room) {
        match->files[file] = (struct wio_match_file){0};
    }
}

static void note_failure(struct wio_match_looker *looker, uint64_t file, uint64_t op)
{
    if (looker->looks == 0 || looker->file != file) {
        *looker = (struct wio_match_looker){.file = file, .first_op = op};
    }
    looker->looks++;
}

enum wio_status wio_match_look(struct wio_match *match, uint32_t file, struct wio_point at,
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
    if (!waited) {
        return WIO_OK;
    }
    struct wio_match_file *it;
    WIO_TRY(file_of(match, file, &it));
    it->is_there = true;
    if (it->has_maker && it->thread == at.thread) {
        return WIO_OK;
    }
    *wait_out = wait;
    if (!it->has_maker) {
        return WIO_OK; /* made by somebody who was not recorded */
    }
    return wio_edges_add(match->edges, &(struct wio_edge){.from_thread = it->thread,
                                                          .from_op = it->op,
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
