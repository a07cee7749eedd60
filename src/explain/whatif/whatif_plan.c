/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/whatif/whatif_plan.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "store/client/layout.h"

#define SIZE_OR_POINTER (3u << 30) /* R-WIRE-10 */

static enum wio_status add(struct wio_whatif_plan *plan, const struct wio_whatif_piece *piece)
{
    void *array = plan->pieces;
    WIO_TRY(wio_grow(&array, sizeof(*plan->pieces), &plan->capacity, plan->count + 1));
    plan->pieces = array;
    plan->pieces[plan->count++] = *piece;
    return WIO_OK;
}

/* Locks cover whole multiples of the granularity; of 1 byte: what was touched, which may be
 * nothing. */
static void round_range(struct wio_whatif_piece *piece, uint32_t touched, uint64_t granularity)
{
    struct wio_txn_range *range = &piece->range;
    if ((range->segment & SIZE_OR_POINTER) != 0 || granularity == 0) {
        return;
    }
    if (granularity == 1) {
        uint64_t length = range->to - range->from;
        range->to = touched < length ? range->from + touched : range->to;
        return;
    }
    uint64_t behind = (range->to + granularity - 1) / granularity * granularity;
    range->from -= range->from % granularity;
    range->to = behind > range->to ? behind : range->to;
}

/* The last piece of this request in the segment, or NULL. */
static struct wio_whatif_piece *last_in(struct wio_whatif_plan *plan, uint32_t first,
                                        uint32_t segment)
{
    for (uint32_t i = plan->count; i > first; i--) {
        if (plan->pieces[i - 1].range.segment == segment) {
            return &plan->pieces[i - 1];
        }
    }
    return NULL;
}

/* One run of bytes that is contiguous in both layouts. */
static enum wio_status add_run(struct wio_whatif_plan *plan, uint32_t first,
                               const struct wio_whatif_piece *whole,
                               const struct wio_layout *layout, uint64_t linear, uint64_t bytes)
{
    struct wio_whatif_piece piece = *whole;
    uint64_t offset = 0;
    uint32_t segment = wio_layout_locate(layout, linear, &offset);
    struct wio_whatif_piece *last = last_in(plan, first, segment);
    if (last != NULL && last->range.to == offset) {
        last->range.to += bytes;
        return WIO_OK;
    }
    piece.range.segment = segment;
    piece.range.from = offset;
    piece.range.to = offset + bytes;
    piece.server = wio_layout_target(layout, segment);
    piece.is_beside = whole->is_beside || plan->count > first;
    return add(plan, &piece);
}

/* What one request took is shared out among its pieces by their bytes; each has to come by itself.
 */
static void share_out(struct wio_whatif_plan *plan, uint32_t first,
                      const struct wio_whatif_piece *whole, uint64_t bytes)
{
    const struct wio_whatif_cost *usual = &plan->costs->of[wio_replay_class(whole->moved)];
    for (uint32_t i = first; i < plan->count; i++) {
        struct wio_whatif_piece *piece = &plan->pieces[i];
        double part = (double)(piece->range.to - piece->range.from) / (double)bytes;
        piece->run_ns = (uint64_t)((double)piece->run_ns * part);
        piece->moved = (uint32_t)((double)piece->moved * part);
        const struct wio_whatif_cost *now = &plan->costs->of[wio_replay_class(piece->moved)];
        piece->receive_ns = now->receive_ns;
        if (piece->after_ns > usual->client_ns && now->client_ns < usual->client_ns) {
            piece->after_ns -= usual->client_ns - now->client_ns;
        }
    }
}

