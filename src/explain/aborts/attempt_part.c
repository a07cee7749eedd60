/* SPDX-License-Identifier: Apache-2.0 */
/* An attempt at one server: its bytes, and why the server refused it. */
#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/attempts_internal.h"
#include "lock/types.h"

bool wio_attempt_modes_conflict(uint8_t a, uint8_t b)
{
    return a != b || a == WIO_LOCK_EXCLUSIVE;
}

bool wio_attempt_ranges_overlap(const struct wio_txn_range *a, const struct wio_txn_range *b)
{
    return a->file == b->file && a->segment == b->segment && a->from < b->to && b->from < a->to;
}

bool wio_attempt_parts_conflict(const struct wio_attempt_part *a, const struct wio_attempt_part *b)
{
    for (uint32_t i = 0; i < a->range_count; i++) {
        for (uint32_t k = 0; k < b->range_count; k++) {
            if (wio_attempt_modes_conflict(a->ranges[i].mode, b->ranges[k].mode) &&
                wio_attempt_ranges_overlap(&a->ranges[i].range, &b->ranges[k].range)) {
                return true;
            }
        }
    }
    return false;
}

static enum wio_refusal refusal_of(const struct wio_txn_row *row)
{
    if (row->kind == WIO_TXN_WOUND) {
        return WIO_REFUSAL_WOUND;
    }
    switch (row->result) {
    case WIO_TXN_REFUSED:
    case WIO_TXN_VOTED_NO:
        return WIO_REFUSAL_LOCK;
    case WIO_TXN_BUSY:
        return WIO_REFUSAL_BUSY;
    case WIO_TXN_NO_ANSWER:
        return WIO_REFUSAL_SILENT;
    default:
        return WIO_REFUSAL_NONE;
    }
}

static bool is_beside(const struct wio_attempt_range *range, const struct wio_txn_row *row)
{
    return range->range.file == row->range.file && range->range.segment == row->range.segment;
}

/* Behind WIO_ATTEMPT_RANGES the last one of a segment grows over all further ones of it; a segment
 * that has none is lost but for `has_lost_ranges`. */
static void widen(struct wio_attempt_part *part, const struct wio_txn_row *row)
{
    struct wio_attempt_range *last = NULL;
    for (uint32_t i = 0; i < part->range_count; i++) {
        last = is_beside(&part->ranges[i], row) ? &part->ranges[i] : last;
    }
    if (last == NULL) {
        part->has_lost_ranges = true;
        return;
    }
    last->range.from = row->range.from < last->range.from ? row->range.from : last->range.from;
    last->range.to = row->range.to > last->range.to ? row->range.to : last->range.to;
    last->touched = last->range.to - last->range.from;
    last->mode = row->mode == last->mode ? last->mode : WIO_LOCK_EXCLUSIVE;
}

static bool is_whole(const struct wio_attempt_range *range)
{
    return range->is_answered && range->touched >= range->range.to - range->range.from;
}

/* Bytes that were all touched, right behind others of which that is so: one range. */
static bool join(struct wio_attempt_part *part, const struct wio_txn_row *row)
{
    bool is_all = row->kind != WIO_TXN_ARRIVE && row->bytes >= row->range.to - row->range.from;
    for (uint32_t i = part->range_count; is_all && i > 0; i--) {
        struct wio_attempt_range *range = &part->ranges[i - 1];
        if (is_beside(range, row) && range->range.to == row->range.from &&
            range->mode == row->mode && is_whole(range)) {
            range->range.to = row->range.to;
            range->touched = range->range.to - range->range.from;
            return true;
        }
    }
    return false;
}

static struct wio_attempt_range *find_range(struct wio_attempt_part *part,
                                            const struct wio_txn_row *row)
{
    for (uint32_t i = part->range_count; i > 0; i--) {
        struct wio_attempt_range *range = &part->ranges[i - 1];
        if (is_beside(range, row) && range->range.from == row->range.from &&
            range->range.to == row->range.to && range->mode == row->mode) {
            return range;
        }
    }
    return NULL;
}

static enum wio_status add_range(struct wio_attempt_part *part, const struct wio_txn_row *row)
{
    struct wio_attempt_range *known = find_range(part, row);
    bool is_answer = row->kind != WIO_TXN_ARRIVE;
    if (known != NULL) {
        bool is_less = !is_answer || (known->is_answered && known->touched >= row->bytes);
        known->touched = is_less ? known->touched : row->bytes;
        known->is_answered = known->is_answered || is_answer;
        return WIO_OK;
    }
    if (join(part, row)) {
        return WIO_OK;
    }
    if (part->range_count == WIO_ATTEMPT_RANGES) {
        widen(part, row);
        return WIO_OK;
    }
    void *array = part->ranges;
    WIO_TRY(wio_grow(&array, sizeof(*part->ranges), &part->range_capacity, part->range_count + 1));
    part->ranges = array;
    part->ranges[part->range_count++] = (struct wio_attempt_range){
        .range = row->range,
        .touched = is_answer ? row->bytes : row->range.to - row->range.from,
        .mode = row->mode,
        .is_answered = is_answer};
    return WIO_OK;
}

enum wio_status wio_attempt_part_add(struct wio_attempt_part *part, const struct wio_txn_row *row)
{
    enum wio_refusal refusal = refusal_of(row);
    if (refusal != WIO_REFUSAL_NONE) {
        part->refusal = refusal;
    }
    bool is_client = row->kind == WIO_TXN_CALL;
    part->is_told = part->is_told || !is_client;
    if (row->range.to == 0 || row->kind == WIO_TXN_WOUND || (is_client && part->is_told)) {
        return WIO_OK;
    }
    return add_range(part, row);
}
