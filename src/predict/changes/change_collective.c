/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective transfers: of each phase (phases.h) and file that several ranks read, or write, the
 * ranges are put together, and one aggregator per host (its lowest rank) performs an equal part of
 * them, contiguous as far as they are, in pieces of PIECE_BYTES. Writes are done at the end of the
 * phase, reads at its begin. The exchange costs each rank bytes / net_bw + messages * net_lat for
 * what it sends to other ranks and gets from them. The recorded operations are dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/pick.h"
#include "ops/calls.h"
#include "predict/changes/change_work.h"
#include "predict/changes/phases.h"

/* As MPI libraries' collective buffers (cb_buffer_size of ROMIO). */
#define PIECE_BYTES (UINT64_C(16) << 20)

struct transfer {
    uint64_t offset;
    uint64_t bytes;
    uint64_t seq;
    uint32_t path;
    uint32_t file;
    uint32_t rank;
    uint32_t stream;
    uint8_t method;
    bool is_write;
};

/* A rank that performs: the lowest of its host. */
struct aggregator {
    uint32_t rank;
    uint64_t end; /* of its part of the bytes of a file, all ranges behind each other */
};

struct collecting {
    struct wio_change_work *work;
    struct wio_program_phases phases;
    struct transfer *items; /* of the phase at hand */
    uint32_t count;
    uint32_t room;
    struct aggregator *aggregators;
    uint32_t aggregator_count;
    uint64_t *bytes;    /* of each rank, exchanged in the phase .. */
    uint64_t *messages; /* .. and in how many parts */
    uint8_t *callers;   /* of each stream: the class of its last call */
    uint32_t phase;
    bool is_write; /* the direction that is being put together */
};

/* ---- aggregators ---- */

static const char *host_of(const struct collecting *all, uint32_t rank)
{
    const struct wio_trace *trace = all->work->program->trace;
    const struct wio_stream_info *stream = wio_trace_stream(trace, all->phases.streams[rank]);
    return wio_trace_process(trace, stream->process)->host;
}

static enum wio_status choose_aggregators(struct collecting *all)
{
    size_t ranks = (size_t)all->phases.rank_count + 1;
    all->aggregators = calloc(ranks, sizeof(*all->aggregators));
    all->bytes = calloc(ranks, sizeof(*all->bytes));
    all->messages = calloc(ranks, sizeof(*all->messages));
    if (all->aggregators == NULL || all->bytes == NULL || all->messages == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < all->phases.rank_count; rank++) {
        uint32_t i = 0;
        while (i < all->aggregator_count &&
               strcmp(host_of(all, all->aggregators[i].rank), host_of(all, rank)) != 0) {
            i++;
        }
        if (i == all->aggregator_count) {
            all->aggregators[all->aggregator_count++].rank = rank;
        }
    }
    return WIO_OK;
}

/* ---- one file of a phase ---- */

/* Each aggregator's part of `total` bytes. */
static void share_out(struct collecting *all, uint64_t total)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < all->aggregator_count; i++) {
        at += total / all->aggregator_count + (i < total % all->aggregator_count);
        all->aggregators[i].end = at;
    }
}

static enum wio_status add_pieces(struct collecting *all, const struct transfer *like,
                                  uint32_t rank, uint64_t offset, uint64_t bytes)
{
    uint64_t seq = all->is_write ? wio_program_phases_end(&all->phases, all->phase, rank)
                                 : wio_program_phases_begin(&all->phases, all->phase, rank);
    while (bytes > 0) {
        uint64_t whole = bytes / PIECE_BYTES;
        whole = whole < UINT32_MAX ? whole : UINT32_MAX;
        struct wio_edit edit = {.kind = WIO_EDIT_ADD,
                                .seq = seq,
                                .offset = offset,
                                .size = whole > 0 ? PIECE_BYTES : bytes,
                                .path = like->path,
                                .file = like->file,
                                .count = whole > 0 ? (uint32_t)whole : 1,
                                .method = like->method};
        WIO_TRY(wio_edits_add(all->work->edits, all->phases.streams[rank], &edit));
        offset += edit.size * edit.count;
        bytes -= edit.size * edit.count;
    }
    return WIO_OK;
}

