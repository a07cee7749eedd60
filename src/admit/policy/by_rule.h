/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait by the rule (rules.h) that they match, each rule's in order of arrival: what
 * tbf and mclock have in common. Rules change while requests wait: those are matched again. */
#ifndef WIO_ADMIT_POLICY_BY_RULE_H
#define WIO_ADMIT_POLICY_BY_RULE_H

#include "admit/shard.h"

#define WIO_BY_RULE_QUEUES (WIO_RULES_MAX + 1) /* the last is for what matches none */

struct wio_by_rule_queue {
    struct wio_entry_list list;
    uint32_t count;
    double queued_ns; /* that its rates need for it */
};

struct wio_by_rule {
    struct wio_by_rule_queue queues[WIO_BY_RULE_QUEUES];
    uint32_t version; /* of the rules that the entries were matched with */
};

void wio_by_rule_init(struct wio_by_rule *by, const struct wio_rules *rules);
bool wio_by_rule_is_stale(const struct wio_by_rule *by, const struct wio_admit *shard);

/* The queue that a request comes into; of what matches no rule, and while the rules are newer than
 * the queues, the last one. */
uint32_t wio_by_rule_find(const struct wio_by_rule *by, const struct wio_admit *shard,
                          const struct wio_arrival *arrival);
/* The entry waits: in which queue. */
uint32_t wio_by_rule_push(struct wio_by_rule *by, struct wio_admit *shard, uint32_t entry);
/* The first of the queue, which must have one, waits no more. */
uint32_t wio_by_rule_shift(struct wio_by_rule *by, struct wio_admit *shard, uint32_t queue);
static inline bool wio_by_rule_is_empty(const struct wio_by_rule *by, uint32_t queue)
{
    return by->queues[queue].list.head == WIO_NO_INDEX;
}
static inline const struct wio_admit_entry *
wio_by_rule_first(const struct wio_by_rule *by, const struct wio_admit *shard, uint32_t queue)
{
    return wio_entries_at(&shard->entries, by->queues[queue].list.head);
}

/* All that waits is taken out; then `push` for each, in the order of its ids, by the new rules. */
void wio_by_rule_again(struct wio_by_rule *by, struct wio_admit *shard,
                       void (*push)(struct wio_admit *shard, uint32_t entry));

/* Until the rates of its rule let a request pass that comes now. */
uint64_t wio_by_rule_wait_ns(const struct wio_by_rule *by, const struct wio_admit *shard,
                             const struct wio_arrival *arrival);

#endif
