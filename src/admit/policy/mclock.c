/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mclock (Gulati, Merchant, Varman, OSDI 2010): each rule (rules.h) has a reservation, a limit and
 * a weight. A rule whose reservation is due is served first, the one that is due for longest before
 * others. While none is, rules within their limits share what is left by weights, in measured cost:
 * the one with the smallest tag is next. What is served by a reservation moves the tag, too, and
 * what is served by weight takes nothing of the reservation. What matches no rule has weight 1.
 *
 * Tags are those of the first request of each rule; the paper gives them to all at their arrival,
 * and corrects them. Reservations and limits hold for all shards of a total, weights in a shard.
 */
#include "admit/limits.h"
#include "admit/policy/by_rule.h"
#include "base/cleanup.h"

struct wio_mclock {
    struct wio_by_rule by;
    double tags_ns[WIO_BY_RULE_QUEUES];  /* cost over weight that the rule has had */
    double now_ns;                       /* tag of the last that was served by weight */
    uint32_t active[WIO_BY_RULE_QUEUES]; /* queues with something */
    uint32_t active_count;
};

static enum wio_status open_mclock(struct wio_admit *shard)
{
    struct wio_mclock *mclock = wio_alloc_array(&shard->alloc, 1, sizeof(*mclock));
    if (mclock == NULL) {
        return WIO_ERR_NOMEM;
    }
    *mclock = (struct wio_mclock){.active_count = 0};
    wio_by_rule_init(&mclock->by, &shard->total->rules);
    shard->state = mclock;
    return WIO_OK;
}

static void close_mclock(struct wio_admit *shard)
{
    shard->alloc.put(shard->alloc.context, shard->state);
}

static double weight_of(const struct wio_rules *rules, uint32_t queue)
{
    return queue < rules->count && rules->rules[queue].weight > 0 ? rules->rules[queue].weight : 1;
}

static void enqueue(struct wio_admit *shard, uint32_t entry)
{
    struct wio_mclock *mclock = shard->state;
    const uint32_t i = wio_by_rule_push(&mclock->by, shard, entry);
    if (mclock->by.queues[i].count == 1) { /* what it did not use before is not kept for it */
        mclock->active[mclock->active_count++] = i;
        mclock->tags_ns[i] =
            mclock->tags_ns[i] > mclock->now_ns ? mclock->tags_ns[i] : mclock->now_ns;
    }
}

static void match_again(struct wio_admit *shard)
{
    struct wio_mclock *mclock = shard->state;
    if (!wio_by_rule_is_stale(&mclock->by, shard)) {
        return;
    }
    mclock->active_count = 0;
    for (uint32_t i = 0; i < WIO_BY_RULE_QUEUES; i++) {
        mclock->tags_ns[i] = mclock->now_ns;
    }
    wio_by_rule_again(&mclock->by, shard, enqueue);
}

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    match_again(shard);
    enqueue(shard, entry);
    return WIO_OK;
}

/* Of the queue at this place of `active`. */
static uint32_t take(struct wio_admit *shard, uint32_t at)
{
    struct wio_mclock *mclock = shard->state;
    const uint32_t i = mclock->active[at];
    const uint32_t entry = wio_by_rule_shift(&mclock->by, shard, i);
    if (wio_by_rule_is_empty(&mclock->by, i)) {
        mclock->active[at] = mclock->active[--mclock->active_count];
    }
    return entry;
}

/* The place in `active` of a queue whose first request has expired: it is not run. */
static uint32_t find_expired(const struct wio_admit *shard, uint64_t now_ns)
{
    const struct wio_mclock *mclock = shard->state;
    for (uint32_t at = 0; at < mclock->active_count; at++) {
        if (wio_by_rule_first(&mclock->by, shard, mclock->active[at])->deadline_ns <= now_ns) {
            return at;
        }
    }
    return WIO_NO_INDEX;
}

static uint64_t reserved_ns(const struct wio_admit *shard, uint32_t queue)
{
    const struct wio_mclock *mclock = shard->state;
    const struct wio_rules *rules = &shard->total->rules;
    return queue < rules->count
               ? wio_rules_reserved_ns(rules, queue,
                                       wio_by_rule_first(&mclock->by, shard, queue)->arrived_ns)
               : WIO_ADMIT_NEVER;
}

static uint64_t limit_ns(const struct wio_admit *shard, uint32_t queue, uint64_t now_ns)
{
    const struct wio_rules *rules = &shard->total->rules;
    return queue < rules->count ? wio_rules_when_ns(rules, queue, now_ns) : now_ns;
}

/* The rule whose reservation has been due for longest. */
static uint32_t find_reserved(const struct wio_admit *shard, uint64_t now_ns)
{
    const struct wio_mclock *mclock = shard->state;
    uint32_t found = WIO_NO_INDEX;
    uint64_t least_ns = now_ns;
    for (uint32_t at = 0; at < mclock->active_count; at++) {
        const uint64_t due_ns = reserved_ns(shard, mclock->active[at]);
        if (due_ns <= now_ns && (found == WIO_NO_INDEX || due_ns < least_ns)) {
            found = at;
            least_ns = due_ns;
        }
    }
    return found;
}

/* The smallest tag of those within their limits; forced: of all. */
static uint32_t find_by_weight(const struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    const struct wio_mclock *mclock = shard->state;
    uint32_t found = WIO_NO_INDEX;
    for (uint32_t at = 0; at < mclock->active_count; at++) {
        const uint32_t i = mclock->active[at];
        const bool may_run = is_forced || limit_ns(shard, i, now_ns) <= now_ns;
        if (may_run && (found == WIO_NO_INDEX ||
                        mclock->tags_ns[i] < mclock->tags_ns[mclock->active[found]])) {
            found = at;
        }
    }
    return found;
}

