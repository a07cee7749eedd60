/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a phase (phases.h) split evenly over the ranks: what a rank reads, or writes, beyond
 * its share is done by ranks that have less, when they have come to the end of the phase. What
 * remains of an operation in between is split.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "predict/changes/change_work.h"
#include "predict/changes/phases.h"

struct balancing {
    struct wio_change_work *work;
    struct wio_program_phases phases;
    struct wio_map bytes; /* (phase, rank, direction) -> bytes */
    struct wio_map sums;  /* (phase, direction) -> bytes */
    uint64_t *done[2];    /* of each rank in the phase at hand: its share so far */
    uint32_t taker[2];    /* the first rank that may have room in its share */
    uint32_t phase;
};

/* ---- how much there is ---- */

static uint64_t key_of(const struct balancing *all, uint32_t phase, uint32_t rank, bool is_write)
{
    return ((uint64_t)phase * all->phases.rank_count + rank) * 2 + is_write;
}

static uint64_t get(const struct wio_map *map, uint64_t key)
{
    const uint64_t *value = wio_map_get(map, key);
    return value != NULL ? *value : 0;
}

/* Its rank, UINT32_MAX: it is none that is balanced. */
static uint32_t rank_of(const struct balancing *all, const struct wio_event *event,
                        uint64_t *bytes_out, bool *is_write_out)
{
    *bytes_out = wio_change_moves(all->work->program, event, is_write_out);
    bool is_meant =
        *bytes_out > 0 && event->offset >= 0 && wio_change_has(all->work->change->scope, event);
    return is_meant ? all->phases.ranks[event->stream] : UINT32_MAX;
}

static enum wio_status count(void *arg, const struct wio_event *event)
{
    struct balancing *all = arg;
    uint64_t bytes;
    bool is_write;
    uint32_t rank = rank_of(all, event, &bytes, &is_write);
    if (rank == UINT32_MAX) {
        return WIO_OK;
    }
    uint32_t phase = wio_program_phases_at(&all->phases, event->t_ns);
    uint64_t key = key_of(all, phase, rank, is_write);
    uint64_t sum_key = (uint64_t)phase * 2 + is_write;
    WIO_TRY(wio_map_put(&all->bytes, key, get(&all->bytes, key) + bytes));
    return wio_map_put(&all->sums, sum_key, get(&all->sums, sum_key) + bytes);
}

/* The first ranks have a byte more where it does not come out even. */
static uint64_t share_of(const struct balancing *all, uint32_t rank, bool is_write)
{
    uint64_t sum = get(&all->sums, (uint64_t)all->phase * 2 + is_write);
    uint64_t ranks = all->phases.rank_count;
    return sum / ranks + (rank < sum % ranks);
}

/* ---- operations by rank ---- */

/* What a rank keeps of its own is taken into account before others' operations come to it. */
static void begin_phase(struct balancing *all, uint32_t phase)
{
    all->phase = phase;
    for (int direction = 0; direction < 2; direction++) {
        all->taker[direction] = 0;
        for (uint32_t rank = 0; rank < all->phases.rank_count; rank++) {
            uint64_t own = get(&all->bytes, key_of(all, phase, rank, direction == 1));
            uint64_t share = share_of(all, rank, direction == 1);
            all->done[direction][rank] = own < share ? own : 0;
        }
    }
}

static bool has_less(const struct balancing *all, uint32_t rank, bool is_write)
{
    return get(&all->bytes, key_of(all, all->phase, rank, is_write)) <
           share_of(all, rank, is_write);
}

/* The next rank with room; all shares are as much as there is, so there is one. */
static uint32_t next_taker(struct balancing *all, bool is_write)
{
    uint32_t *taker = &all->taker[is_write];
    while (*taker + 1 < all->phases.rank_count &&
           (!has_less(all, *taker, is_write) ||
            all->done[is_write][*taker] >= share_of(all, *taker, is_write))) {
        (*taker)++;
    }
    return *taker;
}

static enum wio_status hand_over(struct balancing *all, const struct wio_event *event,
                                 uint64_t offset, uint64_t bytes, bool is_write)
{
    while (bytes > 0) {
        uint32_t rank = next_taker(all, is_write);
        uint64_t share = share_of(all, rank, is_write);
        uint64_t done = all->done[is_write][rank];
        uint64_t part = done < share && bytes > share - done ? share - done : bytes;
        const struct wio_edit edit = {
            .kind = WIO_EDIT_ADD,
            .seq = wio_program_phases_end(&all->phases, all->phase, rank),
            .offset = offset,
            .size = part,
            .path = event->path,
            .file = wio_change_files(all->work, event)->file,
            .count = 1,
            .method = (uint8_t)wio_change_method(all->work, event),
        };
        WIO_TRY(wio_edits_add(all->work->edits, all->phases.streams[rank], &edit));
        all->done[is_write][rank] += part;
        offset += part;
        bytes -= part;
    }
    return WIO_OK;
}

static enum wio_status move(void *arg, const struct wio_event *event)
{
    struct balancing *all = arg;
    uint64_t bytes;
    bool is_write;
    uint32_t rank = rank_of(all, event, &bytes, &is_write);
    if (rank == UINT32_MAX) {
        return WIO_OK;
    }
    uint32_t phase = wio_program_phases_at(&all->phases, event->t_ns);
    if (phase != all->phase) {
        begin_phase(all, phase);
    }
    uint64_t share = share_of(all, rank, is_write);
    uint64_t *done = &all->done[is_write][rank];
    if (has_less(all, rank, is_write)) {
        return WIO_OK;
    }
    uint64_t kept = bytes < share - *done ? bytes : share - *done;
    *done += kept;
    if (kept == bytes) {
        return WIO_OK;
    }
    const struct wio_edit edit = {.kind = kept > 0 ? WIO_EDIT_RANGE : WIO_EDIT_DROP,
                                  .seq = event->seq,
                                  .last = event->seq,
                                  .offset = (uint64_t)event->offset,
                                  .size = kept};
    WIO_TRY(wio_edits_add(all->work->edits, event->stream, &edit));
    return hand_over(all, event, (uint64_t)event->offset + kept, bytes - kept, is_write);
}

static void balancing_fini(struct balancing *all)
{
    wio_program_phases_fini(&all->phases);
    wio_map_fini(&all->bytes);
    wio_map_fini(&all->sums);
    free(all->done[0]);
    free(all->done[1]);
}

enum wio_status wio_change_balance(struct wio_change_work *work)
{
    static const bool classes[WIO_CLASS_COUNT] = {
        [WIO_CLASS_READ] = true, [WIO_CLASS_WRITE] = true};
    WIO_CLEANUP(balancing_fini) struct balancing all = {.work = work, .phase = UINT32_MAX};
    uint16_t ops[WIO_OP_COUNT];
    size_t op_count = wio_change_ops(classes, ops);
    WIO_TRY(wio_program_phases_init(&all.phases, work->program));
    for (int direction = 0; direction < 2; direction++) {
        all.done[direction] = calloc((size_t)all.phases.rank_count + 1, sizeof(uint64_t));
        if (all.done[direction] == NULL) {
            return WIO_ERR_NOMEM;
        }
    }
    WIO_TRY(wio_change_read(work, false, ops, op_count, count, &all));
    return wio_change_read(work, true, ops, op_count, move, &all);
}
