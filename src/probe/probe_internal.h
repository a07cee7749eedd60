/* SPDX-License-Identifier: Apache-2.0 */
/* The probe's parts, and which thread may touch them: `lock` guards what is marked so, never while
 * /proc is read. */
#ifndef WIO_PROBE_PROBE_INTERNAL_H
#define WIO_PROBE_PROBE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "job/names.h"
#include "job/resolve.h"
#include "job/sessions.h"
#include "probe/bell.h"
#include "probe/probe.h"
#include "probe/requests.h"
#include "probe/task.h"
#include "probe/watches.h"

#define WIO_PROBE_HOST_BYTES 256u

struct wio_probe {
    uint64_t number; /* of this process; from 1 on */
    bool has_tsc;
    struct wio_task_system system;
    struct wio_probe_params params; /* without `settings` */
    char host[WIO_PROBE_HOST_BYTES];
    struct wio_requests requests;
    pthread_t resolver;
    bool has_resolver;
    _Atomic uint32_t own;
    _Atomic uint64_t
        ends; /* tasks dropped: orders what a drain has done before what others look at */

    struct wio_bell bell;      /* of `watches` */
    pthread_mutex_t bell_lock; /* of the answer; outside of `lock` */

    pthread_mutex_t lock;
    struct wio_job_table *table;      /* changes: lock; looks: none */
    struct wio_job_names *names;      /* additions: lock */
    struct wio_job_sessions sessions; /* lock, as all below */
    struct wio_job_settings settings;
    uint32_t version; /* of the settings, sessions and names: counts changes */
    struct wio_watches watches;
    struct wio_probe_counts counts;
};

/* What the resolver needs for itself. */
struct wio_probe_reader {
    char *environ;
    size_t environ_room;
    char cgroup[65536];
    char program[64];
    struct wio_job_settings settings;
    uint32_t version;
    struct wio_job_resolved resolved;
};

/* The resolver's one step: find out the job of a thread and keep it. */
void wio_probe_resolve(struct wio_probe *probe, struct wio_probe_reader *reader, uint32_t tid);

/* ---- read.c ---- */

/* Read what the settings need of a process, and resolve it into reader->resolved. */
void wio_probe_read(struct wio_probe *probe, struct wio_probe_reader *reader, uint32_t pid);
/* The session of a process and the birth of its leader; false where one of them has ended. */
bool wio_probe_find_session(const struct wio_probe *probe, uint32_t pid, uint32_t *session_out,
                            uint64_t *birth_out);

#endif
