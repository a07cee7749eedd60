/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/policy/by_rule.h"

#include <math.h>

void wio_by_rule_init(struct wio_by_rule *by, const struct wio_rules *rules)
{
    for (unsigned i = 0; i < WIO_BY_RULE_QUEUES; i++) {
        by->queues[i] = (struct wio_by_rule_queue){.list = WIO_ENTRY_LIST};
    }
    by->version = rules->version;
}

bool wio_by_rule_is_stale(const struct wio_by_rule *by, const struct wio_admit *shard)
{
    return by->version != shard->total->rules.version;
}

static uint32_t queue_of(const struct wio_rules *rules, uint32_t rule)
{
    return rule < rules->count ? rule : WIO_BY_RULE_QUEUES - 1;
}

uint32_t wio_by_rule_find(const struct wio_by_rule *by, const struct wio_admit *shard,
                          const struct wio_arrival *arrival)
{
    const struct wio_rules *rules = &shard->total->rules;
    const struct wio_admit_request *request = arrival->request;
    if (wio_by_rule_is_stale(by, shard)) {
        return WIO_BY_RULE_QUEUES - 1;
    }
    return queue_of(rules, wio_rules_match(rules, request->job, request->uid, arrival->operation));
}

static double rates_ns(const struct wio_rules *rules, uint32_t queue, uint64_t bytes)
{
    return queue < rules->count ? wio_rules_cost_ns(&rules->rules[queue], bytes) : 0;
}

uint32_t wio_by_rule_push(struct wio_by_rule *by, struct wio_admit *shard, uint32_t entry)
{
    const struct wio_rules *rules = &shard->total->rules;
    const struct wio_admit_entry *item = wio_entries_at(&shard->entries, entry);
    uint32_t i =
        queue_of(rules, wio_rules_match(rules, item->rule_job, item->rule_uid, item->operation));
    struct wio_by_rule_queue *queue = &by->queues[i];
    queue->queued_ns += rates_ns(rules, i, item->bytes);
    queue->count++;
    wio_entry_append(&shard->entries, &queue->list, entry);
    return i;
}

uint32_t wio_by_rule_shift(struct wio_by_rule *by, struct wio_admit *shard, uint32_t queue)
{
    struct wio_by_rule_queue *from = &by->queues[queue];
    uint32_t entry = wio_entry_shift(&shard->entries, &from->list);
    const struct wio_admit_entry *item = wio_entries_at(&shard->entries, entry);
    const double rates = rates_ns(&shard->total->rules, queue, item->bytes);
    from->queued_ns = from->count > 1 ? fmax(from->queued_ns - rates, 0) : 0;
    from->count--;
    return entry;
}

/* The list with the oldest first entry; WIO_BY_RULE_QUEUES: all are empty. */
static unsigned oldest_of(const struct wio_admit *shard, const struct wio_entry_list *lists)
{
    unsigned oldest = WIO_BY_RULE_QUEUES;
    for (unsigned i = 0; i < WIO_BY_RULE_QUEUES; i++) {
        if (lists[i].head != WIO_NO_INDEX &&
            (oldest == WIO_BY_RULE_QUEUES ||
             wio_entries_at(&shard->entries, lists[i].head)->id <
                 wio_entries_at(&shard->entries, lists[oldest].head)->id)) {
            oldest = i;
        }
    }
    return oldest;
}

void wio_by_rule_again(struct wio_by_rule *by, struct wio_admit *shard,
                       void (*push)(struct wio_admit *shard, uint32_t entry))
{
    struct wio_entry_list all[WIO_BY_RULE_QUEUES];
    for (unsigned i = 0; i < WIO_BY_RULE_QUEUES; i++) {
        all[i] = by->queues[i].list;
    }
    wio_by_rule_init(by, &shard->total->rules);
    for (unsigned i = oldest_of(shard, all); i < WIO_BY_RULE_QUEUES; i = oldest_of(shard, all)) {
        push(shard, wio_entry_shift(&shard->entries, &all[i]));
    }
}

uint64_t wio_by_rule_wait_ns(const struct wio_by_rule *by, const struct wio_admit *shard,
                             const struct wio_arrival *arrival)
{
    const struct wio_rules *rules = &shard->total->rules;
    const uint32_t queue = wio_by_rule_find(by, shard, arrival);
    if (queue >= rules->count) {
        return 0;
    }
    const double queued_ns = fmin(by->queues[queue].queued_ns, 1e18);
    return wio_rules_when_ns(rules, queue, arrival->now_ns) - arrival->now_ns + (uint64_t)queued_ns;
}