/* Tags move for what is run, not for what has expired. */
static void move_tag(struct wio_admit *shard, uint32_t queue)
{
    struct wio_mclock *mclock = shard->state;
    const double cost_ns = wio_by_rule_first(&mclock->by, shard, queue)->cost_ns;
    mclock->tags_ns[queue] += cost_ns / weight_of(&shard->total->rules, queue);
}

/* False: another shard was first. A reservation is served whatever the limit; it counts for it. */
static bool charge_reserved(struct wio_admit *shard, uint32_t queue, uint64_t now_ns)
{
    const struct wio_mclock *mclock = shard->state;
    const struct wio_admit_entry *item = wio_by_rule_first(&mclock->by, shard, queue);
    struct wio_rules *rules = &shard->total->rules;
    if (!wio_rules_take_reserved(rules, queue, item->arrived_ns, now_ns)) {
        return false;
    }
    wio_rules_charge(rules, queue, item->bytes, now_ns);
    move_tag(shard, queue);
    return true;
}

static bool charge_weight(struct wio_admit *shard, uint32_t queue, uint64_t now_ns)
{
    struct wio_mclock *mclock = shard->state;
    struct wio_rules *rules = &shard->total->rules;
    const struct wio_admit_entry *item = wio_by_rule_first(&mclock->by, shard, queue);
    if (queue < rules->count && !wio_rules_take(rules, queue, item->bytes, now_ns)) {
        return false;
    }
    mclock->now_ns = mclock->tags_ns[queue];
    move_tag(shard, queue);
    return true;
}

/* To wait in the queues of another policy: in the order of the tags. */
static uint32_t pop_forced(struct wio_admit *shard, uint64_t now_ns)
{
    const struct wio_mclock *mclock = shard->state;
    const uint32_t at = find_by_weight(shard, now_ns, true);
    if (at == WIO_NO_INDEX) {
        return WIO_NO_INDEX;
    }
    move_tag(shard, mclock->active[at]);
    return take(shard, at);
}

static uint32_t pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    const struct wio_mclock *mclock = shard->state;
    match_again(shard);
    if (is_forced) {
        return pop_forced(shard, now_ns);
    }
    uint32_t at = find_expired(shard, now_ns);
    if (at != WIO_NO_INDEX) {
        return take(shard, at);
    }
    while ((at = find_reserved(shard, now_ns)) != WIO_NO_INDEX) {
        if (charge_reserved(shard, mclock->active[at], now_ns)) {
            return take(shard, at);
        }
    }
    while ((at = find_by_weight(shard, now_ns, false)) != WIO_NO_INDEX) {
        if (charge_weight(shard, mclock->active[at], now_ns)) {
            return take(shard, at);
        }
    }
    return WIO_NO_INDEX;
}

static uint64_t wake_ns(const struct wio_admit *shard)
{
    const struct wio_mclock *mclock = shard->state;
    uint64_t wake_ns = WIO_ADMIT_NEVER;
    if (wio_by_rule_is_stale(&mclock->by, shard) && mclock->active_count > 0) {
        return 0;
    }
    for (uint32_t at = 0; at < mclock->active_count; at++) {
        const uint32_t i = mclock->active[at];
        const uint64_t limit = limit_ns(shard, i, 0);
        const uint64_t reserved = reserved_ns(shard, i);
        wake_ns = limit < wake_ns ? limit : wake_ns;
        wake_ns = reserved < wake_ns ? reserved : wake_ns;
    }
    return wake_ns;
}

/* No rule fills more of the queue than what is free: a flood leaves room for reservations. */
static enum wio_admit_reason limit_rule(const struct wio_admit *shard,
                                        const struct wio_arrival *arrival)
{
    const struct wio_mclock *mclock = shard->state;
    const uint32_t own = mclock->by.queues[wio_by_rule_find(&mclock->by, shard, arrival)].count;
    const uint32_t queued = wio_total_queued(shard->total);
    const uint32_t room = shard->settings->queue_total;
    return queued < room && own < room - queued ? WIO_ADMIT_REASON_NONE : WIO_ADMIT_REASON_TENANT;
}

static enum wio_admit_reason judge(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    const struct wio_mclock *mclock = shard->state;
    enum wio_admit_reason reason = wio_limit_total(shard);
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_half(shard, arrival);
    }
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = limit_rule(shard, arrival);
    }
    if (reason == WIO_ADMIT_REASON_NONE &&
        wio_by_rule_wait_ns(&mclock->by, shard, arrival) > arrival->remaining_ns / 2) {
        reason = WIO_ADMIT_REASON_RATE;
    }
    return reason;
}

static uint64_t hint_ns(const struct wio_admit *shard, const struct wio_arrival *arrival,
                        enum wio_admit_reason reason)
{
    const struct wio_mclock *mclock = shard->state;
    return reason == WIO_ADMIT_REASON_RATE ? wio_by_rule_wait_ns(&mclock->by, shard, arrival)
                                           : arrival->wait_ns + arrival->cost_ns;
}

const struct wio_admit_policy wio_policy_mclock = {
    .drops_expired = true,
    .holds_back = true,
    .open = open_mclock,
    .close = close_mclock,
    .judge = judge,
    .push = push,
    .pop = pop,
    .hint_ns = hint_ns,
    .wake_ns = wake_ns,
};
