/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each job of a trace, or of several, did to files, counted as Lustre's servers count it
 * (job/stats.h): operations that succeeded, on files that keep data (account.h). Of a stdio call
 * the reads and writes count that it caused, not the call.
 *
 *     struct wio_job_accounts *accounts;
 *     if (wio_job_accounts_create(&accounts, &err) != WIO_OK) ...
 *     if (wio_job_accounts_add(accounts, trace, NULL, NULL, &err) != WIO_OK) ...   for each trace
 *     ... accounts->stats, accounts->names ...
 *     wio_job_accounts_destroy(accounts);
 *
 * Samples are at their ends, in nanoseconds since 1970. Memory: that of the statistics and of one
 * trace's path table; not the number of events.
 */
#ifndef WIO_EXPLAIN_JOB_ACCOUNTS_H
#define WIO_EXPLAIN_JOB_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>
#include <whyio/trace.h>

#include "job/names.h"
#include "job/stats.h"

struct wio_job_accounts {
    struct wio_job_names *names;
    struct wio_job_stats *stats;
    uint64_t *errors; /* operations on files that failed, by job; error_room of them */
    uint32_t error_room;
};

/* The caller owns the result. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_job_accounts_create(struct wio_job_accounts **accounts_out,
                                                       struct wio_error *err);
/* Accepts NULL. */
void wio_job_accounts_destroy(struct wio_job_accounts *accounts);
/* `progress` may be NULL. The trace may be closed afterwards. Jobs without an operation on a file
 * that succeeded are not in `stats`. */
WIO_MUST_CHECK enum wio_status wio_job_accounts_add(struct wio_job_accounts *accounts,
                                                    const struct wio_trace *trace,
                                                    wio_progress_fn *progress, void *progress_arg,
                                                    struct wio_error *err);
/* More of them. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_job_accounts_add_errors(struct wio_job_accounts *accounts,
                                                           uint32_t job, uint64_t errors);
/* Operations of a job that failed. */
uint64_t wio_job_accounts_errors(const struct wio_job_accounts *accounts, uint32_t job);

/* ---- the rules for one event ---- */

#define WIO_JOB_OPS_MOST 4u

/* What an event counts as: up to WIO_JOB_OPS_MOST operations, and how many. `is_file` and
 * `is_file2` say whether its two paths are files that keep data; `is_same_dir`, of a rename,
 * whether both lie in one directory. */
struct wio_job_event_facts {
    bool is_file;
    bool is_file2;
    bool is_same_dir;
};
unsigned wio_job_event_ops(const struct wio_event *event, const struct wio_job_event_facts *facts,
                           enum wio_job_op *ops_out);

#endif
