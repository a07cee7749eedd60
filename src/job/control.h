/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a line does that is written to the control of job ids (Lustre: /proc/fs/lustre/jobid_name):
 * in mode nodelocal it is the name, or the format of names, of the node from now on; in all other
 * modes the processes of the job that it names leave the table, and those whose answer is 300 s old
 * with them. So the prolog and the epilog of a scheduler are one line each: docs/JOBS.md.
 */
#ifndef WIO_JOB_CONTROL_H
#define WIO_JOB_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "job/name_format.h"
#include "job/settings.h"
#include "job/table.h"

struct wio_job_control {
    struct wio_job_table *table;
    struct wio_job_names *names;
    struct wio_job_settings *settings;
    const char *host;
};

struct wio_job_control_result {
    size_t purged; /* processes */
    uint32_t node; /* the node's job from now on; WIO_JOB_PER_PROCESS: they differ */
};

/* A line, quoted (quote.h) or not, with its line end or without. WIO_ERR_USAGE: it is empty, too
 * long, or its quotes are wrong; nothing has changed then. Other failures as of the table and the
 * names. By the thread that changes the table. */
WIO_MUST_CHECK enum wio_status wio_job_control_write(const struct wio_job_control *control,
                                                     const char *line, size_t bytes,
                                                     uint64_t now_ns,
                                                     struct wio_job_control_result *result_out,
                                                     struct wio_error *err);

/* Tell the table what the settings mean for all processes at once; after each change of them. */
WIO_MUST_CHECK enum wio_status wio_job_control_apply(const struct wio_job_control *control,
                                                     uint32_t *node_out, struct wio_error *err);

#endif
