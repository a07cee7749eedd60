/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/exact.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/exact_internal.h"
#include "lock/types.h"

#define SIZE_OR_POINTER (3u << 30) /* R-WIRE-10 */

void wio_exact_fini(struct wio_exact *exact)
{
    free(exact->pairs);
    free(exact->contention);
    wio_strtab_fini(&exact->pair_index);
    wio_map_fini(&exact->contention_index);
}

const char *wio_conflict_name(enum wio_conflict conflict)
{
    static const char *const names[WIO_CONFLICTS] = {"data",   "false",    "size",
                                                     "queued", "prepared", "dead"};
    return conflict < WIO_CONFLICTS ? names[conflict] : "?";
}

static enum wio_status find_pair(struct wio_exact *exact, uint32_t victim, uint32_t blocker,
                                 uint32_t server, struct wio_exact_pair **pair_out)
{
    uint32_t key[3] = {victim, blocker, server};
    uint32_t id = 0;
    WIO_TRY(wio_strtab_add(&exact->pair_index, (const char *)key, sizeof(key), &id));
    if (id > exact->pair_count) {
        void *array = exact->pairs;
        WIO_TRY(
            wio_grow(&array, sizeof(*exact->pairs), &exact->pair_capacity, exact->pair_count + 1));
        exact->pairs = array;
        exact->pairs[exact->pair_count++] = (struct wio_exact_pair){
            .victim = victim, .blocker = blocker, .server = server, .chain_root = WIO_NO_SOURCE};
    }
    *pair_out = &exact->pairs[id - 1];
    return WIO_OK;
}

/* Has the attempt read or written one of these bytes? */
static bool has_touched(const struct wio_attempt *attempt, uint32_t server,
                        const struct wio_txn_range *range)
{
    const struct wio_attempt_part *part = wio_attempt_part_at(attempt, server);
    for (uint32_t i = 0; part != NULL && i < part->range_count; i++) {
        struct wio_txn_range touched = part->ranges[i].range;
        uint64_t length = touched.to - touched.from;
        touched.to -=
            length - (part->ranges[i].touched < length ? part->ranges[i].touched : length);
        if (touched.from < touched.to && wio_attempt_ranges_overlap(&touched, range)) {
            return true;
        }
    }
    return false;
}

/* Had the attempt locked the bytes without touching one of them? False where that is not known. */
static bool is_untouched(const struct wio_attempt *holder, uint32_t server,
                         const struct wio_txn_range *asked)
{
    const struct wio_attempt_part *part =
        holder == NULL ? NULL : wio_attempt_part_at(holder, server);
    bool is_known = part != NULL && !part->has_lost_ranges && asked->to != 0;
    return is_known && !has_touched(holder, server, asked);
}

static enum wio_conflict conflict_of(const struct wio_txn_blocker *blocker, bool is_untouched_now)
{
    switch (blocker->role) {
    case WIO_LOCK_ROLE_QUEUED:
        return WIO_CONFLICT_QUEUED;
    case WIO_LOCK_ROLE_PREPARED:
        return WIO_CONFLICT_PREPARED;
    case WIO_LOCK_ROLE_DEAD:
        return WIO_CONFLICT_DEAD;
    default:
        break;
    }
    if ((blocker->range.segment & SIZE_OR_POINTER) != 0) {
        return WIO_CONFLICT_SIZE;
    }
    return is_untouched_now ? WIO_CONFLICT_FALSE : WIO_CONFLICT_DATA;
}

/* Of a wound: it holds what the blocker, which is older and waits, has asked for. */
static enum wio_conflict conflict_of_wound(const struct wio_attempt *victim, uint32_t server,
                                           const struct wio_txn_blocker *blocker)
{
    struct wio_txn_blocker as_holder = *blocker;
    as_holder.role = WIO_LOCK_ROLE_HOLDER;
    return conflict_of(&as_holder, is_untouched(victim, server, &blocker->range));
}

/* ---- waits ---- */

static void note_chain(struct wio_exact_pair *pair, uint32_t length, uint32_t root)
{
    if (length > pair->chain_max) {
        pair->chain_max = length;
        pair->chain_root = root;
    }
}

/* Whose request, at which server, with what part of its time for each blocker. */
struct waited {
    uint32_t victim;
    uint32_t server;
    uint64_t from_ns;
    uint64_t until_ns;
    double part_s;
    double lane_part;                    /* of part_s that is the victim's own time */
    const struct wio_attempt_wait *wait; /* NULL: its begin is not in the trace */
};

