/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of all threads in one pass over the events, merged by begin.
 *
 * Each nanosecond of a thread belongs to one step: the innermost operation that is under way, or
 * computing, waiting for a processor or standing between two. Beside that each thread carries the
 * path that ends at its present point (waiting/path.h). When a wait of thread A is ended by thread
 * B, A's path becomes the path of B at the releasing point: so the path of the thread that ends
 * last is the critical path of the run.
 *
 * A wait is known by its stored edges. The releasing point lies ahead when the wait begins, and is
 * asked for at thread B then; a release that lies behind was no wait. Members of a collective wait
 * for the last giver that arrives.
 *
 * Memory: a row per stream, waits and collectives in flight, and the paths (path.h).
 * Private to the room.
 */
#ifndef WIO_EXPLAIN_TIMELINE_H
#define WIO_EXPLAIN_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/trace.h>

#include "base/map.h"
#include "explain/accounts/steps.h"
#include "explain/waiting/edge_rows.h"
#include "explain/waiting/path.h"

#define WIO_NEST_MAX 6u
#define WIO_NOTHING UINT32_MAX

/* An operation that is under way. */
struct wio_under_way {
    uint64_t end_ns;
    uint64_t seq;
    uint64_t cpu_wait_ns; /* of its time: without a processor */
    uint32_t step;
    uint32_t cpu_step;
    uint32_t source;
    uint16_t op;
};

/* What may end a wait: the path of another thread at the releasing point. */
struct wio_wait_release {
    uint64_t ns;
    uint64_t held_ns;      /* how long its thread had not been waiting for others */
    uint64_t io_ns;        /* I/O in that time */
    struct wio_path *path; /* a reference */
    uint64_t seq;          /* of the operation that released it */
    uint32_t stream;       /* WIO_NOTHING: none */
    uint8_t evidence;
};

/* The wait of an operation that is under way, or of a poll loop. */
struct wio_wait {
    uint64_t begin_ns;
    uint64_t seq; /* of the operation whose end ends it */
    struct wio_wait_release release;
    uint32_t generation; /* requests of former waits are void */
    uint32_t collective; /* that it leaves at its end, WIO_NOTHING */
    uint32_t step;
    bool is_active;
    bool is_poll;
    struct wio_path *before; /* poll: the path at its begin */
};

/* What a thread waits by, other than the operation that its edge comes to. */
struct wio_rest {
    uint64_t end_ns;   /* of its last operation */
    uint64_t begin_ns; /* of a look for a child that found none; since then it has but waited .. */
    struct wio_path *before; /* .. with the path at its begin .. */
    uint32_t jumps;          /* .. which no other thread's has taken the place of .. */
    bool is_on;              /* .. if this is set */
    uint64_t input_ns;       /* of its last select, poll or epoll_wait that found something */
    uint64_t input_end_ns;   /* 0: none, or the thread has worked since */
    uint32_t input_jumps;    /* of the path then */
    bool is_read;            /* its last operation was a read */
};

/* Such a wait, when it is over. */
struct wio_look {
    uint64_t begin_ns;
    uint64_t release_ns;
    struct wio_path *before; /* the path at its begin, or NULL: as it is now; a reference */
};

/* An asynchronous request that is under way, or was; end_ns 0: none. */
struct wio_async_request {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t step;
};

/* I/O of another thread that a wait was for, as it stands in the path. */
struct wio_shadow {
    uint64_t release_ns;
    uint64_t over_ns; /* 0: none */
    uint32_t step;
    uint32_t from; /* stream */
};

