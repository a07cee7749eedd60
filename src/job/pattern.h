/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a job id stands in a text of a process, as a user says it: SOURCE:TEXT.
 *
 *     cgroup:*pod%j.slice*       "/kubepods/pod4711.slice/x" -> 4711
 *     MY_JOB:job-%j              MY_JOB=job-12 -> 12
 *     MY_JOB:%j                  the whole value
 *
 * SOURCE is `cgroup` (each line's path of /proc/PID/cgroup in turn) or the name of a variable. In
 * TEXT, which has to match the whole, `*` is any bytes, `%j` the id (at least one byte and no
 * slash; the first place that fits, and from there as long as fits), `%%` a percent sign.
 */
#ifndef WIO_JOB_PATTERN_H
#define WIO_JOB_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include <whyio/status.h>

#define WIO_JOB_PATTERN_BYTES 128u

struct wio_job_pattern {
    char variable[WIO_JOB_PATTERN_BYTES]; /* "" = the control group */
    char before[WIO_JOB_PATTERN_BYTES];   /* the text in front of %j; an asterisk is \001 */
    char behind[WIO_JOB_PATTERN_BYTES];
};

/* WIO_ERR_USAGE says what is wrong with it: no source, not exactly one %j, too long. */
WIO_MUST_CHECK enum wio_status
wio_job_pattern_parse(const char *text, struct wio_job_pattern *pattern_out, struct wio_error *err);

/* The id in a text of at most 4096 bytes: its begin and length; NULL where it does not match, or is
 * longer. Takes at most WIO_JOB_PATTERN_BYTES steps for each byte. */
const char *wio_job_pattern_find(const struct wio_job_pattern *pattern, const char *text,
                                 size_t bytes, size_t *bytes_out);

#endif