static enum wio_status add_wait_for(struct wio_exact *exact, const struct wio_attempts *attempts,
                                    const struct waited *waited,
                                    const struct wio_txn_blocker *blocker,
                                    const struct wio_txn_row *row)
{
    struct wio_exact_pair *pair = NULL;
    uint32_t source = 0;
    const struct wio_attempt *holder = wio_attempts_find(attempts, &blocker->txn);
    WIO_TRY(wio_exact_source(attempts, &blocker->txn, blocker->origin, &source));
    WIO_TRY(find_pair(exact, waited->victim, source, waited->server, &pair));
    enum wio_conflict conflict =
        conflict_of(blocker, is_untouched(holder, waited->server, &row->range));
    pair->by_conflict[conflict]++;
    double lane_s = waited->part_s * waited->lane_part;
    pair->by_conflict_s[conflict] += lane_s;
    pair->lane_s += lane_s;
    pair->example = blocker->range;
    pair->waits++;
    pair->wait_s += waited->part_s;
    uint32_t chain = waited->wait == NULL ? 1 : waited->wait->chain;
    pair->passed_s += chain > 1 ? waited->part_s : 0;
    note_chain(pair, chain, waited->wait == NULL ? source : waited->wait->chain_root);
    if (holder != NULL && waited->from_ns < waited->until_ns) {
        double idle_s =
            wio_exact_seconds(wio_attempt_idle_ns(holder, waited->from_ns, waited->until_ns));
        pair->think_s += idle_s / row->blocker_listed;
        pair->lane_think_s += idle_s / row->blocker_listed * waited->lane_part;
    }
    return WIO_OK;
}

/* The time that an answered request waited for locks is shared out among its blockers. */
static enum wio_status add_wait(struct wio_exact *exact, const struct wio_attempts *attempts,
                                struct wio_attempt *waiter, uint32_t server,
                                const struct wio_txn_row *row, const struct wio_attempt_lane *lane)
{
    struct waited waited = {.server = server,
                            .lane_part = (double)lane->lock_ns / (double)row->lock_ns,
                            .until_ns = row->t_ns - row->storage_ns - row->run_ns,
                            .wait = wio_attempt_wait_for(waiter, server, &row->range)};
    WIO_TRY(wio_attempts_line(attempts, waiter, &waited.victim));
    waited.from_ns = waited.until_ns - row->lock_ns;
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        waited.part_s = wio_exact_seconds(row->lock_ns) / row->blocker_listed;
        WIO_TRY(add_wait_for(exact, attempts, &waited, &row->blockers[i], row));
    }
    return WIO_OK;
}

/* The chain behind a wait is that of its begin: at its end the blocker waits no more. */
static enum wio_status begin_wait(const struct wio_attempts *attempts, struct wio_attempt *attempt,
                                  uint32_t server, const struct wio_txn_row *row)
{
    struct wio_attempt_wait *wait = wio_attempt_wait_for(attempt, server, &row->range);
    if (row->kind != WIO_TXN_ARRIVE || row->blocker_listed == 0 || wait == NULL) {
        return WIO_OK;
    }
    return wio_exact_chain(attempts, &row->blockers[0].txn, row->blockers[0].origin, &wait->chain,
                           &wait->chain_root);
}

/* ---- refusals ---- */

static enum wio_status judge(const struct wio_attempts *attempts, const struct wio_attempt *attempt,
                             struct wio_attempt_refusal *refusal)
{
    const struct wio_txn_blocker *blocker = &refusal->blocker;
    const struct wio_attempt *holder = wio_attempts_find(attempts, &blocker->txn);
    refusal->conflict =
        (uint8_t)(refusal->is_wound ? conflict_of_wound(attempt, refusal->server, blocker)
                                    : conflict_of(blocker, is_untouched(holder, refusal->server,
                                                                        &refusal->asked)));
    refusal->is_judged = true;
    WIO_TRY(wio_exact_source(attempts, &blocker->txn, blocker->origin, &refusal->source));
    return wio_exact_chain(attempts, &blocker->txn, blocker->origin, &refusal->chain,
                           &refusal->chain_root);
}

static enum wio_status judge_new(const struct wio_attempts *attempts,
                                 const struct wio_attempt *attempt)
{
    struct wio_attempt_waits *waits = attempt->waits;
    for (uint32_t i = waits == NULL ? 0 : waits->refusal_count;
         i > 0 && !waits->refusals[i - 1].is_judged; i--) {
        WIO_TRY(judge(attempts, attempt, &waits->refusals[i - 1]));
    }
    return WIO_OK;
}

enum wio_status wio_exact_row(struct wio_exact *exact, const struct wio_attempts *attempts,
                              struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    struct wio_attempt_lane lane = {0};
    uint32_t source = 0;
    bool is_answer = row->kind == WIO_TXN_ANSWER || row->kind == WIO_TXN_CALL;
    const uint64_t *server = wio_map_get(&attempts->server_index, row->server);
    if (wio_exact_is_in_cycle(attempts, attempt, row)) {
        attempt->waits->is_deadlock = true;
    }
    WIO_TRY(judge_new(attempts, attempt));
    if (server == NULL) {
        return WIO_OK;
    }
    WIO_TRY(begin_wait(attempts, attempt, (uint32_t)*server, row));
    if (!is_answer) {
        return WIO_OK;
    }
    WIO_TRY(wio_attempts_line(attempts, attempt, &source));
    if (row->kind == WIO_TXN_ANSWER) {
        lane = wio_attempt_take_lane(attempt, row);
    }
    WIO_TRY(wio_exact_add_times(exact, source, (uint32_t)*server, row, &lane));
    bool has_waited = row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_OK && row->lock_ns > 0;
    if (has_waited && !wio_attempt_is_late(attempt, row)) {
        WIO_TRY(add_wait(exact, attempts, attempt, (uint32_t)*server, row, &lane));
    }
    wio_attempt_end_wait(attempt, (uint32_t)*server, row);
    return WIO_OK;
}

