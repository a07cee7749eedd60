/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of sessions (setsid(2)), for mode session: the program that starts a job sets the name
 * for its own session once, and all processes of it have it. A session is known by its id and the
 * birth of its leader, as processes are in the job table; a name ends with the leader, because its
 * id may come again afterwards.
 *
 * Memory: an entry for each named session that has not ended. Thread safety: none.
 */
#ifndef WIO_JOB_SESSIONS_H
#define WIO_JOB_SESSIONS_H

#include <stdint.h>

#include <whyio/status.h>

#include "base/pair_map.h"
#include "job/names.h"

struct wio_job_sessions {
    struct wio_pair_map names; /* (id, birth of the leader) -> job */
};

void wio_job_sessions_init(struct wio_job_sessions *sessions, const struct wio_alloc *alloc);
void wio_job_sessions_fini(struct wio_job_sessions *sessions);
/* WIO_JOB_NONE takes the name away. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_job_sessions_set(struct wio_job_sessions *sessions, uint32_t id,
                                                    uint64_t birth, uint32_t job);
/* WIO_JOB_NONE where it has no name. */
uint32_t wio_job_sessions_get(const struct wio_job_sessions *sessions, uint32_t id, uint64_t birth);

#endif
