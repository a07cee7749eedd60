/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job names made by a format, with the codes of Lustre's jobid_name:
 *
 *     %e  name of the program (comm)    %g  group id       %h  name of the host
 *     %H  the same up to the first dot  %j  job id         %p  process id      %u  user id
 *
 * `%%` is a percent sign; another code is an error when the format is set, not a part of names.
 */
#ifndef WIO_JOB_NAME_FORMAT_H
#define WIO_JOB_NAME_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/* What is known of a process; texts are borrowed. */
struct wio_job_facts {
    const char *program;
    size_t program_bytes;
    const char *host;
    size_t host_bytes;
    const char *job; /* "" = none */
    size_t job_bytes;
    uint32_t pid;
    uint32_t uid;
    uint32_t gid;
};

/* WIO_ERR_USAGE names the code that is none. */
WIO_MUST_CHECK enum wio_status wio_job_format_check(const char *format, struct wio_error *err);

/* Which codes a format has that differ from process to process: %e %g %j %p %u. */
bool wio_job_format_is_per_process(const char *format);
/* Does a format have the code? */
bool wio_job_format_has(const char *format, char code);

/* The name; false where it is empty or longer than `size` (it is not cut), or where the format has
 * %j and there is no job, or %e and no program. The format is a checked one. */
bool wio_job_format_name(const char *format, const struct wio_job_facts *facts, char *name_out,
                         size_t size, size_t *bytes_out);

#endif
