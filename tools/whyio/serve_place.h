/* SPDX-License-Identifier: Apache-2.0 */
/* Where `whyio serve` keeps a store that is not told a place, and the key that it is given. */
#ifndef WHYIO_SERVE_PLACE_H
#define WHYIO_SERVE_PLACE_H

#include "store/link/keys.h"

enum { SERVE_ROOT_BYTES = 1024, SERVE_JOB_BYTES = 128 };

/* A new directory below $TMPDIR, named after the job. */
WIO_MUST_CHECK enum wio_status serve_root_make(char root_out[SERVE_ROOT_BYTES],
                                               struct wio_error *err);
/* Of a job's own store: "NAME" of the job that is the same in all its processes. WIO_ERR_USAGE:
 * nothing says one. */
WIO_MUST_CHECK enum wio_status serve_job_name(char name_out[SERVE_JOB_BYTES],
                                              struct wio_error *err);
/* 64 hexadecimal digits, in a file that no other user can read. */
WIO_MUST_CHECK enum wio_status serve_key_read(const char *path, struct wio_link_key *key_out,
                                              struct wio_error *err);

#endif