/* A row per stream. */
struct wio_thread_time {
    uint64_t cur_ns; /* up to here its time is accounted */
    uint64_t last_seq;
    uint64_t poll_end_seq; /* of a poll loop that it is in, UINT64_MAX = none */
    uint64_t requested;    /* least seq that another thread asked for, UINT64_MAX = none */
    uint64_t leave_seq;    /* of a collective that it has entered, UINT64_MAX = none */
    uint64_t released_ns;  /* when its path last came from another thread */
    uint64_t io_ns;        /* since then .. */
    uint64_t own_io_ns;    /* .. and since it left a collective, also as the last that came */
    struct wio_path *path; /* up to what is open */
    uint32_t jumps;
    uint32_t open; /* first of the steps with time that is not in the path yet */
    uint32_t open_count;
    uint32_t requests; /* list */
    uint32_t leaves;   /* list */
    uint64_t events_left;
    uint32_t depth;
    uint16_t last_op; /* of its last event that no other one caused */
    uint16_t last_class;
    bool has_begun;
    struct wio_under_way stack[WIO_NEST_MAX];
    struct wio_wait wait;
    struct wio_rest rest;
    struct wio_shadow shadow;         /* of its last wait for I/O */
    struct wio_async_request request; /* of its own the one that ends last */
};

/* "Tell thread `stream` when you are there." */
struct wio_request {
    uint64_t seq;
    uint32_t stream;
    uint32_t generation;
    uint32_t next;
    uint8_t evidence;
    uint8_t when; /* enum wio_request_when */
};
enum wio_request_when {
    WIO_WHEN_BEHIND, /* when the thread comes to the event behind seq */
    WIO_WHEN_BEGIN,  /* of seq, where that leaves a lock */
    WIO_WHEN_END     /* of seq */
};

struct wio_gathering {
    struct wio_wait_release release; /* of the last giver so far */
    uint32_t members_left;
    uint32_t next; /* free list */
};

struct wio_leave {
    uint64_t seq;
    uint32_t collective;
    uint32_t next;
};

struct wio_ending {
    uint64_t ns;
    uint32_t stream;
};

/* Told of each wait that another thread ended: W from begin_ns to release->ns. `mine` is the path
 * of the waiting thread at its begin. */
typedef enum wio_status wio_wait_fn(void *arg, uint32_t step, const struct wio_path *mine,
                                    const struct wio_wait_release *release, uint64_t begin_ns);

struct wio_timeline {
    const struct wio_trace *trace;
    struct wio_steps *steps;
    struct wio_thread_time *threads;
    uint32_t streams;
    uint64_t origin_ns; /* the run begins; what was before is of no account */
    bool has_edges;
    struct wio_edge_rows edges;
    struct wio_edge_rows members;
    struct wio_edge_rows polls;
    struct wio_request *requests;
    uint32_t request_count;
    uint32_t request_capacity;
    uint32_t free_request;
    struct wio_leave *leaves;
    uint32_t leave_count;
    uint32_t leave_capacity;
    uint32_t free_leave;
    struct wio_gathering *gatherings;
    uint32_t gathering_count;
    uint32_t gathering_capacity;
    uint32_t free_gathering;
    struct wio_map gathering_index; /* collective -> gathering */
    struct wio_ending *endings;     /* heap by ns */
    uint32_t ending_count;
    uint32_t ending_capacity;
    struct wio_path_part *parts; /* scratch */
    uint32_t part_capacity;
    uint32_t *first_streams;                    /* of each process, WIO_NOTHING = none */
    struct wio_async_request *process_requests; /* of each process, the one that ends last */
    uint64_t looked_ns;                         /* waits for children that were found by looking */
    const uint8_t *is_not_a_file;               /* by path; may be NULL */
    uint32_t path_count;
    wio_wait_fn *wait_ended;
    void *wait_arg;
};

/* Zero-initialise. `steps` is borrowed. */
WIO_MUST_CHECK enum wio_status wio_timeline_init(struct wio_timeline *timeline,
                                                 const struct wio_trace *trace,
                                                 struct wio_steps *steps, struct wio_error *err);
void wio_timeline_fini(struct wio_timeline *timeline);

/* The next event in the order of begins. *step_out: its step. */
WIO_MUST_CHECK enum wio_status wio_timeline_event(struct wio_timeline *timeline,
                                                  const struct wio_event *event, uint32_t *step_out,
                                                  struct wio_error *err);
/* Behind the last event: the critical path goes into critical_ns of the steps. `stream` is where it
 * ends. */
