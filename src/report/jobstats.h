/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints statistics of jobs: YAML in the layout of Lustre's job_stats and Prometheus's text
 * (job/stats_text.h), JSON (docs/schema/jobstats.json), and a table for people.
 */
#ifndef WIO_REPORT_JOBSTATS_H
#define WIO_REPORT_JOBSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "explain/job_accounts.h"
#include "job/stats_text.h"

enum wio_report_jobstats_format {
    WIO_JOBSTATS_YAML,
    WIO_JOBSTATS_JSON,
    WIO_JOBSTATS_TEXT,
    WIO_JOBSTATS_PROMETHEUS,
};

/* `top`: only the jobs that moved the most bytes, the most first; 0 = all, in order of appearance.
 * `is_all`, YAML only: operations without a sample, too. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_report_jobstats(const struct wio_job_accounts *accounts,
                                                   enum wio_report_jobstats_format format,
                                                   size_t top, bool is_all, FILE *out,
                                                   struct wio_error *err);

#endif
