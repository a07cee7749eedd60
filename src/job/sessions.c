/* SPDX-License-Identifier: Apache-2.0 */
#include "job/sessions.h"

void wio_job_sessions_init(struct wio_job_sessions *sessions, const struct wio_alloc *alloc)
{
    wio_pair_map_init(&sessions->names, alloc);
}

void wio_job_sessions_fini(struct wio_job_sessions *sessions)
{
    wio_pair_map_fini(&sessions->names);
}

enum wio_status wio_job_sessions_set(struct wio_job_sessions *sessions, uint32_t id, uint64_t birth,
                                     uint32_t job)
{
    if (job == WIO_JOB_NONE) {
        wio_pair_map_remove(&sessions->names, id, birth);
        return WIO_OK;
    }
    return wio_pair_map_put(&sessions->names, id, birth, job);
}

uint32_t wio_job_sessions_get(const struct wio_job_sessions *sessions, uint32_t id, uint64_t birth)
{
    const uint32_t job = wio_pair_map_get(&sessions->names, id, birth);
    return job != WIO_NO_INDEX ? job : WIO_JOB_NONE;
}
