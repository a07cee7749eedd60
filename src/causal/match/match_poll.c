/* SPDX-License-Identifier: Apache-2.0 */
/* Polling for a file until it is made, or removed. */
#include "base/cleanup.h"
#include "causal/match/match_internal.h"

static enum wio_status file_of(struct wio_match *match, uint32_t file,
                               struct wio_match_file **file_out)
{
    WIO_TRY(wio_alloc_room(&match->edges->alloc, (void **)&match->files, &match->file_room,
                           (size_t)file + 1, sizeof(*match->files)));
    *file_out = &match->files[file];
    return WIO_OK;
}

enum wio_status wio_match_made(struct wio_match *match, uint32_t file, struct wio_point at,
                               uint64_t end_ns, bool surely)
{
    struct wio_match_file *found;
    WIO_TRY(file_of(match, file, &found));
    if (!found->is_there || surely) {
        found->op = at.op;
        found->thread = at.thread;
        found->made_ns = end_ns;
        found->has_maker = true;
        found->is_there = true;
    }
    return WIO_OK;
}

uint32_t wio_match_maker(const struct wio_match *match, uint32_t file)
{
    return file < match->file_room && match->files[file].has_maker ? match->files[file].thread
                                                                   : WIO_NO_INDEX;
}

enum wio_status wio_match_gone(struct wio_match *match, uint32_t file, struct wio_point at,
                               uint64_t begin_ns)
{
    struct wio_match_file *found;
    WIO_TRY(file_of(match, file, &found));
    *found = (struct wio_match_file){
        .gone_op = at.op, .gone_ns = begin_ns, .gone_thread = at.thread, .has_remover = true};
    return WIO_OK;
}

static void note_failure(struct wio_match_looker *looker, uint64_t file, uint64_t op,
                         bool until_gone)
{
    if (looker->looks == 0 || looker->file != file || looker->until_gone != until_gone) {
        *looker = (struct wio_match_looker){.file = file, .first_op = op, .until_gone = until_gone};
    }
    looker->looks++;
}

/* The run of failed polls is over; `waited_out`: it was for this file. */
static struct wio_wait_until end_run(struct wio_match_looker *looker, uint64_t file, uint64_t op,
                                     bool until_gone, bool *waited_out)
{
    struct wio_wait_until wait = {looker->first_op, op, looker->looks};
    *waited_out = looker->looks > 0 && looker->file == file && looker->until_gone == until_gone;
    looker->looks = 0;
    return wait;
}

static enum wio_status follow(struct wio_match *match, struct wio_point from, struct wio_point to)
{
    return wio_edges_add(match->edges, &(struct wio_edge){.from_thread = from.thread,
                                                          .from_op = from.op,
                                                          .to_thread = to.thread,
                                                          .to_op = to.op,
                                                          .class = WIO_EDGE_HARD,
                                                          .evidence = WIO_EVIDENCE_POLL});
}

/* The file is gone, though no removal was recorded: its earlier maker releases no poll. */
static void note_absence(struct wio_match_file *file, uint64_t tells_of_ns)
{
    if (tells_of_ns > file->made_ns) {
        file->is_there = false;
        file->has_maker = false;
    }
}

enum wio_status wio_match_look(struct wio_match *match, uint32_t file, struct wio_point at,
                               uint64_t tells_of_ns, bool found, struct wio_wait_until *wait_out)
{
    *wait_out = (struct wio_wait_until){0};
    if (at.thread >= match->edges->threads) {
        return WIO_ERR_USAGE;
    }
    struct wio_match_file *it;
    WIO_TRY(file_of(match, file, &it));
    struct wio_match_looker *looker = &match->lookers[at.thread];
    if (!found) {
        note_absence(it, tells_of_ns);
        note_failure(looker, file, at.op, false);
        return WIO_OK;
    }
    bool waited;
    struct wio_wait_until wait = end_run(looker, file, at.op, false, &waited);
    if (!waited) {
        return WIO_OK;
    }
    it->is_there = true;
    if (it->has_maker && it->thread == at.thread) {
        return WIO_OK;
    }
    *wait_out = wait;
    if (!it->has_maker) {
        return WIO_OK; /* made by a process that is not recorded */
    }
    return follow(match, (struct wio_point){it->op, it->thread}, at);
}

enum wio_status wio_match_look_gone(struct wio_match *match, uint32_t file, struct wio_point at,
                                    uint64_t begin_ns, bool is_gone,
                                    struct wio_wait_until *wait_out)
{
    struct wio_match_file *it;
    *wait_out = (struct wio_wait_until){0};
    if (at.thread >= match->edges->threads) {
        return WIO_ERR_USAGE;
    }
    WIO_TRY(file_of(match, file, &it));
    struct wio_match_looker *looker = &match->lookers[at.thread];
    if (!is_gone) { /* it is there again: an earlier removal releases no poll */
        it->has_remover = it->has_remover && it->gone_ns >= begin_ns;
        note_failure(looker, file, at.op, true);
        return WIO_OK;
    }
    bool waited;
    struct wio_wait_until wait = end_run(looker, file, at.op, true, &waited);
    if (!waited || (it->has_remover && it->gone_thread == at.thread)) {
        return WIO_OK;
    }
    *wait_out = wait;
    return it->has_remover ? follow(match, (struct wio_point){it->gone_op, it->gone_thread}, at)
                           : WIO_OK; /* removed by a process that is not recorded */
}

void wio_match_other(struct wio_match *match, uint32_t thread)
{
    WIO_PRE(thread < match->edges->threads);
    match->lookers[thread].looks = 0;
}
