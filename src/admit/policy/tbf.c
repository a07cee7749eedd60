/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tbf: token buckets. Each rule (rules.h) has a queue in order of arrival; the rule whose next
 * request may pass first is served first. What matches no rule passes at once. Rules change while
 * requests wait: those are matched again.
 */
#include "admit/heap.h"
#include "admit/limits.h"
#include "admit/policy/by_rule.h"
#include "base/cleanup.h"

struct wio_tbf {
    struct wio_by_rule by;
    struct wio_admit_heap due; /* queues with something, by the time of the next */
    uint64_t turns;            /* orders queues of one time */
};

static enum wio_status open_tbf(struct wio_admit *shard)
{
    struct wio_tbf *tbf = wio_alloc_array(&shard->alloc, 1, sizeof(*tbf));
    if (tbf == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = wio_admit_heap_init(&tbf->due, &shard->alloc, WIO_BY_RULE_QUEUES);
    if (status != WIO_OK) {
        shard->alloc.put(shard->alloc.context, tbf);
        return status;
    }
    wio_by_rule_init(&tbf->by, &shard->total->rules);
    shard->state = tbf;
    return WIO_OK;
}

static void close_tbf(struct wio_admit *shard)
{
    struct wio_tbf *tbf = shard->state;
    wio_admit_heap_fini(&tbf->due);
    shard->alloc.put(shard->alloc.context, tbf);
}

static uint64_t due_ns(const struct wio_rules *rules, uint32_t queue, uint64_t now_ns)
{
    return queue < rules->count ? wio_rules_when_ns(rules, queue, now_ns) : now_ns;
}

static void enqueue(struct wio_admit *shard, uint32_t entry)
{
    struct wio_tbf *tbf = shard->state;
    const uint64_t arrived_ns = wio_entries_at(&shard->entries, entry)->arrived_ns;
    const uint32_t i = wio_by_rule_push(&tbf->by, shard, entry);
    if (tbf->by.queues[i].count == 1) {
        wio_admit_heap_add(&tbf->due, due_ns(&shard->total->rules, i, arrived_ns), tbf->turns++, i);
    }
}

static void match_again(struct wio_admit *shard)
{
    struct wio_tbf *tbf = shard->state;
    if (wio_by_rule_is_stale(&tbf->by, shard)) {
        tbf->due.count = 0;
        wio_by_rule_again(&tbf->by, shard, enqueue);
    }
}

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    match_again(shard);
    enqueue(shard, entry);
    return WIO_OK;
}

/* The queue goes back into the order, at the time of its next request. */
static void requeue(struct wio_admit *shard, uint32_t i, uint64_t now_ns)
{
    struct wio_tbf *tbf = shard->state;
    if (!wio_by_rule_is_empty(&tbf->by, i)) {
        uint64_t at_ns = due_ns(&shard->total->rules, i, now_ns);
        wio_admit_heap_add(&tbf->due, at_ns, tbf->turns++, i);
    }
}

/* Tokens are taken for what is run, not for what has expired. */
static bool may_pass(struct wio_admit *shard, uint32_t i, uint64_t now_ns)
{
    const struct wio_tbf *tbf = shard->state;
    struct wio_rules *rules = &shard->total->rules;
    const struct wio_admit_entry *item = wio_by_rule_first(&tbf->by, shard, i);
    return i >= rules->count || now_ns >= item->deadline_ns ||
           wio_rules_take(rules, i, item->bytes, now_ns);
}

static uint32_t pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    struct wio_tbf *tbf = shard->state;
    match_again(shard);
    while (tbf->due.count > 0 && (is_forced || tbf->due.nodes[0].major <= now_ns)) {
        uint32_t i = wio_admit_heap_take(&tbf->due);
        if (!is_forced && !may_pass(shard, i, now_ns)) {
            requeue(shard, i, now_ns); /* another shard has taken the tokens */
            continue;
        }
        uint32_t entry = wio_by_rule_shift(&tbf->by, shard, i);
        requeue(shard, i, now_ns);
        return entry;
    }
    return WIO_NO_INDEX;
}

static enum wio_admit_reason judge(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    const struct wio_tbf *tbf = shard->state;
    enum wio_admit_reason reason = wio_limit_total(shard);
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_half(shard, arrival);
    }
    /* Half of its time: the rest is for what the prediction does not know. */
    if (reason == WIO_ADMIT_REASON_NONE &&
        wio_by_rule_wait_ns(&tbf->by, shard, arrival) > arrival->remaining_ns / 2) {
        reason = WIO_ADMIT_REASON_RATE;
    }
    return reason;
}

static uint64_t hint_ns(const struct wio_admit *shard, const struct wio_arrival *arrival,
                        enum wio_admit_reason reason)
{
    const struct wio_tbf *tbf = shard->state;
    uint64_t rule_ns = wio_by_rule_wait_ns(&tbf->by, shard, arrival);
    return reason == WIO_ADMIT_REASON_RATE ? rule_ns : arrival->wait_ns + arrival->cost_ns;
}

static uint64_t wake_ns(const struct wio_admit *shard)
{
    const struct wio_tbf *tbf = shard->state;
    return tbf->due.count > 0 ? tbf->due.nodes[0].major : WIO_ADMIT_NEVER;
}

const struct wio_admit_policy wio_policy_tbf = {
    .drops_expired = true,
    .holds_back = true,
    .open = open_tbf,
    .close = close_tbf,
    .judge = judge,
    .push = push,
    .pop = pop,
    .hint_ns = hint_ns,
    .wake_ns = wake_ns,
};
