/* SPDX-License-Identifier: Apache-2.0 */
/* whyio jobstats of a running store. */
#ifndef WHYIO_JOBSTATS_STORE_H
#define WHYIO_JOBSTATS_STORE_H

#include <whyio/status.h>

#include "connect.h"
#include "explain/job_accounts.h"

enum jobstats_action { JOBSTATS_SHOW, JOBSTATS_CLEAR_ALL, JOBSTATS_CLEAR_JOB, JOBSTATS_PURGE };

struct jobstats_store {
    struct cmd_connect connect;
    enum jobstats_action action;
    const char *job;  /* CLEAR_JOB: as it is printed, quoted or not */
    uint64_t age_ns;  /* PURGE */
    uint64_t dropped; /* what CLEAR and PURGE have dropped: jobs, counted at each server */
};

/* SHOW: what the servers have counted, added to `accounts`. */
WIO_MUST_CHECK enum wio_status jobstats_store_run(struct jobstats_store *what,
                                                  struct wio_job_accounts *accounts,
                                                  struct wio_error *err);

#endif
