/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job of a process out of texts that were read for it: its /proc files, whole or not.
 *
 * Order in mode batch: the user's pattern; the control group (Slurm, PBS); SLURM_JOB_ID, PBS_JOBID,
 * FLUX_JOB_ID, LSB_JOBID, JOB_ID, PMIX_NAMESPACE. An id is any 1 to WIO_JOB_BYTES bytes but NUL; a
 * longer one is no id, and is not cut.
 *
 * Nothing here allocates, asks the system or keeps anything.
 */
#ifndef WIO_JOB_RESOLVE_H
#define WIO_JOB_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "job/name_format.h"
#include "job/names.h"
#include "job/settings.h"

/* One text; `bytes` of it. NULL = it could not be read. */
struct wio_job_text {
    const char *text;
    size_t bytes;
    bool is_cut; /* there is more: what ends with the text may be half */
};

struct wio_job_texts {
    struct wio_job_text environ; /* "NAME=value" NUL "NAME=value" NUL */
    struct wio_job_text cgroup;  /* lines of /proc/PID/cgroup */
    struct wio_job_text session; /* the name that was set for its session */
    struct wio_job_facts facts;  /* all but `job`; what the format does not have may be missing */
};

/* Which texts a setting needs: reading the others is for nothing. */
enum wio_job_need {
    WIO_JOB_NEED_ENVIRON = 1 << 0,
    WIO_JOB_NEED_CGROUP = 1 << 1,
    WIO_JOB_NEED_SESSION = 1 << 2,
    WIO_JOB_NEED_PROGRAM = 1 << 3,
    WIO_JOB_NEED_OWNER = 1 << 4, /* uid and gid */
};
unsigned wio_job_resolve_needs(const struct wio_job_settings *settings);
/* The environment is needed only where the control group says nothing. */
bool wio_job_resolve_is_in_cgroup(const struct wio_job_settings *settings,
                                  const struct wio_job_text *cgroup);

struct wio_job_resolved {
    char name[WIO_JOB_BYTES + 1];
    size_t bytes;    /* 0 = no job */
    bool is_failed;  /* a text that was needed and might have said more could not be read */
    bool is_refused; /* an id was there and is too long to be one */
};
void wio_job_resolve_texts(const struct wio_job_settings *settings,
                           const struct wio_job_texts *texts,
                           struct wio_job_resolved *resolved_out);

/* The value of exactly this variable ("USER" is not in "USERTEST=x"), the first one as getenv has
 * it; NULL where it is not there, or may be half. */
const char *wio_job_variable(const struct wio_job_text *environ, const char *name,
                             size_t *bytes_out);

#endif
