/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/exact.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
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

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
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

static enum wio_status source_of(const struct wio_attempts *attempts,
                                 const struct wio_txn_blocker *blocker, uint32_t *source_out)
{
    struct wio_attempt *attempt = wio_attempts_find(attempts, &blocker->txn);
    struct wio_abort_place place = wio_abort_sources_place(attempts->sources, blocker->origin);
    struct wio_abort_source source = {
        .application = place.application, .place = place.place, .is_line = true};
    if (attempt != NULL) {
        return wio_attempts_line(attempts, attempt, source_out);
    }
    if (blocker->origin == 0) {
        *source_out = WIO_NO_SOURCE;
        return WIO_OK;
    }
    return wio_abort_sources_find(attempts->sources, &source, source_out);
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

static enum wio_conflict conflict_of(const struct wio_attempts *attempts, uint32_t server,
                                     const struct wio_txn_blocker *blocker,
                                     const struct wio_txn_range *asked)
{
    const struct wio_attempt *attempt = wio_attempts_find(attempts, &blocker->txn);
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
    const struct wio_attempt_part *part =
        attempt == NULL ? NULL : wio_attempt_part_at(attempt, server);
    bool is_known = part != NULL && !part->has_more_ranges && asked->to != 0;
    bool is_false = is_known && !has_touched(attempt, server, asked);
    return is_false ? WIO_CONFLICT_FALSE : WIO_CONFLICT_DATA;
}

static bool is_among(const struct wio_attempt *const *attempts, uint32_t count,
                     const struct wio_attempt *attempt)
{
    for (uint32_t i = 0; i < count; i++) {
        if (attempts[i] == attempt) {
            return true;
        }
    }
    return false;
}

/* The chain of waits behind an attempt: by the first blocker of each, until one waits for nothing
 * or the chain comes back to itself. */
static enum wio_status follow_chain(const struct wio_attempts *attempts,
                                    const struct wio_txn_blocker *first, uint32_t *length_out,
                                    uint32_t *root_out)
{
    const struct wio_attempt *seen[WIO_CHAIN_MAX];
    const struct wio_txn_blocker *at = first;
    uint32_t length = 1;
    for (;;) {
        const struct wio_attempt *attempt = wio_attempts_find(attempts, &at->txn);
        bool is_waiting =
            attempt != NULL && attempt->waits != NULL && attempt->waits->now_count > 0;
        seen[length - 1] = attempt;
        if (!is_waiting || length == WIO_CHAIN_MAX) {
            break;
        }
        const struct wio_txn_blocker *next = &attempt->waits->now[0];
        if (is_among(seen, length, wio_attempts_find(attempts, &next->txn))) {
            break;
        }
        at = next;
        length++;
    }
    *length_out = length;
    return source_of(attempts, at, root_out);
}

/* Whose request, at which server. */
struct asking {
    uint32_t victim;
    uint32_t server;
};

static enum wio_status add_blocker(struct wio_exact *exact, const struct wio_attempts *attempts,
                                   struct asking at, const struct wio_txn_blocker *blocker,
                                   const struct wio_txn_range *asked,
                                   struct wio_exact_pair **pair_out)
{
    uint32_t source = 0;
    uint32_t length = 0;
    uint32_t root = 0;
    WIO_TRY(source_of(attempts, blocker, &source));
    WIO_TRY(follow_chain(attempts, blocker, &length, &root));
    WIO_TRY(find_pair(exact, at.victim, source, at.server, pair_out));
    struct wio_exact_pair *pair = *pair_out;
    pair->by_conflict[conflict_of(attempts, at.server, blocker, asked)]++;
    pair->example = blocker->range;
    if (length > pair->chain_max) {
        pair->chain_max = length;
        pair->chain_root = root;
    }
    return WIO_OK;
}

/* The time that an answered request waited for locks is shared out among its blockers. */
static enum wio_status add_wait(struct wio_exact *exact, const struct wio_attempts *attempts,
                                struct wio_attempt *waiter, uint32_t server,
                                const struct wio_txn_row *row)
{
    struct asking at = {.server = server};
    WIO_TRY(wio_attempts_line(attempts, waiter, &at.victim));
    uint64_t until = row->t_ns - row->storage_ns - row->run_ns;
    uint64_t from = until - row->lock_ns;
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        struct wio_exact_pair *pair = NULL;
        const struct wio_txn_blocker *blocker = &row->blockers[i];
        WIO_TRY(add_blocker(exact, attempts, at, blocker, &row->range, &pair));
        pair->waits++;
        if (waiter->waits != NULL && waiter->waits->chain > pair->chain_max) {
            pair->chain_max = waiter->waits->chain;
            pair->chain_root = waiter->waits->chain_root;
        }
        pair->wait_s += seconds(row->lock_ns) / row->blocker_listed;
        const struct wio_attempt *attempt = wio_attempts_find(attempts, &blocker->txn);
        if (attempt != NULL && from <= until) {
            pair->think_s +=
                seconds(wio_attempt_idle_ns(attempt, from, until)) / row->blocker_listed;
        }
    }
    return WIO_OK;
}

static enum wio_status find_contention(struct wio_exact *exact, uint32_t source, uint32_t server,
                                       struct wio_exact_contention **out)
{
    uint64_t key = (uint64_t)source << 32 | server;
    const uint64_t *known = wio_map_get(&exact->contention_index, key);
    if (known == NULL) {
        void *array = exact->contention;
        WIO_TRY(wio_grow(&array, sizeof(*exact->contention), &exact->contention_capacity,
                         exact->contention_count + 1));
        exact->contention = array;
        WIO_TRY(wio_map_put(&exact->contention_index, key, exact->contention_count));
        exact->contention[exact->contention_count] =
            (struct wio_exact_contention){.source = source, .server = server};
        *out = &exact->contention[exact->contention_count++];
        return WIO_OK;
    }
    *out = &exact->contention[*known];
    return WIO_OK;
}

