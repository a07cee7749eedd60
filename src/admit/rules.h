/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of policies tbf and mclock, and their token buckets. The first rule that matches a request
 * counts; what matches none is not limited. A bucket is one number, the time at which it is full
 * again (the generic cell rate algorithm, ITU-T I.371), so that shards of several threads share it
 * without a lock: a rule holds for all shards of a total together.
 */
#ifndef WIO_ADMIT_RULES_H
#define WIO_ADMIT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#define WIO_RULES_MAX 256
/* Matches every value. */
#define WIO_RULE_ANY UINT32_MAX

struct wio_rule {
    uint32_t id;        /* the caller's; unique in the list */
    uint32_t job;       /* or WIO_RULE_ANY */
    uint32_t uid;       /* or WIO_RULE_ANY */
    uint32_t operation; /* or WIO_RULE_ANY */
    double ops_per_s;   /* 0: no limit */
    double bytes_per_s; /* 0: no limit */
    double burst_s;     /* seconds of the rate that may pass at once after a rest, > 0 */
    /* Of mclock alone: */
    double reserve_per_s; /* operations that are served before all others; 0: none */
    uint32_t weight;      /* of what is left, 1 to 1000; 0: as 1 */
};

/* Buckets of one rule: theoretical arrival times in nanoseconds. */
struct wio_rule_bucket {
    _Atomic uint64_t ops_ns;
    _Atomic uint64_t bytes_ns;
    _Atomic uint64_t reserved_ns; /* when the next operation of the reservation is due */
};

struct wio_rules {
    uint32_t count;
    uint32_t version; /* grows with each change */
    struct wio_rule rules[WIO_RULES_MAX];
    struct wio_rule_bucket buckets[WIO_RULES_MAX];
};

WIO_MUST_CHECK enum wio_status wio_rules_set(struct wio_rules *rules, const struct wio_rule *list,
                                             uint32_t count, struct wio_error *err);

/* Index of the first rule that matches, or `count` where none does. */
uint32_t wio_rules_match(const struct wio_rules *rules, uint32_t job, uint32_t uid,
                         uint32_t operation);

/* When a request of `bytes` may pass by rule `i`: `now_ns` or later. */
uint64_t wio_rules_when_ns(const struct wio_rules *rules, uint32_t i, uint64_t now_ns);

/* A request passes: take its tokens. false: another shard was first, nothing was taken. */
bool wio_rules_take(struct wio_rules *rules, uint32_t i, uint64_t bytes, uint64_t now_ns);

/* A request has passed whatever the rates say: its tokens are spent. Where there are none, what
 * comes behind it waits for them: up to an hour beyond the burst. */
void wio_rules_charge(struct wio_rules *rules, uint32_t i, uint64_t bytes, uint64_t now_ns);

/* When an operation that came at `since_ns` is due by the reservation; UINT64_MAX: there is none.
 */
uint64_t wio_rules_reserved_ns(const struct wio_rules *rules, uint32_t i, uint64_t since_ns);
/* It is served by it. false: it is not due. */
bool wio_rules_take_reserved(struct wio_rules *rules, uint32_t i, uint64_t since_ns,
                             uint64_t now_ns);

/* Nanoseconds of the rule's rates that an operation of `bytes` takes: the slower of both. */
double wio_rules_cost_ns(const struct wio_rule *rule, uint64_t bytes);

#endif
