/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record --causal=throttle: COMMAND is run as often as needed to find, by holding its I/O, the
 * edges between threads that cannot be observed.
 *
 * Run 1 is recorded as ever, without holds: its trace is the result. Where it leaves time that no
 * observed wait explains, further runs hold (causal/hold/hold.h), until what they show is proven
 * complete. They must do the same I/O. The edges found, evidence `held`, are added to the trace.
 *
 * Every hold has an upper limit, and ends at once when a process that takes part dies.
 */
#ifndef WIO_THROTTLE_RULES_THROTTLE_H
#define WIO_THROTTLE_RULES_THROTTLE_H

#include "causal/hold/hold.h"
#include "record/record.h"
#include "throttle/control/controller.h"
#include "throttle/rules/differ.h"

/* What there is to tell while it goes on. */
struct wio_throttle_news {
    uint32_t run;  /* 1, 2 .. which begins (is_begin) or has ended */
    uint32_t runs; /* at most */
    bool is_begin;
    uint32_t nodes;    /* threads that take part; 0 in run 1 */
    uint64_t limit_ns; /* no hold of this run lasts longer; 0 in run 1 */
    enum wio_conduct_verdict verdict;
    int32_t pid;            /* that the verdict is about, 0 = none */
    int32_t rank;           /* its rank, -1 = none */
    const char *host;       /* its host, NULL = this one, or none */
    uint64_t period;        /* TRACE: every so many-th I/O of one thread is held; 0: of all, each */
    int32_t throttled_rank; /* TRACE: of that thread, -1 = none */
    int32_t throttled_tid;  /* TRACE: in run 1 */
    uint64_t held;          /* I/Os that were held and released */
    uint64_t edges;         /* found so far */
    uint64_t unproven;      /* pairs of an operation and a node */
};

/* TRACE: what a thread did between two I/Os. */
enum wio_throttle_compute {
    WIO_COMPUTE_BY_PERIOD, /* THINK where each I/O is held (period 1), else UNBLOCKED */
    WIO_COMPUTE_THINK,     /* Approach 1: all think time is computing */
    WIO_COMPUTE_UNBLOCKED  /* Approach 2: less the time in recorded calls that can block */
};

/* A storage system on which replays are to be right. */
struct wio_throttle_target {
    const char *root; /* a directory; replays make one of their own in it */
    double command_s; /* how long the command takes there; 0 = as long as in run 1 */
};

struct wio_throttle_params {
    size_t struct_size;
    enum wio_hold_method method;
    uint64_t period;                   /* of TRACE; 0 = 1, or as `goal` asks for */
    const char *nodes;                 /* of TRACE: the nodes to throttle, "0,2-4"; NULL = all */
    struct wio_period_goal goal;       /* of TRACE; zeros = none */
    enum wio_throttle_compute compute; /* of TRACE */
    /* Of TRACE with a goal: the replay on each counts, the worst decides. None: beside the trace.
     */
    const struct wio_throttle_target *targets;
    uint32_t target_count;
    /* Of TRACE with a goal: how long a replay of the trace takes, in seconds. `root`: of a target,
     * NULL = beside the trace. */
    enum wio_status (*replay)(void *arg, const char *dir, const char *root, double *time_s_out,
                              struct wio_error *err);
    void *replay_arg;
    uint32_t runs_max; /* that hold; 0 = as many as needed */
    /* The command is a launcher, behind which recorders start the program:
     * throttle/hosts/coordinator.h. Else all processes are on this host. */
    bool hosts;
    const char *host_names; /* "a,b": of some of them, NULL = not known; chooses the network */
    const char *interface;  /* the network, NULL = not chosen: throttle/hosts/remote_listen.h */
    /* May be NULL. */
    void (*news)(void *arg, const struct wio_throttle_news *news);
    void *news_arg;
};

enum wio_throttle_end {
    WIO_THROTTLE_MERGED,    /* TRACE: the runs are one trace */
    WIO_THROTTLE_PROVEN,    /* complete: no wait was missed */
    WIO_THROTTLE_EXPLAINED, /* nothing was left to find after run 1 */
    WIO_THROTTLE_RUNS_OVER, /* some pairs are unproven */
    WIO_THROTTLE_FAILED,    /* a run could not be trusted, or the command failed */
    WIO_THROTTLE_DIFFERS,   /* two runs did not do the same: `difference` */
    /* All nodes together did the same, and an observed lock or queue assigned the work, where any
     * order is right: no more can be found than was observed, and found until then. `difference`
     * tells where the runs part. */
    WIO_THROTTLE_FIRST_COME,
    WIO_THROTTLE_REFUSED /* run 1 is no evidence: `error` says why */
};

struct wio_throttle_result {
    struct wio_record_result record; /* of run 1 */
    int exit_status;                 /* of the first run that failed, else 0 */
    enum wio_throttle_end end;
    uint32_t runs;  /* run 1 included */
    uint64_t found; /* edges in all runs together */
    uint64_t edges; /* those that the others and what was observed do not imply: in the trace */
    uint64_t unproven;
    uint64_t period;       /* TRACE: of the merged runs */
    double time_error;     /* TRACE with a goal: of the replay; else -1 */
    const char *time_root; /* the target of that replay, NULL = none */
    uint64_t contradicted; /* edges that a later run did not obey, and that are none therefore */
    struct wio_difference difference;
    struct wio_error error;
};

/* `record->dir` and so on are those of run 1; `causal` and `board` are set here. Otherwise as
 * wio_record, but that this process keeps its descriptors. */
WIO_MUST_CHECK enum wio_status wio_record_throttled(const struct wio_record_params *record,
                                                    const struct wio_throttle_params *params,
                                                    struct wio_throttle_result *result_out,
                                                    struct wio_error *err);

#endif
