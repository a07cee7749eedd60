/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank of a parallel program a process is, by what its launcher put into its environment.
 * Pure, no allocation, signal safe. */
#ifndef WIO_JOB_RANK_H
#define WIO_JOB_RANK_H

#include <stdint.h>

struct wio_job_rank {
    int32_t rank;  /* -1 = none */
    int32_t ranks; /* 0 = unknown */
};

/* `environ`: "NAME=value" texts, ended by NULL; may be NULL. */
struct wio_job_rank wio_job_rank_find(const char *const *environ);

#endif