/* [offset, offset + bytes) of the file, which begins at place `at` of all its ranges. */
static enum wio_status perform(struct collecting *all, const struct transfer *like, uint64_t offset,
                               uint64_t bytes, uint64_t at)
{
    for (uint32_t i = 0; i < all->aggregator_count && bytes > 0; i++) {
        const struct aggregator *one = &all->aggregators[i];
        uint64_t part = one->end > at ? one->end - at : 0;
        part = part < bytes ? part : bytes;
        if (part > 0) {
            WIO_TRY(add_pieces(all, like, one->rank, offset, part));
        }
        offset += part;
        at += part;
        bytes -= part;
    }
    return WIO_OK;
}

/* What a rank has of the parts of others goes over the net, as one message for each of them. */
static void exchange(struct collecting *all, const struct transfer *transfer, uint64_t at)
{
    uint64_t left = transfer->bytes;
    for (uint32_t i = 0; i < all->aggregator_count && left > 0; i++) {
        const struct aggregator *one = &all->aggregators[i];
        uint64_t part = one->end > at ? one->end - at : 0;
        part = part < left ? part : left;
        if (part > 0 && one->rank != transfer->rank) {
            all->bytes[transfer->rank] += part;
            all->messages[transfer->rank]++;
            all->bytes[one->rank] += part;
            all->messages[one->rank]++;
        }
        at += part;
        left -= part;
    }
}

static uint64_t union_bytes(const struct transfer *items, uint32_t count)
{
    uint64_t end = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t stop = items[i].offset + items[i].bytes;
        bytes +=
            stop > wio_larger(end, items[i].offset) ? stop - wio_larger(end, items[i].offset) : 0;
        end = wio_larger(end, stop);
    }
    return bytes;
}

/* The transfers of a file, rising: contiguous ranges one after the other. */
static enum wio_status put_together(struct collecting *all, const struct transfer *items,
                                    uint32_t count)
{
    uint64_t begin = items[0].offset;
    uint64_t end = begin;
    uint64_t at = 0; /* place of `begin` */
    share_out(all, union_bytes(items, count));
    for (uint32_t i = 0; i < count; i++) {
        const struct transfer *item = &items[i];
        if (item->offset > end) {
            WIO_TRY(perform(all, items, begin, end - begin, at));
            at += end - begin;
            begin = item->offset;
        }
        exchange(all, item, at + (item->offset - begin));
        end = wio_larger(end, item->offset + item->bytes);
        WIO_TRY(wio_edits_drop(all->work->edits, item->stream, item->seq));
    }
    return perform(all, items, begin, end - begin, at);
}

static bool is_shared(const struct transfer *items, uint32_t count)
{
    uint32_t i = 1;
    while (i < count && items[i].rank == items[0].rank) {
        i++;
    }
    return i < count;
}

/* ---- one phase ---- */

