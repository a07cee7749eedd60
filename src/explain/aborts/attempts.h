/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts of transactions while rows of a trace come: which is active at which server, with which
 * bytes, and which servers refused it. An attempt that is over is handed out once, with the others
 * that were active beside it, and is kept as long as an older one is still active.
 *
 * Memory grows with what is active at the same time, not with the length of the trace: of the
 * attempts that are over, the last WIO_ATTEMPTS_KEPT are kept at most (`forgotten` counts the
 * others that were still wanted) and WIO_ATTEMPTS_OPEN that are not, of the bytes of an attempt at
 * a server the first WIO_ATTEMPT_RANGES, adjacent ones joined; behind these the last one of a
 * segment holds all further ones.
 */
#ifndef WIO_EXPLAIN_ABORTS_ATTEMPTS_H
#define WIO_EXPLAIN_ABORTS_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/map.h"
#include "explain/aborts/sources.h"
#include "explain/whatif/replays.h"
#include "trace/txn/txn.h"

#define WIO_ATTEMPTS_KEPT 8192u
#define WIO_ATTEMPTS_OPEN 32768u
/* Servers of one attempt: the store has 256 at most. */
#define WIO_ATTEMPT_PARTS 256u
#define WIO_ATTEMPT_RANGES 16u

/* Why a server counts as one that refused (the classic analysis' R(T)). */
enum wio_refusal {
    WIO_REFUSAL_NONE,
    WIO_REFUSAL_LOCK,   /* refused by the lock manager, or a vote of no */
    WIO_REFUSAL_WOUND,  /* a lock of this server wounded the attempt */
    WIO_REFUSAL_BUSY,   /* EBUSY, or a deadline that could not be met */
    WIO_REFUSAL_SILENT, /* no answer within the client's time-out */
    WIO_REFUSALS
};

struct wio_attempt_range {
    struct wio_txn_range range;
    uint64_t touched; /* bytes of it that were read or written, from its begin; all until the first
                         answer tells */
    uint8_t mode;     /* of the lock */
    bool is_answered;
};

/* An attempt at one server. */
struct wio_attempt_part {
    uint32_t server; /* index of wio_attempts_server */
    uint32_t place;  /* in the server's list of active ones; UINT32_MAX: in none */
    uint64_t first_ns;
    uint64_t last_ns; /* of its release; UINT64_MAX: not yet */
    struct wio_attempt_range *ranges;
    uint32_t range_count;
    uint32_t range_capacity;
    bool has_lost_ranges; /* of segments of which none is known */
    bool is_told;         /* by the server; else by the client alone, and active until its END */
    enum wio_refusal refusal;
};

/* A request that waits for locks, as its ARRIVE told. */
struct wio_attempt_wait {
    struct wio_txn_range range;
    uint64_t from_ns;
    uint32_t server;
    uint32_t count; /* of blockers */
    struct wio_txn_name blockers[WIO_TXN_BLOCKERS];
    uint32_t origins[WIO_TXN_BLOCKERS];
    uint32_t chain; /* waits behind this one at its begin, and the source at their end */
    uint32_t chain_root;
    bool is_over; /* it has its locks, and waits for the log */
};

/* Of an attempt so many requests that wait at the same time are known. */
#define WIO_ATTEMPT_WAITS 4u
#define WIO_ATTEMPT_REFUSALS 256u

/* What refused or wounded an attempt, before it was over at any server: what comes later is no
 * cause of it. */
struct wio_attempt_refusal {
    struct wio_txn_blocker blocker;
    struct wio_txn_range asked; /* by the attempt; to = 0: nothing, it was wounded */
    uint32_t server;
    bool is_wound;
    /* by exact.c, at that moment */
    bool is_judged;
    uint8_t conflict;
    uint32_t source; /* of the blocker */
    uint32_t chain;
    uint32_t chain_root;
};

/* What stood in the way of an attempt. */
struct wio_attempt_waits {
    struct wio_attempt_wait now[WIO_ATTEMPT_WAITS];
    uint32_t now_count;
    bool is_deadlock; /* a wait closed a cycle of waits */
    /* of all servers together; WIO_ATTEMPT_REFUSALS at most */
    struct wio_attempt_refusal *refusals;
    uint32_t refusal_count;
    uint32_t refusal_capacity;
};

/* Of the requests of an attempt so many are known by time. */
#define WIO_ATTEMPT_SPANS 8u
struct wio_attempt_span {
    uint64_t from_ns;
    uint64_t to_ns;
};

struct wio_attempt {
    struct wio_txn_name name;
    struct wio_abort_source source;
    uint32_t line_index;   /* the same without files */
    uint32_t source_index; /* WIO_NO_SOURCE: not looked for since the source changed */
    uint64_t last_file;
    uint64_t begin_ns;
    uint64_t end_ns; /* UINT64_MAX: not over */
    struct wio_attempt_part *parts;
    uint32_t part_count;
    uint32_t part_capacity;
    uint32_t active_parts;
    uint64_t lane_ns;       /* of its time: accounted for by its answers .. */
    uint64_t lane_until_ns; /* .. up to here */
    uint64_t bytes;         /* moved */
    uint64_t used_ns;       /* of servers, for its requests */
    uint64_t wait_ns;       /* for locks */
    bool is_aborted;
    uint64_t aborted_ns;                 /* when the first server said so */
    bool is_present;                     /* presence.h counts it */
    bool has_begun;                      /* its client's BEGIN was seen */
    bool has_ended;                      /* its client's END was seen */
    struct wio_attempt *older, *younger; /* of those not over, by begin; of those over, by end */
    struct wio_attempt *hash_next;
    struct wio_attempt_waits *waits; /* NULL: it never waited and was never refused */
    struct wio_attempt_span served[WIO_ATTEMPT_SPANS]; /* its last requests, in a ring */
    uint32_t served_count;                             /* of all */
};

