/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that blockers have by number, at a target: jobs and call sites. Each connection is told a
 * name once, before the first message that needs it.
 */
#ifndef WIO_STORE_SESSION_NAMES_H
#define WIO_STORE_SESSION_NAMES_H

#include "base/map.h"
#include "store/link/link.h"

/* Zero-initialise. */
struct wio_store_names {
    struct wio_strtab jobs; /* texts of struct wio_wire_job: name, tab, project */
    struct wio_strtab sources;
    struct wio_map source_of; /* a client's call site -> text, job << 32 */
};

/* What one connection was told. Zero-initialise. */
struct wio_names_told {
    struct wio_map keys;
};

void wio_names_fini(struct wio_store_names *names);
void wio_names_told_fini(struct wio_names_told *told);

/* The number of a client's job, from 1; 0: it says none, or there are too many. */
uint32_t wio_names_job(struct wio_store_names *names, const struct wio_wire_hello *hello);
/* The same by its name, of any bytes but NUL, and project. */
uint32_t wio_names_job_named(struct wio_store_names *names, const char *name, size_t bytes,
                             const char *project);
/* Borrowed until the next is added; not ended by NUL. "": there is no such job. */
const char *wio_names_job_text(const struct wio_store_names *names, uint32_t job,
                               size_t *bytes_out);
/* A call site of a client, and the job that its requests are made for (0: the client's own): the
 * first definition counts; dropped where there are too many. */
void wio_names_define(struct wio_store_names *names, uint64_t client,
                      const struct wio_store_request *define, uint32_t job);
/* The job that a client's requests of this call site are made for; 0: its own. */
uint32_t wio_names_job_of(const struct wio_store_names *names, uint64_t client, uint32_t source);
/* Send DEFINE_JOB and DEFINE_SOURCE for what the blocker names and was not told yet. Where there is
 * no memory it is not told: names are for people. */
void wio_names_tell(const struct wio_store_names *names, struct wio_names_told *told,
                    const struct wio_lock_blocker *blocker, struct wio_link *link);

#endif
