/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an answer of the job table is asked for anew, and when it is dropped. Time is an argument,
 * in nanoseconds of any clock that does not go back.
 *
 *     exit     the default: a process is dropped when it ends; an answer that is older than 30 s is
 *              given on and asked for anew beside; a failed read is tried again after 10 ms, then
 *              at doubled distances up to 30 s; an answer that was good stays where a later read
 *              fails.
 *     lustre   the rules of Lustre's cache (lustre-devel, 2017-01-18, "Proposal for JobID
 *              caching"): answers of more than 30 s are asked for anew; a failed read is an answer
 *              like others; what is 300 s out of date is purged; the end of a process changes
 *              nothing.
 */
#ifndef WIO_JOB_POLICY_H
#define WIO_JOB_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct wio_job_policy {
    uint64_t refresh_ns;    /* age at which an answer is asked for anew */
    uint64_t retry_ns;      /* after the first failed read; 0 = a failure is an answer */
    uint64_t retry_most_ns; /* between failed reads in a row */
    uint64_t purge_ns;      /* age that wio_job_table_purge drops */
    uint64_t sweep_ns;      /* between purges that nothing asked for; 0 = never */
    bool evicts_at_exit;
    bool keeps_on_failure; /* an answer that was good outlives a failed read */
};

struct wio_job_policy wio_job_policy_exit(void);
struct wio_job_policy wio_job_policy_lustre(void);
/* "exit" or "lustre" (the values of --cache); false, and nothing is written, for other names. */
bool wio_job_policy_find(const char *name, struct wio_job_policy *policy_out);

/* How long an answer stands: `failures` reads in a row have failed, 0 = this one was good. */
uint64_t wio_job_policy_stands_ns(const struct wio_job_policy *policy, unsigned failures);

#endif
