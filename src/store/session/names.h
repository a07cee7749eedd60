/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of jobs and call sites that a server keeps by number: a target for blockers, both for
 * statistics. Each connection to a target is told a name once, before the first message that needs
 * it.
 *
 * What is kept is kept as long as the server runs, so it is bounded: a connection has a quarter of
 * the room, and a user no more than what is left for others. Behind that, requests count for the
 * job WIO_NAMES_OTHER, and call sites are unknown.
 */
#ifndef WIO_STORE_SESSION_NAMES_H
#define WIO_STORE_SESSION_NAMES_H

#include <stdbool.h>

#include "base/map.h"
#include "store/link/link.h"

#define WIO_NAMES_OTHER "other"

/* Bytes of names of one kind, with what each takes beside its text, that are kept. */
struct wio_names_room {
    uint64_t used;
    struct wio_map users; /* uid -> its part of `used` */
};

/* Zero-initialise. */
struct wio_store_names {
    struct wio_strtab jobs; /* texts of struct wio_wire_job: name, tab, project */
    struct wio_strtab sources;
    struct wio_map source_of; /* a client's call site -> text, job << 32 */
    struct wio_names_room job_room;
    struct wio_names_room source_room;
    uint32_t other; /* the number of WIO_NAMES_OTHER; 0: it was not needed yet */
};

/* A connection that names are kept for. Set client, uid and project; the rest zero. */
struct wio_names_user {
    uint64_t client;
    uint32_t uid;
    const char *project; /* borrowed */
    uint64_t job_bytes;  /* that are kept for it .. */
    uint64_t source_bytes;
    bool lacks_jobs; /* .. and something was not: unknown call sites count for WIO_NAMES_OTHER */
};

/* What one connection was told. Zero-initialise. */
struct wio_names_told {
    struct wio_map keys;
};

void wio_names_fini(struct wio_store_names *names);
void wio_names_told_fini(struct wio_names_told *told);

/* The number of a client's job, from 1; 0: it says none, or there is no memory. */
uint32_t wio_names_job(struct wio_store_names *names, struct wio_names_user *user,
                       const struct wio_wire_hello *hello);
/* Borrowed until the next is added; not ended by NUL. "": there is no such job. */
const char *wio_names_job_text(const struct wio_store_names *names, uint32_t job,
                               size_t *bytes_out);
/* DEFINE_SOURCE or DEFINE_CALLER: a call site, and the job that its requests are made for. The
 * first definition of a number counts; one that there is no room for is dropped. */
void wio_names_define(struct wio_store_names *names, struct wio_names_user *user,
                      const struct wio_store_request *define);
/* The job that a client's requests of this call site are made for; 0: its own. */
uint32_t wio_names_job_of(const struct wio_store_names *names, const struct wio_names_user *user,
                          uint32_t source);
/* Send DEFINE_JOB and DEFINE_SOURCE for what the blocker names and was not told yet. Where there is
 * no memory it is not told: names are for people. */
void wio_names_tell(const struct wio_store_names *names, struct wio_names_told *told,
                    const struct wio_lock_blocker *blocker, struct wio_link *link);

#endif