static int by_place(const void *a, const void *b)
{
    const struct transfer *x = a;
    const struct transfer *y = b;
    if (x->is_write != y->is_write) {
        return (int)x->is_write - (int)y->is_write;
    }
    if (x->file != y->file) {
        return x->file < y->file ? -1 : 1;
    }
    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static enum wio_status charge(struct collecting *all)
{
    const struct wio_change_net *net = all->work->net;
    for (uint32_t rank = 0; rank < all->phases.rank_count; rank++) {
        if (all->messages[rank] == 0) {
            continue;
        }
        const struct wio_edit edit = {
            .kind = WIO_EDIT_WAIT,
            .seq = all->is_write ? wio_program_phases_end(&all->phases, all->phase, rank)
                                 : wio_program_phases_begin(&all->phases, all->phase, rank),
            .seconds = (double)all->bytes[rank] / net->bytes_per_s +
                       (double)all->messages[rank] * net->latency_s};
        WIO_TRY(wio_edits_add(all->work->edits, all->phases.streams[rank], &edit));
        all->bytes[rank] = 0;
        all->messages[rank] = 0;
    }
    return WIO_OK;
}

static enum wio_status end_phase(struct collecting *all)
{
    uint32_t next;
    if (all->count > 0) {
        qsort(all->items, all->count, sizeof(*all->items), by_place);
    }
    for (uint32_t i = 0; i < all->count; i = next) {
        const struct transfer *first = &all->items[i];
        for (next = i + 1; next < all->count && all->items[next].file == first->file &&
                           all->items[next].is_write == first->is_write;) {
            next++;
        }
        all->is_write = first->is_write;
        if (is_shared(first, next - i)) {
            WIO_TRY(put_together(all, first, next - i));
        }
        if (next == all->count || all->items[next].is_write != first->is_write) {
            WIO_TRY(charge(all));
        }
    }
    all->count = 0;
    return WIO_OK;
}

/* Bytes that it moves: by itself, or for a call of MPI-IO that it was made within. */
static uint64_t bytes_of(struct collecting *all, const struct wio_event *event, bool *is_write)
{
    uint8_t *caller = &all->callers[event->stream];
    struct wio_event own = *event;
    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        *caller = (uint8_t)wio_op_class(event->op);
    } else if (wio_class_is_mpi((enum wio_class) * caller)) {
        own.flags &= (uint16_t)~WIO_EVENT_CAUSED;
    }
    return wio_change_moves(all->work->program, &own, is_write);
}

static enum wio_status see(void *arg, const struct wio_event *event)
{
    struct collecting *all = arg;
    bool is_write;
    uint64_t bytes = bytes_of(all, event, &is_write);
    uint32_t rank = all->phases.ranks[event->stream];
    if (bytes == 0 || event->offset < 0 || rank == UINT32_MAX ||
        !wio_change_has(all->work->change->scope, event)) {
        return WIO_OK;
    }
    uint32_t phase = wio_program_phases_at(&all->phases, event->t_ns);
    if (phase != all->phase) {
        WIO_TRY(end_phase(all));
        all->phase = phase;
    }
    void *items = all->items;
    WIO_TRY(wio_make_room(&items, sizeof(*all->items), &all->room, all->count + 1));
    all->items = items;
    all->items[all->count++] =
        (struct transfer){.offset = (uint64_t)event->offset,
                          .bytes = bytes,
                          .seq = event->seq,
                          .path = event->path,
                          .file = wio_change_files(all->work, event)->file,
                          .rank = rank,
                          .stream = event->stream,
                          .method = (uint8_t)wio_change_method(all->work, event),
                          .is_write = is_write};
    return WIO_OK;
}

static void collecting_fini(struct collecting *all)
{
    wio_program_phases_fini(&all->phases);
    free(all->items);
    free(all->aggregators);
    free(all->bytes);
    free(all->messages);
    free(all->callers);
}

enum wio_status wio_change_collective(struct wio_change_work *work)
{
    WIO_CLEANUP(collecting_fini) struct collecting all = {.work = work};
    if (work->net == NULL || !(work->net->bytes_per_s > 0) || !(work->net->latency_s >= 0)) {
        return wio_error_set(work->err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "--collective: HOST.json has no net_bw and net_lat");
    }
    WIO_TRY(wio_program_phases_init(&all.phases, work->program));
    WIO_TRY(choose_aggregators(&all));
    all.callers = calloc((size_t)wio_trace_stream_count(work->program->trace) + 1, 1);
    if (all.callers == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_change_read(work, true, NULL, 0, see, &all));
    return end_phase(&all);
}
