/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mount/jobs.h"

#include <stdlib.h>

#include "base/cleanup.h"

enum wio_status mount_jobs_begin(struct mount_jobs *jobs, const struct wio_probe_params *params,
                                 struct wio_store *store, struct wio_error *err)
{
    jobs->store = store;
    return params == NULL ? WIO_OK : wio_probe_create(params, &jobs->probe, err);
}

void mount_jobs_end(struct mount_jobs *jobs)
{
    wio_probe_destroy(jobs->probe);
    for (unsigned i = 0; i < MOUNT_JOBS_CHUNKS; i++) {
        free(atomic_load(&jobs->chunks[i]));
    }
}

/* The place of a job's number; NULL: no memory, or too many jobs. */
static _Atomic uint32_t *place_of(struct mount_jobs *jobs, uint32_t job)
{
    _Atomic(_Atomic uint32_t *) *at = &jobs->chunks[job / MOUNT_JOBS_CHUNK];
    if (job / MOUNT_JOBS_CHUNK >= MOUNT_JOBS_CHUNKS) {
        return NULL;
    }
    _Atomic uint32_t *chunk = atomic_load_explicit(at, memory_order_acquire);
    if (chunk == NULL) {
        _Atomic uint32_t *made = calloc(MOUNT_JOBS_CHUNK, sizeof(*made));
        if (atomic_compare_exchange_strong(at, &chunk, made)) {
            chunk = made;
        } else {
            free(made);
        }
    }
    return chunk != NULL ? &chunk[job % MOUNT_JOBS_CHUNK] : NULL;
}

/* Also where two threads do it at once: the store gives a name one number. */
static uint32_t tell(struct mount_jobs *jobs, uint32_t job)
{
    size_t bytes = 0;
    uint32_t number = 0;
    const char *name = wio_probe_text(jobs->probe, job, &bytes);
    (void)!wio_store_job(jobs->store, name, bytes, &number, NULL); /* else no job */
    return number;
}

static uint32_t number_of(struct mount_jobs *jobs, uint32_t job)
{
    if (job == WIO_JOB_NONE) {
        return 0;
    }
    _Atomic uint32_t *place = place_of(jobs, job);
    uint32_t number = place != NULL ? atomic_load_explicit(place, memory_order_relaxed) : 0;
    if (number == 0 && place != NULL) {
        number = tell(jobs, job);
        atomic_store_explicit(place, number, memory_order_relaxed);
    }
    return number;
}

static _Thread_local struct wio_probe_last last;

void mount_jobs_act_for(struct mount_jobs *jobs, uint32_t tid)
{
    if (jobs->probe == NULL) {
        return;
    }
    /* ends are taken behind the request, before the look */
    const struct wio_job_hit hit = wio_probe_job_again(jobs->probe, &last, tid);
    if (last.note == 0) {
        last.note = number_of(jobs, hit.job);
    }
    wio_store_act_for(jobs->store, last.note);
}
