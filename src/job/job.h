/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which job does a process belong to? Pure rules over texts that the caller has read: the process's
 * environment and its /proc/PID/cgroup. No allocation, no system call, signal safe.
 *
 * Order: the id that was given outright; the variable that the user named; the control group, which
 * a program cannot lose or forge by editing its environment; the variables of the batch systems.
 */
#ifndef WIO_JOB_JOB_H
#define WIO_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a variable, in its text; NULL where it is not set. `environ`: "NAME=value" texts,
 * ended by NULL; may be NULL. */
const char *wio_job_value(const char *const *environ, const char *name);

struct wio_job_source {
    const char *const *environ; /* "NAME=value" texts, ended by NULL; may be NULL */
    const char *cgroup;         /* /proc/PID/cgroup, any number of lines; may be NULL */
    const char *variable;       /* name of a variable that holds the id; may be NULL */
    const char *fixed;          /* the id itself; may be NULL */
};

/* Writes the id, ended by NUL; false and "" where there is none or it does not fit in `size`
 * (at least 1). An id may have any bytes. */
bool wio_job_resolve(const struct wio_job_source *source, char *job_out, size_t size);

/* The id in one control group path, "/system.slice/slurmstepd.scope/job_42/step_0": its begin, and
 * its length in *bytes_out; NULL where there is none. Slurm (v1, v2, several daemons on a node) and
 * PBS. Nothing below user.slice counts: there a user makes groups of any name. */
const char *wio_job_in_cgroup(const char *path, size_t path_bytes, size_t *bytes_out);

#endif
