/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/rules.h"

#include <math.h>
#include <stdatomic.h>

#include "base/cleanup.h"

#define NS_PER_S 1e9
/* The longest debt of a bucket: one request of any size delays others by no more than this. */
#define DEBT_MAX_NS 3.6e12
#define WEIGHT_MAX 1000u

static enum wio_status check(const struct wio_rule *list, uint32_t i, struct wio_error *err)
{
    const struct wio_rule *rule = &list[i];
    bool is_rate = isfinite(rule->ops_per_s) && rule->ops_per_s >= 0 &&
                   isfinite(rule->bytes_per_s) && rule->bytes_per_s >= 0;
    if (!is_rate || !isfinite(rule->burst_s) || rule->burst_s <= 0 || rule->burst_s > 3600) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "rule %u: expected rates of 0 or more and a burst of at most 3600 s",
                             rule->id);
    }
    bool is_less = rule->ops_per_s <= 0 || rule->reserve_per_s <= rule->ops_per_s;
    if (!isfinite(rule->reserve_per_s) || rule->reserve_per_s < 0 || !is_less ||
        rule->weight > WEIGHT_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "rule %u: expected a reservation within the limit, and a weight of at "
                             "most %u",
                             rule->id, WEIGHT_MAX);
    }
    for (uint32_t other = 0; other < i; other++) {
        if (list[other].id == rule->id) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "rule %u: the id is there twice", rule->id);
        }
    }
    return WIO_OK;
}

static uint32_t find(const struct wio_rules *rules, uint32_t id)
{
    uint32_t i = 0;
    while (i < rules->count && rules->rules[i].id != id) {
        i++;
    }
    return i;
}

/* Buckets follow their ids to the new places. */
static void keep_buckets(struct wio_rules *rules, const struct wio_rule *list, uint32_t count)
{
    uint64_t kept[WIO_RULES_MAX][3] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t old = find(rules, list[i].id);
        if (old < rules->count) {
            kept[i][0] = atomic_load(&rules->buckets[old].ops_ns);
            kept[i][1] = atomic_load(&rules->buckets[old].bytes_ns);
            kept[i][2] = atomic_load(&rules->buckets[old].reserved_ns);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        atomic_store(&rules->buckets[i].ops_ns, kept[i][0]);
        atomic_store(&rules->buckets[i].bytes_ns, kept[i][1]);
        atomic_store(&rules->buckets[i].reserved_ns, kept[i][2]);
    }
}

enum wio_status wio_rules_set(struct wio_rules *rules, const struct wio_rule *list, uint32_t count,
                              struct wio_error *err)
{
    if (count > WIO_RULES_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "%u rules, expected at most %u", count, WIO_RULES_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(check(list, i, err));
    }
    keep_buckets(rules, list, count);
    for (uint32_t i = 0; i < count; i++) {
        rules->rules[i] = list[i];
    }
    rules->count = count;
    rules->version++;
    return WIO_OK;
}

static bool is_matched(uint32_t pattern, uint32_t value)
{
    return pattern == WIO_RULE_ANY || pattern == value;
}

uint32_t wio_rules_match(const struct wio_rules *rules, uint32_t job, uint32_t uid,
                         uint32_t operation)
{
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct wio_rule *rule = &rules->rules[i];
        if (is_matched(rule->job, job) && is_matched(rule->uid, uid) &&
            is_matched(rule->operation, operation)) {
            return i;
        }
    }
    return rules->count;
}

static double ops_cost_ns(const struct wio_rule *rule)
{
    return rule->ops_per_s > 0 ? NS_PER_S / rule->ops_per_s : 0;
}

static double bytes_cost_ns(const struct wio_rule *rule, uint64_t bytes)
{
    double cost = rule->bytes_per_s > 0 ? (double)bytes * NS_PER_S / rule->bytes_per_s : 0;
    return fmin(cost, DEBT_MAX_NS);
}

double wio_rules_cost_ns(const struct wio_rule *rule, uint64_t bytes)
{
    return fmax(ops_cost_ns(rule), bytes_cost_ns(rule, bytes));
}

/* A bucket that is full at `full_ns` lets pass when it has anything: it may go into debt by one
 * request, so that a request larger than the burst passes too. */
