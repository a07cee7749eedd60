/* SPDX-License-Identifier: Apache-2.0 */
/* What a shard, and each of its tenants, has counted: for metrics. Plain data, copied at will. */
#ifndef WIO_ADMIT_COUNTS_H
#define WIO_ADMIT_COUNTS_H

#include <stdint.h>

/* name, text for people and metrics */
#define WIO_ADMIT_REASON_LIST(X)                                                                   \
    X(NONE, "none")                                                                                \
    X(MEMORY, "memory")     /* the cap of the shard */                                             \
    X(QUEUE_TOTAL, "queue") /* the queue of all shards is full */                                  \
    X(QUEUE_POOL, "pool")   /* the queue of its pool is full */                                    \
    X(QUEUE_HALF, "half")   /* its shard, or tenant, fills half of the queue */                    \
    X(TIMEOUT, "timeout")   /* it would not be done in its own time */                             \
    X(TENANT, "tenant")     /* its tenant has its share of the queue */                            \
    X(CREDIT, "credit")     /* it was sent without credit, in overload */                          \
    X(RATE, "rate")         /* its rule of policy tbf would let it pass too late */                \
    X(EXPIRED, "expired")   /* accepted, and its time ended in the queue */

enum wio_admit_reason {
#define WIO_ADMIT_REASON_ENUM(name, text) WIO_ADMIT_REASON_##name,
    WIO_ADMIT_REASON_LIST(WIO_ADMIT_REASON_ENUM)
#undef WIO_ADMIT_REASON_ENUM
        WIO_ADMIT_REASON_COUNT
};

/* Bucket i counts times below 2^(i + 8) ns, the last one all above. */
#define WIO_ADMIT_BUCKETS 32
#define WIO_ADMIT_FIRST_BITS 8

struct wio_admit_histogram {
    uint32_t buckets[WIO_ADMIT_BUCKETS]; /* stop at UINT32_MAX */
    uint64_t sum_ns;
};

/* arrived = accepted + all refused; accepted = done + expired + cancelled + waiting + running. */
struct wio_admit_counts {
    uint64_t arrived;
    uint64_t accepted;
    uint64_t refused[WIO_ADMIT_REASON_COUNT]; /* by reason; [NONE] and [EXPIRED] stay 0 */
    uint64_t expired;
    uint64_t cancelled;
    uint64_t done;
    uint64_t bytes;           /* of what is done */
    uint64_t retries;         /* arrived with a ticket that holds */
    uint64_t tickets_refused; /* forged, stale, of another request: count as new */
    uint64_t must;            /* arrived that must not be refused */
    uint64_t must_refused;    /* ... beyond what was booked */
    uint64_t pushes;          /* windows granted without a request to answer */
    struct wio_admit_histogram wait;
    struct wio_admit_histogram service;
    struct wio_admit_histogram wait_error;    /* |predicted - waited| */
    struct wio_admit_histogram service_error; /* |estimated - served| */
};

/* "memory", "queue", ...; never NULL. */
const char *wio_admit_reason_name(enum wio_admit_reason reason);
/* The same in words, to follow "refused: "; never NULL. */
const char *wio_admit_reason_text(enum wio_admit_reason reason);

static inline void wio_admit_histogram_add(struct wio_admit_histogram *histogram, uint64_t ns)
{
    unsigned bits = ns == 0 ? 0 : 64 - (unsigned)__builtin_clzll(ns);
    unsigned i = bits > WIO_ADMIT_FIRST_BITS ? bits - WIO_ADMIT_FIRST_BITS : 0;
    uint32_t *bucket = &histogram->buckets[i < WIO_ADMIT_BUCKETS ? i : WIO_ADMIT_BUCKETS - 1];
    *bucket += *bucket < UINT32_MAX;
    histogram->sum_ns += ns;
}

/* Upper bound of the bucket that holds the share `part` (0 to 1); 0 where nothing was counted. */
uint64_t wio_admit_histogram_part(const struct wio_admit_histogram *histogram, double part);
uint64_t wio_admit_refused(const struct wio_admit_counts *counts);

#endif
