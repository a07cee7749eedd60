/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives and waits of the threads of a replay or a prediction, read from the edges that the trace
 * stores: for each stream a list of *acts* in the order of its events.
 *
 *     edge (a, 7) -> (b, 3)      a GIVEs at the begin of its event 8, b TAKEs at its event 3
 *     collective                 givers ENTER at the begin of enter_seq, takers LEAVE at leave_seq
 *     mutex                      no acts but LOCKED, which knows when the trace got the lock
 *                                (of an interpreter's lock: none, the wait lasts as recorded)
 *     file lock got by a try: as the first kind, and so are mutexes had meanwhile (lockset.h)
 *     queue                      PUT at the begin of the releasing event, GET at the waiting one
 *     semaphore that several take from: a queue, where every post PUTs and every wait GETs, also
 *                                those without an edge (semaphore_units.c)
 *     queue whose takers wait for others, too: its edges are as the first kind (queues.c)
 *     call of System V with several operations (semop): atomic. All that it waits for belongs to
 *                                its first event, TAKEs before GETs; GETs of one event are got
 *                                together or not at all
 *
 * An edge begins at the event *before* the releasing call (whyio/edges.h). What is waited for is
 * that the thread comes to the releasing call, the event behind: the computing between the two
 * precedes the release. Only where the event itself releases it gives: at its begin where it leaves
 * a lock, when it is done where it made the file that another thread polled for (GIVE_END).
 *
 * A finished table does not change: processes of a replay inherit it by fork.
 */
#ifndef WIO_SCHEDULE_WAITS_H
#define WIO_SCHEDULE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/edges.h>
#include <whyio/event.h>
#include <whyio/trace.h>

#include "base/map.h"

enum wio_act_kind { /* in the order in which those of one event are done */
                    WIO_ACT_GIVE,
                    WIO_ACT_ENTER,
                    WIO_ACT_PUT,
                    WIO_ACT_POLL,
                    WIO_ACT_TAKE,
                    WIO_ACT_LEAVE,
                    WIO_ACT_GET,
                    WIO_ACT_LOCKED,
                    WIO_ACT_GIVE_END
};

struct wio_act {
    uint64_t seq;
    uint32_t index; /* GIVE, TAKE, LOCKED: edge; PUT, GET: edge, or edge_count + token; ENTER,
                       LEAVE: meeting; POLL: poll */
    uint8_t kind;
};

enum wio_how {
    WIO_BY_EDGE = 0,
    WIO_BY_LOCK,
    WIO_BY_QUEUE,
    WIO_BY_TOKEN,
    WIO_BY_CHANCE /* not kept: the wait takes as long as it did (wio_waits_by_chance) */
};

struct wio_plan_edge {
    uint64_t release_ns; /* time of the trace at which it was given */
    uint64_t from_seq;
    uint64_t to_seq;
    uint64_t lag_ns; /* evidence `held`: how soon after a release its thread is at this place of the
                        program, at the earliest; and .. */
    uint64_t cpu_ns; /* .. how long it computes on the way there, at the least; 0: not known */
    uint32_t from_stream;
    uint32_t to_stream;
    uint32_t object;
    uint32_t source; /* of the waiting event */
    uint32_t queue;  /* WIO_BY_QUEUE, WIO_BY_TOKEN: which; the latter's is known in the end */
    uint32_t lock;   /* WIO_BY_LOCK: which, UINT32_MAX = that of a file */
    uint16_t to_op;  /* enum wio_op */
    uint8_t edge_class;
    uint8_t evidence;
    uint8_t how;          /* enum wio_how */
    bool is_given_within; /* by event from_seq, which leaves a lock; else by the one behind it */
    bool is_given_late;   /* by event from_seq, which posts when the wait of its call is over */
};

/* A collective. */
struct wio_meeting {
    uint64_t release_ns; /* time of the trace at which the last giver came */
    uint32_t givers;
    uint32_t object;
    uint8_t evidence;
};

struct wio_plan_member {
    uint64_t enter_seq;
    uint64_t leave_seq;
    uint32_t stream;
    uint32_t meeting;
    bool gives;
    bool takes;
};

/* A thread polls for a file until another one has made it. */
struct wio_plan_poll {
    uint64_t first_seq; /* the first poll */
    uint64_t last_seq;  /* the one that finds it */
    uint32_t stream;
    uint32_t edge; /* from the event that made the file, UINT32_MAX = not known */
};

/* What happens to a semaphore. */
enum wio_token_kind { WIO_TOKEN_PUT, WIO_TOKEN_MAKE, WIO_TOKEN_GET }; /* in this order, at a time */

struct wio_plan_token {
    uint64_t object; /* wio_lock_key */
    uint64_t seq;
    uint64_t call_seq; /* of the call's first event: `seq`, but for semop with several operations */
    uint64_t t_ns;     /* of the trace: when it put, or had got */
    uint32_t stream;
    uint32_t edge;  /* GET: the edge that ends here, UINT32_MAX = none */
    uint32_t queue; /* UINT32_MAX = no edge of class queue ends at this semaphore */
    uint32_t value; /* MAKE: what it holds */
    uint8_t kind;
    bool is_opened;  /* MAKE: one that may be known already */
    bool is_late;    /* PUT: behind what its call has waited for */
    bool may_cancel; /* GET: its call also puts; a unit of its own may do */
};

/* Zero-initialise; release with wio_waits_fini. */
struct wio_waits {
    const struct wio_trace *trace;
    struct wio_plan_edge *edges; /* by (to_stream, to_seq) */
    struct wio_meeting *meetings;
    struct wio_plan_member *members; /* by (stream, enter_seq) */
    struct wio_plan_poll *polls;     /* by (stream, first_seq) */
    struct wio_plan_token *tokens;   /* by (stream, seq) */
    struct wio_act *acts;
    size_t *first;   /* of each stream in the acts; stream_count + 1 of them */
    uint32_t *spare; /* of each queue: what it holds when the run begins */
    /* While the events are being read: edges by (from_stream, from_seq), and per stream how far in
     * them and in the other two tables. */
    uint32_t *out;
    struct wio_waits_at *at;
    struct wio_lockset *held;                /* of each stream */
    struct wio_map queues;                   /* object -> queue */
    struct wio_map semaphores;               /* wio_lock_key -> place in memory */
    struct wio_map locks;                    /* wio_lock_key -> lock */
    struct wio_map kept_locks;               /* those that keep their recorded order (lockset.h) */
    struct wio_map lags;                     /* (stream, source) -> the least lag_ns .. */
    struct wio_map works;                    /* .. and the least cpu_ns */
    uint64_t by_class[WIO_EDGE_CLASS_COUNT]; /* edges and collectives that a replay keeps */
    uint32_t edge_count;
    uint32_t meeting_count;
    uint32_t member_count;
    uint32_t poll_count;
    uint32_t token_count;
    uint32_t token_room; /* while the events are being read */
    uint32_t stream_count;
    uint32_t queue_count;
    uint32_t lock_count;
    uint32_t semaphore_count;
    bool is_there; /* the trace stores edges, if only none */
};

/* A call of System V, whose operations are an event each (R-SYNC-6). */
struct wio_semop_call {
    uint64_t seq; /* of its first event */
    uint64_t t_ns;
    uint64_t end_ns;
    bool may_wait; /* some of its operations take, or wait for zero */
};

struct wio_waits_at {
    uint32_t in;
    uint32_t out;
    uint32_t member;
    struct wio_semop_call call; /* the last one */
};

/* Read the edges of a trace. The table is empty and is_there false if it stores none, or they are
 * not wanted. */
WIO_MUST_CHECK enum wio_status wio_waits_init(struct wio_waits *waits,
                                              const struct wio_trace *trace, bool is_wanted,
                                              struct wio_error *err);
void wio_waits_fini(struct wio_waits *waits);

/* Each event, in the order of its stream. `image`: of its process. */
WIO_MUST_CHECK enum wio_status wio_waits_see(struct wio_waits *waits, const struct wio_event *event,
                                             uint32_t image);
/* After the last event. */
WIO_MUST_CHECK enum wio_status wio_waits_finish(struct wio_waits *waits);

/* WIO_ERR_FORMAT naming the edges if waits form a cycle. */
WIO_MUST_CHECK enum wio_status wio_waits_check(const struct wio_waits *waits,
                                               struct wio_error *err);

/* A thread's lock: its address in the process image, or an id that processes agree on. Pure. */
uint64_t wio_lock_key(uint32_t image, int64_t object);
/* The number of a lock that threads have handed on, UINT32_MAX for another one. */
uint32_t wio_waits_lock(const struct wio_waits *waits, uint32_t image, int64_t object);
/* How long the thread computed before the event, whose acts come next from `act` on, ns: as long as
 * it had a processor, unless the event waited for what only holding showed (evidence `held`). Then
 * the last of it was polling for that. 0: not known. */
uint64_t wio_waits_computed(const struct wio_waits *waits, size_t act, size_t act_end,
                            const struct wio_event *event);
/* How many acts from `act` on are one: GETs of one event, which are got together; 1 for others. */
size_t wio_waits_together(const struct wio_waits *waits, size_t act, size_t act_end);
/* The queue of a PUT or GET with this index. */
uint32_t wio_waits_queue(const struct wio_waits *waits, uint32_t index);

#endif
