/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tbf: token buckets. Each rule (rules.h) has a queue in order of arrival; the rule whose next
 * request may pass first is served first. What matches no rule passes at once. Rules change while
 * requests wait: those are matched again.
 */
#include <math.h>

#include "admit/heap.h"
#include "admit/limits.h"
#include "base/cleanup.h"

#define QUEUES (WIO_RULES_MAX + 1) /* the last is for what matches none */

struct wio_tbf_queue {
    struct wio_entry_list list;
    double queued_ns; /* that its rates need for all that waits */
};

struct wio_tbf {
    struct wio_tbf_queue queues[QUEUES];
    struct wio_admit_heap due; /* queues with something, by the time of the next */
    uint64_t turns;            /* orders queues of one time */
    uint32_t version;          /* of the rules that the entries were matched with */
};

static enum wio_status open_tbf(struct wio_admit *shard)
{
    struct wio_tbf *tbf = wio_alloc_array(&shard->alloc, 1, sizeof(*tbf));
    if (tbf == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = wio_admit_heap_init(&tbf->due, &shard->alloc, QUEUES);
    if (status != WIO_OK) {
        shard->alloc.put(shard->alloc.context, tbf);
        return status;
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        tbf->queues[i].list = WIO_ENTRY_LIST;
    }
    tbf->version = shard->total->rules.version;
    shard->state = tbf;
    return WIO_OK;
}

static void close_tbf(struct wio_admit *shard)
{
    struct wio_tbf *tbf = shard->state;
    wio_admit_heap_fini(&tbf->due);
    shard->alloc.put(shard->alloc.context, tbf);
}

/* Index of a queue for what wio_rules_match gives. */
static uint32_t queue_of(const struct wio_rules *rules, uint32_t rule)
{
    return rule < rules->count ? rule : QUEUES - 1;
}

static uint64_t due_ns(const struct wio_rules *rules, uint32_t queue, uint64_t now_ns)
{
    return queue < rules->count ? wio_rules_when_ns(rules, queue, now_ns) : now_ns;
}

static double cost_ns(const struct wio_rules *rules, uint32_t queue, uint64_t bytes)
{
    return queue < rules->count ? wio_rules_cost_ns(&rules->rules[queue], bytes) : 0;
}

static void enqueue(struct wio_admit *shard, uint32_t entry)
{
    struct wio_tbf *tbf = shard->state;
    const struct wio_rules *rules = &shard->total->rules;
    const struct wio_admit_entry *item = wio_entries_at(&shard->entries, entry);
    uint32_t i =
        queue_of(rules, wio_rules_match(rules, item->rule_job, item->rule_uid, item->operation));
    struct wio_tbf_queue *queue = &tbf->queues[i];
    if (queue->list.head == WIO_NO_INDEX) {
        wio_admit_heap_add(&tbf->due, due_ns(rules, i, item->arrived_ns), tbf->turns++, i);
    }
    queue->queued_ns += cost_ns(rules, i, item->bytes);
    wio_entry_append(&shard->entries, &queue->list, entry);
}

/* All that waits, in the order of its ids, into queues of the rules as they are now. */
static void match_again(struct wio_admit *shard)
{
    struct wio_tbf *tbf = shard->state;
    struct wio_entry_list all[QUEUES];
    for (unsigned i = 0; i < QUEUES; i++) {
        all[i] = tbf->queues[i].list;
        tbf->queues[i] = (struct wio_tbf_queue){.list = WIO_ENTRY_LIST};
    }
    tbf->due.count = 0;
    tbf->version = shard->total->rules.version;
    for (;;) {
        unsigned oldest = QUEUES;
        for (unsigned i = 0; i < QUEUES; i++) {
            if (all[i].head != WIO_NO_INDEX &&
                (oldest == QUEUES || wio_entries_at(&shard->entries, all[i].head)->id <
                                         wio_entries_at(&shard->entries, all[oldest].head)->id)) {
                oldest = i;
            }
        }
        if (oldest == QUEUES) {
            return;
        }
        enqueue(shard, wio_entry_shift(&shard->entries, &all[oldest]));
    }
}

static enum wio_status push(struct wio_admit *shard, uint32_t entry)
{
    const struct wio_tbf *tbf = shard->state;
    if (tbf->version != shard->total->rules.version) {
        match_again(shard);
    }
    enqueue(shard, entry);
    return WIO_OK;
}

/* The queue goes back into the order, at the time of its next request. */
static void requeue(struct wio_admit *shard, uint32_t i, uint64_t now_ns)
{
    struct wio_tbf *tbf = shard->state;
    if (tbf->queues[i].list.head != WIO_NO_INDEX) {
        uint64_t at_ns = due_ns(&shard->total->rules, i, now_ns);
        wio_admit_heap_add(&tbf->due, at_ns, tbf->turns++, i);
    }
}

static uint32_t take_from(struct wio_admit *shard, uint32_t i)
{
    struct wio_tbf *tbf = shard->state;
    struct wio_tbf_queue *queue = &tbf->queues[i];
    uint32_t entry = wio_entry_shift(&shard->entries, &queue->list);
    uint64_t bytes = wio_entries_at(&shard->entries, entry)->bytes;
    queue->queued_ns = queue->list.head == WIO_NO_INDEX
                           ? 0
                           : fmax(queue->queued_ns - cost_ns(&shard->total->rules, i, bytes), 0);
    return entry;
}

/* Tokens are taken for what is run, not for what has expired. */
static bool may_pass(struct wio_admit *shard, uint32_t i, uint64_t now_ns)
{
    struct wio_tbf *tbf = shard->state;
    struct wio_rules *rules = &shard->total->rules;
    const struct wio_admit_entry *item = wio_entries_at(&shard->entries, tbf->queues[i].list.head);
    return i >= rules->count || now_ns >= item->deadline_ns ||
           wio_rules_take(rules, i, item->bytes, now_ns);
}

static uint32_t pop(struct wio_admit *shard, uint64_t now_ns, bool is_forced)
{
    struct wio_tbf *tbf = shard->state;
    if (tbf->version != shard->total->rules.version) {
        match_again(shard);
    }
    while (tbf->due.count > 0 && (is_forced || tbf->due.nodes[0].major <= now_ns)) {
        uint32_t i = wio_admit_heap_take(&tbf->due);
        if (!is_forced && !may_pass(shard, i, now_ns)) {
            requeue(shard, i, now_ns); /* another shard has taken the tokens */
            continue;
        }
        uint32_t entry = take_from(shard, i);
        requeue(shard, i, now_ns);
        return entry;
    }
    return WIO_NO_INDEX;
}

static uint64_t rule_wait_ns(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    const struct wio_tbf *tbf = shard->state;
    const struct wio_rules *rules = &shard->total->rules;
    const struct wio_admit_request *request = arrival->request;
    uint32_t rule = wio_rules_match(rules, request->job, request->uid, arrival->operation);
    if (rule == rules->count || tbf->version != rules->version) {
        return 0;
    }
    double queued_ns = fmin(tbf->queues[rule].queued_ns, 1e18);
    return wio_rules_when_ns(rules, rule, arrival->now_ns) - arrival->now_ns + (uint64_t)queued_ns;
}

static enum wio_admit_reason judge(const struct wio_admit *shard, const struct wio_arrival *arrival)
{
    enum wio_admit_reason reason = wio_limit_total(shard);
    if (reason == WIO_ADMIT_REASON_NONE) {
        reason = wio_limit_half(shard, arrival);
    }
    /* Half of its time: the rest is for what the prediction does not know. */
    if (reason == WIO_ADMIT_REASON_NONE &&
        rule_wait_ns(shard, arrival) > arrival->remaining_ns / 2) {
        reason = WIO_ADMIT_REASON_RATE;
    }
    return reason;
}

static uint64_t hint_ns(const struct wio_admit *shard, const struct wio_arrival *arrival,
                        enum wio_admit_reason reason)
{
    uint64_t rule_ns = rule_wait_ns(shard, arrival);
    return reason == WIO_ADMIT_REASON_RATE ? rule_ns : arrival->wait_ns + arrival->cost_ns;
}

static uint64_t wake_ns(const struct wio_admit *shard)
{
    const struct wio_tbf *tbf = shard->state;
    return tbf->due.count > 0 ? tbf->due.nodes[0].major : WIO_ADMIT_NEVER;
}

const struct wio_admit_policy wio_policy_tbf = {
    .drops_expired = true,
    .open = open_tbf,
    .close = close_tbf,
    .judge = judge,
    .push = push,
    .pop = pop,
    .hint_ns = hint_ns,
    .wake_ns = wake_ns,
};
