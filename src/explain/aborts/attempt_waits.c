/* SPDX-License-Identifier: Apache-2.0 */
/* What an attempt waits for, what refused it, when its requests were served. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/attempts_internal.h"

static void add_span(struct wio_attempt *attempt, uint64_t from_ns, uint64_t to_ns)
{
    attempt->served[attempt->served_count++ % WIO_ATTEMPT_SPANS] =
        (struct wio_attempt_span){from_ns, to_ns};
}

void wio_attempt_end_waits(struct wio_attempt *attempt)
{
    struct wio_attempt_waits *waits = attempt->waits;
    for (uint32_t i = 0; waits != NULL && i < waits->now_count; i++) {
        add_span(attempt, waits->now[i].from_ns, attempt->end_ns);
    }
    if (waits != NULL) {
        waits->now_count = 0;
    }
}

void wio_attempt_note_served(struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    uint64_t took = row->storage_ns + row->run_ns;
    uint64_t was_there = row->transfer_ns + row->queue_ns + row->lock_ns + took;
    add_span(attempt, row->t_ns - (was_there < row->t_ns ? was_there : row->t_ns), row->t_ns);
    attempt->bytes += row->bytes;
    attempt->used_ns += took;
    attempt->wait_ns += row->lock_ns;
}

static uint64_t take(uint64_t *left_ns, uint64_t ns)
{
    uint64_t taken = ns < *left_ns ? ns : *left_ns;
    *left_ns -= taken;
    return taken;
}

struct wio_attempt_lane wio_attempt_take_lane(struct wio_attempt *attempt,
                                              const struct wio_txn_row *row)
{
    uint64_t from_ns =
        attempt->lane_until_ns > attempt->begin_ns ? attempt->lane_until_ns : attempt->begin_ns;
    uint64_t left_ns = row->t_ns > from_ns ? row->t_ns - from_ns : 0;
    struct wio_attempt_lane lane;
    lane.run_ns = take(&left_ns, row->run_ns);
    lane.storage_ns = take(&left_ns, row->storage_ns);
    lane.lock_ns = take(&left_ns, row->lock_ns);
    lane.queue_ns = take(&left_ns, row->queue_ns);
    attempt->lane_ns += lane.run_ns + lane.storage_ns + lane.lock_ns + lane.queue_ns;
    attempt->lane_until_ns = row->t_ns > from_ns ? row->t_ns : from_ns;
    return lane;
}

/* From `from_ns`, or from the end of what is served then, to the next request; UINT64_MAX: there is
 * none. */
static uint64_t next_served(const struct wio_attempt *attempt, uint32_t known, uint64_t *from_ns)
{
    uint64_t next = UINT64_MAX;
    bool is_moved = true;
    while (is_moved) {
        is_moved = false;
        for (uint32_t i = 0; i < known; i++) {
            const struct wio_attempt_span *span = &attempt->served[i];
            if (span->from_ns <= *from_ns && span->to_ns > *from_ns) {
                *from_ns = span->to_ns;
                is_moved = true;
            }
        }
    }
    for (uint32_t i = 0; i < known; i++) {
        uint64_t begin = attempt->served[i].from_ns;
        next = begin > *from_ns && begin < next ? begin : next;
    }
    return next;
}

uint64_t wio_attempt_idle_ns(const struct wio_attempt *attempt, uint64_t from_ns, uint64_t to_ns)
{
    bool is_all = attempt->served_count <= WIO_ATTEMPT_SPANS;
    uint32_t known = is_all ? attempt->served_count : WIO_ATTEMPT_SPANS;
    uint64_t at = from_ns;
    uint64_t idle = 0;
    if (!is_all) {
        uint64_t oldest = attempt->served[attempt->served_count % WIO_ATTEMPT_SPANS].from_ns;
        at = oldest > at ? oldest : at;
    }
    while (at < to_ns) {
        uint64_t next = next_served(attempt, known, &at);
        uint64_t until = next < to_ns ? next : to_ns;
        uint64_t gap = until > at ? until - at : 0;
        idle += gap >= WIO_THINK_NS ? gap : 0;
        at = until > at ? until : to_ns;
    }
    return idle;
}

static enum wio_status waits_of(struct wio_attempt *attempt, struct wio_attempt_waits **waits_out)
{
    if (attempt->waits == NULL) {
        attempt->waits = calloc(1, sizeof(*attempt->waits));
    }
    *waits_out = attempt->waits;
    return attempt->waits == NULL ? WIO_ERR_NOMEM : WIO_OK;
}