/* Attempts that are active at a server. */
struct wio_attempt_server {
    uint32_t server; /* of the trace */
    struct wio_attempt **active;
    uint32_t active_count;
    uint32_t active_capacity;
};

struct wio_attempt_list {
    struct wio_attempt *oldest, *youngest;
    size_t count;
};

/* Of aborted attempts that are kept no more the last ones are known by name, each at the place of
 * its transaction: their late rows begin no attempt. */
#define WIO_ATTEMPTS_PAST 65536u
struct wio_attempt_past {
    uint64_t client;
    uint64_t number;
    uint32_t attempt; /* 0: none */
};

struct wio_attempts {
    struct wio_abort_sources *sources;
    struct wio_attempt_server *servers;
    uint32_t server_count;
    uint32_t server_capacity;
    struct wio_map server_index;
    struct wio_attempt **buckets;  /* by name */
    size_t bucket_count;           /* a power of two */
    struct wio_attempt_list open;  /* not over */
    struct wio_attempt_list ended; /* over, and still of use */
    uint64_t forgotten;
    struct wio_attempt *unused;    /* by `younger` */
    struct wio_attempt_past *past; /* WIO_ATTEMPTS_PAST places; NULL: none is over yet */
};

void wio_attempts_init(struct wio_attempts *attempts, struct wio_abort_sources *sources);
void wio_attempts_fini(struct wio_attempts *attempts);

/* The attempt of a row (made where it is new) with what the row says added; *over_out: it is over
 * by this row, else NULL. Rows come in the order of time. What is over is handed back by
 * wio_attempts_retire, after it was looked at. */
WIO_MUST_CHECK enum wio_status wio_attempts_row(struct wio_attempts *attempts,
                                                const struct wio_txn_row *row,
                                                struct wio_attempt **attempt_out,
                                                struct wio_attempt **over_out);
void wio_attempts_retire(struct wio_attempts *attempts, struct wio_attempt *attempt);

/* Index of the attempt's source. */
WIO_MUST_CHECK enum wio_status wio_attempts_source(const struct wio_attempts *attempts,
                                                   struct wio_attempt *attempt,
                                                   uint32_t *source_out);
/* Index of its application and place without its files, which join those of the row: a transaction
 * is the same line while its files are still coming. */
WIO_MUST_CHECK enum wio_status wio_attempts_line(const struct wio_attempts *attempts,
                                                 struct wio_attempt *attempt, uint32_t *line_out);
/* An attempt that is kept, over or not; NULL. */
struct wio_attempt *wio_attempts_find(const struct wio_attempts *attempts,
                                      const struct wio_txn_name *name);
/* Is the row behind the abort of its attempt somewhere? Then nothing of it is a cause or a cost. */
bool wio_attempt_is_late(const struct wio_attempt *attempt, const struct wio_txn_row *row);
/* Is the transaction one of those whose locks refused or wounded the attempt? */
bool wio_attempt_is_refused_by(const struct wio_attempt *attempt, const struct wio_txn_name *name);
/* The wait of its request for these bytes, NULL where there is none. */
struct wio_attempt_wait *wio_attempt_wait_for(const struct wio_attempt *attempt, uint32_t server,
                                              const struct wio_txn_range *range);
/* How long of [from, to) it had no request at a server, counting gaps of WIO_THINK_NS and more: in
 * shorter ones an answer and the next request are on their way. What lies before the last
 * WIO_ATTEMPT_SPANS requests is not known, and not counted. */
uint64_t wio_attempt_idle_ns(const struct wio_attempt *attempt, uint64_t from_ns, uint64_t to_ns);
/* Where the time between an ANSWER and those before it went. Requests that are under way at the
 * same time take the attempt's time once: what an answer accounts for is what lies behind the end
 * of all before, its last parts first. */
struct wio_attempt_lane {
    uint64_t queue_ns;
    uint64_t lock_ns;
    uint64_t storage_ns;
    uint64_t run_ns;
};
struct wio_attempt_lane wio_attempt_take_lane(struct wio_attempt *attempt,
                                              const struct wio_txn_row *row);
/* A row that answers a request ends its wait: after all have looked at it. */
void wio_attempt_end_wait(struct wio_attempt *attempt, uint32_t server,
                          const struct wio_txn_row *row);
/* Its part at a server, NULL where it was never there. */
struct wio_attempt_part *wio_attempt_part_at(const struct wio_attempt *attempt, uint32_t server);
/* Number of the server in the trace. */
uint32_t wio_attempts_server(const struct wio_attempts *attempts, uint32_t server);

/* Do bytes of `a` and `b` overlap in modes that conflict? */
bool wio_attempt_parts_conflict(const struct wio_attempt_part *a, const struct wio_attempt_part *b);
/* Do two locks exclude each other? Shared ones and increments do not among themselves. */
bool wio_attempt_modes_conflict(uint8_t a, uint8_t b);
bool wio_attempt_ranges_overlap(const struct wio_txn_range *a, const struct wio_txn_range *b);

/*
 * Call `look` for each other transaction's attempt that was active at `server` at some time from
 * `attempt`'s begin to its end: those that are not over, and those that are over since.
 */
typedef enum wio_status wio_attempt_look_fn(void *arg, struct wio_attempt *other,
                                            const struct wio_attempt_part *part);
WIO_MUST_CHECK enum wio_status wio_attempts_beside(const struct wio_attempts *attempts,
                                                   const struct wio_attempt *attempt,
                                                   uint32_t server, wio_attempt_look_fn *look,
                                                   void *arg);

#endif
