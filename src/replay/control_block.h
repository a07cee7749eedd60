/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory of the processes of a replay, mapped before the first of them is forked: states of
 * the recorded processes, start of the clock, totals, mismatches, the first error. Everything is
 * read and written with atomics or under `lock`.
 */
#ifndef WIO_REPLAY_CONTROL_BLOCK_H
#define WIO_REPLAY_CONTROL_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "replay/replay.h"
#include "replay/stats.h"

enum rp_group_state { RP_GROUP_NEW = 0, RP_GROUP_STARTED = 1, RP_GROUP_ENDED = 2 };

struct rp_group_slot {
    _Atomic uint32_t state;  /* futex; enum rp_group_state */
    _Atomic uint32_t images; /* futex: how many of its images are through */
    _Atomic int32_t pid;     /* of the process that plays it */
    _Atomic uint64_t end_ns; /* when its last event was over; set before it has ended */
};

/* How far a stream has come, time of the trace. at_ns goes back only for turns that any thread may
 * take. */
struct rp_progress {
    _Atomic uint64_t at_ns;    /* it does nothing to files before that; UINT64_MAX = at its end */
    _Atomic uint64_t begin_ns; /* of the event that it is at */
    uint64_t padding[6];       /* a cache line each: every thread writes its own all the time */
};

/* All threads of the replay on this machine. */
struct rp_crowd {
    _Atomic uint32_t threads;      /* that are performing */
    _Atomic uint32_t waiting;      /* of these, for others of them */
    _Atomic uint32_t sleeping;     /* of these, until their next operation is due */
    _Atomic uint64_t changes;      /* counts waits that begin and end */
    _Atomic uint64_t far_at_ns;    /* where the threads of other machines are, at least: time of the
                                      trace; UINT64_MAX = there are none */
    _Atomic uint32_t is_far;       /* there are: that all wait on this machine proves no deadlock */
    _Atomic uint32_t asleep;       /* of the waiting ones, in a futex of the sync table */
    _Atomic uint32_t looking;      /* threads that spin instead of sleeping: spin.h */
    _Atomic uint32_t seen_others;  /* checks in a row that found other work .. */
    _Atomic uint64_t asked_ns;     /* .. last check, CLOCK_MONOTONIC; .. */
    _Atomic uint64_t pause_end_ns; /* .. no long spin until then */
};

/* One operation as it was performed, with keep_events; index = place of the event in its stream. */
struct rp_record {
    uint64_t begin_ns; /* + 1, since the start of the replay; 0 = it was not performed */
    uint64_t dur_ns;
    int64_t result;
    uint32_t error;
    uint32_t reserved;
};

/* What several threads and processes raise. */
static inline void rp_store_max(_Atomic uint64_t *value, uint64_t candidate)
{
    uint64_t now = atomic_load(value);
    while (candidate > now && !atomic_compare_exchange_weak(value, &now, candidate)) {
    }
}

struct rp_board {
    size_t bytes; /* of the whole mapping */
    uint32_t group_count;
    uint32_t rank_count;
    uint32_t processors; /* of the machine */
    bool has_waits;      /* mode causal: threads that wait give their CPU away rather than sleep */
    _Atomic uint32_t ready;      /* roots that wait for the clock */
    _Atomic uint32_t go;         /* futex: the clock runs */
    uint64_t start_ns;           /* CLOCK_MONOTONIC; set before `go` */
    _Atomic uint32_t abort;      /* something failed: all processes end */
    _Atomic uint32_t is_tangled; /* a cycle of waits was found: the trace is wrong */
    _Atomic uint64_t done;       /* events, for the progress */
    _Atomic uint64_t untied;     /* waits that were given up to break deadlocks */
    _Atomic uint32_t lock;
    _Atomic uint32_t has_error;
    struct wio_error error;
    struct rp_tally tally;
    _Atomic uint32_t mismatch_count; /* may exceed the list */
    struct wio_replay_mismatch mismatches[WIO_REPLAY_MISMATCHES];
    struct rp_crowd own_crowd;
    struct rp_crowd *crowd;           /* own_crowd, unless others share the machine */
    struct wio_replay_account *ranks; /* rank_count, in the mapping */
    struct rp_group_slot *groups;     /* group_count, in the mapping */
    struct rp_progress *progress;     /* one per stream, in the mapping */
    uint32_t stream_count;
    struct rp_record *records; /* of all streams, NULL without keep_events */
    uint64_t *places;          /* of each mismatch, up to place_rows: at_ns of each stream then */
    uint32_t place_rows;
};

WIO_MUST_CHECK enum wio_status rp_board_create(uint32_t groups, uint32_t ranks, uint32_t streams,
                                               uint64_t records, struct rp_board **board_out,
                                               struct wio_error *err);
void rp_board_destroy(struct rp_board *board);

/* The first error is kept; all processes end. */
void rp_board_fail(struct rp_board *board, const struct wio_error *error);
/* The same for a system call that failed: `what` and errno. */
void rp_board_fail_sys(struct rp_board *board, const char *what);
static inline bool rp_board_is_aborted(const struct rp_board *board)
{
    return atomic_load_explicit(&board->abort, memory_order_relaxed) != 0;
}

/* Sleep until *word is at least `value`, or the replay is aborted (false). */
bool rp_board_sleep(const struct rp_board *board, _Atomic uint32_t *word, uint32_t value);
/* The same for threads that perform. True also when all of them wait for each other, as a wrong
 * trace may tell them to: no wake-up would ever come. */
bool rp_board_wait(struct rp_board *board, _Atomic uint32_t *word, uint32_t value);
/* The same for at most `ns`; true also when that is over. */
bool rp_board_wait_for(struct rp_board *board, _Atomic uint32_t *word, uint32_t value, uint64_t ns);
/* Store and wake all waiters. */
void rp_board_set(_Atomic uint32_t *word, uint32_t value);

/* State of a wait for another thread. Between begin and end it is checked now and then for
 * deadlock: all threads that perform wait, and none of them has gone on for long. */
struct rp_wait {
    uint64_t changes;
    uint64_t since_ns;
};
void rp_wait_begin(struct rp_board *board, struct rp_wait *wait);
bool rp_wait_is_hopeless(struct rp_board *board, struct rp_wait *wait);
void rp_wait_end(struct rp_board *board);

/* Is any stream that will still be performed at an earlier moment of the trace than this? */
bool rp_board_is_behind(const struct rp_board *board, uint64_t t_ns);

void rp_board_add_mismatch(struct rp_board *board, const struct wio_replay_mismatch *mismatch);
void rp_board_add_tally(struct rp_board *board, const struct rp_tally *tally, uint32_t rank);

#endif