WIO_MUST_CHECK enum wio_status wio_timeline_end(struct wio_timeline *timeline, uint32_t stream,
                                                struct wio_error *err);

/* ---- timeline_path.c ---- */

/* [begin, end) of the thread belongs to `step`. */
void wio_time_add(struct wio_timeline *timeline, uint32_t stream, uint32_t step, uint64_t begin_ns,
                  uint64_t end_ns);
/* `ns` more of `step` in the thread's path, and in no account of the thread. */
void wio_time_add_path(struct wio_timeline *timeline, uint32_t stream, uint32_t step, uint64_t ns);
/* A reference to the path of the thread up to its present point. */
WIO_MUST_CHECK enum wio_status wio_time_path(struct wio_timeline *timeline, uint32_t stream,
                                             struct wio_path **path_out);
/* The thread goes on from `path`, whose reference is taken over. */
void wio_time_jump(struct wio_timeline *timeline, uint32_t stream, struct wio_path *path,
                   uint64_t ns);

/* ---- timeline_wait.c ---- */

/* What the event waits for: before it is put on the stack; its thread is at its begin. */
WIO_MUST_CHECK enum wio_status wio_wait_begin(struct wio_timeline *timeline,
                                              const struct wio_event *event, uint32_t step,
                                              struct wio_error *err);
/* The thread is at the begin of an event: what others asked for. */
WIO_MUST_CHECK enum wio_status wio_wait_release(struct wio_timeline *timeline, uint32_t stream,
                                                uint64_t seq, uint64_t ns);
/* The same at the end of event `seq`. */
WIO_MUST_CHECK enum wio_status wio_wait_release_end(struct wio_timeline *timeline, uint32_t stream,
                                                    uint64_t seq, uint64_t ns);
/* The operation that waits ends: the thread's path becomes that of the one that released it. Its
 * time from the release on is the operation's own. */
WIO_MUST_CHECK enum wio_status wio_wait_end(struct wio_timeline *timeline, uint32_t stream,
                                            uint64_t end_ns);

/* ---- timeline_look.c ---- */

/* The next event of a thread, which is at its begin, of `step`. */
WIO_MUST_CHECK enum wio_status wio_rest_see(struct wio_timeline *timeline,
                                            const struct wio_event *event, uint32_t step);
/* The thread is at the operation that an edge comes to, whose other end lies behind. Has it waited
 * for that? The reference of look_out->before is the caller's then. */
bool wio_rest_take(struct wio_timeline *timeline, uint32_t stream, const struct wio_edge_link *link,
                   struct wio_look *look_out);

/* ---- timeline_shadow.c ---- */

/* I/O of the releasing thread while this one waited, by the site that waited. Members of a
 * collective that did I/O of their own before did theirs at the same time. */
WIO_MUST_CHECK enum wio_status wio_shadow_add(struct wio_timeline *timeline, uint32_t stream,
                                              const struct wio_wait *wait, uint64_t waited_ns,
                                              uint64_t own_io_ns);

/* ---- timeline_async.c ---- */

/* An event of `step`, which may be an asynchronous request. */
void wio_async_see(struct wio_timeline *timeline, const struct wio_event *event, uint32_t step);
/* [begin, end) of the thread lies in the operation `top`: where that waits for asynchronous
 * requests it is theirs, while one is under way. */
void wio_async_add(struct wio_timeline *timeline, uint32_t stream, const struct wio_under_way *top,
                   uint64_t begin_ns, uint64_t end_ns);

/* ---- timeline_heap.c ---- */

/* Thread `stream` must be looked at again at `ns`. */
WIO_MUST_CHECK enum wio_status wio_wait_look_at(struct wio_timeline *timeline, uint32_t stream,
                                                uint64_t ns);
/* The earliest of these before `ns`, taken away; WIO_NOTHING. What ends at `ns` may be released
 * there, by an event that is still to come. */
uint32_t wio_wait_next_end(struct wio_timeline *timeline, uint64_t ns, uint64_t *end_ns_out);

#endif
