/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of a running replay. One rp_run for all; in each process of the replay one rp_process,
 * whose images follow each other; in it one rp_thread for each recorded thread, with an rp_worker
 * on its stack while it performs.
 */
#ifndef WIO_REPLAY_RUN_WORKER_H
#define WIO_REPLAY_RUN_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <whyio/trace.h>

#include "base/map.h"
#include "replay/control_block.h"
#include "replay/initial/plan.h"
#include "replay/perform/fds.h"
#include "replay/prepare/fill.h"
#include "replay/root.h"
#include "replay/run/event_reader.h"
#include "replay/run/fork_request.h"
#include "replay/stats.h"
#include "replay/wait/sync_table.h"
#include "schedule/thread_clock.h"

struct rp_async;
struct rp_dir;
struct rp_pools;
struct wio_turn_span;

struct rp_thread;

/* Made before the first fork, not changed afterwards. */
struct rp_run {
    /* What each thread does: rp_worker_perform. An event may start a process, whose threads perform
     * events: threads.c stands below worker.c. */
    void (*perform)(struct rp_thread *thread);
    const struct wio_trace *trace;
    const struct rp_plan *plan;
    const struct rp_root *root;
    struct rp_board *board;
    struct rp_gate *gate;         /* NULL but in mode causal */
    const struct rp_pools *pools; /* NULL: each thread performs its own turns */
    struct wio_replay_link *link; /* NULL without a launcher, and so are .. */
    const uint32_t *homes;        /* .. the rank that plays each group .. */
    const struct rp_far *far;     /* .. and, also on a single machine, other machines */
    enum wio_replay_mode mode;
    double scale;
    uint32_t cpus;
    bool is_root_user;
    struct rp_bulk source;   /* what is written */
    uint32_t *rank_of_image; /* index into the board's ranks */
    uint64_t *record_base;   /* of each stream in the board's records */
    int fork_server;         /* socket of the fork server, -1 = none */
    int fork_server_pid;     /* 0 = none */
};

enum rp_share_step { RP_SHARE_NEW = 0, RP_SHARE_OPEN = 1, RP_SHARE_GONE = 2 };

struct rp_share_state {
    _Atomic uint32_t step; /* futex; enum rp_share_step */
    _Atomic uint32_t uses; /* futex */
    struct rp_fd *entry;   /* of its opener, from RP_SHARE_OPEN on */
};

struct rp_thread {
    uint32_t stream;
    _Atomic uint32_t started; /* 1 = its play has begun */
    _Atomic uint32_t ended;   /* futex */
    bool is_joined;           /* the process has seen that */
    struct rp_process *process;
    struct rp_fds fds;
    uint64_t end_ns;         /* when its last event was over; set before `ended` */
    uint64_t base_ns;        /* its first delay counts from here (0: the start of the clock) ... */
    uint64_t traced_base_ns; /* ... which is this moment of the trace */
};

struct rp_process {
    const struct rp_run *run;
    uint32_t group;
    uint32_t image;
    struct rp_fds inherited;
    struct rp_thread *threads;   /* of the image */
    struct rp_thread **by_token; /* the same, by token and begin */
    uint32_t thread_count;
    struct rp_share_state *shares; /* of the image */
    uint64_t base_ns;              /* as in rp_thread, for threads that no operation made */
    uint64_t traced_base_ns;
    int fork_server;          /* socket of the fork server, -1 = none */
    bool is_waited_for;       /* the clock does not start before it is ready */
    _Atomic uint64_t last_ns; /* end of the last operation of any of its threads */
};

/* Mode causal: where the thread is in its waits, and in time. */
struct rp_causal {
    struct wio_gap gap;
    size_t act; /* the next one */
    size_t act_end;
    uint32_t poll;  /* that the thread is in, + 1; 0 = none */
    bool has_taken; /* this event has waited, and what for is known */
    uint32_t locks; /* that the thread has */
    bool may_lock;  /* it has taken of queues or locked files, and may have what others wait for */
};

struct rp_worker {
    const struct rp_run *run;
    struct rp_process *process;
    struct rp_thread *thread;
    uint32_t stream;
    uint8_t caused; /* rp_image.caused */
    struct rp_feed feed;
    struct rp_tally tally;
    struct rp_bulk sink;     /* what is read; made when needed */
    struct rp_async *async;  /* made when needed */
    struct wio_map mappings; /* recorded address -> index into `mapped` */
    struct rp_mapping *mapped;
    uint32_t mapped_count;
    uint32_t mapped_free; /* first free place + 1, 0 = none */
    struct rp_dir **dirs; /* directories being read */
    int null_fd;          /* /dev/null, 0 = not open: where the file's half of a copy goes */
    uint32_t dir_count;
    unsigned close_waits; /* that were in vain: the next ones are shorter (share.c) */
    uint32_t precedence;  /* next item of the plan's order, of this stream (file_order.h) */
    uint64_t free_ns;     /* end of the last operation performed */
    uint64_t traced_ns;   /* end of the last event, in the trace */
    uint64_t think_ns;    /* time between events since then */
    struct rp_causal causal;
    const struct wio_turn_span *span; /* of the pools: at hand or next, NULL = none */
    uint64_t index;                   /* of the next event in its stream (seq goes on over exec) */
    uint64_t unreported;              /* events since the last report of progress */
    struct wio_error error;
};

/* Is the group played by a child of this process' coordinator? */
static inline bool rp_is_home(const struct rp_run *run, uint32_t group)
{
    return run->homes == NULL || run->homes[group] == run->link->rank;
}

static inline bool rp_is_causal(const struct rp_run *run)
{
    return run->mode == WIO_REPLAY_CAUSAL;
}

/* When what the event makes begins: now, in mode causal by the thread's own time. */
uint64_t rp_worker_now(const struct rp_worker *worker);

/* In threads.c. Perform the image's streams: the main one in the calling thread. */
void rp_process_image(struct rp_process *process);

/* Perform one stream to its end (or until the replay is aborted) in the calling thread. */
void rp_worker_perform(struct rp_thread *thread);

/* In worker_event.c. Do one event of the worker's stream. */
void rp_worker_step(struct rp_worker *worker, const struct wio_event *event);
/* Perform an event of a turn, which may be another stream's (task_pool.h). */
void rp_worker_do(struct rp_worker *worker, const struct wio_event *event);

/* Called by a worker that has read its first events: waits until the clock of the replay runs. */
void rp_process_ready(struct rp_worker *worker);

/* Around each operation, in processes whose threads share descriptors: wait before a close until
 * the others are through, tell them of an open. */
void rp_share_before(struct rp_worker *worker, const struct wio_event *event);
void rp_share_after(struct rp_worker *worker, const struct wio_event *event);

/* In process.c: start what an operation made .. */
void rp_process_start_thread(struct rp_worker *worker, const struct wio_event *event);
void rp_process_join_thread(struct rp_worker *worker, const struct wio_event *event);
void rp_process_begin_children(struct rp_worker *worker, const struct wio_event *event);
/* .. and wait for it as long as the call itself does. */
void rp_process_start_children(struct rp_worker *worker, const struct wio_event *event);
void rp_process_wait_child(struct rp_worker *worker, const struct wio_event *event);

/* Play group `group` in this process, which was just forked: does not return. */
_Noreturn void rp_process_play(const struct rp_run *run, uint32_t group,
                               const struct rp_start *start);

#endif
