/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of the processes that make requests. Before a request is served its thread's job is
 * looked up (probe/probe.h) and the calls of the serving thread are made for it
 * (wio_store_act_for). That costs no system call, and waits for nothing, but for the first request
 * of a job, which tells the store the name. What a thread is not known for yet has no job.
 */
#ifndef WIO_MOUNT_JOBS_H
#define WIO_MOUNT_JOBS_H

#include <stdatomic.h>
#include <stdint.h>

#include <whyio/store.h>

#include "probe/probe.h"

enum { MOUNT_JOBS_CHUNK = 4096, MOUNT_JOBS_CHUNKS = 4096 };

struct mount_jobs {
    struct wio_probe *probe; /* NULL: requests have no job */
    struct wio_store *store;
    /* By the probe's number, the store's; 0: not told yet. */
    _Atomic(_Atomic uint32_t *) chunks[MOUNT_JOBS_CHUNKS];
};

/* `params` NULL: requests have no job. */
WIO_MUST_CHECK enum wio_status mount_jobs_begin(struct mount_jobs *jobs,
                                                const struct wio_probe_params *params,
                                                struct wio_store *store, struct wio_error *err);
void mount_jobs_end(struct mount_jobs *jobs);

/* What the calling thread does from now on is for thread `tid`; 0: for the kernel. */
void mount_jobs_act_for(struct mount_jobs *jobs, uint32_t tid);

#endif