static enum wio_status lay_out(struct wio_whatif_plan *plan, const struct wio_whatif_piece *whole,
                               const struct wio_layout *from, const struct wio_layout *to)
{
    uint32_t first = plan->count;
    uint64_t at = whole->range.from;
    for (uint32_t i = 0; at < whole->range.to && i < WIO_WHATIF_PIECES; i++) {
        uint64_t linear = wio_layout_linear(from, whole->range.segment, at);
        uint64_t in_old = from->stripe_unit - linear % from->stripe_unit;
        uint64_t in_new = to->stripe_unit - linear % to->stripe_unit;
        uint64_t bytes = in_old < in_new ? in_old : in_new;
        uint64_t left = whole->range.to - at;
        bytes = bytes < left ? bytes : left;
        WIO_TRY(add_run(plan, first, whole, to, linear, bytes));
        at += bytes;
    }
    plan->cut += at < whole->range.to;
    share_out(plan, first, whole, at - whole->range.from);
    return WIO_OK;
}

/* A file whose layout is not known, and what is no bytes, stays where it is. */
static enum wio_status place(struct wio_whatif_plan *plan, const struct wio_replays *replays,
                             const struct wio_whatif_piece *piece,
                             const struct wio_whatif_change *change,
                             const struct wio_txn_file *file)
{
    bool is_changed = change->stripe_unit != 0 || change->segments != 0;
    bool is_known = file != NULL && file->segments > 0 && file->stripe_unit > 0;
    if (!is_changed || !is_known || (piece->range.segment & SIZE_OR_POINTER) != 0 ||
        piece->range.segment >= file->segments) {
        return add(plan, piece);
    }
    struct wio_layout from = {file->segments, replays->servers, file->stripe_unit};
    struct wio_layout to = from;
    to.segments = change->segments == 0 ? from.segments : change->segments;
    to.stripe_unit = change->stripe_unit == 0 ? from.stripe_unit : change->stripe_unit;
    return lay_out(plan, piece, &from, &to);
}

static int compare(const void *a, const void *b)
{
    const struct wio_whatif_piece *left = a;
    const struct wio_whatif_piece *right = b;
    const uint64_t keys[][2] = {{left->server, right->server},
                                {left->range.file, right->range.file},
                                {left->range.segment, right->range.segment},
                                {left->range.from, right->range.from},
                                {left->range.to, right->range.to}};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

/* In one order, one after the other. What the client does in between belongs to the place of a
 * request, and not to the request: the first still follows the begin at once. */
static enum wio_status sort(struct wio_whatif_plan *plan)
{
    uint64_t *gaps = calloc((size_t)plan->count + 1, sizeof(*gaps));
    if (gaps == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        gaps[i] = plan->pieces[i].after_ns;
    }
    if (plan->count > 1) {
        qsort(plan->pieces, plan->count, sizeof(*plan->pieces), compare);
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->pieces[i].is_beside = false;
        plan->pieces[i].after_ns = gaps[i];
    }
    free(gaps);
    return WIO_OK;
}

/* Time of the client with locks, which it spends behind the end instead, but for `stays_ns`. */
static void move_behind(struct wio_whatif_plan *plan, uint64_t *ns, uint64_t stays_ns)
{
    uint64_t think_ns = *ns > stays_ns ? *ns - stays_ns : 0;
    if (think_ns >= WIO_THINK_NS) {
        plan->behind_ns += think_ns;
        *ns -= think_ns;
    }
}

/* What is no matter of layout. */
static void change_client(struct wio_whatif_plan *plan, const struct wio_replay_txn *txn,
                          const struct wio_whatif_change *change)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        struct wio_whatif_piece *piece = &plan->pieces[i];
        piece->range.file ^= change->is_apart ? txn->client * UINT64_C(0x9e3779b97f4a7c15) : 0;
        piece->storage_ns = change->is_storage_free ? 0 : piece->storage_ns;
        if (change->is_think_behind && i > 0) { /* before the first there is no lock */
            move_behind(plan, &piece->after_ns, piece->transfer_ns);
        }
    }
    if (change->is_think_behind) {
        move_behind(plan, &plan->hold_ns, 0);
    }
}

/* On how many servers it is: 1, or 2 for more. */
static unsigned servers_of(const struct wio_whatif_plan *plan)
{
    for (uint32_t i = 1; i < plan->count; i++) {
        if (plan->pieces[i].server != plan->pieces[0].server) {
            return 2;
        }
    }
    return 1;
}

