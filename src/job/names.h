/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job names as numbers of 32 bits: messages and tables carry the number, the text is kept once.
 *
 * A name has 1 to WIO_JOB_BYTES bytes, any but NUL. A longer one is refused, never cut: two long
 * names with one beginning are two jobs. Numbers are given in order of appearance (1, 2, 3, ...)
 * and never again to another name, so that a number that was sent stays true.
 *
 * Memory: that of the texts, for the life of the object; `most` names at most. Thread safety: one
 * thread at a time may add; wio_job_names_text may be called by any number of threads meanwhile,
 * without a lock, for numbers that were handed out.
 */
#ifndef WIO_JOB_NAMES_H
#define WIO_JOB_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"

/* The number of no job: its text is "". */
#define WIO_JOB_NONE 0u
/* Bytes of the longest name. */
#define WIO_JOB_BYTES 4096u
/* Numbers are below it. */
#define WIO_JOB_NUMBERS (1u << 31)

struct wio_job_names;

/* `most`: number of names that are kept, 0 = 16 million. The caller owns the result. Fails with
 * WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_job_names_create(const struct wio_alloc *alloc, uint32_t most,
                                                    struct wio_job_names **names_out);
/* Accepts NULL. */
void wio_job_names_destroy(struct wio_job_names *names);

/* The number of a name, a new one on first sight; WIO_JOB_NONE for no bytes. WIO_ERR_USAGE where it
 * is too long or has a NUL in it, WIO_ERR_BUSY where `most` are there, WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_job_names_add(struct wio_job_names *names, const char *text,
                                                 size_t bytes, uint32_t *job_out);
/* WIO_JOB_NONE where it is not there. By the thread that adds. */
uint32_t wio_job_names_find(const struct wio_job_names *names, const char *text, size_t bytes);
/* Borrowed, ended by NUL, valid as long as `names`; "" for unknown numbers. `bytes_out` may be
 * NULL. */
const char *wio_job_names_text(const struct wio_job_names *names, uint32_t job, size_t *bytes_out);
/* The highest number that was handed out. */
uint32_t wio_job_names_count(const struct wio_job_names *names);

#endif
