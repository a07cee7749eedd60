/* SPDX-License-Identifier: Apache-2.0 */
/* What the two methods of throttled recording share. */
#ifndef WIO_THROTTLE_RULES_THROTTLE_INTERNAL_H
#define WIO_THROTTLE_RULES_THROTTLE_INTERNAL_H

#include <limits.h>
#include <sys/types.h>

#include "throttle/control/run_child.h"
#include "throttle/rules/profile.h"
#include "throttle/rules/throttle.h"

struct wio_throttle_session {
    const struct wio_throttle_params *params;
    struct wio_record_params record;
    struct wio_throttle_result *result;
    struct wio_board_file board;
    struct wio_director *director; /* NULL = all is on this host */
    struct wio_roster roster;      /* with the pids of run 1 */
    struct wio_profile profile;
    struct wio_hold *hold; /* of the priority method */
    uint64_t limit_ns;
    uint32_t runs_most; /* that hold */
    off_t input;        /* where standard input was; -1 = cannot be sought */
    int interrupt;      /* the signal that wants it all to end, 0 = none */
    sigset_t original_mask;
};

/* A run that holds. */
struct wio_throttle_run {
    const char *dir; /* of its trace */
    struct wio_hold *hold;
    uint32_t throttled; /* TRACE: the node */
    uint64_t period;
};

/* What is to be done with it. */
enum wio_throttle_use {
    WIO_THROTTLE_USE_ALL,     /* it can be trusted */
    WIO_THROTTLE_USE_COMPARE, /* it went other ways: find out where */
    WIO_THROTTLE_USE_NOTHING
};

/* What //TRACE makes one trace of. */
struct wio_traced {
    struct wio_throttle_session *t;
    const char *dir;        /* of the merged trace */
    char (*runs)[PATH_MAX]; /* directories of the runs to be merged, run 1 first */
    uint32_t count;
    bool *is_wanted; /* per node: to be throttled */
    uint32_t wanted;
    uint64_t period;
};

/* throttle_run.c */
enum wio_status wio_throttle_no_memory(struct wio_error *err);
/* Run 1, without holds: fills the roster. */
WIO_MUST_CHECK enum wio_status wio_throttle_run_first(struct wio_throttle_session *t,
                                                      struct wio_error *err);
/* How long a hold may last: `ops` I/Os of all nodes, the longest way of one from one to the next.
 */
uint64_t wio_throttle_limit_ns(uint64_t ops, uint64_t longest_ns);
void wio_throttle_set_limits(struct wio_throttle_session *t, uint32_t runs_most);
void wio_throttle_name_run(const struct wio_throttle_session *t, const char *dir,
                           char path[PATH_MAX]);
WIO_MUST_CHECK enum wio_status wio_throttle_run_held(struct wio_throttle_session *t,
                                                     const struct wio_throttle_run *run,
                                                     enum wio_throttle_use *use_out,
                                                     struct wio_error *err);
void wio_throttle_remove_run(const char *dir);
/* Also by a signal that came between two runs. */
bool wio_throttle_is_interrupted(struct wio_throttle_session *t);

/* hosts.c: these do nothing where there is but one host. */
WIO_MUST_CHECK enum wio_status wio_throttle_direct(struct wio_throttle_session *t,
                                                   struct wio_error *err);
/* Recorders that come from now on take part in this run. */
WIO_MUST_CHECK enum wio_status wio_throttle_direct_run(struct wio_throttle_session *t,
                                                       const char *dir, uint32_t first_grant,
                                                       uint64_t limit_ns, struct wio_error *err);
/* wio_rerun_start, with the listeners of this process alone. Does so on one host, too. */
WIO_MUST_CHECK enum wio_status wio_throttle_start(const struct wio_throttle_session *t,
                                                  const struct wio_record_params *params,
                                                  struct wio_rerun *rerun, struct wio_error *err);
/* Adds the other hosts' reports to the run's result. `conduct`: NULL = without holds. */
void wio_throttle_end_run(struct wio_throttle_session *t, struct wio_record_result *result,
                          struct wio_conduct *conduct);

/* throttle_priority.c, throttle_trace.c: all runs. */
WIO_MUST_CHECK enum wio_status wio_throttle_priority(struct wio_throttle_session *t,
                                                     struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_throttle_trace(struct wio_throttle_session *t,
                                                  struct wio_error *err);

/* throttle_check.c. */
/* Can run 1 be what the others are measured by? Fills the profile. */
WIO_MUST_CHECK enum wio_status wio_throttle_check_first(struct wio_throttle_session *t,
                                                        struct wio_error *err);

/* throttle_pass.c: one run for each node that is to be throttled, and all of them merged. */
WIO_MUST_CHECK enum wio_status wio_traced_add_run(struct wio_traced *traced, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_traced_run_pass(struct wio_traced *traced,
                                                   struct wio_error *err);
/* Forget the runs of the last period; those before `from` stay. */
void wio_traced_remove_runs(struct wio_traced *traced, uint32_t from);
/* throttle_period.c: as many passes as the goal asks for. */
bool wio_traced_has_goal(const struct wio_throttle_session *t);
/* WIO_ERR_USAGE where a target is no directory in which a replay can be done. */
WIO_MUST_CHECK enum wio_status wio_traced_check_targets(const struct wio_throttle_session *t,
                                                        struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_traced_search_period(struct wio_traced *traced,
                                                        struct wio_error *err);

#endif