static unsigned servers_before(const struct wio_replays *replays, const struct wio_replay_txn *txn)
{
    for (uint32_t i = txn->first; i != UINT32_MAX; i = replays->requests[i].next) {
        if (replays->requests[i].server != replays->requests[txn->first].server) {
            return 2;
        }
    }
    return 1;
}

/* What was done at one server commits with its last write; what is done at several is committed by
 * a message of its own. */
static void change_end(struct wio_whatif_plan *plan, const struct wio_replays *replays,
                       const struct wio_replay_txn *txn)
{
    const struct wio_whatif_cost *message = &plan->costs->of[0];
    uint64_t message_ns = message->client_ns + message->receive_ns;
    unsigned before = servers_before(replays, txn);
    unsigned now = servers_of(plan);
    bool commits = false;
    for (uint32_t i = 0; i < plan->count; i++) {
        commits = commits || plan->pieces[i].commits;
        plan->pieces[i].commits = false;
    }
    if (now > before && commits) {
        plan->hold_ns += message_ns;
    } else if (now < before) {
        plan->hold_ns -= plan->hold_ns < message_ns ? plan->hold_ns : message_ns;
        commits = true;
    }
    plan->pieces[plan->count - 1].commits = commits && now == 1;
}

static struct wio_whatif_piece piece_of(const struct wio_replay_request *request,
                                        const struct wio_whatif_cost *cost, bool is_first)
{
    return (struct wio_whatif_piece){.range = request->range,
                                     .server = request->server,
                                     .mode = request->mode,
                                     .is_beside = request->is_beside && !is_first,
                                     .commits = request->commits,
                                     .moved = request->moved,
                                     .after_ns = cost->client_ns,
                                     .transfer_ns = request->transfer_ns,
                                     .receive_ns = cost->receive_ns,
                                     .run_ns = request->run_ns,
                                     .storage_ns = request->storage_ns};
}

/* The first request is what a transaction begins with: it took its time before. */
static struct wio_whatif_cost cost_of_first(struct wio_whatif_plan *plan,
                                            const struct wio_replays *replays,
                                            const struct wio_replay_txn *txn)
{
    const struct wio_replay_request *request = &replays->requests[txn->first];
    bool is_begin = request->after_ns == 0;
    uint64_t after_ns = is_begin ? txn->after_ns : request->after_ns;
    struct wio_whatif_cost cost = wio_whatif_cost_of(plan->costs, replays, txn->first, after_ns);
    if (is_begin) {
        plan->lead_ns = after_ns - cost.client_ns;
        cost.client_ns = 0;
    }
    return cost;
}

enum wio_status wio_whatif_plan(struct wio_whatif_plan *plan, const struct wio_replays *replays,
                                const struct wio_replay_txn *txn,
                                const struct wio_whatif_change *change, wio_whatif_file_fn *file_of,
                                void *arg)
{
    plan->count = 0;
    plan->lead_ns = 0;
    plan->hold_ns = txn->hold_ns;
    plan->behind_ns = 0;
    plan->cut = 0;
    for (uint32_t i = txn->first; i != UINT32_MAX; i = replays->requests[i].next) {
        const struct wio_replay_request *request = &replays->requests[i];
        bool is_first = plan->count == 0;
        struct wio_whatif_cost cost =
            is_first ? cost_of_first(plan, replays, txn)
                     : wio_whatif_cost_of(plan->costs, replays, i, request->after_ns);
        struct wio_whatif_piece piece = piece_of(request, &cost, is_first);
        round_range(&piece, request->touched, change->granularity);
        WIO_TRY(place(plan, replays, &piece, change, file_of(arg, request->range.file)));
    }
    change_client(plan, txn, change);
    if (change->is_sorted) {
        WIO_TRY(sort(plan));
    }
    if (plan->count > 0) {
        change_end(plan, replays, txn);
    }
    return WIO_OK;
}
