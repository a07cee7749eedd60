/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the jobs of a node are called by: the setting of Lustre's jobid_var, and its jobid_name.
 *
 *     disable        no job
 *     nodelocal      one name for the whole node, or one made by a format (name_format.h)
 *     procname_uid   the name of the program and its user: the format %e.%u
 *     session        the name that was set for the session of the process (sessions.h), else none
 *     batch          the default: the control group, which a program cannot change, then the
 *                    variables of the batch systems
 *     NAME           that environment variable and nothing else
 */
#ifndef WIO_JOB_SETTINGS_H
#define WIO_JOB_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <whyio/status.h>

#include "job/pattern.h"

enum wio_job_mode {
    WIO_JOB_MODE_BATCH,
    WIO_JOB_MODE_DISABLE,
    WIO_JOB_MODE_NODE_LOCAL,
    WIO_JOB_MODE_PROCNAME_UID,
    WIO_JOB_MODE_SESSION,
    WIO_JOB_MODE_VARIABLE,
};

#define WIO_JOB_VARIABLE_BYTES 256u
#define WIO_JOB_FORMAT_BYTES 256u

struct wio_job_settings {
    enum wio_job_mode mode;
    char variable[WIO_JOB_VARIABLE_BYTES]; /* of mode VARIABLE */
    char format[WIO_JOB_FORMAT_BYTES];     /* "" = the job id itself */
    struct wio_job_pattern pattern;        /* asked first in mode BATCH */
    bool has_pattern;
};

/* "batch", "disable", "nodelocal", "procname_uid", "session" or the name of a variable. The rest of
 * the settings stays. WIO_ERR_USAGE: no such name can be. */
WIO_MUST_CHECK enum wio_status wio_job_settings_mode(struct wio_job_settings *settings,
                                                     const char *text, struct wio_error *err);
/* The same back: the name of the mode, or of the variable. */
const char *wio_job_settings_mode_text(const struct wio_job_settings *settings);
/* A format of names, "" for none. */
WIO_MUST_CHECK enum wio_status wio_job_settings_format(struct wio_job_settings *settings,
                                                       const char *text, struct wio_error *err);
/* Give all processes of the node one name in mode nodelocal: formats have no code of a process. */
bool wio_job_settings_is_whole(const struct wio_job_settings *settings);
/* The format that names of this mode are made by; NULL where the id itself is the name. */
const char *wio_job_settings_names(const struct wio_job_settings *settings);

#endif