static enum wio_status add_times(struct wio_exact *exact, uint32_t source, uint32_t server,
                                 const struct wio_txn_row *row)
{
    struct wio_exact_contention *times = NULL;
    WIO_TRY(find_contention(exact, source, server, &times));
    if (row->kind == WIO_TXN_CALL) {
        times->network_s += seconds(row->run_ns);
        return WIO_OK;
    }
    times->requests++;
    times->queue_s += seconds(row->queue_ns);
    times->lock_s += seconds(row->lock_ns);
    times->storage_s += seconds(row->storage_ns);
    times->run_s += seconds(row->run_ns);
    return WIO_OK;
}

/* Waits are followed over so many others. */
#define LOOKS_MAX 64

/* Does one of these wait, over others that wait, for `attempt`? */
static bool leads_to(const struct wio_attempts *attempts, const struct wio_txn_blocker *blockers,
                     uint32_t count, const struct wio_attempt *attempt, unsigned *looks)
{
    for (uint32_t i = 0; i < count && *looks < LOOKS_MAX; i++) {
        const struct wio_attempt *next = wio_attempts_find(attempts, &blockers[i].txn);
        ++*looks;
        if (next == attempt) {
            return true;
        }
        if (next != NULL && next->waits != NULL &&
            leads_to(attempts, next->waits->now, next->waits->now_count, attempt, looks)) {
            return true;
        }
    }
    return false;
}

/* A wait closes a cycle, or the attempt is refused or wounded while it stands in one. */
static bool is_in_cycle(const struct wio_attempts *attempts, const struct wio_attempt *attempt,
                        const struct wio_txn_row *row)
{
    const struct wio_attempt_waits *waits = attempt->waits;
    unsigned looks = 0;
    if (waits == NULL) {
        return false;
    }
    if (row->kind == WIO_TXN_WOUND) {
        return leads_to(attempts, waits->now, waits->now_count, attempt, &looks);
    }
    bool is_refused = row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_REFUSED;
    return (row->kind == WIO_TXN_ARRIVE || is_refused) &&
           leads_to(attempts, row->blockers, row->blocker_listed, attempt, &looks);
}

/* The chain behind a wait is that of its begin: at its end the blocker waits no more. */
static enum wio_status note_chain(const struct wio_attempts *attempts, struct wio_attempt *attempt,
                                  const struct wio_txn_row *row)
{
    struct wio_attempt_waits *waits = attempt->waits;
    if (row->kind != WIO_TXN_ARRIVE || row->blocker_listed == 0 || waits == NULL) {
        return WIO_OK;
    }
    return follow_chain(attempts, &row->blockers[0], &waits->chain, &waits->chain_root);
}

enum wio_status wio_exact_row(struct wio_exact *exact, const struct wio_attempts *attempts,
                              struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    uint32_t source = 0;
    bool is_answer = row->kind == WIO_TXN_ANSWER || row->kind == WIO_TXN_CALL;
    const uint64_t *server = wio_map_get(&attempts->server_index, row->server);
    if (is_in_cycle(attempts, attempt, row)) {
        attempt->waits->is_deadlock = true;
    }
    WIO_TRY(note_chain(attempts, attempt, row));
    if (!is_answer || server == NULL) {
        return WIO_OK;
    }
    WIO_TRY(wio_attempts_line(attempts, attempt, &source));
    WIO_TRY(add_times(exact, source, (uint32_t)*server, row));
    if (row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_OK && row->lock_ns > 0) {
        return add_wait(exact, attempts, attempt, (uint32_t)*server, row);
    }
    return WIO_OK;
}

/* Is there an earlier refusal by the same source at the same server? */
static bool is_repeated(const uint32_t *sources, const struct wio_attempt_waits *waits, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (sources[k] == sources[i] && waits->refusal_at[k] == waits->refusal_at[i]) {
            return true;
        }
    }
    return false;
}

enum wio_status wio_exact_abort(struct wio_exact *exact, const struct wio_attempts *attempts,
                                struct wio_attempt *attempt)
{
    const struct wio_attempt_waits *waits = attempt->waits;
    uint32_t sources[WIO_TXN_BLOCKERS];
    uint32_t victim = 0;
    uint32_t different = 0;
    if (waits == NULL || waits->refusal_count == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_attempts_line(attempts, attempt, &victim));
    for (uint32_t i = 0; i < waits->refusal_count; i++) {
        WIO_TRY(source_of(attempts, &waits->refusals[i], &sources[i]));
        different += !is_repeated(sources, waits, i);
    }
    for (uint32_t i = 0; i < waits->refusal_count; i++) {
        struct wio_exact_pair *pair = NULL;
        if (is_repeated(sources, waits, i)) {
            continue;
        }
        struct asking at = {victim, waits->refusal_at[i]};
        WIO_TRY(add_blocker(exact, attempts, at, &waits->refusals[i], &waits->refused, &pair));
        pair->aborts++;
        pair->deadlocks += waits->is_deadlock;
        pair->wasted_s += seconds(attempt->end_ns - attempt->begin_ns) / different;
        pair->wasted_bytes += attempt->bytes / different;
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
    return row->queue_s + row->lock_s + row->storage_s + row->run_s + row->network_s;
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