static uint64_t when(uint64_t full_ns, double burst_s, uint64_t now_ns)
{
    uint64_t burst_ns = (uint64_t)(burst_s * NS_PER_S);
    uint64_t from_ns = full_ns > burst_ns ? full_ns - burst_ns : 0;
    return from_ns > now_ns ? from_ns : now_ns;
}

uint64_t wio_rules_when_ns(const struct wio_rules *rules, uint32_t i, uint64_t now_ns)
{
    const struct wio_rule *rule = &rules->rules[i];
    uint64_t at_ns = now_ns;
    if (rule->ops_per_s > 0) {
        at_ns = when(atomic_load(&rules->buckets[i].ops_ns), rule->burst_s, at_ns);
    }
    if (rule->bytes_per_s > 0) {
        at_ns = when(atomic_load(&rules->buckets[i].bytes_ns), rule->burst_s, at_ns);
    }
    return at_ns;
}

static uint64_t filled_at(uint64_t full_ns, double cost_ns, uint64_t now_ns)
{
    return (full_ns > now_ns ? full_ns : now_ns) + (uint64_t)cost_ns;
}

static bool take_ops(struct wio_rules *rules, uint32_t i, uint64_t now_ns)
{
    const struct wio_rule *rule = &rules->rules[i];
    _Atomic uint64_t *bucket = &rules->buckets[i].ops_ns;
    uint64_t full_ns = atomic_load(bucket);
    do {
        if (rule->ops_per_s > 0 && when(full_ns, rule->burst_s, now_ns) > now_ns) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(bucket, &full_ns,
                                           filled_at(full_ns, ops_cost_ns(rule), now_ns)));
    return true;
}

bool wio_rules_take(struct wio_rules *rules, uint32_t i, uint64_t bytes, uint64_t now_ns)
{
    if (wio_rules_when_ns(rules, i, now_ns) > now_ns || !take_ops(rules, i, now_ns)) {
        return false;
    }
    _Atomic uint64_t *bucket = &rules->buckets[i].bytes_ns;
    double cost_ns = bytes_cost_ns(&rules->rules[i], bytes);
    uint64_t full_ns = atomic_load(bucket);
    while (!atomic_compare_exchange_weak(bucket, &full_ns, filled_at(full_ns, cost_ns, now_ns))) {
    }
    return true;
}

static void charge(_Atomic uint64_t *bucket, double cost_ns, double burst_s, uint64_t now_ns)
{
    const double most_ns = burst_s * NS_PER_S + DEBT_MAX_NS;
    uint64_t full_ns = atomic_load(bucket);
    uint64_t next_ns = 0;
    do {
        next_ns = filled_at(full_ns, cost_ns, now_ns);
        next_ns = (double)(next_ns - now_ns) < most_ns ? next_ns : now_ns + (uint64_t)most_ns;
    } while (!atomic_compare_exchange_weak(bucket, &full_ns, next_ns));
}

void wio_rules_charge(struct wio_rules *rules, uint32_t i, uint64_t bytes, uint64_t now_ns)
{
    const struct wio_rule *rule = &rules->rules[i];
    struct wio_rule_bucket *bucket = &rules->buckets[i];
    charge(&bucket->ops_ns, ops_cost_ns(rule), rule->burst_s, now_ns);
    charge(&bucket->bytes_ns, bytes_cost_ns(rule, bytes), rule->burst_s, now_ns);
}

uint64_t wio_rules_reserved_ns(const struct wio_rules *rules, uint32_t i, uint64_t since_ns)
{
    uint64_t due_ns = atomic_load(&rules->buckets[i].reserved_ns);
    if (rules->rules[i].reserve_per_s <= 0) {
        return UINT64_MAX;
    }
    return due_ns > since_ns ? due_ns : since_ns;
}

bool wio_rules_take_reserved(struct wio_rules *rules, uint32_t i, uint64_t since_ns,
                             uint64_t now_ns)
{
    _Atomic uint64_t *bucket = &rules->buckets[i].reserved_ns;
    uint64_t due_ns = atomic_load(bucket);
    if (rules->rules[i].reserve_per_s <= 0) {
        return false;
    }
    double each_ns = fmin(NS_PER_S / rules->rules[i].reserve_per_s, DEBT_MAX_NS);
    do {
        if (due_ns > now_ns || since_ns > now_ns) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(
        bucket, &due_ns, (due_ns > since_ns ? due_ns : since_ns) + (uint64_t)each_ns));
    return true;
}