/* ---- aborts ---- */

/* Is there an earlier refusal by the same source at the same server? */
static bool is_repeated(const struct wio_attempt_waits *waits, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (waits->refusals[k].source == waits->refusals[i].source &&
            waits->refusals[k].server == waits->refusals[i].server) {
            return true;
        }
    }
    return false;
}

static bool is_busy(const struct wio_attempt_part *part)
{
    return part->refusal == WIO_REFUSAL_BUSY || part->refusal == WIO_REFUSAL_SILENT;
}

/* Of the attempt's time what none of its answers accounts for. */
static double lane_left(const struct wio_attempt *attempt)
{
    uint64_t all_ns = attempt->end_ns - attempt->begin_ns;
    return wio_exact_seconds(all_ns > attempt->lane_ns ? all_ns - attempt->lane_ns : 0);
}

/* Among how many what the attempt had cost is shared out. */
static uint32_t count_causes(const struct wio_attempt *attempt)
{
    const struct wio_attempt_waits *waits = attempt->waits;
    uint32_t causes = 0;
    for (uint32_t i = 0; waits != NULL && i < waits->refusal_count; i++) {
        causes += !is_repeated(waits, i);
    }
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        causes += is_busy(&attempt->parts[i]);
    }
    return causes;
}

static enum wio_status add_refusal(struct wio_exact *exact, const struct wio_attempt *attempt,
                                   uint32_t victim, uint32_t i, uint32_t causes)
{
    const struct wio_attempt_waits *waits = attempt->waits;
    const struct wio_attempt_refusal *refusal = &waits->refusals[i];
    double part_s = wio_exact_seconds(attempt->end_ns - attempt->begin_ns) / causes;
    struct wio_exact_pair *pair = NULL;
    if (is_repeated(waits, i)) {
        return WIO_OK;
    }
    WIO_TRY(find_pair(exact, victim, refusal->source, refusal->server, &pair));
    pair->by_conflict[refusal->conflict]++;
    pair->by_conflict_s[refusal->conflict] += lane_left(attempt) / causes;
    pair->lane_s += lane_left(attempt) / causes;
    pair->lane_abort_s += lane_left(attempt) / causes;
    pair->example = refusal->blocker.range;
    note_chain(pair, refusal->chain, refusal->chain_root);
    pair->aborts++;
    pair->deadlocks += waits->is_deadlock;
    pair->deadlock_s += waits->is_deadlock ? lane_left(attempt) / causes : 0;
    pair->wasted_s += part_s;
    pair->wasted_bytes += attempt->bytes / causes;
    return WIO_OK;
}

enum wio_status wio_exact_abort(struct wio_exact *exact, const struct wio_attempts *attempts,
                                struct wio_attempt *attempt)
{
    const struct wio_attempt_waits *waits = attempt->waits;
    uint32_t causes = count_causes(attempt);
    uint32_t victim = 0;
    if (causes == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_attempts_line(attempts, attempt, &victim));
    for (uint32_t i = 0; waits != NULL && i < waits->refusal_count; i++) {
        WIO_TRY(add_refusal(exact, attempt, victim, i, causes));
    }
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        const struct wio_attempt_part *part = &attempt->parts[i];
        if (is_busy(part)) {
            WIO_TRY(
                wio_exact_add_busy(exact, victim, part->server, part->refusal == WIO_REFUSAL_SILENT,
                                   wio_exact_seconds(attempt->end_ns - attempt->begin_ns) / causes,
                                   lane_left(attempt) / causes));
        }
    }
    return WIO_OK;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct wio_exact_pair *left = a;
    const struct wio_exact_pair *right = b;
    double difference = right->wasted_s + right->wait_s - left->wasted_s - left->wait_s;
    if (difference != 0) {
        return difference < 0 ? -1 : 1;
    }
    return (left->aborts < right->aborts) - (left->aborts > right->aborts);
}

static double total_of(const struct wio_exact_contention *row)
{
    return row->queue_s + row->lock_s + row->storage_s + row->run_s + row->network_s + row->busy_s;
}

static int compare_contention(const void *a, const void *b)
{
    double left = total_of(a);
    double right = total_of(b);
    return (left < right) - (left > right);
}

void wio_exact_sort(struct wio_exact *exact)
{
    if (exact->contention_count > 1) {
        qsort(exact->contention, exact->contention_count, sizeof(*exact->contention),
              compare_contention);
    }
    if (exact->pair_count > 1) {
        qsort(exact->pairs, exact->pair_count, sizeof(*exact->pairs), compare_pairs);
    }
}