static bool is_refusal(const struct wio_txn_row *row)
{
    return row->kind == WIO_TXN_WOUND ||
           (row->kind == WIO_TXN_ANSWER &&
            (row->result == WIO_TXN_REFUSED || row->result == WIO_TXN_VOTED_NO));
}

static enum wio_status add_refusals(struct wio_attempt_waits *waits, uint32_t server,
                                    const struct wio_txn_row *row)
{
    for (uint32_t i = 0; i < row->blocker_listed && waits->refusal_count < WIO_ATTEMPT_REFUSALS;
         i++) {
        void *array = waits->refusals;
        WIO_TRY(wio_grow(&array, sizeof(*waits->refusals), &waits->refusal_capacity,
                         waits->refusal_count + 1));
        waits->refusals = array;
        waits->refusals[waits->refusal_count++] =
            (struct wio_attempt_refusal){.blocker = row->blockers[i],
                                         .asked = row->range,
                                         .server = server,
                                         .is_wound = row->kind == WIO_TXN_WOUND};
    }
    return WIO_OK;
}

void wio_attempt_waits_free(struct wio_attempt_waits *waits)
{
    if (waits != NULL) {
        free(waits->refusals);
        free(waits);
    }
}

static bool are_equal(const struct wio_txn_range *a, const struct wio_txn_range *b)
{
    return a->file == b->file && a->segment == b->segment && a->from == b->from && a->to == b->to;
}

struct wio_attempt_wait *wio_attempt_wait_for(const struct wio_attempt *attempt, uint32_t server,
                                              const struct wio_txn_range *range)
{
    struct wio_attempt_waits *waits = attempt->waits;
    for (uint32_t i = 0; waits != NULL && i < waits->now_count; i++) {
        if (waits->now[i].server == server && are_equal(&waits->now[i].range, range)) {
            return &waits->now[i];
        }
    }
    return NULL;
}

static void begin_wait(struct wio_attempt_waits *waits, uint32_t server,
                       const struct wio_txn_row *row)
{
    if (waits->now_count == WIO_ATTEMPT_WAITS) {
        return;
    }
    struct wio_attempt_wait *wait = &waits->now[waits->now_count++];
    *wait = (struct wio_attempt_wait){
        .range = row->range, .from_ns = row->t_ns, .server = server, .count = row->blocker_listed};
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        wait->blockers[i] = row->blockers[i].txn;
        wait->origins[i] = row->blockers[i].origin;
    }
}

void wio_attempt_end_wait(struct wio_attempt *attempt, uint32_t server,
                          const struct wio_txn_row *row)
{
    struct wio_attempt_wait *wait = wio_attempt_wait_for(attempt, server, &row->range);
    if (row->kind == WIO_TXN_ANSWER && wait != NULL) {
        *wait = attempt->waits->now[--attempt->waits->now_count];
    }
}

enum wio_status wio_attempt_note_waits(struct wio_attempt *attempt, uint32_t server,
                                       const struct wio_txn_row *row)
{
    struct wio_attempt_waits *waits = attempt->waits;
    struct wio_attempt_wait *before = wio_attempt_wait_for(attempt, server, &row->range);
    bool is_wait = row->kind == WIO_TXN_ARRIVE && row->blocker_listed > 0;
    if (is_wait || is_refusal(row)) {
        WIO_TRY(waits_of(attempt, &waits));
    }
    if (is_wait) {
        begin_wait(waits, server, row);
    } else if (row->kind == WIO_TXN_ARRIVE && before != NULL) {
        before->is_over = true;
    }
    bool is_cause = is_refusal(row) && !wio_attempt_is_late(attempt, row);
    return is_cause ? add_refusals(waits, server, row) : WIO_OK;
}

bool wio_attempt_is_late(const struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    return attempt->is_aborted && row->t_ns > attempt->aborted_ns;
}

bool wio_attempt_is_refused_by(const struct wio_attempt *attempt, const struct wio_txn_name *name)
{
    const struct wio_attempt_waits *waits = attempt->waits;
    for (uint32_t i = 0; waits != NULL && i < waits->refusal_count; i++) {
        if (waits->refusals[i].blocker.txn.client == name->client &&
            waits->refusals[i].blocker.txn.number == name->number) {
            return true;
        }
    }
    return false;
}
