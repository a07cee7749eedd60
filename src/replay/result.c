/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "replay/races.h"

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory for the result of the replay");
}

/* ---- ranks ---- */

static int by_rank(const void *a, const void *b)
{
    const struct wio_replay_rank *x = a;
    const struct wio_replay_rank *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int32_t rank_of(const struct rp_plan *plan, uint32_t image)
{
    int32_t rank = wio_trace_process(plan->trace, image)->rank;
    return rank < 0 ? -1 : rank;
}

static bool is_first_image(const struct rp_plan *plan, uint32_t image)
{
    const struct rp_family *family = &plan->family;
    return family->groups[family->images[image].group].head == image;
}

enum wio_status rp_ranks_init(struct rp_ranks *ranks, const struct rp_plan *plan,
                              struct wio_error *err)
{
    uint32_t images = plan->family.image_count;
    ranks->items = calloc((size_t)images + 1, sizeof(*ranks->items));
    ranks->of_image = calloc((size_t)images + 1, sizeof(*ranks->of_image));
    if (ranks->items == NULL || ranks->of_image == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < images; i++) {
        ranks->items[i].rank = rank_of(plan, i);
    }
    qsort(ranks->items, images, sizeof(*ranks->items), by_rank);
    for (uint32_t i = 0; i < images; i++) {
        if (ranks->count == 0 || ranks->items[ranks->count - 1].rank != ranks->items[i].rank) {
            ranks->items[ranks->count++] = ranks->items[i];
        }
    }
    for (uint32_t i = 0; i < images; i++) {
        const struct wio_replay_rank key = {.rank = rank_of(plan, i)};
        struct wio_replay_rank *found =
            bsearch(&key, ranks->items, ranks->count, sizeof(key), by_rank);
        if (found != NULL) { /* always: it was put there above */
            ranks->of_image[i] = (uint32_t)(found - ranks->items);
            found->processes += is_first_image(plan, i);
        }
    }
    return WIO_OK;
}

void rp_ranks_fini(struct rp_ranks *ranks)
{
    free(ranks->items);
    free(ranks->of_image);
    *ranks = (struct rp_ranks){0};
}

/* ---- result ---- */

void rp_result_set_totals(struct wio_replay_result *result, const struct rp_tally *tally)
{
    result->total = tally->total;
    result->covered = tally->covered;
    result->control = tally->control;
    memcpy(result->skipped, tally->skipped, sizeof(result->skipped));
    memcpy(result->waits, tally->waits, sizeof(result->waits));
    result->has_late = tally->late.count > 0;
    result->late_p50_us = wio_histogram_quantile(&tally->late, 0.50) / 1000.0;
    result->late_p99_us = wio_histogram_quantile(&tally->late, 0.99) / 1000.0;
    result->late_max_us = (double)tally->late.max / 1000.0;
}

enum wio_status rp_result_set_phases(struct wio_replay_result *result, const struct rp_plan *plan,
                                     const struct rp_tally *tally, struct wio_error *err)
{
    uint32_t count = plan->pauses.count + 1;
    result->phases = calloc(count, sizeof(*result->phases));
    if (result->phases == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (tally->phases[i].ops > 0) {
            result->phases[result->phase_count++] = tally->phases[i];
        }
    }
    return WIO_OK;
}

/* The places of threads prove a race only where all waited as in the trace. */
static bool has_places(const struct rp_board *board)
{
    return board->has_waits && board->crowd == &board->own_crowd &&
           atomic_load(&board->untied) == 0 && atomic_load(&board->is_tangled) == 0;
}

static enum wio_status find_races(struct wio_replay_result *result, const struct rp_plan *plan,
                                  const struct rp_board *board, struct wio_error *err)
{
    const struct rp_family *family = &plan->family;
    bool *is_absent = calloc((size_t)family->stream_count + 1, sizeof(*is_absent));
    if (is_absent == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < family->stream_count; i++) {
        is_absent[i] = family->streams[i].image == RP_NONE;
    }
    const struct rp_places places = {board->places, is_absent, board->place_rows,
                                     board->stream_count};
    enum wio_status status = rp_races_find(plan->trace, result->mismatches, result->mismatch_listed,
                                           has_places(board) ? &places : NULL, err);
    free(is_absent);
    return status;
}

static enum wio_status copy_mismatches(struct wio_replay_result *result, const struct rp_plan *plan,
                                       const struct rp_board *board, struct wio_error *err)
{
    uint32_t count = atomic_load(&board->mismatch_count);
    count = count < WIO_REPLAY_MISMATCHES ? count : WIO_REPLAY_MISMATCHES;
    result->mismatches = calloc((size_t)count + 1, sizeof(*result->mismatches));
    if (result->mismatches == NULL) {
        return no_memory(err);
    }
    memcpy(result->mismatches, board->mismatches, count * sizeof(*result->mismatches));
    result->mismatch_listed = count;
    WIO_TRY(find_races(result, plan, board, err));
    for (uint32_t i = 0; i < count; i++) {
        result->race_count += result->mismatches[i].is_race;
    }
    return WIO_OK;
}

enum wio_status rp_result_take(struct wio_replay_result *result, const struct rp_plan *plan,
                               struct rp_board **board, struct rp_ranks *ranks,
                               struct wio_error *err)
{
    const struct rp_tally *tally = &(*board)->tally;
    rp_result_set_totals(result, tally);
    result->untied = atomic_load(&(*board)->untied);
    WIO_TRY(rp_result_set_phases(result, plan, tally, err));
    WIO_TRY(copy_mismatches(result, plan, *board, err));
    for (uint32_t i = 0; i < ranks->count; i++) {
        ranks->items[i].account = (*board)->ranks[i];
    }
    result->ranks = ranks->items;
    result->rank_count = ranks->count;
    ranks->items = NULL;
    if ((*board)->records != NULL) {
        result->events = *board;
        *board = NULL;
    }
    return WIO_OK;
}

void wio_replay_result_destroy(struct wio_replay_result *result)
{
    if (result == NULL) {
        return;
    }
    rp_board_destroy(result->events);
    free(result->ranks);
    free(result->phases);
    free(result->mismatches);
    free(result);
}
